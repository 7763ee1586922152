// SPDX-License-Identifier: Apache-2.0
// mapping-wrong-version: a device has the mapping of the other Kubernetes version.
//
// Kubernetes 1.36 reads nodeAllocatableResourceMappings, 1.37 reads nodeAllocatableResources. Each server
// drops the other field without a word (it is an error only under strict field validation), and Pods are
// then charged nothing for the device.
//
// For 1.36:
//   nodeAllocatableResourceMappings:
//     memory: {allocationMultiplier: 8Gi}
//     cpu: {capacityKey: cpu}
// The same for 1.37:
//   nodeAllocatableResources:
//     memory: {mapping: {deviceMultiplier: 8Gi}}
//     cpu: {mapping: {capacityKey: cpu, capacityMultiplier: "1"}}
//
// overhead (1.37) and ephemeral-storage (1.36) have nothing in the other version. The message prints the
// equivalent of what was found.
//
// Reads: spec.devices[].nodeAllocatableResourceMappings, spec.devices[].nodeAllocatableResources.
//
// Default: warn. Policy may set deny, warn, audit or off. A device with both fields is another rule's
// matter: mapping-both-versions.
//
// Source: k8s.io/api v0.36.3 resource/v1/types.go, NodeAllocatableResourceMapping; v0.37.2,
// NodeAllocatableResource.
#include "validators/rules/mapping.h"

#define ENTRIES_SHOWN 4u

static struct text amount_text(struct quantity quantity) {
    return quantity.set ? quantity.source : TEXT("1");
}

static struct text for_v137(struct arena *arena, const struct node_allocatable *entry) {
    struct text multiplier = amount_text(entry->allocation_multiplier);
    if (text_equal(entry->key, TEXT("ephemeral-storage")))
        return TEXT("nothing for ephemeral-storage, which 1.37 does not count");
    if (!entry->capacity_key.set)
        return text_format(arena, "%.*s: {mapping: {deviceMultiplier: \"%.*s\"}}", TEXT_ARG(entry->key),
                           TEXT_ARG(multiplier));
    return text_format(arena, "%.*s: {mapping: {capacityKey: %.*s, capacityMultiplier: \"%.*s\"}}",
                       TEXT_ARG(entry->key), TEXT_ARG(entry->capacity_key.value), TEXT_ARG(multiplier));
}

static struct text for_v136(struct arena *arena, const struct node_allocatable *entry) {
    if (!entry->mapping_set)
        return text_format(arena, "nothing for the overhead of %.*s, which 1.36 does not know",
                           TEXT_ARG(entry->key));
    if (!entry->capacity_key.set)
        return text_format(arena, "%.*s: {allocationMultiplier: \"%.*s\"}", TEXT_ARG(entry->key),
                           TEXT_ARG(amount_text(entry->device_multiplier)));
    return text_format(arena, "%.*s: {capacityKey: %.*s, allocationMultiplier: \"%.*s\"}",
                       TEXT_ARG(entry->key), TEXT_ARG(entry->capacity_key.value),
                       TEXT_ARG(amount_text(entry->capacity_multiplier)));
}

static struct text equivalent(const struct rule_input *input, const struct node_allocatable_map *found) {
    struct text list = {"", 0};
    for (size_t i = 0; i < found->count; i++) {
        if (i == ENTRIES_SHOWN) return text_format(input->arena, "%.*s, …", TEXT_ARG(list));
        struct text entry = input->minor >= MINOR_37 ? for_v137(input->arena, &found->items[i])
                                                     : for_v136(input->arena, &found->items[i]);
        list = text_format(input->arena, "%.*s%s%.*s", TEXT_ARG(list), i > 0 ? ", " : "", TEXT_ARG(entry));
    }
    return list;
}

void rule_mapping_wrong_version(const struct rule_input *input, struct finding_list *findings) {
    const struct device_list *devices = &input->object->slice.devices;
    struct path spec = path_field(NULL, TEXT("spec"));
    struct path list = path_field(&spec, TEXT("devices"));
    struct text hint = {NULL, 0}; // of the device before
    int other = input->minor >= MINOR_37 ? MINOR_36 : MINOR_37;
    for (size_t i = 0; i < devices->count; i++) {
        const struct device *device = &devices->items[i];
        const struct node_allocatable_map *found = mapping_entries(device, other);
        if (found->count == 0 || mapping_entries(device, input->minor)->count > 0) continue;
        struct path at = path_index(&list, i);
        struct path field = path_field(&at, mapping_field(other));
        struct finding *finding =
            finding_addf(findings, FINDING_FORBIDDEN, &field, (struct text){NULL, 0},
                         "Kubernetes 1.%d drops this field, which belongs to 1.%d", input->minor, other);
        if (hint.len == 0 || !device->like_before)
            hint = text_format(input->arena, "write %.*s: {%.*s}", TEXT_ARG(mapping_field(input->minor)),
                               TEXT_ARG(equivalent(input, found)));
        finding_hint(finding, hint);
    }
}
