// SPDX-License-Identifier: Apache-2.0
// SipHash, the index, the table of names.
#include "server/ledger/names.h"

#define FIRST_BUCKETS 64u

static uint64_t rotate(uint64_t x, int bits) {
    return (x << bits) | (x >> (64 - bits));
}

static void sip_round(uint64_t v[4]) {
    v[0] += v[1];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[0] = rotate(v[0], 32);
    v[2] += v[3];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[2] = rotate(v[2], 32);
}

uint64_t siphash(const uint64_t key[2], const void *data, size_t len) {
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du, key[0] ^ 0x6c7967656e657261u,
                     key[1] ^ 0x7465646279746573u};
    const unsigned char *at = data;
    size_t left = len;
    for (; left >= 8; left -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        v[3] ^= word;
        sip_round(v);
        sip_round(v);
        v[0] ^= word;
    }
    uint64_t last = (uint64_t)len << 56;
    if (left > 0) memcpy(&last, at, left);
    v[3] ^= last;
    sip_round(v);
    sip_round(v);
    v[0] ^= last;
    v[2] ^= 0xff;
    for (int i = 0; i < 4; i++) sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static struct link **bucket_of(const struct index *index, uint64_t hash) {
    return &index->buckets[hash & (index->bucket_count - 1)];
}

bool index_reserve(struct index *index) {
    if (index->count < index->bucket_count) return true;
    size_t count = index->bucket_count == 0 ? FIRST_BUCKETS : index->bucket_count * 2;
    struct link **buckets = heap_alloc(index->heap, count * sizeof *buckets);
    if (buckets == NULL) return false;
    struct link **old = index->buckets;
    size_t old_count = index->bucket_count;
    index->buckets = buckets;
    index->bucket_count = count;
    for (size_t i = 0; i < old_count; i++) {
        while (old[i] != NULL) {
            struct link *link = old[i];
            old[i] = link->next;
            struct link **bucket = bucket_of(index, link->hash);
            link->next = *bucket;
            *bucket = link;
        }
    }
    heap_free(index->heap, old, old_count * sizeof *old);
    return true;
}

void index_insert(struct index *index, struct link *link, uint64_t hash) {
    struct link **bucket = bucket_of(index, hash);
    link->hash = hash;
    link->next = *bucket;
    *bucket = link;
    index->count++;
}

void index_remove(struct index *index, struct link *link) {
    struct link **at = bucket_of(index, link->hash);
    while (*at != link) at = &(*at)->next;
    *at = link->next;
    index->count--;
}

struct link *index_first(const struct index *index, uint64_t hash) {
    if (index->bucket_count == 0) return NULL;
    struct link *link = *bucket_of(index, hash);
    while (link != NULL && link->hash != hash) link = link->next;
    return link;
}

struct link *index_next(const struct link *link) {
    struct link *next = link->next;
    while (next != NULL && next->hash != link->hash) next = next->next;
    return next;
}

struct link *index_each(const struct index *index, size_t *bucket, struct link *link) {
    if (link != NULL && link->next != NULL) return link->next;
    while (*bucket < index->bucket_count) {
        struct link *first = index->buckets[(*bucket)++];
        if (first != NULL) return first;
    }
    return NULL;
}

void index_release(struct index *index) {
    heap_free(index->heap, index->buckets, index->bucket_count * sizeof *index->buckets);
    *index = (struct index){.heap = index->heap};
}

const struct name *name_find(const struct name_table *table, struct text text) {
    for (struct link *link = index_first(&table->index, siphash(table->seed, text.ptr, text.len));
         link != NULL; link = index_next(link)) {
        const struct name *name = LINK_OWNER(link, struct name, link);
        if (text_equal(name->text, text)) return name;
    }
    return NULL;
}

const struct name *name_take(struct name_table *table, struct text text) {
    const struct name *known = name_find(table, text);
    if (known != NULL) return name_share(known);
    if (!index_reserve(&table->index)) return NULL;
    struct name *name = heap_alloc(table->index.heap, sizeof *name + text.len + 1);
    if (name == NULL) return NULL;
    char *copy = (char *)(name + 1);
    if (text.len > 0) memcpy(copy, text.ptr, text.len);
    name->text = (struct text){copy, text.len};
    name->refs = 1;
    index_insert(&table->index, &name->link, siphash(table->seed, text.ptr, text.len));
    return name;
}

const struct name *name_share(const struct name *name) {
    ((struct name *)(uintptr_t)name)->refs++;
    return name;
}

void name_drop(struct name_table *table, const struct name *name) {
    if (name == NULL) return;
    struct name *held = (struct name *)(uintptr_t)name;
    if (--held->refs > 0) return;
    index_remove(&table->index, &held->link);
    heap_free(table->index.heap, held, sizeof *held + held->text.len + 1);
}

// The two halves of a product, so that each bit of a factor reaches all bits.
static uint64_t fold_product(uint64_t a, uint64_t b) {
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t names_hash(const uint64_t seed[2], const struct name *const *names, size_t count) {
    uint64_t hash = seed[0];
    for (size_t i = 0; i < count; i++)
        hash = fold_product(hash ^ (uint64_t)(uintptr_t)names[i], seed[1] ^ UINT64_C(0x9e3779b97f4a7c15));
    return hash;
}
