// SPDX-License-Identifier: Apache-2.0
// What allocated devices take of their nodes, as the scheduler of the minor computes it.
// Source: kubernetes v1.36.3 and v1.37.2
// pkg/scheduler/framework/plugins/dynamicresources/nodeallocatabledynamicresources.go,
// buildNodeAllocatableDRAInfo.
#ifndef DRAWBRIDGE_LEDGER_FOOTPRINT_H
#define DRAWBRIDGE_LEDGER_FOOTPRINT_H

#include "server/ledger/state.h"

// Sums per resource, sorted by name, in an arena. Errors: what is missing when the arena is poisoned.
void sums_add(struct quantity_map *sums, struct text resource, struct quantity quantity, struct arena *arena);
void sums_add_all(struct quantity_map *sums, const struct quantity_map *more, struct arena *arena);
// Equal amounts; an absent one is nothing.
bool sums_equal(const struct quantity_map *a, const struct quantity_map *b);
bool sums_are_nothing(const struct quantity_map *sums);

// What they do: add what a row takes: its mapping, once per claim; its overhead, once per Pod, with so many
// references by containers. `shape` stands in for the row's own; NULL: what was committed.
void footprint_mapping(const struct row *row, const struct shape *shape, struct quantity_map *sums,
                       struct arena *arena);
void footprint_overhead(const struct row *row, const struct shape *shape, size_t reference_count,
                        struct quantity_map *sums, struct arena *arena);

// What a row consumes of a capacity; NULL: nothing is said of it.
const struct quantity *row_consumed(const struct row *row, const struct name *key);

// How often containers of a Pod refer to a claim.
size_t pod_references(const struct pod_entry *pod, const struct claim_entry *claim);

// What it does: all that one claim takes for a Pod whose containers refer to it so often.
struct quantity_map footprint_claim(const struct claim_entry *claim, size_t reference_count,
                                    struct arena *arena);

// The NUMA node of a row's device, as the policy spells it. Not set: none. (report.c)
struct opt_int64 row_numa(const struct ledger *ledger, const struct row *row);

#endif
