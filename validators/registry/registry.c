// SPDX-License-Identifier: Apache-2.0
// The table of rules, made from rules.def, and the loop that runs it.
#include "validators/registry/registry.h"

#include "validators/model/device_judge.h"

// First reading: every function that a row names is declared.
#define RETIRED                                             rule_retired
#define REVISIONS(minor, function)                          function
#define RULE(name, id, on, phase, action, lock, group, ...) rule_function __VA_ARGS__;
#include "validators/rules/rules.def"
#undef RETIRED
#undef REVISIONS
#undef RULE

// Second reading: the table. The words of a row are short there and mean nothing elsewhere.
#define OFFLINE false
#define VIEW    true
#define DENY    SEVERITY_DENY
#define WARN    SEVERITY_WARN
#define AUDIT   SEVERITY_AUDIT
#define OFF     SEVERITY_OFF
#define LOCKED  true
#define OPEN    false
#define RETIRED NULL
#define REVISIONS(minor, function)                                                                           \
    { (minor), (function) }
#define RULE(name, id, on, phase, action, lock, group, ...)                                                  \
    {(id), (on), (phase), (action), (lock), (group), {__VA_ARGS__}},
static const struct rule rules[] = {
#include "validators/rules/rules.def"
};
_Static_assert(sizeof rules / sizeof rules[0] <= JUDGE_RULES_MAX, "a device's faults are bits of one word");

const struct rule *registry_rules(size_t *ret_count) {
    *ret_count = sizeof rules / sizeof rules[0];
    return rules;
}

const struct rule *registry_find(struct text id) {
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (text_equal(text_of(rules[i].id), id)) return &rules[i];
    return NULL;
}

static unsigned kind_bit(enum object_kind kind) {
    switch (kind) {
    case KIND_RESOURCE_SLICE: return ON_SLICE;
    case KIND_RESOURCE_CLAIM: return ON_CLAIM;
    case KIND_RESOURCE_CLAIM_TEMPLATE: return ON_TEMPLATE;
    case KIND_DEVICE_CLASS: return ON_CLASS;
    case KIND_ROLE:
    case KIND_CLUSTER_ROLE: return ON_ROLE;
    case KIND_CLUSTER_ROLE_BINDING: return ON_BINDING;
    case KIND_POD: return ON_POD;
    default: break;
    }
    return 0;
}

static unsigned operation_bit(enum operation operation) {
    switch (operation) {
    case OPERATION_CREATE: return ON_CREATE;
    case OPERATION_UPDATE: return ON_UPDATE;
    case OPERATION_DELETE:
    case OPERATION_CONNECT: break;
    }
    return 0;
}

// Most rules judge the object itself; some judge what a write of its status adds.
static bool is_about(const struct rule *rule, struct text subresource) {
    if (text_equal(subresource, TEXT("status"))) return (rule->on & (ON_STATUS | ON_BOTH)) != 0;
    return subresource.len == 0 && (rule->on & ON_STATUS) == 0;
}

rule_function *registry_revision(const struct rule *rule, int minor) {
    rule_function *run = NULL;
    for (size_t i = 0; i < RULE_REVISIONS_MAX && rule->revisions[i].since_minor != 0; i++)
        if (rule->revisions[i].since_minor <= minor) run = rule->revisions[i].run;
    return run;
}

static struct text spec_of(const struct object *object) {
    switch (object->kind) {
    case KIND_RESOURCE_SLICE: return object->slice.spec_raw;
    case KIND_RESOURCE_CLAIM: return object->claim.spec_raw;
    case KIND_RESOURCE_CLAIM_TEMPLATE: return object->claim_template.spec_raw;
    case KIND_DEVICE_CLASS: return object->device_class.spec_raw;
    default: break;
    }
    return (struct text){NULL, 0};
}

// An update that leaves spec as it was must always pass: the scheduler's and controllers' finalizers, the
// garbage collector's owner references. A write of a subresource is another matter: it changes the status.
static bool spec_is_unchanged(const struct rule_input *input) {
    if (input->operation != OPERATION_UPDATE || input->old == NULL || input->subresource.len > 0)
        return false;
    struct text now = spec_of(input->object);
    return now.len > 0 && input->object->kind == input->old->kind && text_equal(now, spec_of(input->old));
}

// Denying one slice of a pool of several makes the drivers' helper delete the healthy ones and loop.
static bool pool_has_several_slices(const struct rule_input *input) {
    return input->object->kind == KIND_RESOURCE_SLICE &&
           (input->pool_has_siblings || input->object->slice.pool.resource_slice_count > 1);
}

static enum severity severity_of(const struct rule *rule, const struct rule_input *input,
                                 const struct rule_actions *actions) {
    enum severity severity = rule->action;
    if (!rule->locked && actions != NULL) severity = actions->action(actions->state, rule);
    if (severity == SEVERITY_DENY && rule->group == RULE_MAPPING && input->online &&
        pool_has_several_slices(input))
        severity = SEVERITY_WARN;
    return severity;
}

void registry_run_rules(const struct rule_input *input, enum rule_phase phase,
                        const struct rule_actions *actions, struct finding_list *findings) {
    unsigned kind = kind_bit(input->object->kind);
    unsigned operation = operation_bit(input->operation);
    if (kind == 0 || operation == 0 || spec_is_unchanged(input)) return;
    if (phase == RULES_VIEW && input->view == NULL) return;
    const char *rule_before = findings->rule;
    enum severity severity_before = findings->severity;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        const struct rule *rule = &rules[i];
        if (actions != NULL && actions->only != NULL && rule != actions->only) continue;
        if ((rule->on & kind) == 0 || (rule->on & operation) == 0) continue;
        if (rule->needs_view != (phase == RULES_VIEW) || !is_about(rule, input->subresource)) continue;
        rule_function *run = registry_revision(rule, input->minor);
        enum severity severity = severity_of(rule, input, actions);
        if (run == NULL || severity == SEVERITY_OFF) continue;
        findings->rule = rule->id;
        findings->severity = severity;
        run(input, findings);
    }
    findings->rule = rule_before;
    findings->severity = severity_before;
}
