// SPDX-License-Identifier: Apache-2.0
// admin-charged: admin access to a device that takes of its node.
//
// Admin access is for looking at devices without taking them from others, but the scheduler charges the Pod
// what the device takes of the node all the same: a monitor of a shareable CPU device is charged all of its
// cores.
//
// What to do: ask for a device, or a class, without mappings; or make sure that the node has room for it.
//
// Reads: status.allocation.devices.results[].adminAccess; the live slices.
//
// Default: warn. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.36.3 and v1.37.2 pkg/scheduler/framework/plugins/dynamicresources/
// nodeallocatabledynamicresources.go (adminAccess is not looked at).
#include "validators/rules/claim_gate.h"

void rule_admin_charged(const struct rule_input *input, struct finding_list *findings) {
    struct claim_write write;
    if (!claim_write_of(input, &write) || !write.allocates) return;
    const struct allocation_result_list *results = &write.claim->allocation.results;
    for (size_t i = 0; i < results->count; i++) {
        const struct allocation_result *result = &results->items[i];
        struct device_key key = {result->driver, result->pool, result->device};
        struct device_standing standing = {.generation = -1};
        if (!result->admin_access.set || !result->admin_access.value) continue;
        if (VIEW_ASK(input->view, device, &key, write.node, input->arena, &standing) != VIEW_KNOWN ||
            !standing.found || standing.device.mappings.count == 0)
            continue;
        claim_finding(
            input, &write, findings, FINDING_INVALID,
            text_format(input->arena,
                        "admin access to device %.*s of pool %.*s is charged to the Pod like any other",
                        TEXT_ARG(result->device), TEXT_ARG(result->pool)),
            TEXT("ask for devices without mappings"));
        return;
    }
}
