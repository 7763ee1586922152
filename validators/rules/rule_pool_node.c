// SPDX-License-Identifier: Apache-2.0
// pool-node: slices of one driver and pool on different nodes have a device of the same name.
//
// Pools are gathered per node, so that works; but an allocation names driver, pool and device only, and who
// reads it must look at its node selector to know which device it is. Many drivers name the pool after the
// node, which leaves no doubt.
//
// Doubtful: pool "gpus" on node-1 and on node-2, both with device gpu-0.
// Right: pool "node-1" on node-1, pool "node-2" on node-2; or device names that differ.
//
// Reads: spec.driver, spec.pool.name, spec.nodeName, spec.devices[].name; the live slices of the pool on
// other nodes.
//
// Default: warn. Policy may set deny, warn, audit or off.
//
// Source: k8s.io/dynamic-resource-allocation v0.36.3 structured/internal/incubating/pools_incubating.go,
// GatherPools; k8s.io/api v0.36.3 resource/v1/types.go, DeviceRequestAllocationResult.
#include "validators/rules/pool.h"

void rule_pool_node(const struct rule_input *input, struct finding_list *findings) {
    const struct resource_slice *slice = &input->object->slice;
    struct pool_key key = pool_key_of(slice);
    if (key.scope.kind != SCOPE_NODE) return;
    for (size_t i = 0; i < slice->devices.count; i++) {
        struct text name = slice->devices.items[i].name;
        struct view_device other;
        struct path_room room;
        if (VIEW_ASK(input->view, device_elsewhere, &key, name, input->arena, &other) != VIEW_KNOWN) continue;
        struct path path = device_path(&room, i);
        struct finding *finding =
            finding_addf(findings, FINDING_DUPLICATE, &path, name,
                         "the pool has a device of this name on node %.*s too (slice %.*s)",
                         TEXT_ARG(other.node), TEXT_ARG(other.slice));
        finding_hint(finding, TEXT("name the pool after its node"));
        return; // one is enough: the others are mostly alike
    }
}
