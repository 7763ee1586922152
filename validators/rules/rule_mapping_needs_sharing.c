// SPDX-License-Identifier: Apache-2.0
// mapping-needs-sharing: a mapping by capacity on a device that cannot be shared.
//
// The scheduler writes consumedCapacity only for devices with allowMultipleAllocations: true. A mapping with
// a capacityKey on any other device makes its plugin fail: every attempt of every Pod that asks for such a
// device ends in SchedulerError, on all nodes.
//
// Wrong:
//   - name: numa-0
//     capacity: {cpu: {value: "16"}}
//     nodeAllocatableResourceMappings:
//       cpu: {capacityKey: cpu}
// Right:
//   - name: numa-0
//     allowMultipleAllocations: true
//     capacity: {cpu: {value: "16"}}
//     nodeAllocatableResourceMappings:
//       cpu: {capacityKey: cpu}
// Also right, when the device is handed out whole:
//   - name: numa-0
//     nodeAllocatableResourceMappings:
//       cpu: {allocationMultiplier: "16"}
//
// Reads: spec.devices[].allowMultipleAllocations, spec.devices[].nodeAllocatableResourceMappings (1.36),
// spec.devices[].nodeAllocatableResources (1.37).
//
// Default: deny. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.36.3 pkg/scheduler/framework/plugins/dynamicresources/
// nodeallocatabledynamicresources.go, buildNodeAllocatableDRAInfo ("ConsumedCapacity is nil").
#include "validators/rules/mapping.h"

static void judge(const struct rule_input *input, const struct mapping_entry *entry,
                  struct finding_list *findings) {
    const struct opt_bool *shared = &entry->device->allow_multiple_allocations;
    const struct opt_text *key = &entry->mapping->capacity_key;
    if (!key->set || key->value.len == 0 || (shared->set && shared->value)) return;
    struct path room;
    struct path path = mapping_capacity_key_path(input, entry, &room);
    struct finding *finding =
        finding_add(findings, FINDING_INVALID, &path, key->value,
                    TEXT("the scheduler knows no consumed capacity of a device without "
                         "allowMultipleAllocations, and fails every Pod that asks for it"));
    finding_hint(finding,
                 input->minor >= MINOR_37
                     ? TEXT("set allowMultipleAllocations: true, or use deviceMultiplier without capacityKey")
                     : TEXT("set allowMultipleAllocations: true, or use allocationMultiplier without "
                            "capacityKey"));
}

void rule_mapping_needs_sharing(const struct rule_input *input, struct finding_list *findings) {
    mapping_for_each_entry(input, judge, findings);
}
