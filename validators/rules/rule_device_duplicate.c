// SPDX-License-Identifier: Apache-2.0
// device-duplicate: two slices of one pool and generation have the same device.
//
// The API server looks at one slice at a time, so it lets this in; the scheduler then fails for each Pod that
// could get the device. The slice is let in, but the device is unusable until one of the two is gone. Slices
// of different generations, or on different nodes, may repeat names: only the highest generation counts.
//
// Wrong: generation 3, and both slice a and slice b have device dev-7.
// Right: each device in one slice.
//
// What to do: publish the device in one slice of the pool.
//
// Reads: spec.driver, spec.pool, spec.nodeName, spec.nodeSelector, spec.allNodes, spec.devices[].name; the
// other live slices of the pool.
//
// Default: warn. Policy may set deny, warn, audit or off.
//
// Source: k8s.io/dynamic-resource-allocation v0.36.3 structured/internal/incubating/pools_incubating.go,
// poolIsInvalid.
#include "validators/rules/pool.h"

void rule_device_duplicate(const struct rule_input *input, struct finding_list *findings) {
    const struct resource_slice *slice = &input->object->slice;
    struct pool_key key = pool_key_of(slice);
    // Devices of such slices have places of their own, and two of one name may be on different nodes.
    if (key.scope.kind == SCOPE_PER_DEVICE) return;
    for (size_t i = 0; i < slice->devices.count; i++) {
        struct text name = slice->devices.items[i].name;
        struct view_device other;
        struct path_room room;
        if (VIEW_ASK(input->view, pool_device, &key, slice->metadata.name, slice->pool.generation, false,
                     name, input->arena, &other) != VIEW_KNOWN)
            continue;
        struct path path = device_path(&room, i);
        struct finding *finding =
            finding_addf(findings, FINDING_DUPLICATE, &path, name,
                         "slice %.*s has it in the same generation; it is unusable until one of them is gone",
                         TEXT_ARG(other.slice));
        finding_hint(finding, TEXT("publish the device in one slice of the pool"));
    }
}
