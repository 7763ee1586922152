// SPDX-License-Identifier: Apache-2.0
// Counted memory.
#include "validators/core/heap.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool may_take(struct heap *heap, size_t more_bytes) {
    if (heap->fail_after > 0 && --heap->fail_after == 0) return false;
    return heap->cap_bytes == 0 ||
           (heap->used_bytes <= heap->cap_bytes && more_bytes <= heap->cap_bytes - heap->used_bytes);
}

void *heap_alloc(struct heap *heap, size_t size_bytes) {
    if (!may_take(heap, size_bytes)) return NULL;
    void *block = calloc(1, size_bytes == 0 ? 1 : size_bytes);
    if (block == NULL) return NULL;
    heap->used_bytes += size_bytes;
    heap->count++;
    return block;
}

void *heap_resize(struct heap *heap, void *block, size_t old_bytes, size_t new_bytes) {
    if (block == NULL) return heap_alloc(heap, new_bytes);
    if (new_bytes > old_bytes && !may_take(heap, new_bytes - old_bytes)) return NULL;
    char *grown = realloc(block, new_bytes == 0 ? 1 : new_bytes);
    if (grown == NULL) return NULL;
    if (new_bytes > old_bytes) memset(grown + old_bytes, 0, new_bytes - old_bytes);
    heap->used_bytes = heap->used_bytes - old_bytes + new_bytes;
    return grown;
}

void heap_free(struct heap *heap, void *block, size_t size_bytes) {
    if (block == NULL) return;
    free(block);
    heap->used_bytes -= size_bytes;
    heap->count--;
}
