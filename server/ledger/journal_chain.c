// SPDX-License-Identifier: Apache-2.0
// Every column goes in with its length, so that no two contents look alike.
#include "server/ledger/journal_chain.h"

#include <openssl/evp.h>
#include <stdlib.h>

struct journal_chain {
    EVP_MD_CTX *context;
};

struct journal_chain *journal_chain_new(void) {
    struct journal_chain *chain = calloc(1, sizeof *chain);
    if (chain == NULL) return NULL;
    chain->context = EVP_MD_CTX_new();
    if (chain->context != NULL) return chain;
    free(chain);
    return NULL;
}

void journal_chain_free(struct journal_chain *chain) {
    if (chain == NULL) return;
    EVP_MD_CTX_free(chain->context);
    free(chain);
}

static bool add(struct journal_chain *chain, const void *bytes, size_t len) {
    return EVP_DigestUpdate(chain->context, bytes, len) == 1;
}

static bool add_number(struct journal_chain *chain, int64_t number) {
    unsigned char bytes[8];
    for (unsigned i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)((uint64_t)number >> (8 * i));
    return add(chain, bytes, sizeof bytes);
}

static bool add_text(struct journal_chain *chain, struct text text) {
    return add_number(chain, (int64_t)text.len) && (text.len == 0 || add(chain, text.ptr, text.len));
}

bool journal_chain_begin(struct journal_chain *chain, const unsigned char previous[JOURNAL_DIGEST_BYTES]) {
    return EVP_DigestInit_ex(chain->context, EVP_sha256(), NULL) == 1 &&
           add(chain, previous, JOURNAL_DIGEST_BYTES);
}

bool journal_chain_row(struct journal_chain *chain, const struct journal_row *row) {
    return add_number(chain, row->id) && add_number(chain, row->at_ms) &&
           add_text(chain, text_of(journal_type_name(row->type))) &&
           add_text(chain, text_of(journal_kind_name(row->kind))) && add_number(chain, row->version) &&
           add_text(chain, row->namespace) && add_text(chain, row->name) && add_text(chain, row->uid) &&
           add_text(chain, row->json);
}

bool journal_chain_end(struct journal_chain *chain, const struct journal_batch *batch,
                       unsigned char ret_digest[JOURNAL_DIGEST_BYTES]) {
    return add_number(chain, batch->seq) && add_number(chain, batch->base) &&
           add_number(chain, batch->first_id) && add_number(chain, batch->last_id) &&
           add_number(chain, batch->row_count) && add_number(chain, batch->bytes) &&
           add_number(chain, batch->at_ms) && EVP_DigestFinal_ex(chain->context, ret_digest, NULL) == 1;
}
