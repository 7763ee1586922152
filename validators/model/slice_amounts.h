// SPDX-License-Identifier: Apache-2.0
// What the devices of a slice could take of their node, all of them at once.
#ifndef DRAWBRIDGE_MODEL_SLICE_AMOUNTS_H
#define DRAWBRIDGE_MODEL_SLICE_AMOUNTS_H

#include "validators/core/arena.h"
#include "validators/model/resource_slice.h"

// What it does: adds up by resource. A footprint by capacity counts with all of the capacity, a fixed one
// once. Left out are overhead, which depends on Pods; devices that consume counters, which are ways to cut up
// one piece of hardware; and footprints by a capacity that the device does not have. Owner: the arena, texts
// of the slice. Errors: sticky in the arena.
void slice_amounts(const struct resource_slice *slice, int minor, struct arena *arena,
                   struct quantity_map *ret_amounts);

// What it does: adds one amount to such a map.
void amounts_add(struct quantity_map *amounts, struct text resource, struct quantity quantity,
                 struct arena *arena);

#endif
