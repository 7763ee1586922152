// SPDX-License-Identifier: Apache-2.0
// A set of hashes. The API server makes UIDs, so nobody can choose ones that collide.
#include "server/feed/present.h"

#define FIRST_SLOTS 64u

void present_init(struct present *present, struct heap *heap) {
    *present = (struct present){.heap = heap};
}

void present_release(struct present *present) {
    heap_free(present->heap, present->slots, present->slot_count * sizeof *present->slots);
    present_init(present, present->heap);
}

// Source: G. Fowler, L. C. Noll, K.-P. Vo, FNV-1a.
static uint64_t hash_of(struct text uid) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < uid.len; i++) hash = (hash ^ (unsigned char)uid.ptr[i]) * UINT64_C(1099511628211);
    return hash == 0 ? 1 : hash;
}

// The slot of a hash, or the free one where it belongs.
static size_t slot_of(const struct present_slot *slots, size_t slot_count, uint64_t hash) {
    size_t i = (size_t)hash & (slot_count - 1);
    while (slots[i].hash != 0 && slots[i].hash != hash) i = (i + 1) & (slot_count - 1);
    return i;
}

static bool grow(struct present *present) {
    size_t slot_count = present->slot_count == 0 ? FIRST_SLOTS : present->slot_count * 2;
    struct present_slot *slots = heap_alloc(present->heap, slot_count * sizeof *slots);
    if (slots == NULL) return false;
    for (size_t i = 0; i < present->slot_count; i++)
        if (present->slots[i].hash != 0)
            slots[slot_of(slots, slot_count, present->slots[i].hash)] = present->slots[i];
    heap_free(present->heap, present->slots, present->slot_count * sizeof *present->slots);
    present->slots = slots;
    present->slot_count = slot_count;
    return true;
}

void present_add(struct present *present, struct text uid) {
    if (present->count * 2 >= present->slot_count && !grow(present)) return;
    uint64_t hash = hash_of(uid);
    size_t i = slot_of(present->slots, present->slot_count, hash);
    if (present->slots[i].hash == 0) present->count++;
    present->slots[i] = (struct present_slot){hash, present->round};
}

// Frees a slot; those behind it that belonged before it move up.
static void free_slot(struct present *present, size_t i) {
    size_t mask = present->slot_count - 1;
    present->slots[i].hash = 0;
    present->count--;
    for (size_t k = (i + 1) & mask; present->slots[k].hash != 0; k = (k + 1) & mask) {
        struct present_slot moved = present->slots[k];
        present->slots[k].hash = 0;
        present->slots[slot_of(present->slots, present->slot_count, moved.hash)] = moved;
    }
}

void present_remove(struct present *present, struct text uid) {
    if (present->slot_count == 0) return;
    size_t i = slot_of(present->slots, present->slot_count, hash_of(uid));
    if (present->slots[i].hash != 0) free_slot(present, i);
}

void present_list_begin(struct present *present) {
    present->round++;
}

void present_list_end(struct present *present) {
    struct present old = *present;
    *present = (struct present){.heap = old.heap, .round = old.round};
    for (size_t i = 0; i < old.slot_count; i++) {
        if (old.slots[i].hash == 0 || old.slots[i].round != old.round) continue;
        if (present->count * 2 >= present->slot_count && !grow(present)) break;
        present->slots[slot_of(present->slots, present->slot_count, old.slots[i].hash)] = old.slots[i];
        present->count++;
    }
    heap_free(old.heap, old.slots, old.slot_count * sizeof *old.slots);
}
