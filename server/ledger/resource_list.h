// SPDX-License-Identifier: Apache-2.0
// Lists of resources in arenas, sorted by name, so that two are added in one pass whatever a tenant writes.
#ifndef DRAWBRIDGE_LEDGER_RESOURCE_LIST_H
#define DRAWBRIDGE_LEDGER_RESOURCE_LIST_H

#include "validators/core/arena.h"
#include "validators/model/meta.h"

// All functions: the result is new, in the arena; an empty one when the arena is poisoned.

// What it does: a sorted copy. Of entries with the same name the first counts.
struct quantity_map resources_sorted(const struct quantity_map *map, struct arena *arena);

// What they do: for each name of either list the sum, or the greater one. Both lists are sorted.
// Source: k8s.io/component-helpers v0.36.3 resource/helpers.go, addResourceList, maxResourceList.
struct quantity_map resources_add(const struct quantity_map *a, const struct quantity_map *b,
                                  struct arena *arena);
struct quantity_map resources_max(const struct quantity_map *a, const struct quantity_map *b,
                                  struct arena *arena);

// What it does: b's entry where b has the name, else a's. Both lists are sorted.
struct quantity_map resources_override(const struct quantity_map *a, const struct quantity_map *b,
                                       struct arena *arena);

// The entry of a sorted list; NULL when there is none.
const struct quantity *resources_find(const struct quantity_map *map, struct text name);

// What it does: sorts names and tells their places: ret_order[i] is the index of the i-th name, equal names
// in the order as they came. Errors: false, arena poisoned.
bool texts_order(const struct text *names, size_t count, struct arena *arena, size_t **ret_order)
    __attribute__((warn_unused_result));

#endif
