// SPDX-License-Identifier: Apache-2.0
// mapping-both-versions: one device has the mapping of Kubernetes 1.36 and that of 1.37.
//
// Kubernetes 1.36 reads nodeAllocatableResourceMappings, 1.37 reads nodeAllocatableResources; each drops the
// other at once. A device with both says two things, and which of them counts depends on the server.
//
// Wrong:
//   - name: gpu-0
//     nodeAllocatableResourceMappings: {memory: {allocationMultiplier: 8Gi}}
//     nodeAllocatableResources: {memory: {mapping: {deviceMultiplier: 8Gi}}}
// Right: the one that your servers' version reads.
//
// Reads: spec.devices[].nodeAllocatableResourceMappings, spec.devices[].nodeAllocatableResources.
//
// Default: deny. Policy may set deny, warn, audit or off.
//
// Source: k8s.io/api v0.36.3 and v0.37.2 resource/v1/types.go, Device.
#include "validators/rules/mapping.h"

void rule_mapping_both_versions(const struct rule_input *input, struct finding_list *findings) {
    const struct device_list *devices = &input->object->slice.devices;
    struct path spec = path_field(NULL, TEXT("spec"));
    struct path list = path_field(&spec, TEXT("devices"));
    int other = input->minor >= MINOR_37 ? MINOR_36 : MINOR_37;
    for (size_t i = 0; i < devices->count; i++) {
        const struct device *device = &devices->items[i];
        if (device->mappings_v136.count == 0 || device->resources_v137.count == 0) continue;
        struct path at = path_index(&list, i);
        struct path field = path_field(&at, mapping_field(other));
        struct finding *finding = finding_add(
            findings, FINDING_FORBIDDEN, &field, (struct text){NULL, 0},
            TEXT(
                "one device has nodeAllocatableResourceMappings (1.36) and nodeAllocatableResources (1.37)"));
        finding_hint(finding, text_format(input->arena, "keep %.*s for Kubernetes 1.%d",
                                          TEXT_ARG(mapping_field(input->minor)), input->minor));
    }
}
