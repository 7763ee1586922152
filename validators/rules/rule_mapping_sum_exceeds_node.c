// SPDX-License-Identifier: Apache-2.0
// mapping-sum-exceeds-node: all devices of a slice together take more of a resource than their node has.
//
// Each device for itself fits, but not all at once: some of them can never be used while the others are. That
// may be meant, where devices are ways to cut up one piece of hardware; such devices consume counters and are
// not summed up. Otherwise driver and node disagree on how much there is.
//
// Wrong: a node with 24 cores, and a device with capacity cpu 25 that is mapped to cpu.
// Right: what the driver manages, at most what the node has to give.
//
// Footprints by capacity count with all of the capacity. In 1.37 overhead is left out: it depends on Pods.
//
// Reads: spec.nodeName, spec.devices[].capacity, spec.devices[].consumesCounters,
// spec.devices[].nodeAllocatableResourceMappings (1.36), spec.devices[].nodeAllocatableResources (1.37); Node
// status.allocatable.
//
// Default: warn. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.36.3 pkg/scheduler/framework/plugins/dynamicresources/
// nodeallocatabledynamicresources.go, nodeFitsResources.
#include "validators/rules/pool.h"

struct sum {
    struct text resource;
    struct quantity total;
};
struct sum_list {
    struct sum *items;
    size_t count;
};

static const struct device_capacity *capacity_of(const struct device *device, struct text key) {
    for (size_t i = 0; i < device->capacity.count; i++)
        if (text_equal(device->capacity.items[i].key, key)) return &device->capacity.items[i];
    return NULL;
}

// All that one device could take of a resource; not set when it cannot be told.
static struct quantity whole_of(const struct device *device, const struct node_allocatable *mapping,
                                int minor) {
    struct quantity one = quantity_from_int64(1, QUANTITY_DECIMAL_SI);
    struct quantity multiplier = mapping->allocation_multiplier.set ? mapping->allocation_multiplier : one;
    if (minor >= MINOR_37)
        multiplier = mapping->capacity_key.set ? mapping->capacity_multiplier : mapping->device_multiplier;
    if (!multiplier.set || !mapping->capacity_key.set) return multiplier;
    const struct device_capacity *capacity = capacity_of(device, mapping->capacity_key.value);
    if (capacity == NULL) return (struct quantity){.set = false};
    return quantity_multiply(capacity->value, multiplier);
}

static void add(struct arena *arena, struct sum_list *sums, struct text resource, struct quantity amount) {
    for (size_t i = 0; i < sums->count; i++) {
        if (!text_equal(sums->items[i].resource, resource)) continue;
        sums->items[i].total = quantity_add(sums->items[i].total, amount);
        return;
    }
    struct sum *sum = LIST_APPEND(arena, sums);
    if (sum != NULL) *sum = (struct sum){.resource = resource, .total = amount};
}

void rule_mapping_sum_exceeds_node(const struct rule_input *input, struct finding_list *findings) {
    const struct resource_slice *slice = &input->object->slice;
    struct sum_list sums = {NULL, 0};
    if (!slice->node_name.set || slice->devices.count == 0) return;
    for (size_t i = 0; i < slice->devices.count; i++) {
        const struct device *device = &slice->devices.items[i];
        const struct node_allocatable_map *entries = mapping_entries(device, input->minor);
        if (device->consumes_counters.count > 0) continue;
        for (size_t k = 0; k < entries->count; k++) {
            struct quantity whole = whole_of(device, &entries->items[k], input->minor);
            if (whole.set) add(input->arena, &sums, entries->items[k].key, whole);
        }
    }
    struct path spec = path_field(NULL, TEXT("spec"));
    struct path path = path_field(&spec, TEXT("devices"));
    for (size_t i = 0; i < sums.count; i++) {
        struct quantity has;
        struct text resource = sums.items[i].resource;
        if (VIEW_ASK(input->view, node_allocatable, slice->node_name.value, resource, &has) != VIEW_KNOWN ||
            quantity_compare(sums.items[i].total, has) <= 0)
            continue;
        struct finding *finding = finding_addf(
            findings, FINDING_INVALID, &path, quantity_canonical(input->arena, sums.items[i].total),
            "all devices together take more %.*s than node %.*s has to give (%.*s)", TEXT_ARG(resource),
            TEXT_ARG(slice->node_name.value), TEXT_ARG(quantity_text(input->arena, has)));
        finding_hint(finding, TEXT("check the units, or what driver and node are set to manage"));
    }
}
