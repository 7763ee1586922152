// SPDX-License-Identifier: Apache-2.0
// Whether an update leaves a claim's parts as they are, in the sense of the API: defaults filled in, absent
// and empty lists alike, quantities by their value.
#ifndef DRAWBRIDGE_SCHEMA_CLAIM_EQUAL_H
#define DRAWBRIDGE_SCHEMA_CLAIM_EQUAL_H

#include <stdbool.h>

#include "validators/core/arena.h"
#include "validators/model/resource_claim.h"

// What they do: true when nothing differs. Fields of features that are off are only compared where the old
// object has them, because the server drops new ones. The arena serves look-ups in maps.
// Source: k8s.io/apimachinery v0.36.3 pkg/api/equality/semantic.go, DeepEqual; kubernetes v1.37.2
// pkg/api/resourceclaimspec/resourceclaimspec.go, DropDisabledFields.
bool device_claim_equal(const struct device_claim *claim, const struct device_claim *old,
                        struct arena *arena);
bool allocation_equal(const struct allocation *allocation, const struct allocation *old, struct arena *arena);

bool text_maps_equal(const struct text_map *map, const struct text_map *old, struct arena *arena);

#endif
