// SPDX-License-Identifier: Apache-2.0
// Sums over devices.
#include "validators/model/slice_amounts.h"

#include "validators/model/object.h"

static const struct device_capacity *capacity_of(const struct device *device, struct text key) {
    for (size_t i = 0; i < device->capacity.count; i++)
        if (text_equal(device->capacity.items[i].key, key)) return &device->capacity.items[i];
    return NULL;
}

// All that one device could take of a resource; not set when it cannot be told.
static struct quantity whole_of(const struct device *device, const struct node_allocatable *mapping,
                                int minor) {
    struct quantity multiplier = mapping->allocation_multiplier;
    if (!multiplier.set) multiplier = quantity_from_int64(1, QUANTITY_DECIMAL_SI);
    if (minor >= MINOR_37)
        multiplier = mapping->capacity_key.set ? mapping->capacity_multiplier : mapping->device_multiplier;
    if (!multiplier.set || !mapping->capacity_key.set) return multiplier;
    const struct device_capacity *capacity = capacity_of(device, mapping->capacity_key.value);
    if (capacity == NULL) return (struct quantity){.set = false};
    return quantity_multiply(capacity->value, multiplier);
}

void amounts_add(struct quantity_map *amounts, struct text resource, struct quantity quantity,
                 struct arena *arena) {
    for (size_t i = 0; i < amounts->count; i++) {
        if (!text_equal(amounts->items[i].key, resource)) continue;
        amounts->items[i].value = quantity_add(amounts->items[i].value, quantity);
        return;
    }
    struct quantity_entry *entry = LIST_APPEND(arena, amounts);
    if (entry != NULL) *entry = (struct quantity_entry){resource, quantity};
}

void slice_amounts(const struct resource_slice *slice, int minor, struct arena *arena,
                   struct quantity_map *ret_amounts) {
    struct quantity_map amounts = {.set = true};
    for (size_t i = 0; i < slice->devices.count; i++) {
        const struct device *device = &slice->devices.items[i];
        const struct node_allocatable_map *entries =
            minor >= MINOR_37 ? &device->resources_v137 : &device->mappings_v136;
        if (device->consumes_counters.count > 0) continue;
        for (size_t k = 0; k < entries->count; k++) {
            struct quantity whole = whole_of(device, &entries->items[k], minor);
            if (whole.set) amounts_add(&amounts, entries->items[k].key, whole, arena);
        }
    }
    *ret_amounts = amounts;
}
