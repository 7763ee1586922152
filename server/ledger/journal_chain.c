// SPDX-License-Identifier: Apache-2.0
// The lengths of all columns go in before the columns, so that no two contents look alike.
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

// Numbers in a row, as bytes: one call of the library for all of them.
static size_t put_number(unsigned char *at, int64_t number) {
    for (unsigned i = 0; i < 8; i++) at[i] = (unsigned char)((uint64_t)number >> (8 * i));
    return 8;
}

bool journal_chain_begin(struct journal_chain *chain, const unsigned char previous[JOURNAL_DIGEST_BYTES]) {
    return EVP_DigestInit_ex(chain->context, EVP_sha256(), NULL) == 1 &&
           add(chain, previous, JOURNAL_DIGEST_BYTES);
}

bool journal_chain_row(struct journal_chain *chain, const struct journal_row *row) {
    const struct text texts[] = {row->namespace,
                                 row->name,
                                 row->uid,
                                 text_of(journal_type_name(row->type)),
                                 text_of(journal_kind_name(row->kind)),
                                 row->json};
    enum { TEXT_COUNT = sizeof texts / sizeof texts[0], SHORT_BYTES = 1024 };
    unsigned char bytes[(3 + TEXT_COUNT) * 8 + SHORT_BYTES];
    size_t len = put_number(bytes, row->id);
    len += put_number(bytes + len, row->at_ms);
    len += put_number(bytes + len, row->version);
    for (size_t i = 0; i < TEXT_COUNT; i++) len += put_number(bytes + len, (int64_t)texts[i].len);
    for (size_t i = 0; i < TEXT_COUNT; i++) {
        struct text text = texts[i];
        if (text.len > sizeof bytes - len) {
            if (!add(chain, bytes, len)) return false;
            len = 0;
        }
        if (text.len > sizeof bytes) {
            if (!add(chain, text.ptr, text.len)) return false;
        } else if (text.len > 0) {
            memcpy(bytes + len, text.ptr, text.len);
            len += text.len;
        }
    }
    return len == 0 || add(chain, bytes, len);
}

bool journal_chain_end(struct journal_chain *chain, const struct journal_batch *batch,
                       unsigned char ret_digest[JOURNAL_DIGEST_BYTES]) {
    const int64_t numbers[] = {batch->seq,       batch->base,  batch->first_id, batch->last_id,
                               batch->row_count, batch->bytes, batch->at_ms};
    unsigned char bytes[sizeof numbers];
    size_t len = 0;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        len += put_number(bytes + len, numbers[i]);
    return add(chain, bytes, len) && EVP_DigestFinal_ex(chain->context, ret_digest, NULL) == 1;
}
