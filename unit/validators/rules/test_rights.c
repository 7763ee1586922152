// SPDX-License-Identifier: Apache-2.0
// Edges of the rules about drivers' rights.
#include <criterion/criterion.h>
#include <stdio.h>

#include "unit/lib/judge.h"

static size_t count_in(const char *rule, const char *kind, const char *body) {
    struct judged judged;
    char json[4096];
    snprintf(
        json, sizeof json,
        "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"%s\",\"metadata\":{\"name\":\"r\"},%s}",
        kind, body);
    judged_init(&judged, json, 37);
    judged_run(&judged, rule, RULES_OFFLINE);
    size_t count = judged.findings.count;
    for (size_t i = 0; i < count; i++) cr_expect_eq(judged.findings.items[i].severity, SEVERITY_WARN);
    judged_release(&judged);
    return count;
}

// One role of one rule: lists as the inside of JSON arrays.
static size_t count_rule(const char *rule, const char *groups, const char *resources, const char *verbs) {
    char body[2048];
    snprintf(body, sizeof body, "\"rules\":[{\"apiGroups\":[%s],\"resources\":[%s],\"verbs\":[%s]}]", groups,
             resources, verbs);
    return count_in(rule, "ClusterRole", body);
}

#define DRA "\"resource.k8s.io\""

Test(rbac_wildcard, edges) {
    static const char rule[] = "rbac-wildcard";
    cr_expect_eq(count_rule(rule, DRA, "\"resourceclaims\"", "\"update\""), 0);
    cr_expect_eq(count_rule(rule, DRA, "\"*\"", "\"update\""), 1);
    cr_expect_eq(count_rule(rule, DRA, "\"*\"", "\"get\",\"watch\""), 0);
    cr_expect_eq(count_rule(rule, DRA, "\"*/status\"", "\"*\""), 1);
    cr_expect_eq(count_rule(rule, "\"*\"", "\"*\"", "\"*\""), 1); // told once
    cr_expect_eq(count_rule(rule, "\"*\"", "\"pods\"", "\"*\""), 0);
    cr_expect_eq(count_rule(rule, "\"\"", "\"*\"", "\"*\""), 0);
    cr_expect_eq(count_rule(rule, DRA, "\"resourceclaims/*\",\"resourceslices/*\"", "\"update\""), 2);
    cr_expect_eq(count_rule(rule, "", "", ""), 0);
    cr_expect_eq(count_in(rule, "ClusterRole", "\"rules\":null"), 0);
    cr_expect_eq(
        count_in(rule, "Role", "\"rules\":[{\"apiGroups\":[\"*\"],\"resources\":[\"*\"],\"verbs\":[\"*\"]}]"),
        1);
}

Test(rbac_wildcard, bindings_of_service_accounts) {
    static const char rule[] = "rbac-wildcard";
    static const char *const kind = "ClusterRoleBinding";
    cr_expect_eq(count_in(rule, kind,
                          "\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":\"cluster-admin\"},\"subjects\":[{"
                          "\"kind\":\"User\",\"name\":\"a\"},{\"kind\":\"ServiceAccount\",\"name\":\"b\"}]"),
                 1);
    cr_expect_eq(count_in(rule, kind, "\"roleRef\":{\"kind\":\"Role\",\"name\":\"cluster-admin\"}"), 0);
    cr_expect_eq(count_in(rule, kind,
                          "\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":\"x\"},\"subjects\":[{\"kind\":"
                          "\"ServiceAccount\",\"name\":\"b\"}]"),
                 0);
}

Test(rbac_arbitrary_node, only_roles_of_node_local_drivers) {
    static const char rule[] = "rbac-arbitrary-node";
    cr_expect_eq(count_rule(rule, DRA, "\"resourceclaims/driver\"", "\"arbitrary-node:update\""), 0);
    cr_expect_eq(count_rule(rule, DRA, "\"resourceclaims/driver\"",
                            "\"associated-node:update\",\"arbitrary-node:update\",\"arbitrary-node:patch\""),
                 2);
    cr_expect_eq(count_rule(rule, DRA, "\"resourceslices\",\"resourceclaims/driver\"",
                            "\"create\",\"arbitrary-node:update\""),
                 1);
    cr_expect_eq(count_rule(rule, DRA, "\"resourceslices\",\"resourceclaims/driver\"",
                            "\"get\",\"arbitrary-node:update\""),
                 0);
}

Test(rbac_no_driver_name, all_roles_with_the_drivers_part) {
    static const char rule[] = "rbac-no-driver-name";
    cr_expect_eq(count_rule(rule, DRA, "\"resourceclaims/driver\"", "\"associated-node:update\""), 1);
    cr_expect_eq(count_rule(rule, "\"*\"", "\"resourceclaims/driver\"", "\"*\""), 1);
    cr_expect_eq(count_rule(rule, "\"example.com\"", "\"resourceclaims/driver\"", "\"*\""), 0);
    cr_expect_eq(count_rule(rule, DRA, "\"*\"", "\"*\""), 0); // rbac-wildcard tells
}

Test(rbac_binding, drivers_only) {
    static const char rule[] = "rbac-binding";
    cr_expect_eq(count_rule(rule, DRA, "\"resourceslices\",\"resourceclaims/binding\"", "\"update\""), 1);
    cr_expect_eq(count_rule(rule, DRA, "\"resourceslices\",\"resourceclaims/binding\"", "\"patch\""), 1);
    cr_expect_eq(count_rule(rule, DRA, "\"resourceslices\",\"resourceclaims/binding\"", "\"*\""), 1);
    cr_expect_eq(count_rule(rule, DRA, "\"resourceslices\",\"resourceclaims/binding\"", "\"create\""), 0);
    cr_expect_eq(count_rule(rule, DRA, "\"resourceclaims/binding\"", "\"update\""), 0); // a scheduler's
}

Test(rbac_whole_status, the_part_of_the_driver_may_be_given_by_wildcard) {
    static const char rule[] = "rbac-whole-status";
    cr_expect_eq(count_rule(rule, DRA, "\"resourceslices\",\"resourceclaims/status\"", "\"update\""), 1);
    cr_expect_eq(count_rule(rule, DRA, "\"resourceslices\",\"resourceclaims/status\"", "\"patch\""), 1);
    cr_expect_eq(count_rule(rule, DRA, "\"resourceslices\",\"resourceclaims/status\"", "\"create\""), 0);
    cr_expect_eq(count_rule(rule, DRA, "\"resourceslices\",\"resourceclaims/status\",\"*/driver\"", "\"*\""),
                 0);
    cr_expect_eq(count_rule(rule, DRA, "\"resourceclaims/status\"", "\"update\""), 0); // a scheduler's
}

Test(rbac_slices_any_node, deleting_counts_once_a_role_publishes) {
    static const char rule[] = "rbac-slices-any-node";
    cr_expect_eq(count_rule(rule, DRA, "\"resourceslices\"", "\"patch\""), 1);
    cr_expect_eq(count_rule(rule, DRA, "\"resourceslices\"", "\"delete\""), 0);
    cr_expect_eq(count_in(rule, "Role",
                          "\"rules\":[{\"apiGroups\":[" DRA "],\"resources\":[\"resourceslices\"],\"verbs\":["
                          "\"create\"]}]"),
                 0); // slices are in no namespace, so a Role gives nothing
    cr_expect_eq(
        count_in(rule, "ClusterRole",
                 "\"rules\":[{\"apiGroups\":[" DRA "],\"resources\":[\"resourceslices\"],\"verbs\":["
                 "\"create\"]},{\"apiGroups\":[" DRA "],\"resources\":[\"resourceslices\"],\"verbs\":["
                 "\"deletecollection\"]},{\"apiGroups\":[" DRA "],\"resources\":[\"resourceslices\"],"
                 "\"verbs\":[\"get\"]}]"),
        2);
}

Test(rbac_missing, edges) {
    static const char rule[] = "rbac-missing";
    cr_expect_eq(count_rule(rule, DRA, "\"resourceslices\",\"resourceclaims\"", "\"*\""), 0);
    cr_expect_eq(count_rule(rule, DRA, "\"resourceslices\"", "\"*\""), 1);
    cr_expect_eq(count_rule(rule, DRA, "\"resourceslices\",\"resourceclaims/driver\"", "\"create\""), 2);
    cr_expect_eq(count_rule(rule, DRA, "\"resourceclaims/driver\",\"resourceclaims/status\"",
                            "\"associated-node:update\",\"update\""),
                 0);
    cr_expect_eq(count_rule(rule, DRA, "\"resourceclaims/driver\",\"*/status\"",
                            "\"arbitrary-node:update\",\"arbitrary-node:patch\",\"update\""),
                 1);
    cr_expect_eq(count_rule(rule, DRA, "\"*\"", "\"*\""), 0); // nobody's in particular
    cr_expect_eq(count_in(rule, "ClusterRole",
                          "\"aggregationRule\":{\"clusterRoleSelectors\":[]},\"rules\":[{\"apiGroups\":[" DRA
                          "],"
                          "\"resources\":[\"resourceslices\"],\"verbs\":[\"create\"]}]"),
                 0);
}

Test(rbac, other_forms_are_decoded_and_passed_over) {
    cr_expect_eq(count_in("rbac-wildcard", "ClusterRole",
                          "\"rules\":[{\"nonResourceURLs\":[\"/metrics\"],\"verbs\":[\"get\"]}]"),
                 0);
    cr_expect_eq(
        count_in("rbac-wildcard", "ClusterRoleBinding",
                 "\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\","
                 "\"name\":\"cluster-admin\"},\"subjects\":[{\"apiGroup\":\"rbac.authorization.k8s.io\","
                 "\"kind\":\"Group\",\"name\":\"g\",\"namespace\":\"\"}]"),
        0);
}
