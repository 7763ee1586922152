// SPDX-License-Identifier: Apache-2.0
// pod-bypasses-scheduler: a Pod with a guarded claim names its node itself.
//
// The scheduler does not see such a Pod before it is bound. The resourceclaim controller reserves the claim
// for it, and in 1.36 it runs without being charged what its devices take of the node.
//
// Wrong: spec.nodeName: node-1 in the manifest of a Pod with resourceClaims.
// Right: a nodeSelector, or node affinity, for kubernetes.io/hostname.
//
// Reads: spec.nodeName, spec.resourceClaims[]; the claims, their templates and DeviceClasses.
//
// Default: deny. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.36.3 pkg/controller/resourceclaim/controller.go, syncPod (Pods with a node get a
// reservation).
#include "validators/rules/pod_gate.h"

void rule_pod_bypasses_scheduler(const struct rule_input *input, struct finding_list *findings) {
    const struct pod *pod = &input->object->pod;
    if (input->operation != OPERATION_CREATE || pod->node_name.len == 0) return;
    for (size_t i = 0; i < pod->resource_claims.count; i++) {
        if (!pod_claim_is_gated(input, &pod->resource_claims.items[i])) continue;
        struct path spec = path_field(NULL, TEXT("spec"));
        struct path path = path_field(&spec, TEXT("nodeName"));
        struct finding *finding = finding_addf(findings, FINDING_FORBIDDEN, &path, pod->node_name,
                                               "claim %.*s is for devices that take of the node, and a Pod "
                                               "that names its node itself is not charged for them",
                                               TEXT_ARG(pod->resource_claims.items[i].name));
        finding_hint(finding, TEXT("use a nodeSelector for kubernetes.io/hostname"));
        return;
    }
}
