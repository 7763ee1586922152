// SPDX-License-Identifier: Apache-2.0
// Fuzz target: any bytes as a PEM file of certificates, as a key, and as a serving pair.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "certs/describe.h"
#include "certs/pem.h"
#include "certs/source.h"
#include "certs/verify.h"
#include "validators/core/arena.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOW         1800000000
#define ARENA_BYTES (1u << 20)

static void look_at(STACK_OF(X509) * chain) {
    struct arena arena;
    struct fault fault = {0};
    arena_init(&arena, ARENA_BYTES);
    for (int i = 0; i < sk_X509_num(chain); i++) {
        struct certificate_facts facts;
        arena_clear(&arena);
        if (!certificate_describe(sk_X509_value(chain, i), &arena, &facts, &fault) &&
            fault.code == FAULT_NONE)
            abort();
    }
    arena_release(&arena);
    // A chain that vouches for itself: the verdict is free, ending is not.
    fault = (struct fault){0};
    if (!verify_server(chain, chain, "localhost", NOW, &fault) && fault.code == FAULT_NONE) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct text pem = {(const char *)data, size};
    struct fault fault = {0};
    STACK_OF(X509) *chain = NULL;
    EVP_PKEY *key = NULL;
    if (pem_parse_chain(pem, &chain, &fault)) {
        if (size > PEM_CHAIN_BYTES_LIMIT || sk_X509_num(chain) == 0) abort();
        look_at(chain);
    } else if (fault.code != FAULT_INPUT && fault.code != FAULT_LIMIT) {
        abort();
    }
    pem_chain_free(chain);
    fault = (struct fault){0};
    if (!pem_parse_key(pem, &key, &fault) && fault.code != FAULT_INPUT && fault.code != FAULT_LIMIT) abort();
    EVP_PKEY_free(key);
    // One text that holds both certificate and key.
    const struct source_files files = {.handshake_deadline_ms = 0};
    struct source *source = NULL;
    struct source_pair pair;
    if (!source_new(&files, &source, &fault)) abort();
    bool put = source_put(source, pem, pem, &fault);
    if (put != source_current(source, &pair)) abort();
    source_free(source);
    return 0;
}
