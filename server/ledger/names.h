// SPDX-License-Identifier: Apache-2.0
// Interned texts and the index that all tables of the ledger use. A text that many objects share (driver,
// pool, device, resource) is held once, and equal texts are equal pointers. Names come from tenants, so the
// hash is keyed (SipHash-2-4) with the ledger's seed.
#ifndef DRAWBRIDGE_LEDGER_NAMES_H
#define DRAWBRIDGE_LEDGER_NAMES_H

#include "validators/core/heap.h"
#include "validators/core/text.h"

// Source: J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF" (2012).
uint64_t siphash(const uint64_t key[2], const void *data, size_t len);

// A chained hash index of structs that hold a `struct link`. The caller compares keys.
struct link {
    struct link *next;
    uint64_t hash;
};
struct index {
    struct heap *heap;
    struct link **buckets;
    size_t bucket_count; // a power of two, or 0
    size_t count;
};

#define LINK_OWNER(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

// What it does: room for one more, so that the insertion that follows cannot fail. Errors: false, memory.
bool index_reserve(struct index *index) __attribute__((warn_unused_result));
// Needs room made by index_reserve.
void index_insert(struct index *index, struct link *link, uint64_t hash);
void index_remove(struct index *index, struct link *link);
// The first link with this hash, or NULL; then the next one with the same hash.
struct link *index_first(const struct index *index, uint64_t hash);
struct link *index_next(const struct link *link);
// Every link: starts with *bucket 0 and link NULL; NULL at the end. Nothing may be
// inserted or removed meanwhile; to remove while walking, ask for the next one first.
struct link *index_each(const struct index *index, size_t *bucket, struct link *link);
void index_release(struct index *index);

struct name {
    struct link link;
    size_t refs;
    struct text text; // points behind this struct, NUL-terminated
};
struct name_table {
    struct index index;
    uint64_t seed[2];
};

// What it does: the name of a text, with one more reference. Errors: NULL, memory.
const struct name *name_take(struct name_table *table, struct text text) __attribute__((warn_unused_result));
// The name of a text if somebody holds it; no reference is added.
const struct name *name_find(const struct name_table *table, struct text text);
// One more reference.
const struct name *name_share(const struct name *name);
// Gives a reference back. NULL is allowed.
void name_drop(struct name_table *table, const struct name *name);

// The hash of a key that is made of names: of their addresses, which nobody outside can choose, so that
// something far cheaper than SipHash, mixed with the seed, is enough.
uint64_t names_hash(const uint64_t seed[2], const struct name *const *names, size_t count);

#endif
