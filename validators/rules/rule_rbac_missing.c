// SPDX-License-Identifier: Apache-2.0
// rbac-missing: a driver's role lacks a right that the driver needs.
//
// The library that drivers publish with lists and watches ResourceSlices, creates, updates and deletes them,
// and reads the claims that it prepares. A driver that reports devices needs resourceclaims/status as well as
// resourceclaims/driver, with the same verb. What is missing shows only at run time: in a loop of
// "forbidden", or in claims that are never prepared.
//
// Wrong:
//   rules:
//   - apiGroups: [resource.k8s.io]
//     resources: [resourceslices]
//     verbs: [create, update]
// Right:
//   rules:
//   - apiGroups: [resource.k8s.io]
//     resources: [resourceslices]
//     verbs: [get, list, watch, create, update, patch, delete]
//   - apiGroups: [resource.k8s.io]
//     resources: [resourceclaims]
//     verbs: [get]
//
// Rights may be spread over several roles; one object is judged at a time, so this is a hint to look. Roles
// with an aggregationRule are left out.
//
// Reads: ClusterRole and Role rules[].
//
// Default: warn. Policy may set deny, warn, audit or off.
//
// Source: k8s.io/dynamic-resource-allocation v0.36.3 resourceslice/resourceslicecontroller.go and
// kubeletplugin/draplugin.go (the calls they make); kubernetes v1.36.3 pkg/registry/resource/utils.go.
#include "validators/rules/rights.h"

// One finding that names the verbs of a resource that the role lacks.
static void need(const struct rule_input *input, struct text resource, const struct text *verbs, size_t count,
                 struct text why, struct finding_list *findings) {
    struct text lacking = {"", 0};
    for (size_t i = 0; i < count; i++)
        if (!rights_role_allows(&input->object->role, verbs[i], resource))
            lacking = text_format(input->arena, "%.*s%s%.*s", TEXT_ARG(lacking), lacking.len > 0 ? ", " : "",
                                  TEXT_ARG(verbs[i]));
    if (lacking.len == 0) return;
    struct path rules = path_field(NULL, TEXT("rules"));
    struct finding *finding =
        finding_addf(findings, FINDING_REQUIRED, &rules, (struct text){NULL, 0}, "%.*s needs %.*s on %.*s",
                     TEXT_ARG(why), TEXT_ARG(lacking), TEXT_ARG(resource));
    finding_hint(finding, TEXT("add it here or in another role of the driver"));
}

void rule_rbac_missing(const struct rule_input *input, struct finding_list *findings) {
    static const struct text publish[] = {TEXT_INIT("list"), TEXT_INIT("watch"), TEXT_INIT("create"),
                                          TEXT_INIT("update"), TEXT_INIT("delete")};
    static const struct text read[] = {TEXT_INIT("get")};
    static const struct text report[][2] = {{TEXT_INIT("associated-node:update"), TEXT_INIT("update")},
                                            {TEXT_INIT("arbitrary-node:update"), TEXT_INIT("update")},
                                            {TEXT_INIT("associated-node:patch"), TEXT_INIT("patch")},
                                            {TEXT_INIT("arbitrary-node:patch"), TEXT_INIT("patch")}};
    const struct object *object = input->object;
    if (object->role.aggregated || !rights_role_is_drivers(object)) return;
    if (rights_role_writes_slices(object)) {
        need(input, RIGHTS_SLICES, publish, sizeof publish / sizeof publish[0],
             TEXT("a driver that publishes slices"), findings);
        need(input, RIGHTS_CLAIMS, read, 1, TEXT("a driver that prepares claims"), findings);
    }
    struct text verbs[2];
    size_t count = 0;
    for (size_t i = 0; i < sizeof report / sizeof report[0]; i++) {
        bool known = count > 0 && text_equal(verbs[count - 1], report[i][1]);
        if (!known && rights_role_allows(&object->role, report[i][0], RIGHTS_DRIVER))
            verbs[count++] = report[i][1];
    }
    need(input, RIGHTS_STATUS, verbs, count, TEXT("a driver that reports devices"), findings);
}
