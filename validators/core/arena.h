// SPDX-License-Identifier: Apache-2.0
// One capped arena per request or document: everything that the request needs comes from it and goes at once.
// The first failure is sticky: the arena is poisoned, later calls return NULL, and the gate asks once before
// it trusts an empty list of findings.
#ifndef DRAWBRIDGE_CORE_ARENA_H
#define DRAWBRIDGE_CORE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks; // newest first
    char *at;                   // next free byte of the newest chunk
    char *end;
    size_t used_bytes; // handed to chunks so far, never above cap_bytes
    size_t cap_bytes;
    size_t fail_after; // tests only: fail the n-th allocation from now; 0 is off
    bool poisoned;
};

// What it does: starts an empty arena that will hold at most cap_bytes. Allocates nothing.
void arena_init(struct arena *arena, size_t cap_bytes);

// What it does: frees everything but one chunk and starts again with the same cap. Clears the poison.
void arena_clear(struct arena *arena);

// What it does: frees everything. NULL and a zeroed arena are allowed.
void arena_release(struct arena *arena);

// What it does: memory of size_bytes, aligned for any type, not zeroed.
// Owner: the arena. Errors: NULL when the cap or the system's memory is reached; the arena is then poisoned.
// Thread: one thread at a time.
void *arena_alloc(struct arena *arena, size_t size_bytes);

// What it does: as arena_alloc, zeroed, for count items of size_bytes. Errors: also when the product
// overflows.
void *arena_zalloc(struct arena *arena, size_t count, size_t size_bytes);

// What it does: as arena_append, where the list may have to grow.
void *arena_append_growing(struct arena *arena, void *items, size_t *count, size_t item_bytes);

// What it does: makes room for one more item in a list that grows inside the arena (capacity doubles, the old
// block stays until the arena ends). Returns the new, zeroed item, or NULL when the arena is poisoned; then
// the list is unchanged. Use through LIST_APPEND.
static inline void *arena_append(struct arena *arena, void *items, size_t *count, size_t item_bytes) {
    size_t used = *count;
    // Capacities are powers of two, so a list can only be full where its count is one.
    if ((used & (used - 1)) == 0 || arena->poisoned)
        return arena_append_growing(arena, items, count, item_bytes);
    char *block;
    memcpy(&block, items, sizeof block);
    *count = used + 1;
    return memset(block + used * item_bytes, 0, item_bytes);
}

// A list is any struct with `T *items; size_t count; …`. The capacity is derived from the count, so the list
// must only ever grow through this macro.
#define LIST_APPEND(arena, list) arena_append((arena), &(list)->items, &(list)->count, sizeof *(list)->items)

#endif
