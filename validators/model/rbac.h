// SPDX-License-Identifier: Apache-2.0
// Roles and bindings as plain structs: what `check` needs to judge the rights of drivers.
// Source: k8s.io/api v0.36.3 rbac/v1/types.go.
#ifndef DRAWBRIDGE_MODEL_RBAC_H
#define DRAWBRIDGE_MODEL_RBAC_H

#include "validators/model/meta.h"

struct policy_rule {
    struct text_list verbs;
    struct text_list api_groups;
    struct text_list resources;
    struct text_list resource_names;
    struct text_list non_resource_urls;
};
struct policy_rule_list {
    struct policy_rule *items;
    size_t count;
};

struct role { // Role and ClusterRole
    struct object_meta metadata;
    struct policy_rule_list rules;
    bool aggregated; // aggregationRule is there: the rules come from other roles
};

struct rbac_subject {
    struct text api_group;
    struct text kind;
    struct text name;
    struct text namespace;
};
struct rbac_subject_list {
    struct rbac_subject *items;
    size_t count;
};

struct role_binding { // ClusterRoleBinding
    struct object_meta metadata;
    struct text role_api_group;
    struct text role_kind;
    struct text role_name;
    struct rbac_subject_list subjects;
};

#endif
