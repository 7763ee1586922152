// SPDX-License-Identifier: Apache-2.0
// The digest of one batch: SHA-256 over the digest before it, the batch's own columns and those of its rows.
#ifndef DRAWBRIDGE_LEDGER_JOURNAL_CHAIN_H
#define DRAWBRIDGE_LEDGER_JOURNAL_CHAIN_H

#include "server/ledger/journal_file.h"

struct journal_chain;

// Owner: the caller, journal_chain_free. Errors: NULL, memory.
struct journal_chain *journal_chain_new(void);
void journal_chain_free(struct journal_chain *chain);

// What they do: one batch: begin with the digest before it, each row, then the batch. Errors: false when the
// library refuses.
bool journal_chain_begin(struct journal_chain *chain, const unsigned char previous[JOURNAL_DIGEST_BYTES])
    __attribute__((warn_unused_result));
bool journal_chain_row(struct journal_chain *chain, const struct journal_row *row)
    __attribute__((warn_unused_result));
bool journal_chain_end(struct journal_chain *chain, const struct journal_batch *batch,
                       unsigned char ret_digest[JOURNAL_DIGEST_BYTES]) __attribute__((warn_unused_result));

#endif
