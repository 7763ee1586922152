// SPDX-License-Identifier: Apache-2.0
// mapping-changed-in-use: the mapping of a device changes while claims are bound to it.
//
// What the bound claims took of the node was committed under the old mapping, and stays so until they end;
// new claims are counted by the new mapping. That may be meant, but the Pods that run do not change.
//
// Example: gpu-0 took 8Gi of memory when claim 3f2a… was bound, and now says 16Gi.
//
// What to do: nothing if it is meant. Otherwise publish the old mapping, or let the claims end first.
//
// Reads: spec.driver, spec.pool, spec.nodeName, spec.devices[].name,
// spec.devices[].nodeAllocatableResourceMappings (1.36), spec.devices[].nodeAllocatableResources (1.37); the
// claims that have the devices.
//
// Default: warn. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.36.3 pkg/scheduler/framework/plugins/dynamicresources/
// nodeallocatabledynamicresources.go (a footprint is computed once, when the claim is allocated).
#include "validators/rules/pool.h"

static size_t keep_changed(const struct rule_input *input, const struct device *device,
                           struct device_holder_list *holders) {
    size_t kept = 0;
    for (size_t i = 0; i < holders->count; i++) {
        const struct device_holder *holder = &holders->items[i];
        if (!holder->bound || !holder->mappings_known ||
            mapping_same(device, &holder->mappings, input->minor))
            continue;
        holders->items[kept++] = *holder;
    }
    return kept;
}

void rule_mapping_changed_in_use(const struct rule_input *input, struct finding_list *findings) {
    const struct resource_slice *slice = &input->object->slice;
    struct pool_key pool = pool_key_of(slice);
    struct text node = pool.scope.kind == SCOPE_NODE ? pool.scope.value : (struct text){NULL, 0};
    for (size_t i = 0; i < slice->devices.count; i++) {
        const struct device *device = &slice->devices.items[i];
        struct device_key key = {slice->driver, slice->pool.name, device->name};
        struct device_holder_list holders = {NULL, 0};
        struct path_room room;
        size_t count;
        if (VIEW_ASK(input->view, holders, &key, node, input->arena, &holders) != VIEW_KNOWN) continue;
        holders.count = keep_changed(input, device, &holders);
        struct text claims = bound_claims(input, &holders, &count);
        if (count == 0) continue;
        struct path path = device_path(&room, i);
        struct finding *finding =
            finding_addf(findings, FINDING_INVALID, &path, device->name,
                         "bound under another mapping, which stays (claim UID %.*s)", TEXT_ARG(claims));
        finding_hint(finding, TEXT("nothing to do if it is meant"));
    }
}
