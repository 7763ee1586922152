// SPDX-License-Identifier: Apache-2.0
// The arena: chunks that double in size, bump allocation inside them.
#include "validators/core/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_ALIGN             16u
#define ARENA_FIRST_CHUNK_BYTES ((size_t)16 * 1024)
#define ARENA_CHUNK_LIMIT_BYTES ((size_t)1024 * 1024)
#define ARENA_FIRST_BYTES       128u // a list begins with as many items as fit, at least one

struct arena_chunk {
    struct arena_chunk *next;
    size_t size_bytes; // of the data behind the header
    _Alignas(ARENA_ALIGN) char data[];
};

void arena_init(struct arena *arena, size_t cap_bytes) {
    *arena = (struct arena){.cap_bytes = cap_bytes};
}

static void free_chunks(struct arena_chunk *chunk) {
    while (chunk != NULL) {
        struct arena_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
}

void arena_clear(struct arena *arena) {
    // The newest chunk is the largest, so the next request of this size needs no other.
    struct arena_chunk *keep = arena->chunks;
    if (keep != NULL) {
        free_chunks(keep->next);
        keep->next = NULL;
        // A very large one is given back: an idle worker must not sit on the memory of its largest request.
        if (keep->size_bytes > ARENA_CHUNK_LIMIT_BYTES) {
            free(keep);
            keep = NULL;
        }
    }
    size_t cap_bytes = arena->cap_bytes;
    *arena = (struct arena){.cap_bytes = cap_bytes, .chunks = keep};
    if (keep != NULL) {
        arena->used_bytes = keep->size_bytes;
        arena->at = keep->data;
        arena->end = keep->data + keep->size_bytes;
    }
}

void arena_release(struct arena *arena) {
    if (arena == NULL) return;
    free_chunks(arena->chunks);
    *arena = (struct arena){.cap_bytes = arena->cap_bytes};
}

static void *poison(struct arena *arena) {
    arena->poisoned = true;
    return NULL;
}

static bool add_chunk(struct arena *arena, size_t size_bytes) {
    size_t next_bytes = arena->chunks == NULL ? ARENA_FIRST_CHUNK_BYTES : arena->chunks->size_bytes * 2;
    if (next_bytes > ARENA_CHUNK_LIMIT_BYTES) next_bytes = ARENA_CHUNK_LIMIT_BYTES;
    if (next_bytes < size_bytes) next_bytes = size_bytes;
    size_t left_bytes = arena->cap_bytes - arena->used_bytes;
    if (next_bytes > left_bytes) next_bytes = left_bytes;
    if (next_bytes < size_bytes) return false;
    struct arena_chunk *chunk = malloc(sizeof *chunk + next_bytes);
    if (chunk == NULL) return false;
    chunk->next = arena->chunks;
    chunk->size_bytes = next_bytes;
    arena->chunks = chunk;
    arena->used_bytes += next_bytes;
    arena->at = chunk->data;
    arena->end = chunk->data + next_bytes;
    return true;
}

void *arena_alloc(struct arena *arena, size_t size_bytes) {
    if (arena->poisoned) return NULL;
    if (arena->fail_after > 0 && --arena->fail_after == 0) return poison(arena);
    if (size_bytes > SIZE_MAX - ARENA_ALIGN) return poison(arena);
    size_t rounded_bytes = (size_bytes + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    if (rounded_bytes == 0) rounded_bytes = ARENA_ALIGN;
    if ((size_t)(arena->end - arena->at) < rounded_bytes && !add_chunk(arena, rounded_bytes))
        return poison(arena);
    void *memory = arena->at;
    arena->at += rounded_bytes;
    return memory;
}

void *arena_zalloc(struct arena *arena, size_t count, size_t size_bytes) {
    size_t total_bytes;
    if (__builtin_mul_overflow(count, size_bytes, &total_bytes)) return poison(arena);
    void *memory = arena_alloc(arena, total_bytes);
    if (memory != NULL) memset(memory, 0, total_bytes);
    return memory;
}

// How many items a list begins with: the largest power of two that fits, at least one.
static size_t first_items(size_t item_bytes) {
    size_t items = 1;
    while (items * 2 <= ARENA_FIRST_BYTES / item_bytes) items *= 2;
    return items;
}

static size_t round_up(size_t size_bytes) {
    return (size_bytes + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
}

// A block of total_bytes that begins with the used_bytes of the old one: the old one itself where nothing was
// allocated behind it and the chunk has room.
static char *grow_block(struct arena *arena, char *block, size_t used_bytes, size_t total_bytes) {
    bool is_last = block != NULL && block + round_up(used_bytes) == arena->at;
    if (is_last && total_bytes <= (size_t)(arena->end - block) && !arena->poisoned) {
        if (arena_alloc(arena, total_bytes - round_up(used_bytes)) == NULL) return NULL;
        return block;
    }
    char *grown = arena_alloc(arena, total_bytes);
    if (grown != NULL && used_bytes > 0) memcpy(grown, block, used_bytes);
    return grown;
}

void *arena_append_growing(struct arena *arena, void *items, size_t *count, size_t item_bytes) {
    char *block;
    memcpy(&block, items, sizeof block);
    size_t used = *count;
    // The capacity is the first power of two, not below first_items, that holds the count: full exactly
    // there.
    bool full = used == 0 || (used & (used - 1)) == 0;
    if (full && (used == 0 || used >= first_items(item_bytes))) {
        size_t capacity = used == 0 ? first_items(item_bytes) : used * 2;
        size_t total_bytes;
        if (__builtin_mul_overflow(capacity, item_bytes, &total_bytes)) return poison(arena);
        block = grow_block(arena, used == 0 ? NULL : block, used * item_bytes, total_bytes);
        if (block == NULL) return NULL;
        memcpy(items, &block, sizeof block);
    } else if (arena->poisoned) {
        return NULL;
    }
    char *item = block + used * item_bytes;
    memset(item, 0, item_bytes);
    *count = used + 1;
    return item;
}
