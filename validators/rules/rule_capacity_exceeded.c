// SPDX-License-Identifier: Apache-2.0
// capacity-exceeded: by drawbridge's books the allocation takes more than there is.
//
// Ordinary requests of Pods and what claims take come out of one node. The scheduler counts both, but forgets
// some of it in 1.36 (see the divergences of `drawbridge ledger show`), and it knows nothing of NUMA nodes.
// Three sums are looked at, each with the allocation under review in it:
//
// A capacity of a device with allowMultipleAllocations: consumedCapacity of all claims that have a share of
// it, also of those that nobody consumes and of those that were let in a moment ago, against the value that
// the device publishes now. The amounts are as the scheduler rounded them by the request policy.
//
// The node: what the claim's devices take (mapping, and overhead for the Pod) against allocatable less what
// Pods and claims on the node take.
//
// A NUMA node of the node, for each resource that the allocation takes there by mappings: what consumed
// claims take there of devices that are there now, against what these devices can give: a fixed amount once,
// or capacity times multiplier. An exclusive device always covers the one claim that has it. Nothing is said
// where it cannot be known: while a pool of the node is incomplete or in quarantine, or where a device gives
// a fixed amount to any number of claims. Overhead, and devices without a NUMA node, have no such limit.
//
// What to do: look at `drawbridge ledger show` for the node. Deny it by policy once the books agree.
//
// Reads: status.allocation.devices.results[]; the live slices; the accounts of the node.
//
// Default: warn. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.36.3 pkg/scheduler/framework/plugins/noderesources/fit.go; dynamicresources/
// allocateddevices.go, foreachAllocatedDevice; nodeallocatabledynamicresources.go;
// k8s.io/dynamic-resource-allocation v0.36.3 structured/internal/incubating/consumable_capacity.go.
#include "validators/rules/claim_gate.h"

void rule_capacity_exceeded(const struct rule_input *input, struct finding_list *findings) {
    struct claim_write write;
    struct view_shortage_list shortages = {NULL, 0};
    if (!claim_write_of(input, &write) || !write.allocates) return;
    if (VIEW_ASK(input->view, shortages, write.claim, write.consumer_uid, write.node, input->arena,
                 &shortages) != VIEW_KNOWN)
        return;
    for (size_t i = 0; i < shortages.count; i++)
        claim_finding(input, &write, findings, FINDING_INVALID, shortages.items[i].what,
                      TEXT("look at drawbridge ledger show"));
}
