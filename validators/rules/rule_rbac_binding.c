// SPDX-License-Identifier: Apache-2.0
// rbac-binding: a driver may hand out devices itself.
//
// resourceclaims/binding is the right to change a claim's allocation and its reservations. It belongs to the
// scheduler and to the resource claim controller. A driver with it can give any device to any Pod, past all
// books.
//
// Wrong, in a driver's ClusterRole:
//   - apiGroups: [resource.k8s.io]
//     resources: [resourceclaims/binding]
//     verbs: [update, patch]
// Right: leave it out.
//
// The right is asked for the whole cluster, so only a ClusterRole that a ClusterRoleBinding gives counts: a
// Role is not judged. A role is taken to be a driver's when it writes ResourceSlices or
// resourceclaims/driver.
//
// Reads: ClusterRole rules[].
//
// Default: warn. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.36.3 pkg/registry/resource/utils.go, AuthorizedForBinding.
#include "validators/rules/rights.h"

static void judge(const struct rule_input *input, const struct policy_rule *rule, const struct path *path,
                  struct finding_list *findings) {
    (void)input;
    if (!rights_rule_gives(rule, TEXT("update"), RIGHTS_BINDING) &&
        !rights_rule_gives(rule, TEXT("patch"), RIGHTS_BINDING))
        return;
    struct path resources = path_field(path, TEXT("resources"));
    struct path at = path_index(&resources, rights_index(&rule->resources, RIGHTS_BINDING));
    struct finding *finding =
        finding_add(findings, FINDING_INVALID, &at, RIGHTS_BINDING,
                    TEXT("a driver could then change allocations and reservations of every claim"));
    finding_hint(finding, TEXT("leave it out: only the scheduler and the claim controller need it"));
}

void rule_rbac_binding(const struct rule_input *input, struct finding_list *findings) {
    if (input->object->kind != KIND_CLUSTER_ROLE || !rights_role_is_drivers(input->object)) return;
    rights_for_each_rule(input, judge, findings);
}
