// SPDX-License-Identifier: Apache-2.0
// mapping-sum-exceeds-node: all devices of a driver together take more of a resource than their node has.
//
// Each device for itself fits, but not all at once: some of them can never be used while the others are. That
// may be meant, where devices are ways to cut up one piece of hardware; such devices consume counters and are
// not summed up. Otherwise driver and node disagree on how much there is.
//
// Wrong: a node with 24 cores, and a device with capacity cpu 25 that is mapped to cpu.
// Right: what the driver manages, at most what the node has to give.
//
// Added up are the devices of the slice, and those of the driver's other live slices on the node: of each
// pool the newest generation. Footprints by capacity count with all of the capacity. In 1.37 overhead is left
// out: it depends on Pods.
//
// Reads: spec.nodeName, spec.driver, spec.pool, spec.devices[].capacity, spec.devices[].consumesCounters,
// spec.devices[].nodeAllocatableResourceMappings (1.36), spec.devices[].nodeAllocatableResources (1.37); Node
// status.allocatable; the driver's other live slices on the node.
//
// Default: warn. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.36.3 pkg/scheduler/framework/plugins/dynamicresources/
// nodeallocatabledynamicresources.go, nodeFitsResources.
#include "validators/model/slice_amounts.h"
#include "validators/rules/pool.h"

// The generation of the slice's own pool whose other slices count; -1: none. False when a newer one is live,
// so that this slice does not count itself.
static bool own_generation(const struct rule_input *input, int64_t *ret_generation) {
    const struct resource_pool *pool = &input->object->slice.pool;
    struct pool_state live;
    *ret_generation = -1;
    if (pool_of(input, &live) != VIEW_KNOWN || live.live_generation < pool->generation) return true;
    if (live.live_generation > pool->generation) return false;
    // With more slices than there should be, some are about to go: the pool shrinks.
    if ((int64_t)live.newest_count < pool->resource_slice_count) *ret_generation = pool->generation;
    return true;
}

static const struct quantity *find(const struct quantity_map *amounts, struct text resource) {
    for (size_t i = 0; i < amounts->count; i++)
        if (text_equal(amounts->items[i].key, resource)) return &amounts->items[i].value;
    return NULL;
}

void rule_mapping_sum_exceeds_node(const struct rule_input *input, struct finding_list *findings) {
    const struct resource_slice *slice = &input->object->slice;
    struct pool_key key = pool_key_of(slice);
    struct quantity_map own, others = {.set = false};
    int64_t generation;
    if (key.scope.kind != SCOPE_NODE || !own_generation(input, &generation)) return;
    slice_amounts(slice, input->minor, input->arena, &own);
    if (VIEW_ASK(input->view, other_amounts, &key, slice->metadata.name, generation, input->arena, &others) !=
        VIEW_KNOWN)
        others = (struct quantity_map){.set = false};
    struct path spec = path_field(NULL, TEXT("spec"));
    struct path path = path_field(&spec, TEXT("devices"));
    for (size_t i = 0; i < own.count; i++) {
        struct text resource = own.items[i].key;
        const struct quantity *other = find(&others, resource);
        struct quantity has, sum = own.items[i].value;
        if (other != NULL) sum = quantity_add(sum, *other);
        if (VIEW_ASK(input->view, node_allocatable, key.scope.value, resource, &has) != VIEW_KNOWN ||
            quantity_compare(sum, has) <= 0)
            continue;
        struct finding *finding =
            finding_addf(findings, FINDING_INVALID, &path, quantity_canonical(input->arena, sum),
                         "all devices%s together take more %.*s than node %.*s has to give (%.*s)",
                         other == NULL ? "" : " of the driver's slices", TEXT_ARG(resource),
                         TEXT_ARG(key.scope.value), TEXT_ARG(quantity_text(input->arena, has)));
        finding_hint(finding, TEXT("check the units, or what driver and node are set to manage"));
    }
}
