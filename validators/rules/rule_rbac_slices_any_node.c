// SPDX-License-Identifier: Apache-2.0
// rbac-slices-any-node: a node-local driver may write the ResourceSlices of every node.
//
// RBAC cannot tell one node's slices from another's. A driver on one node that is taken over can then publish
// devices for other nodes, or delete theirs. An admission policy beside the role closes this: it compares
// spec.nodeName with the node that the caller's token is bound to.
//
// Open:
//   rules:
//   - apiGroups: [resource.k8s.io]
//     resources: [resourceslices]
//     verbs: [get, list, watch, create, update, patch, delete]
// Closed: the same role, and a ValidatingAdmissionPolicy for resourceslices with the expression
//   object.spec.nodeName == request.userInfo.extra["authentication.kubernetes.io/node-name"][0]
//
// One object is judged at a time, so the warning stays when the policy is there. Roles with arbitrary-node:
// verbs alone are controllers' and are left out.
//
// Reads: ClusterRole rules[].
//
// Default: warn. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.36.3 plugin/pkg/admission/noderestriction/admission.go (it holds kubelets to their
// own node, and nobody else); k8s.io/apiserver v0.36.3
// pkg/authentication/serviceaccount/util.go, NodeNameKey.
#include "validators/rules/rights.h"

static bool writes(const struct policy_rule *rule) {
    static const struct text verbs[] = {TEXT_INIT("create"), TEXT_INIT("update"), TEXT_INIT("patch"),
                                        TEXT_INIT("delete"), TEXT_INIT("deletecollection")};
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (rights_rule_gives(rule, verbs[i], RIGHTS_SLICES)) return true;
    return false;
}

static void judge(const struct rule_input *input, const struct policy_rule *rule, const struct path *path,
                  struct finding_list *findings) {
    (void)input;
    if (!writes(rule)) return;
    struct path resources = path_field(path, TEXT("resources"));
    struct path at = path_index(&resources, rights_index(&rule->resources, RIGHTS_SLICES));
    struct finding *finding =
        finding_add(findings, FINDING_INVALID, &at, RIGHTS_SLICES,
                    TEXT("RBAC cannot narrow this to one node: the slices of every node can be written"));
    finding_hint(finding,
                 TEXT("add a ValidatingAdmissionPolicy that compares spec.nodeName with the caller's "
                      "node"));
}

void rule_rbac_slices_any_node(const struct rule_input *input, struct finding_list *findings) {
    const struct object *object = input->object;
    bool controller = rights_role_reports(object, TEXT("arbitrary-node:")) &&
                      !rights_role_reports(object, TEXT("associated-node:"));
    if (!rights_role_writes_slices(object) || controller) return;
    rights_for_each_rule(input, judge, findings);
}
