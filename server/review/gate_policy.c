// SPDX-License-Identifier: Apache-2.0
// Policy, per rule and scope.
#include "server/review/gate_policy.h"

#include "validators/model/device_class.h"

#define STALE_RULE "ledger-stale"
#define SCOPE_RULE "canary-scope"

static bool has_text(const struct text_list *list, struct text text) {
    for (size_t i = 0; i < list->count; i++)
        if (text_equal(list->items[i], text)) return true;
    return false;
}

static bool class_is_of(const struct view *view, const struct text_list *drivers, struct text name) {
    struct view_class known = {.gated = false};
    return name.len > 0 && VIEW_ASK(view, device_class, name, &known) == VIEW_KNOWN &&
           has_text(drivers, known.driver);
}

static bool requests_are_of(const struct view *view, const struct text_list *drivers,
                            const struct device_claim *claim) {
    for (size_t i = 0; i < claim->requests.count; i++) {
        const struct device_request *request = &claim->requests.items[i];
        if (request->exactly != NULL && class_is_of(view, drivers, request->exactly->device_class_name))
            return true;
        for (size_t k = 0; k < request->first_available.count; k++)
            if (class_is_of(view, drivers, request->first_available.items[k].device_class_name)) return true;
    }
    return false;
}

// Whether the object is about one of the drivers.
static bool is_of(const struct view *view, const struct text_list *drivers, const struct object *object) {
    switch (object->kind) {
    case KIND_RESOURCE_SLICE: return has_text(drivers, object->slice.driver);
    case KIND_DEVICE_CLASS: return has_text(drivers, device_class_driver(&object->device_class));
    case KIND_RESOURCE_CLAIM_TEMPLATE: return requests_are_of(view, drivers, &object->claim_template.devices);
    case KIND_RESOURCE_CLAIM: break;
    default: return false;
    }
    for (size_t i = 0; i < object->claim.allocation.results.count; i++)
        if (has_text(drivers, object->claim.allocation.results.items[i].driver)) return true;
    return requests_are_of(view, drivers, &object->claim.devices);
}

static bool is_in_scope(const struct view *view, const struct ledger_rule *rule,
                        const struct review *review) {
    if (rule->namespace_selector.set) {
        bool matches = false;
        if (review->namespace.len == 0 || VIEW_ASK(view, namespace_matches, review->namespace,
                                                   &rule->namespace_selector, &matches) != VIEW_KNOWN)
            return false;
        if (!matches) return false;
    }
    return rule->drivers.count == 0 || is_of(view, &rule->drivers, &review->object);
}

static enum severity severity_of(struct text action, enum severity otherwise) {
    for (int severity = SEVERITY_OFF; severity <= SEVERITY_DENY; severity++)
        if (text_equal(action, text_of(severity_name((enum severity)severity))))
            return (enum severity)severity;
    return otherwise;
}

// The action before any policy. A claim that is made while its driver is not fresh mostly runs a little
// later.
static enum severity first_severity(const struct rule *rule, const struct review *review,
                                    const struct ledger_policy *policy) {
    if (strcmp(rule->id, STALE_RULE) != 0) return rule->action;
    bool may_deny = policy == NULL || !policy->hold_deny.set || policy->hold_deny.value;
    return review->subresource.len > 0 && may_deny ? rule->action : SEVERITY_WARN;
}

static enum severity action_of(const void *state, const struct rule *rule) {
    const struct gate_policy *policy = state;
    size_t count;
    return policy->severities[rule - registry_rules(&count)];
}

static void copy_settings(const struct ledger_policy *policy, struct arena *arena,
                          struct rule_settings *settings) {
    for (size_t i = 0; i < policy->numa_attributes.count; i++) {
        struct text *text = LIST_APPEND(arena, &settings->numa_attributes);
        if (text == NULL) return;
        *text = text_copy(arena, policy->numa_attributes.items[i]);
        settings->numa_attributes.set = true;
    }
}

void gate_policy_read(const struct view *view, const struct review *review, struct arena *arena,
                      struct gate_policy *ret_policy) {
    const struct ledger_policy *policy =
        view->table->policy == NULL ? NULL : view->table->policy(view->state);
    size_t count;
    const struct rule *rules = registry_rules(&count);
    enum severity *severities = arena_alloc(arena, count * sizeof *severities);
    *ret_policy = (struct gate_policy){.hold_gate = true};
    if (severities == NULL) return;
    for (size_t i = 0; i < count; i++) severities[i] = first_severity(&rules[i], review, policy);
    for (size_t i = 0; policy != NULL && i < policy->rules.count; i++) {
        const struct ledger_rule *wanted = &policy->rules.items[i];
        const struct rule *rule = registry_find(wanted->id);
        if (rule == NULL || rule->locked || !is_in_scope(view, wanted, review)) continue;
        severities[rule - rules] = severity_of(wanted->action, severities[rule - rules]);
    }
    ret_policy->severities = severities;
    ret_policy->actions = (struct rule_actions){.action = action_of, .state = ret_policy};
    if (review->scope_only) ret_policy->actions.only = registry_find(TEXT(SCOPE_RULE));
    if (policy == NULL) return;
    copy_settings(policy, arena, &ret_policy->settings);
    ret_policy->hold_gate = !policy->hold_gate.set || policy->hold_gate.value;
}
