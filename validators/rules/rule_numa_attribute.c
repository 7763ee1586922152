// SPDX-License-Identifier: Apache-2.0
// numa-attribute: the NUMA node of a device with mappings cannot be read.
//
// The ledger keeps an account for each NUMA node, and learns a device's node from an attribute: the standard
// resource.kubernetes.io/numaNode, or the spellings that drivers used before it (numaNodeID, numaNode,
// dra.cpu/numaNodeID; the list is a setting). It must be an integer or a list of integers, none below zero,
// and two spellings on one device must agree.
//
// Wrong:
//   attributes:
//     numaNode: {string: "0"}
// Right:
//   attributes:
//     resource.kubernetes.io/numaNode: {int: 0}
//
// A device that has no NUMA node leaves the attribute out. Only devices with mappings are judged.
//
// Reads: spec.driver, spec.devices[].attributes, spec.devices[].nodeAllocatableResourceMappings (1.36),
// spec.devices[].nodeAllocatableResources (1.37); policy: spec.numaAttributes.
//
// Default: deny. Policy may set deny, warn, audit or off.
//
// Source: k8s.io/dynamic-resource-allocation v0.37.2 deviceattribute, StandardDeviceAttributeNUMANode.
#include "validators/rules/mapping.h"
#include "validators/rules/numa.h"

static struct text attribute_text(struct arena *arena, const struct device_attribute *attribute) {
    if (attribute->string_value.set) return attribute->string_value.value;
    if (attribute->version_value.set) return attribute->version_value.value;
    if (attribute->bool_value.set) return attribute->bool_value.value ? TEXT("true") : TEXT("false");
    int64_t node;
    if (numa_first_node(attribute, &node)) return text_format(arena, "%lld", (long long)node);
    return (struct text){NULL, 0};
}

// False, with a finding, when the attribute names no node.
static bool names_nodes(const struct rule_input *input, const struct device_attribute *attribute,
                        const struct path *path, struct finding_list *findings) {
    int64_t node;
    if (!numa_first_node(attribute, &node)) {
        struct finding *finding =
            finding_add(findings, FINDING_INVALID, path, attribute_text(input->arena, attribute),
                        TEXT("a NUMA node is an integer or a list of integers"));
        finding_hint(finding, TEXT("write {int: 0}"));
        return false;
    }
    bool negative = attribute->int_value.set && attribute->int_value.value < 0;
    const struct int64_list *nodes = &attribute_lists(attribute)->ints;
    for (size_t i = 0; i < nodes->count; i++) {
        if (nodes->items[i] >= 0) continue;
        negative = true;
        node = nodes->items[i];
    }
    if (!negative) return true;
    struct finding *finding =
        finding_add(findings, FINDING_INVALID, path, text_format(input->arena, "%lld", (long long)node),
                    TEXT("a NUMA node is not negative"));
    finding_hint(finding, TEXT("leave the attribute out when the device has no NUMA node"));
    return false;
}

// The next attribute from i on that tells the NUMA node; places as numa_places gives them.
static size_t next_named(const struct rule_input *input, const struct device *device, uint64_t places,
                         size_t i) {
    const struct device_attribute_map *map = &device->attributes;
    i = attribute_without(~places, i);
    while (i >= 64 && i < map->count && !numa_is_attribute(input, map->items[i].key)) i++;
    return i;
}

// The attribute that counts: of those that can be read the one whose spelling comes first in the list.
static const struct device_attribute *attribute_that_counts(const struct rule_input *input,
                                                            const struct device *device, uint64_t places) {
    const struct device_attribute *best = NULL;
    size_t best_place = 0;
    size_t i = next_named(input, device, places, 0);
    for (; i < device->attributes.count; i = next_named(input, device, places, i + 1)) {
        const struct device_attribute *attribute = &device->attributes.items[i];
        int64_t node;
        if (!numa_first_node(attribute, &node) || node < 0) continue;
        size_t place = numa_place(input, attribute->key);
        if (best != NULL &&
            (place > best_place || (place == best_place && text_compare(attribute->key, best->key) > 0)))
            continue;
        best = attribute;
        best_place = place;
    }
    return best;
}

static void judge_device(const struct rule_input *input, const struct device *device, uint64_t places,
                         const struct path *path, struct finding_list *findings) {
    struct path field = path_field(path, TEXT("attributes"));
    // One alone agrees with itself: mostly it need not be asked which one counts.
    bool several = (places & (places - 1)) != 0 || device->attributes.count > 64;
    const struct device_attribute *counts = several ? attribute_that_counts(input, device, places) : NULL;
    size_t i = next_named(input, device, places, 0);
    for (; i < device->attributes.count; i = next_named(input, device, places, i + 1)) {
        const struct device_attribute *attribute = &device->attributes.items[i];
        struct path at = path_key(&field, attribute->key);
        if (!names_nodes(input, attribute, &at, findings)) continue;
        if (counts == NULL || attribute == counts) continue;
        int64_t node = 0;
        int64_t before = 0;
        if (!numa_first_node(attribute, &node) || !numa_first_node(counts, &before) || node == before)
            continue;
        struct finding *finding = finding_addf(
            findings, FINDING_INVALID, &at, text_format(input->arena, "%lld", (long long)node),
            "this disagrees with %.*s, which says %lld", TEXT_ARG(counts->key), (long long)before);
        finding_hint(finding, TEXT("publish one spelling, or the same node in both"));
    }
}

void rule_numa_attribute(const struct rule_input *input, struct finding_list *findings) {
    const struct device_list *devices = &input->object->slice.devices;
    struct path spec = path_field(NULL, TEXT("spec"));
    struct path list = path_field(&spec, TEXT("devices"));
    uint64_t places = 0;
    for (size_t i = 0; i < devices->count; i++) {
        const struct device *device = &devices->items[i];
        struct path at = path_index(&list, i);
        places = numa_places(input, &device->attributes, places);
        if (mapping_entries(device, input->minor)->count == 0) continue;
        judge_device(input, device, places, &at, findings);
    }
}
