// SPDX-License-Identifier: Apache-2.0
// Setting a journal aside that cannot be used: renamed, never deleted at once, and not without bound.
#ifndef DRAWBRIDGE_LEDGER_JOURNAL_ASIDE_H
#define DRAWBRIDGE_LEDGER_JOURNAL_ASIDE_H

#include <stddef.h>

#include "validators/core/fault.h"

#define JOURNAL_ASIDE_NAME_BYTES 64

// What it does: renames journal.db and its companions to PREFIX-TIME-journal.db…, and removes the oldest of
// that prefix beyond the limit. Units: milliseconds since 1970. Errors: FAULT_IO.
bool journal_set_aside(const char *folder, const char *prefix, long long now_ms, size_t limit,
                       char ret_name[JOURNAL_ASIDE_NAME_BYTES], struct fault *fault)
    __attribute__((warn_unused_result));

#endif
