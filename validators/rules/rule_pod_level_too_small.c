// SPDX-License-Identifier: Apache-2.0
// pod-level-too-small: a Pod's own requests are smaller than what its containers and its claims take.
//
// Pod-level requests are all that the scheduler counts for a Pod, so they must cover the containers' requests
// and what the claims' devices take of the node. In 1.37 pod-level limits must, too: of hugepages, the limits
// of all containers together and all of the Pod's claims; of other resources, the limit of each container and
// the claims that it refers to. A limit that the Pod or the container does not have is not compared.
// Otherwise the Pod is never scheduled, with a message that does not name the numbers.
//
// Wrong: spec.resources.requests.memory: 1Gi, with a claim whose device takes 8Gi.
// Right: 9Gi, where the containers ask for 1Gi.
//
// Wrong in 1.37: spec.resources.limits.memory: 9Gi, where the container with that claim has a limit of 2Gi.
// Right: 10Gi.
//
// Reads: spec.resources, spec.containers[].resources of the Pod; status.allocation of its claims; the live
// slices.
//
// Default: warn. Policy may set deny, warn, audit or off. Judged when the devices are known.
//
// Source: kubernetes v1.36.3 and v1.37.2 pkg/scheduler/framework/plugins/dynamicresources/
// nodeallocatabledynamicresources.go.
#include "validators/rules/claim_gate.h"

void rule_pod_level_too_small(const struct rule_input *input, struct finding_list *findings) {
    struct claim_write write;
    struct view_shortage_list shortages = {NULL, 0};
    if (!claim_write_of(input, &write) || !write.pod_known || !write.allocates) return;
    if (VIEW_ASK(input->view, pod_level, write.claim, write.consumer_uid, write.node, input->arena,
                 &shortages) != VIEW_KNOWN)
        return;
    for (size_t i = 0; i < shortages.count; i++)
        claim_finding(input, &write, findings, FINDING_INVALID, shortages.items[i].what,
                      TEXT("raise what the Pod has for itself by what its claims take"));
}
