// SPDX-License-Identifier: Apache-2.0
// A sorted index of texts in the arena, for lists of tenants' sizes: duplicates and look-ups in n log n,
// whatever the tenant writes.
#ifndef DRAWBRIDGE_SCHEMA_KEY_INDEX_H
#define DRAWBRIDGE_SCHEMA_KEY_INDEX_H

#include <stdbool.h>
#include <stddef.h>

#include "validators/core/arena.h"
#include "validators/core/text.h"

struct key_entry {
    size_t group; // keys of different groups are different
    struct text key;
    size_t position; // in the list that was indexed
};

struct key_index {
    struct key_entry *entries;
    size_t count;
    size_t capacity;
    bool repeated; // once sorted: a key is there more than once
};

#define KEY_INDEX_NONE SIZE_MAX

// What it does: an empty index with room for capacity keys. Owner: the arena. Errors: when the arena has no
// room the index has none either: nothing is kept, nothing found, and the arena is poisoned.
void key_index_init(struct key_index *index, struct arena *arena, size_t capacity);

// What it does: one text out of several, different whenever one of them is. Owner: the arena. Errors: empty,
// arena poisoned.
struct text key_compose(struct arena *arena, const struct text *parts, size_t count);

// Keeps one key; more than capacity are dropped. Keys must live as long as the index.
void key_index_add(struct key_index *index, size_t group, struct text key, size_t position);

// What it does: sorts by group, key and position. To be called once, between adding and asking. Errors:
// memory for the merge comes from the arena; without it the index becomes empty.
void key_index_sort(struct key_index *index, struct arena *arena);

// The highest position of a key; KEY_INDEX_NONE when it is not there.
size_t key_index_last(const struct key_index *index, size_t group, struct text key);

// The lowest position of a key; KEY_INDEX_NONE when it is not there.
size_t key_index_first(const struct key_index *index, size_t group, struct text key);

#endif
