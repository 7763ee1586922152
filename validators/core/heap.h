// SPDX-License-Identifier: Apache-2.0
// Counted and capped memory for long-lived tables (cache, ledger). Each owner has its own heap, so that a
// metric can say what fills the process and a cap can stop it.
#ifndef DRAWBRIDGE_CORE_HEAP_H
#define DRAWBRIDGE_CORE_HEAP_H

#include <stddef.h>

struct heap {
    size_t used_bytes;
    size_t cap_bytes;  // 0: no cap
    size_t count;      // live blocks
    size_t fail_after; // tests only: fail the n-th allocation from now; 0 is off
};

// What it does: zeroed memory. Owner: the caller, to be given back with heap_free and the same size.
// Errors: NULL when the cap or the system's memory is reached. Thread: the heap's owner serialises.
void *heap_alloc(struct heap *heap, size_t size_bytes) __attribute__((warn_unused_result));

// What it does: grows or shrinks a block; new bytes are zero. Errors: NULL, the old block is then unchanged.
void *heap_resize(struct heap *heap, void *block, size_t old_bytes, size_t new_bytes)
    __attribute__((warn_unused_result));

// What it does: gives a block back. NULL is allowed.
void heap_free(struct heap *heap, void *block, size_t size_bytes);

#endif
