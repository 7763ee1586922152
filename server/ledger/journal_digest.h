// SPDX-License-Identifier: Apache-2.0
// What a ledger shows, in one digest: the totals, rows and divergence of all nodes, without what only clocks
// tell. STATE rows hold it, so that a replay can be checked on its way.
#ifndef DRAWBRIDGE_LEDGER_JOURNAL_DIGEST_H
#define DRAWBRIDGE_LEDGER_JOURNAL_DIGEST_H

#include "server/ledger/report.h"

#define JOURNAL_DIGEST_TEXT_BYTES 65

struct journal_digest;

// Owner: the caller, journal_digest_free. Errors: NULL, memory.
struct journal_digest *journal_digest_new(void);
void journal_digest_free(struct journal_digest *digest);

// What they do: each node in the order of names, then the end. Errors: false, memory.
bool journal_digest_node(struct journal_digest *digest, const struct node_report *report, struct arena *arena)
    __attribute__((warn_unused_result));
bool journal_digest_end(struct journal_digest *digest, char ret_text[JOURNAL_DIGEST_TEXT_BYTES])
    __attribute__((warn_unused_result));

// What it does: the digest of a whole ledger and the number of its nodes. Errors: false, memory.
bool journal_digest_ledger(const struct ledger *ledger, char ret_text[JOURNAL_DIGEST_TEXT_BYTES],
                           size_t *ret_nodes) __attribute__((warn_unused_result));

#endif
