// SPDX-License-Identifier: Apache-2.0
// rbac-wildcard: a role gives rights on DRA objects with "*".
//
// "*" covers what is added later: new verbs, new subresources such as resourceclaims/binding, every driver's
// part of every claim. A driver that is taken over can then hand out devices in the whole cluster.
//
// Wrong:
//   rules:
//   - apiGroups: [resource.k8s.io]
//     resources: ["*"]
//     verbs: ["*"]
// Right:
//   rules:
//   - apiGroups: [resource.k8s.io]
//     resources: [resourceslices]
//     verbs: [get, list, watch, create, update, patch, delete]
//
// Rules that only read are left alone. "resourceclaims/*" is found too: RBAC knows no such form, and it
// allows nothing. So is a service account that is bound to cluster-admin.
//
// Reads: ClusterRole and Role rules[]; ClusterRoleBinding roleRef, subjects[].
//
// Default: warn. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.36.3 pkg/apis/rbac/v1/evaluation_helpers.go, ResourceMatches and VerbMatches.
#include "validators/rules/rights.h"

static const struct text all = TEXT_INIT("*");

static bool is_dra_resource(struct text resource) {
    static const struct text starts[] = {TEXT_INIT("resourceslices"), TEXT_INIT("resourceclaim"),
                                         TEXT_INIT("deviceclasses"), TEXT_INIT("devicetaintrules"),
                                         TEXT_INIT("*")};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (text_starts_with(resource, starts[i])) return true;
    return false;
}

static bool is_about_dra(const struct policy_rule *rule) {
    if (!rights_has(&rule->api_groups, TEXT("resource.k8s.io")) && !rights_has(&rule->api_groups, all))
        return false;
    for (size_t i = 0; i < rule->resources.count; i++)
        if (is_dra_resource(rule->resources.items[i])) return true;
    return false;
}

static bool only_reads(const struct policy_rule *rule) {
    static const struct text reads[] = {TEXT_INIT("get"), TEXT_INIT("list"), TEXT_INIT("watch")};
    for (size_t i = 0; i < rule->verbs.count; i++) {
        bool is_read = false;
        for (size_t j = 0; j < sizeof reads / sizeof reads[0]; j++)
            is_read = is_read || text_equal(rule->verbs.items[i], reads[j]);
        if (!is_read) return false;
    }
    return true;
}

// True when the list holds "*"; then there is a finding.
static bool judge_list(const struct text_list *list, struct text field, struct text detail, struct text hint,
                       const struct path *rule, struct finding_list *findings) {
    size_t index = rights_index(list, all);
    if (index == list->count) return false;
    struct path parent = path_field(rule, field);
    struct path at = path_index(&parent, index);
    finding_hint(finding_add(findings, FINDING_INVALID, &at, all, detail), hint);
    return true;
}

static void judge_rule(const struct rule_input *input, const struct policy_rule *rule,
                       const struct path *path, struct finding_list *findings) {
    (void)input;
    if (!is_about_dra(rule) || only_reads(rule)) return;
    struct path resources = path_field(path, TEXT("resources"));
    for (size_t i = 0; i < rule->resources.count; i++) {
        struct path at = path_index(&resources, i);
        if (!text_ends_with(rule->resources.items[i], TEXT("/*"))) continue;
        struct finding *finding = finding_add(findings, FINDING_INVALID, &at, rule->resources.items[i],
                                              TEXT("RBAC does not know this form, and it allows nothing"));
        finding_hint(finding, TEXT("name each subresource, such as resourceclaims/status"));
    }
    if (judge_list(&rule->resources, TEXT("resources"),
                   TEXT("this covers every DRA object, and resourceclaims/binding with them"),
                   TEXT("name the resources that are needed"), path, findings))
        return;
    if (judge_list(&rule->verbs, TEXT("verbs"), TEXT("this covers every verb, arbitrary-node: with them"),
                   TEXT("name the verbs that are needed"), path, findings))
        return;
    judge_list(&rule->api_groups, TEXT("apiGroups"), TEXT("this covers every API group"),
               TEXT("write resource.k8s.io"), path, findings);
}

static void judge_binding(const struct role_binding *binding, struct finding_list *findings) {
    if (!text_equal(binding->role_kind, TEXT("ClusterRole")) ||
        !text_equal(binding->role_name, TEXT("cluster-admin")))
        return;
    struct path reference = path_field(NULL, TEXT("roleRef"));
    struct path name = path_field(&reference, TEXT("name"));
    for (size_t i = 0; i < binding->subjects.count; i++) {
        if (!text_equal(binding->subjects.items[i].kind, TEXT("ServiceAccount"))) continue;
        struct finding *finding = finding_addf(findings, FINDING_INVALID, &name, binding->role_name,
                                               "service account %.*s gets every right in the cluster",
                                               TEXT_ARG(binding->subjects.items[i].name));
        finding_hint(finding, TEXT("bind a role of its own with what the driver needs"));
    }
}

void rule_rbac_wildcard(const struct rule_input *input, struct finding_list *findings) {
    if (input->object->kind == KIND_CLUSTER_ROLE_BINDING)
        judge_binding(&input->object->role_binding, findings);
    else
        rights_for_each_rule(input, judge_rule, findings);
}
