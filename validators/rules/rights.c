// SPDX-License-Identifier: Apache-2.0
// What roles allow.
#include "validators/rules/rights.h"

static const struct text group = TEXT_INIT("resource.k8s.io");
static const struct text all = TEXT_INIT("*");

size_t rights_index(const struct text_list *list, struct text text) {
    for (size_t i = 0; i < list->count; i++)
        if (text_equal(list->items[i], text)) return i;
    return list->count;
}

bool rights_has(const struct text_list *list, struct text text) {
    return rights_index(list, text) < list->count;
}

static bool is_of_group(const struct policy_rule *rule) {
    return rights_has(&rule->api_groups, group) || rights_has(&rule->api_groups, all);
}

static bool gives_verb(const struct policy_rule *rule, struct text verb) {
    return rights_has(&rule->verbs, verb) || rights_has(&rule->verbs, all);
}

bool rights_rule_names(const struct policy_rule *rule, struct text resource) {
    return is_of_group(rule) && rights_has(&rule->resources, resource);
}

bool rights_rule_gives(const struct policy_rule *rule, struct text verb, struct text resource) {
    return rights_rule_names(rule, resource) && gives_verb(rule, verb);
}

// "*/status" is that subresource of every resource.
static bool covers(const struct policy_rule *rule, struct text resource) {
    if (rights_has(&rule->resources, resource) || rights_has(&rule->resources, all)) return true;
    size_t slash = text_find(resource, '/', 0);
    for (size_t i = 0; i < rule->resources.count && slash < resource.len; i++) {
        struct text name = rule->resources.items[i];
        if (text_starts_with(name, TEXT("*/")) &&
            text_equal(text_slice(name, 1, name.len), text_slice(resource, slash, resource.len)))
            return true;
    }
    return false;
}

bool rights_role_allows(const struct role *role, struct text verb, struct text resource) {
    for (size_t i = 0; i < role->rules.count; i++) {
        const struct policy_rule *rule = &role->rules.items[i];
        if (is_of_group(rule) && covers(rule, resource) && gives_verb(rule, verb)) return true;
    }
    return false;
}

bool rights_role_writes_slices(const struct object *object) {
    // A Role is for one namespace, and slices are in none: what it says of them is void.
    if (object->kind != KIND_CLUSTER_ROLE) return false;
    for (size_t i = 0; i < object->role.rules.count; i++) {
        const struct policy_rule *rule = &object->role.rules.items[i];
        if (rights_rule_gives(rule, TEXT("create"), RIGHTS_SLICES) ||
            rights_rule_gives(rule, TEXT("update"), RIGHTS_SLICES) ||
            rights_rule_gives(rule, TEXT("patch"), RIGHTS_SLICES))
            return true;
    }
    return false;
}

bool rights_role_reports(const struct object *object, struct text prefix) {
    for (size_t i = 0; i < object->role.rules.count; i++) {
        const struct policy_rule *rule = &object->role.rules.items[i];
        if (!rights_rule_names(rule, RIGHTS_DRIVER)) continue;
        for (size_t j = 0; j < rule->verbs.count; j++)
            if (text_starts_with(rule->verbs.items[j], prefix)) return true;
    }
    return false;
}

bool rights_role_is_drivers(const struct object *object) {
    return rights_role_writes_slices(object) || rights_role_reports(object, TEXT("associated-node:")) ||
           rights_role_reports(object, TEXT("arbitrary-node:"));
}

void rights_for_each_rule(const struct rule_input *input, rights_visit_rule *visit,
                          struct finding_list *findings) {
    const struct policy_rule_list *rules = &input->object->role.rules;
    struct path field = path_field(NULL, TEXT("rules"));
    for (size_t i = 0; i < rules->count; i++) {
        struct path at = path_index(&field, i);
        visit(input, &rules->items[i], &at, findings);
    }
}
