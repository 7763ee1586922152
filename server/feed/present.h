// SPDX-License-Identifier: Apache-2.0
// Which objects of a kind are there, by their UIDs: enough to count them. Pure.
#ifndef DRAWBRIDGE_FEED_PRESENT_H
#define DRAWBRIDGE_FEED_PRESENT_H

#include "validators/core/heap.h"
#include "validators/core/text.h"

struct present_slot {
    uint64_t hash; // 0: free
    uint64_t round;
};

struct present {
    struct heap *heap;
    struct present_slot *slots;
    size_t slot_count; // a power of two, or 0
    size_t count;
    uint64_t round; // of the list
};

void present_init(struct present *present, struct heap *heap);
void present_release(struct present *present);

// What they do: note an object that is there, or gone. Where memory runs out the count stays behind.
void present_add(struct present *present, struct text uid);
void present_remove(struct present *present, struct text uid);

// A list: what is not added between the two is gone at the end. A list that is given up needs no end.
void present_list_begin(struct present *present);
void present_list_end(struct present *present);

#endif
