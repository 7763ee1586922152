// SPDX-License-Identifier: Apache-2.0
// The table of rules and how it is run.
#include <criterion/criterion.h>
#include <stdio.h>

#include "unit/lib/judge.h"
#include "validators/registry/rule_texts.h"

Test(registry, the_table_is_sound) {
    size_t count;
    const struct rule *rules = registry_rules(&count);
    cr_assert_gt(count, 0);
    for (size_t i = 0; i < count; i++) {
        const struct rule *rule = &rules[i];
        for (const char *c = rule->id; *c != '\0'; c++)
            cr_expect((*c >= 'a' && *c <= 'z') || *c == '-', "%s: lower-case words only", rule->id);
        if (i > 0) cr_expect_lt(strcmp(rules[i - 1].id, rule->id), 0, "%s is out of order", rule->id);
        cr_expect_neq(rule->on & ~(ON_CREATE | ON_UPDATE), 0, "%s judges no kind", rule->id);
        cr_expect_eq(rule->revisions[0].since_minor, MINOR_OLDEST, "%s has no first revision", rule->id);
        for (size_t j = 1; j < RULE_REVISIONS_MAX && rule->revisions[j].since_minor != 0; j++)
            cr_expect_gt(rule->revisions[j].since_minor, rule->revisions[j - 1].since_minor,
                         "%s: revisions must rise", rule->id);
        cr_expect_eq(registry_find(text_of(rule->id)), rule);
    }
    cr_expect_null(registry_find(TEXT("nothing")));
    cr_expect_null(registry_find(TEXT("")));
}

Test(registry, every_rule_has_its_text) {
    size_t count;
    const struct rule *rules = registry_rules(&count);
    for (size_t i = 0; i < count; i++) {
        const char *text = rule_text(rules[i].id);
        cr_assert_not_null(text, "%s has no text", rules[i].id);
        cr_expect(text_starts_with(text_of(text), text_of(rules[i].id)), "%s: the text begins with the ID",
                  rules[i].id);
        cr_expect_null(strstr(text, "SPDX"), "%s", rules[i].id);
        cr_expect_null(strstr(text, "\n//"), "%s", rules[i].id);
        static const char *const parts[] = {"\nReads: ", "\nDefault: ", "\nSource: "};
        for (size_t j = 0; j < sizeof parts / sizeof parts[0]; j++)
            cr_expect_not_null(strstr(text, parts[j]), "%s: its text has no%s", rules[i].id, parts[j]);
        const char *action = strstr(text, "\nDefault: ");
        size_t skip = sizeof "\nDefault: " - 1;
        if (action != NULL)
            cr_expect(text_starts_with(text_of(action + skip), text_of(severity_name(rules[i].action))),
                      "%s: the text names another default", rules[i].id);
        cr_expect_eq(strstr(text, "Policy cannot change it") != NULL, rules[i].locked, "%s", rules[i].id);
    }
    cr_expect_not_null(rule_text("schema"));
    cr_expect_null(rule_text("nothing"));
}

// A mapping that breaks resource-name (deny), and with a range that breaks unit-range (deny, locked).
static const char bad[] = "\"10E\"";

struct counts {
    size_t deny, warn, audit;
};

static struct counts run(struct judged *judged, enum rule_phase phase, const struct rule_actions *actions) {
    struct counts counts = {0};
    struct finding_list findings;
    finding_list_init(&findings, &judged->arena);
    findings.rule = "before";
    findings.severity = SEVERITY_AUDIT;
    registry_run_rules(&judged->input, phase, actions, &findings);
    cr_expect_str_eq(findings.rule, "before");
    cr_expect_eq(findings.severity, SEVERITY_AUDIT);
    for (size_t i = 0; i < findings.count; i++) {
        counts.deny += findings.items[i].severity == SEVERITY_DENY;
        counts.warn += findings.items[i].severity == SEVERITY_WARN;
        counts.audit += findings.items[i].severity == SEVERITY_AUDIT;
    }
    return counts;
}

static enum severity always(const void *state, const struct rule *rule) {
    (void)rule;
    return *(const enum severity *)state;
}

Test(registry, policy_changes_what_is_not_locked) {
    struct judged judged;
    judged_init(&judged, slice_mapping(36, "memory", NULL, bad, NULL), 36);
    enum severity action = SEVERITY_OFF;
    struct rule_actions actions = {.action = always, .state = &action};
    cr_expect_eq(run(&judged, RULES_OFFLINE, &actions).deny, 1); // unit-range stays
    judged_release(&judged);
    judged_init(&judged, slice_mapping(36, "gpu", NULL, "\"1\"", NULL), 36);
    cr_expect_eq(run(&judged, RULES_OFFLINE, NULL).deny, 1);
    cr_expect_eq(run(&judged, RULES_OFFLINE, &actions).deny, 0);
    action = SEVERITY_AUDIT;
    cr_expect_eq(run(&judged, RULES_OFFLINE, &actions).audit, 2); // numa-missing too
    action = SEVERITY_WARN;
    cr_expect_eq(run(&judged, RULES_OFFLINE, &actions).warn, 2);
    judged_release(&judged);
}

Test(registry, a_pool_of_several_slices_is_never_denied_on_line) {
    struct judged judged;
    judged_init(&judged, slice_mapping(36, "memory", NULL, bad, NULL), 36);
    judged.input.online = true;
    cr_expect_eq(run(&judged, RULES_OFFLINE, NULL).deny, 1);
    judged.input.pool_has_siblings = true;
    struct counts softened = run(&judged, RULES_OFFLINE, NULL);
    cr_expect_eq(softened.deny, 0);
    cr_expect_eq(softened.warn, 1);
    judged.input.pool_has_siblings = false;
    judged.object.slice.pool.resource_slice_count = 2;
    cr_expect_eq(run(&judged, RULES_OFFLINE, NULL).deny, 0);
    judged.input.online = false; // `check` keeps the table's action
    cr_expect_eq(run(&judged, RULES_OFFLINE, NULL).deny, 1);
    judged_release(&judged);
}

Test(registry, an_unchanged_spec_passes_before_any_rule) {
    struct judged judged;
    judged_init(&judged, slice_mapping(36, "gpu", NULL, "\"1\"", NULL), 36);
    judged_set_old(&judged, slice_mapping(36, "gpu", NULL, "\"1\"", NULL));
    cr_expect_eq(run(&judged, RULES_OFFLINE, NULL).deny, 0);
    judged.input.subresource = TEXT("status"); // the rules that read the spec do not run there at all
    judged_set_old(&judged, slice_mapping(36, "gpu", NULL, "\"2\"", NULL));
    cr_expect_eq(run(&judged, RULES_OFFLINE, NULL).deny, 0);
    judged.input.subresource = TEXT("");
    judged_set_old(&judged, slice_mapping(36, "gpu", NULL, "\"2\"", NULL));
    cr_expect_eq(run(&judged, RULES_OFFLINE, NULL).deny, 1);
    judged.input.old = NULL;
    cr_expect_eq(run(&judged, RULES_OFFLINE, NULL).deny, 1);
    judged_release(&judged);
}

Test(registry, the_spec_of_every_kind_is_compared) {
    static const char *const kinds[] = {"ResourceSlice", "ResourceClaim", "ResourceClaimTemplate",
                                        "DeviceClass"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct judged judged;
        char json[512];
        snprintf(json, sizeof json,
                 "{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"%s\",\"metadata\":{\"name\":\"x\"},"
                 "\"spec\":{}}",
                 kinds[i]);
        judged_init(&judged, json, 36);
        judged_set_old(&judged, json);
        cr_expect_eq(run(&judged, RULES_OFFLINE, NULL).deny, 0);
        judged_release(&judged);
    }
}

Test(registry, other_kinds_operations_and_phases_run_nothing) {
    struct judged judged;
    judged_init(&judged, slice_mapping(36, "gpu", NULL, "\"1\"", NULL), 36);
    cr_expect_eq(run(&judged, RULES_VIEW, NULL).deny, 0); // without a view
    judged.input.operation = OPERATION_DELETE;
    cr_expect_eq(run(&judged, RULES_OFFLINE, NULL).deny, 0);
    judged.input.operation = OPERATION_CONNECT;
    cr_expect_eq(run(&judged, RULES_OFFLINE, NULL).deny, 0);
    judged.input.operation = OPERATION_CREATE;
    judged.object.kind = KIND_OTHER;
    cr_expect_eq(run(&judged, RULES_OFFLINE, NULL).deny, 0);
    judged_release(&judged);
}

Test(registry, minors_outside_the_known_ones) {
    struct judged judged;
    judged_init(&judged, slice_mapping(37, "gpu", NULL, "\"1\"", NULL), 37);
    judged.input.minor = 99; // runs the newest
    cr_expect_eq(run(&judged, RULES_OFFLINE, NULL).deny, 1);
    judged.input.minor = 35; // older than any
    cr_expect_eq(run(&judged, RULES_OFFLINE, NULL).deny, 0);
    judged_release(&judged);
}

static size_t schema_count(struct judged *judged) {
    struct finding_list findings;
    finding_list_init(&findings, &judged->arena);
    registry_check_schema(&judged->input, &findings);
    for (size_t i = 0; i < findings.count; i++) {
        cr_expect_str_eq(findings.items[i].rule, SCHEMA_RULE_ID);
        cr_expect_eq(findings.items[i].severity, SEVERITY_DENY);
    }
    return findings.count;
}

// One object of each kind that upstream refuses, and whether its update is refused too.
Test(registry, schema_checks_every_kind) {
    static const char *const specs[] = {
        "\"kind\":\"ResourceSlice\",\"spec\":{\"driver\":\"d\"}",
        "\"kind\":\"ResourceClaim\",\"spec\":{\"devices\":{\"requests\":[{\"name\":\"r\"}]}}",
        "\"kind\":\"ResourceClaimTemplate\",\"spec\":{\"spec\":{\"devices\":{\"requests\":[{}]}}}",
        "\"kind\":\"DeviceClass\",\"spec\":{\"selectors\":[{}]}",
    };
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        struct judged judged;
        char json[512];
        char old[512];
        snprintf(json, sizeof json,
                 "{\"apiVersion\":\"resource.k8s.io/v1\",\"metadata\":{\"name\":\"x\"},%s}", specs[i]);
        judged_init(&judged, json, 36);
        cr_expect_gt(schema_count(&judged), 0, "create of %s", specs[i]);
        // Another name in an update is refused for every kind.
        snprintf(old, sizeof old, "{\"apiVersion\":\"resource.k8s.io/v1\",\"metadata\":{\"name\":\"y\"},%s}",
                 specs[i]);
        judged_set_old(&judged, old);
        cr_expect_gt(schema_count(&judged), 0, "update of %s", specs[i]);
        judged.input.subresource = TEXT("binding");
        cr_expect_eq(schema_count(&judged), 0);
        judged.input.subresource = TEXT("");
        judged.input.operation = OPERATION_DELETE;
        cr_expect_eq(schema_count(&judged), 0);
        judged.input.operation = OPERATION_CREATE;
        judged.object.kind = KIND_OTHER;
        cr_expect_eq(schema_count(&judged), 0);
        judged.old.kind = KIND_OTHER;
        judged.input.operation = OPERATION_UPDATE;
        cr_expect_eq(schema_count(&judged), 0);
        judged_release(&judged);
    }
}

Test(registry, schema_checks_a_claims_status) {
    static const char start[] =
        "{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceClaim\",\"metadata\":{"
        "\"name\":\"c\"},\"spec\":{\"devices\":{\"requests\":[]}}";
    char json[512];
    char old[512];
    struct judged judged;
    snprintf(json, sizeof json,
             "%s,\"status\":{\"reservedFor\":[{\"resource\":\"pods\",\"name\":\"\",\"uid\":\"\"}]}}", start);
    snprintf(old, sizeof old, "%s}", start);
    judged_init(&judged, json, 36);
    judged.input.subresource = TEXT("status");
    cr_expect_eq(schema_count(&judged), 0); // a status is never created
    judged_set_old(&judged, old);
    cr_expect_gt(schema_count(&judged), 0);
    judged_release(&judged);
}

// What comes through a server has been through its checks: a field that is there is a feature that is on, and
// the checks of a newer server are its own.
Test(registry, schema_believes_the_server_on_line) {
    struct judged judged;
    struct finding_list findings;
    judged_init(&judged, slice_with("\"attributes\":{\"x\":{\"ints\":[1,2]}}"), 37);
    cr_expect_eq(schema_count(&judged), 1);
    judged.input.online = true;
    cr_expect_eq(schema_count(&judged), 0);
    judged_release(&judged);
    judged_init(&judged, slice_with("\"attributes\":{\"x\":{}}"), 37);
    judged.input.online = true;
    cr_expect_gt(schema_count(&judged), 0);
    judged.input.minor = MINOR_NEWEST + 1;
    finding_list_init(&findings, &judged.arena);
    registry_check_schema(&judged.input, &findings);
    cr_assert_gt(findings.count, 0);
    for (size_t i = 0; i < findings.count; i++) cr_expect_eq(findings.items[i].severity, SEVERITY_WARN);
    cr_expect_eq(findings.severity, SEVERITY_DENY);
    judged.input.online = false;
    cr_expect_gt(schema_count(&judged), 0);
    judged_release(&judged);
}

// Every allocation of a judgement fails once: nothing crashes, and the list is never taken for empty.
Test(registry, memory_runs_out_at_every_allocation) {
    struct judged judged;
    judged_init(
        &judged,
        slice_mapping(36, "Memory", "cpu", "\"500m\"",
                      "\"attributes\":{\"numaNode\":{\"int\":-1}},\"capacity\":{\"gpu.example.com/cpu\":{"
                      "\"value\":\"-1\"}},\"nodeAllocatableResources\":{\"memory\":{\"mapping\":{}}}"),
        36);
    for (size_t n = 1;; n++) {
        struct arena arena;
        struct finding_list findings;
        arena_init(&arena, 1u << 20);
        arena.fail_after = n;
        finding_list_init(&findings, &arena);
        judged.input.arena = &arena;
        registry_check_schema(&judged.input, &findings);
        registry_run_rules(&judged.input, RULES_OFFLINE, NULL, &findings);
        bool sound = finding_list_is_sound(&findings);
        bool failed = arena.fail_after == 0;
        arena_release(&arena);
        cr_expect_eq(sound, !failed, "allocation %zu", n);
        if (!failed) break;
        cr_assert_lt(n, 10000);
    }
    judged_release(&judged);
}
