// SPDX-License-Identifier: Apache-2.0
// claim-unreferenced: a Pod has a guarded claim that none of its containers references.
//
// In 1.36 such a Pod is never scheduled, because nobody could be charged what the devices take of the node.
// In 1.37 it is charged to the Pod.
//
// Wrong: spec.resourceClaims has gpu, and no container has resources.claims with gpu.
// Right: resources: {claims: [{name: gpu}]} in the container that uses it.
//
// Reads: spec.resourceClaims[], spec.containers[].resources.claims[],
// spec.initContainers[].resources.claims[]; the claims, their templates and DeviceClasses.
//
// Default: warn in 1.36; not judged from 1.37 on. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.36.3 pkg/scheduler/framework/plugins/dynamicresources/
// nodeallocatabledynamicresources.go ("not referenced by any container").
#include "validators/rules/pod_gate.h"

void rule_claim_unreferenced(const struct rule_input *input, struct finding_list *findings) {
    const struct pod *pod = &input->object->pod;
    if (input->operation != OPERATION_CREATE) return;
    for (size_t i = 0; i < pod->resource_claims.count; i++) {
        const struct pod_resource_claim *claim = &pod->resource_claims.items[i];
        if (pod_claim_references(pod, claim->name) > 0) continue;
        if (!pod_claim_is_gated(input, claim)) continue;
        struct pod_path_room room;
        struct path path = pod_claim_path(&room, i);
        struct finding *finding =
            finding_add(findings, FINDING_INVALID, &path, claim->name,
                        TEXT("no container references the claim, so the Pod is never scheduled"));
        finding_hint(finding, TEXT("add it to resources.claims of the container that uses it"));
    }
}
