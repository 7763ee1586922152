// SPDX-License-Identifier: Apache-2.0
// Every text goes in with its length.
#include "server/ledger/journal_digest.h"

#include <openssl/evp.h>
#include <stdlib.h>

#define NODE_ARENA_BYTES ((size_t)1 << 30)
#define SHA_BYTES        32u

struct journal_digest {
    EVP_MD_CTX *context;
    bool failed;
};

struct journal_digest *journal_digest_new(void) {
    struct journal_digest *digest = calloc(1, sizeof *digest);
    if (digest == NULL) return NULL;
    digest->context = EVP_MD_CTX_new();
    if (digest->context != NULL && EVP_DigestInit_ex(digest->context, EVP_sha256(), NULL) == 1) return digest;
    journal_digest_free(digest);
    return NULL;
}

void journal_digest_free(struct journal_digest *digest) {
    if (digest == NULL) return;
    EVP_MD_CTX_free(digest->context);
    free(digest);
}

static void add_number(struct journal_digest *digest, int64_t number) {
    unsigned char bytes[8];
    for (unsigned i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)((uint64_t)number >> (8 * i));
    if (EVP_DigestUpdate(digest->context, bytes, sizeof bytes) != 1) digest->failed = true;
}

static void add_text(struct journal_digest *digest, struct text text) {
    add_number(digest, (int64_t)text.len);
    if (text.len > 0 && EVP_DigestUpdate(digest->context, text.ptr, text.len) != 1) digest->failed = true;
}

static void add_quantities(struct journal_digest *digest, const struct quantity_map *map,
                           struct arena *arena) {
    add_number(digest, (int64_t)map->count);
    for (size_t i = 0; i < map->count; i++) {
        add_text(digest, map->items[i].key);
        add_text(digest, quantity_canonical(arena, map->items[i].value));
    }
}

static void add_row(struct journal_digest *digest, const struct row_report *row, struct arena *arena) {
    const struct text texts[] = {row->uid, row->driver, row->pool, row->device, row->share_id};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) add_text(digest, texts[i]);
    add_number(digest, row->version);
    add_number(digest, row->held);
    add_quantities(digest, &row->resources, arena);
}

bool journal_digest_node(struct journal_digest *digest, const struct node_report *report,
                         struct arena *arena) {
    add_text(digest, report->name);
    for (size_t i = 0; i < report->totals.count; i++) {
        const struct total_report *total = &report->totals.items[i];
        const struct quantity columns[] = {total->allocatable, total->ordinary, total->dra, total->held};
        add_text(digest, total->resource);
        for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++)
            add_text(digest, quantity_canonical(arena, columns[k]));
    }
    for (size_t i = 0; i < report->numa.count; i++) {
        add_number(digest, report->numa.items[i].id.set ? report->numa.items[i].id.value : -1);
        add_quantities(digest, &report->numa.items[i].dra, arena);
    }
    for (size_t i = 0; i < report->claims.count; i++) add_row(digest, &report->claims.items[i], arena);
    for (size_t i = 0; i < report->divergence.count; i++) {
        add_text(digest, report->divergence.items[i].pod_uid);
        add_text(digest, report->divergence.items[i].claim_uid);
        add_text(digest, text_of(report->divergence.items[i].class));
    }
    return !digest->failed && !arena->poisoned;
}

bool journal_digest_end(struct journal_digest *digest, char ret_text[JOURNAL_DIGEST_TEXT_BYTES]) {
    unsigned char bytes[SHA_BYTES];
    static const char digits[] = "0123456789abcdef";
    if (digest->failed || EVP_DigestFinal_ex(digest->context, bytes, NULL) != 1) return false;
    for (size_t i = 0; i < SHA_BYTES; i++) {
        ret_text[2 * i] = digits[bytes[i] >> 4];
        ret_text[2 * i + 1] = digits[bytes[i] & 15];
    }
    ret_text[2 * SHA_BYTES] = '\0';
    return true;
}

static bool add_nodes(struct journal_digest *digest, const struct ledger *ledger,
                      const struct text_list *names) {
    struct arena arena;
    bool fine = true;
    arena_init(&arena, NODE_ARENA_BYTES);
    for (size_t i = 0; i < names->count && fine; i++) {
        struct node_report report;
        arena_clear(&arena);
        fine = ledger_node_report(ledger, names->items[i], true, &arena, &report) &&
               journal_digest_node(digest, &report, &arena);
    }
    arena_release(&arena);
    return fine;
}

bool journal_digest_ledger(const struct ledger *ledger, char ret_text[JOURNAL_DIGEST_TEXT_BYTES],
                           size_t *ret_nodes) {
    struct journal_digest *digest = journal_digest_new();
    struct arena arena;
    struct text_list names;
    arena_init(&arena, NODE_ARENA_BYTES);
    bool fine = digest != NULL && ledger_nodes(ledger, &arena, &names) && add_nodes(digest, ledger, &names) &&
                journal_digest_end(digest, ret_text);
    if (fine) *ret_nodes = names.count;
    arena_release(&arena);
    journal_digest_free(digest);
    return fine;
}
