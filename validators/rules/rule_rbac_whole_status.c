// SPDX-License-Identifier: Apache-2.0
// rbac-whole-status: a driver has the right to a claim's whole status in place of its own part.
//
// Before Kubernetes 1.36, resourceclaims/status was the right to change all of it: allocation, reservations
// and the entries of every driver. Since 1.36 each part is authorized by itself, and a driver needs
// resourceclaims/driver beside it. A role with the old right alone is too much for an old server and too
// little for a new one.
//
// Wrong:
//   - apiGroups: [resource.k8s.io]
//     resources: [resourceclaims/status]
//     verbs: [update, patch]
// Right: the same, and
//   - apiGroups: [resource.k8s.io]
//     resources: [resourceclaims/driver]
//     verbs: [associated-node:update, associated-node:patch]
//     resourceNames: [gpu.example.com]
//
// Only roles that write ResourceSlices are judged: they are drivers'.
//
// Reads: ClusterRole rules[].
//
// Default: warn. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.36.3 pkg/registry/resource/utils.go, AuthorizedForDeviceStatus; feature gate
// DRAResourceClaimGranularStatusAuthorization (beta and on in 1.36).
#include "validators/rules/rights.h"

static void judge(const struct rule_input *input, const struct policy_rule *rule, const struct path *path,
                  struct finding_list *findings) {
    (void)input;
    if (!rights_rule_gives(rule, TEXT("update"), RIGHTS_STATUS) &&
        !rights_rule_gives(rule, TEXT("patch"), RIGHTS_STATUS))
        return;
    struct path resources = path_field(path, TEXT("resources"));
    struct path at = path_index(&resources, rights_index(&rule->resources, RIGHTS_STATUS));
    struct finding *finding = finding_add(
        findings, FINDING_INVALID, &at, RIGHTS_STATUS,
        TEXT("before 1.36 this is the right to all of a claim's status, since 1.36 to none of it"));
    finding_hint(finding, TEXT("add resourceclaims/driver with associated-node:update, associated-node:patch "
                               "and resourceNames"));
}

void rule_rbac_whole_status(const struct rule_input *input, struct finding_list *findings) {
    static const struct text verbs[] = {
        TEXT_INIT("associated-node:update"), TEXT_INIT("associated-node:patch"),
        TEXT_INIT("arbitrary-node:update"), TEXT_INIT("arbitrary-node:patch")};
    if (!rights_role_writes_slices(input->object)) return;
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (rights_role_allows(&input->object->role, verbs[i], RIGHTS_DRIVER)) return;
    rights_for_each_rule(input, judge, findings);
}
