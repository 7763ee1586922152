// SPDX-License-Identifier: Apache-2.0
// A ledger from one of its sources, as the JSON that `ledger replay` prints: a running server, its journal, a
// file of events.
#ifndef DRAWBRIDGE_CLI_LEDGER_SOURCE_H
#define DRAWBRIDGE_CLI_LEDGER_SOURCE_H

#include <stdio.h>

#include "server/ledger/ledger.h"

// What it does: prints a running server's ledger; node NULL: all nodes; all: differences that are not settled
// count too. *ret_divergences counts what was printed. Errors: FAULT_UNREACHABLE, FAULT_STATE.
bool source_live_json(const char *folder, const char *node, bool all, FILE *out, size_t *ret_divergences,
                      struct fault *fault) __attribute__((warn_unused_result));
bool source_live_text(const char *folder, const char *node, bool all, FILE *out, struct fault *fault)
    __attribute__((warn_unused_result));

// What it does: a ledger from the last session of a journal, by the minor that it tells. Rows that are
// missing and checkpoints that differ are said on stderr. Owner: the caller, ledger_free. Errors: as
// journal_replay.
struct ledger *source_journal(const char *folder, struct fault *fault) __attribute__((warn_unused_result));

// What it does: a ledger from a file of events. minor 0: what the file tells, else `otherwise`. Owner: the
// caller, ledger_free. Errors: NULL and a fault.
struct ledger *source_file(const char *name, int otherwise, struct fault *fault)
    __attribute__((warn_unused_result));

#endif
