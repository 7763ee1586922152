// SPDX-License-Identifier: Apache-2.0
// rbac-no-driver-name: a driver may report in the name of every driver.
//
// A write to status.devices of a claim is authorized for each driver whose entries change: the driver's name
// is the resource name. Without resourceNames the role may write the entries of all drivers.
//
// Wrong:
//   - apiGroups: [resource.k8s.io]
//     resources: [resourceclaims/driver]
//     verbs: [associated-node:update, associated-node:patch]
// Right:
//   - apiGroups: [resource.k8s.io]
//     resources: [resourceclaims/driver]
//     verbs: [associated-node:update, associated-node:patch]
//     resourceNames: [gpu.example.com]
//
// Reads: ClusterRole and Role rules[].
//
// Default: warn. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.36.3 pkg/registry/resource/utils.go, checkDriverAuthorization.
#include "validators/rules/rights.h"

static void judge(const struct rule_input *input, const struct policy_rule *rule, const struct path *path,
                  struct finding_list *findings) {
    (void)input;
    if (!rights_rule_names(rule, RIGHTS_DRIVER) || rule->resource_names.count > 0) return;
    struct path names = path_field(path, TEXT("resourceNames"));
    struct finding *finding =
        finding_add(findings, FINDING_REQUIRED, &names, (struct text){NULL, 0},
                    TEXT("resourceclaims/driver without names covers the entries of every driver"));
    finding_hint(finding, TEXT("add resourceNames with the driver's name"));
}

void rule_rbac_no_driver_name(const struct rule_input *input, struct finding_list *findings) {
    rights_for_each_rule(input, judge, findings);
}
