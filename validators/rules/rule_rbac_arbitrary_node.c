// SPDX-License-Identifier: Apache-2.0
// rbac-arbitrary-node: a node-local driver may report the devices of claims on any node.
//
// A driver's write to status.devices of a claim needs the verb associated-node:update or :patch on
// resourceclaims/driver when the driver runs on the claim's node, and arbitrary-node:… anywhere else. A
// driver that runs on each node needs only the first: with the second, one node that is taken over can write
// for all.
//
// Wrong:
//   - apiGroups: [resource.k8s.io]
//     resources: [resourceclaims/driver]
//     verbs: [arbitrary-node:update]
//     resourceNames: [gpu.example.com]
// Right:
//   - apiGroups: [resource.k8s.io]
//     resources: [resourceclaims/driver]
//     verbs: [associated-node:update, associated-node:patch]
//     resourceNames: [gpu.example.com]
//
// A role is taken to be a node-local driver's when it also writes ResourceSlices or has an associated-node:
// verb. A controller that updates claims of many nodes gets a role of its own.
//
// Reads: ClusterRole and Role rules[].
//
// Default: warn. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.36.3 pkg/registry/resource/utils.go, AuthorizedForDeviceStatus.
#include "validators/rules/rights.h"

static void judge(const struct rule_input *input, const struct policy_rule *rule, const struct path *path,
                  struct finding_list *findings) {
    (void)input;
    if (!rights_rule_names(rule, RIGHTS_DRIVER)) return;
    struct path verbs = path_field(path, TEXT("verbs"));
    for (size_t i = 0; i < rule->verbs.count; i++) {
        struct text verb = rule->verbs.items[i];
        if (!text_starts_with(verb, TEXT("arbitrary-node:"))) continue;
        struct path at = path_index(&verbs, i);
        struct finding *finding =
            finding_add(findings, FINDING_INVALID, &at, verb,
                        TEXT("a node-local driver may then report for claims on every node"));
        finding_hint(finding, TEXT("use associated-node:update and associated-node:patch"));
    }
}

void rule_rbac_arbitrary_node(const struct rule_input *input, struct finding_list *findings) {
    if (!rights_role_writes_slices(input->object) &&
        !rights_role_reports(input->object, TEXT("associated-node:")))
        return;
    rights_for_each_rule(input, judge, findings);
}
