// SPDX-License-Identifier: Apache-2.0
// mapping-exceeds-node: one device takes more of a node's resource than the node has.
//
// A fixed footprint above the node's allocatable amount can never fit: every Pod that is given the device
// stays Pending on that node. Mostly it is a slip of unit (8Ti for 8Gi) or a mapping for another machine.
//
// Wrong, on a node with 64Gi of allocatable memory:
//   nodeAllocatableResourceMappings:
//     memory: {allocationMultiplier: 80Gi}
// Right: what one allocation of the device really takes.
//
// Footprints by capacity are not judged: claims may ask for less than the whole. Nothing is judged while the
// node, or its amount of the resource, is unknown. In 1.37 the overhead per Pod is part of the footprint.
//
// Reads: spec.nodeName, spec.devices[].nodeName, spec.devices[].nodeAllocatableResourceMappings (1.36),
// spec.devices[].nodeAllocatableResources (1.37); Node status.allocatable.
//
// Default: deny. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.36.3 pkg/scheduler/framework/plugins/dynamicresources/
// nodeallocatabledynamicresources.go, nodeFitsResources.
#include "validators/rules/mapping.h"

static struct text node_of(const struct resource_slice *slice, const struct device *device) {
    if (slice->node_name.set && slice->node_name.value.len > 0) return slice->node_name.value;
    return device->node_name.set ? device->node_name.value : (struct text){NULL, 0};
}

struct fixed_footprint {
    struct quantity quantity;
    struct text field;
};

// What one allocation takes at least; unset when it depends on what claims ask for.
static struct fixed_footprint footprint_of(const struct node_allocatable *mapping, int minor) {
    struct fixed_footprint fixed = {.field = TEXT("allocationMultiplier")};
    if (minor < MINOR_37) {
        fixed.quantity = mapping->allocation_multiplier;
        if (mapping->capacity_key.set) fixed.quantity.set = false;
        return fixed;
    }
    bool overhead_only = !mapping->device_multiplier.set;
    fixed.field = overhead_only ? TEXT("overhead") : TEXT("mapping");
    fixed.quantity = overhead_only ? mapping->per_pod : mapping->device_multiplier;
    if (!overhead_only && mapping->per_pod.set)
        fixed.quantity = quantity_add(mapping->device_multiplier, mapping->per_pod);
    return fixed;
}

static void judge(const struct rule_input *input, const struct mapping_entry *entry,
                  struct finding_list *findings) {
    struct text node = node_of(&input->object->slice, entry->device);
    struct text resource = entry->mapping->key;
    struct fixed_footprint fixed = footprint_of(entry->mapping, input->minor);
    struct quantity allocatable;
    if (node.len == 0 || !fixed.quantity.set) return;
    if (input->view->table->node_allocatable(input->view->state, node, resource, &allocatable) != VIEW_KNOWN)
        return;
    if (quantity_compare(fixed.quantity, allocatable) <= 0) return;
    struct path path = path_field(entry->path, fixed.field);
    struct text amount = quantity_text(input->arena, fixed.quantity);
    struct finding *finding =
        finding_addf(findings, FINDING_INVALID, &path, amount, "node %.*s has only %.*s of %.*s to give",
                     TEXT_ARG(node), TEXT_ARG(quantity_text(input->arena, allocatable)), TEXT_ARG(resource));
    finding_hint(finding, TEXT("check the unit, or publish what one allocation of the device takes"));
}

void rule_mapping_exceeds_node(const struct rule_input *input, struct finding_list *findings) {
    mapping_for_each_entry(input, judge, findings);
}
