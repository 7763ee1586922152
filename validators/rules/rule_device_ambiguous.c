// SPDX-License-Identifier: Apache-2.0
// device-ambiguous: another driver has a pool and a device of the same names, with another mapping.
//
// The scheduler of 1.36 looks a device up by pool and device and forgets the driver, so that a Pod is charged
// by the mapping of either; 1.37 does it right. Many drivers name the pool after the node, so the device's
// name is all that tells them apart there.
//
// Wrong on 1.36: driver a.example.com and driver b.example.com, both with pool node-1 and device dev-0, one
// taking 1Gi of memory and the other 8Gi.
// Right: device names that begin with what the driver is (gpu-0, nic-0), or pools with the driver's name.
//
// A device without mappings, beside one of another driver that has some, is only warned about: its driver
// does nothing that it should not.
//
// Reads: spec.driver, spec.pool.name, spec.nodeName, spec.nodeSelector, spec.allNodes, spec.devices[].name,
// spec.devices[].nodeAllocatableResourceMappings; the live slices of other drivers.
//
// Default: deny where the pool has one slice, else warn. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.36.3 pkg/scheduler/framework/plugins/dynamicresources/
// nodeallocatabledynamicresources.go; kubernetes issue 140460.
#include "validators/rules/pool.h"

void rule_device_ambiguous(const struct rule_input *input, struct finding_list *findings) {
    const struct resource_slice *slice = &input->object->slice;
    struct pool_key key = pool_key_of(slice);
    for (size_t i = 0; i < slice->devices.count; i++) {
        const struct device *device = &slice->devices.items[i];
        struct view_device other;
        struct path_room room;
        if (VIEW_ASK(input->view, device_of_other_driver, &key, device->name, input->arena, &other) !=
            VIEW_KNOWN)
            continue;
        if (mapping_same(device, &other.mappings, input->minor)) continue;
        struct path path = device_path(&room, i);
        struct finding *finding = finding_addf(findings, FINDING_DUPLICATE, &path, device->name,
                                               "driver %.*s has a device of this pool and name with another "
                                               "mapping, and the scheduler of 1.36 takes one for the other",
                                               TEXT_ARG(other.driver));
        finding_hint(finding, TEXT("give the device, or the pool, a name that no other driver uses"));
        if (finding != NULL && finding->severity == SEVERITY_DENY && !mapping_present(device, input->minor))
            finding->severity = SEVERITY_WARN;
    }
}
