// SPDX-License-Identifier: Apache-2.0
// capacity-exceeded: by drawbridge's books the allocation takes more than there is.
//
// Ordinary requests of Pods and what claims take come out of one node. The scheduler counts both, but forgets
// some of it in 1.36 (see the divergences of `drawbridge ledger show`), and it knows nothing of NUMA nodes.
// What is looked at: what claims consume of a device's capacity, what is free on the node, and what the
// devices of one NUMA node take together.
//
// What to do: look at `drawbridge ledger show` for the node. Deny it by policy once the books agree.
//
// Reads: status.allocation.devices.results[]; the accounts of the node.
//
// Default: warn. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.36.3 pkg/scheduler/framework/plugins/noderesources/fit.go;
// nodeallocatabledynamicresources.go.
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
