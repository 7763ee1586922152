// SPDX-License-Identifier: Apache-2.0
// Keeping the journal within its bounds: old batches become a base that holds only what is still live.
#ifndef DRAWBRIDGE_LEDGER_JOURNAL_CUT_H
#define DRAWBRIDGE_LEDGER_JOURNAL_CUT_H

#include "server/ledger/journal_file.h"

// What it does: cuts when the file is over limit_bytes or has batches from before oldest_ms. A cut is never
// within a list. Errors: FAULT_INPUT the chain is broken; FAULT_IO, FAULT_MEMORY; nothing is changed then.
bool journal_cut(struct journal_file *file, int64_t limit_bytes, int64_t oldest_ms, struct fault *fault)
    __attribute__((warn_unused_result));

#endif
