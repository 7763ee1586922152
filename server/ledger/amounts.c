// SPDX-License-Identifier: Apache-2.0
// Amounts of resources in long-lived memory.
#include "server/ledger/amounts.h"

struct quantity quantity_kept(struct quantity quantity) {
    quantity.source = (struct text){NULL, 0};
    quantity.cached = false;
    return quantity;
}

void amounts_release(struct name_table *names, struct amounts *amounts) {
    for (size_t i = 0; i < amounts->count; i++) name_drop(names, amounts->items[i].resource);
    heap_free(names->index.heap, amounts->items, amounts->count * sizeof *amounts->items);
    *amounts = (struct amounts){0};
}

// The place of a name in the sorted front part of a list. What Go writes is sorted, so the search starts at
// the end.
static size_t place_of(const struct amounts *amounts, struct text name, bool *ret_there) {
    size_t at = amounts->count;
    int order = 1;
    while (at > 0 && (order = text_compare(amounts->items[at - 1].resource->text, name)) > 0) at--;
    *ret_there = at > 0 && order == 0;
    return at;
}

bool amounts_copy(struct name_table *names, const struct quantity_map *map, struct amounts *ret_amounts) {
    struct amounts copy = {0};
    size_t room = map->count;
    if (room > 0) {
        copy.items = heap_alloc(names->index.heap, room * sizeof *copy.items);
        if (copy.items == NULL) return false;
    }
    bool fine = true;
    for (size_t i = 0; i < room && fine; i++) {
        bool there;
        size_t at = place_of(&copy, map->items[i].key, &there);
        if (there || !map->items[i].value.set) continue;
        const struct name *resource = name_take(names, map->items[i].key);
        fine = resource != NULL;
        if (!fine) break;
        memmove(copy.items + at + 1, copy.items + at, (copy.count - at) * sizeof *copy.items);
        copy.items[at] = (struct amount){resource, quantity_kept(map->items[i].value)};
        copy.count++;
    }
    if (fine && copy.count < room) { // the block is given back by its count
        struct amount *fit =
            heap_resize(names->index.heap, copy.items, room * sizeof *fit, copy.count * sizeof *fit);
        fine = fit != NULL;
        if (fine) copy.items = fit;
    }
    if (!fine) {
        for (size_t i = 0; i < copy.count; i++) name_drop(names, copy.items[i].resource);
        heap_free(names->index.heap, copy.items, room * sizeof *copy.items);
        return false;
    }
    if (copy.count == 0) {
        heap_free(names->index.heap, copy.items, 0);
        copy.items = NULL;
    }
    *ret_amounts = copy;
    return true;
}

const struct quantity *amounts_find(const struct amounts *amounts, const struct name *resource) {
    for (size_t i = 0; i < amounts->count; i++)
        if (amounts->items[i].resource == resource) return &amounts->items[i].quantity;
    return NULL;
}
