// SPDX-License-Identifier: Apache-2.0
// numa-missing: a device with mappings does not say on which NUMA node it is.
//
// The ledger then books its footprint on the node as a whole, and NUMA accounts cannot warn. Many devices
// have no NUMA node, so this rule is off until a policy turns it on.
//
// Without:
//   - name: gpu-0
//     nodeAllocatableResourceMappings: {memory: {allocationMultiplier: 8Gi}}
// With:
//   - name: gpu-0
//     attributes:
//       resource.kubernetes.io/numaNode: {int: 0}
//     nodeAllocatableResourceMappings: {memory: {allocationMultiplier: 8Gi}}
//
// Reads: spec.driver, spec.devices[].attributes, spec.devices[].nodeAllocatableResourceMappings (1.36),
// spec.devices[].nodeAllocatableResources (1.37); policy: spec.numaAttributes.
//
// Default: off. Policy may set deny, warn, audit or off.
//
// Source: k8s.io/dynamic-resource-allocation v0.37.2 deviceattribute, StandardDeviceAttributeNUMANode.
#include "validators/rules/mapping.h"
#include "validators/rules/numa.h"

static bool has_numa_attribute(const struct rule_input *input, const struct device *device) {
    for (size_t i = 0; i < device->attributes.count; i++)
        if (numa_is_attribute(input, device->attributes.items[i].key)) return true;
    return false;
}

void rule_numa_missing(const struct rule_input *input, struct finding_list *findings) {
    const struct device_list *devices = &input->object->slice.devices;
    struct path spec = path_field(NULL, TEXT("spec"));
    struct path list = path_field(&spec, TEXT("devices"));
    for (size_t i = 0; i < devices->count; i++) {
        const struct device *device = &devices->items[i];
        if (mapping_entries(device, input->minor)->count == 0 || has_numa_attribute(input, device)) continue;
        struct path at = path_index(&list, i);
        struct path field = path_field(&at, TEXT("attributes"));
        struct finding *finding = finding_add(findings, FINDING_REQUIRED, &field, (struct text){NULL, 0},
                                              TEXT("the device has mappings but names no NUMA node"));
        finding_hint(finding, TEXT("add resource.kubernetes.io/numaNode: {int: 0}"));
    }
}
