// SPDX-License-Identifier: Apache-2.0
// LedgerPolicy. Values that nobody can mean (an unknown action, a freeze of nothing, a duration that is none)
// are findings, and what they stood for keeps its default: a policy that cannot be read loosens nothing.
#include "server/codec/decode_parts.h"

// Windows when the policy names none. Units: milliseconds.
#define TRANSPORT_MS  25000
#define WATCH_MS      150000
#define GRACE_MS      30000
#define LEASE_MS      40000
#define INCOMPLETE_MS 10000
#define SETTLE_MS     10000

enum { LABELS_MATCH, LABELS_EXPRESSIONS };
static const struct json_name labels_names[] = {
    [LABELS_MATCH] = JSON_NAME("matchLabels"),
    [LABELS_EXPRESSIONS] = JSON_NAME("matchExpressions"),
};
static const struct json_fields LABELS = JSON_FIELDS(labels_names);

enum { REQUIREMENT_KEY, REQUIREMENT_OPERATOR, REQUIREMENT_VALUES };
static const struct json_name requirement_names[] = {
    [REQUIREMENT_KEY] = JSON_NAME("key"),
    [REQUIREMENT_OPERATOR] = JSON_NAME("operator"),
    [REQUIREMENT_VALUES] = JSON_NAME("values"),
};
static const struct json_fields REQUIREMENT = JSON_FIELDS(requirement_names);

static void decode_requirements(struct json_reader *reader, struct node_selector_requirement_list *list) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct node_selector_requirement *requirement = JSON_APPEND(reader, list);
        if (requirement == NULL) return;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &REQUIREMENT, &seen, &field)) switch (field) {
            case REQUIREMENT_KEY: json_text(reader, &requirement->key); break;
            case REQUIREMENT_OPERATOR: json_text(reader, &requirement->operator); break;
            case REQUIREMENT_VALUES: decode_text_list(reader, &requirement->values); break;
            }
    }
}

static void decode_label_selector(struct json_reader *reader, struct label_selector *ret) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    ret->set = json_peek(reader) == JSON_OBJECT;
    while (json_field(reader, &LABELS, &seen, &field)) {
        if (field == LABELS_MATCH)
            decode_text_map(reader, &ret->match_labels);
        else
            decode_requirements(reader, &ret->match_expressions);
    }
}

enum { RULE_ID, RULE_ACTION, RULE_NAMESPACES, RULE_DRIVERS };
static const struct json_name rule_names[] = {
    [RULE_ID] = JSON_NAME("id"),
    [RULE_ACTION] = JSON_NAME("action"),
    [RULE_NAMESPACES] = JSON_NAME("namespaceSelector"),
    [RULE_DRIVERS] = JSON_NAME("drivers"),
};
static const struct json_fields RULE = JSON_FIELDS(rule_names);

static void decode_action(struct json_reader *reader, struct text *ret) {
    struct text action;
    if (!json_text(reader, &action)) return;
    bool known = text_equal(action, TEXT("deny")) || text_equal(action, TEXT("warn")) ||
                 text_equal(action, TEXT("audit")) || text_equal(action, TEXT("off"));
    if (known)
        *ret = action;
    else
        json_note(reader, FINDING_NOT_SUPPORTED, action, TEXT("an action is deny, warn, audit or off"));
}

static void decode_rules(struct json_reader *reader, struct ledger_rule_list *list) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct ledger_rule *rule = JSON_APPEND(reader, list);
        if (rule == NULL) return;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &RULE, &seen, &field)) switch (field) {
            case RULE_ID: json_text(reader, &rule->id); break;
            case RULE_ACTION: decode_action(reader, &rule->action); break;
            case RULE_NAMESPACES: decode_label_selector(reader, &rule->namespace_selector); break;
            case RULE_DRIVERS: decode_text_list(reader, &rule->drivers); break;
            }
        if (rule->id.len == 0 || rule->action.len == 0)
            json_note(reader, FINDING_REQUIRED, (struct text){NULL, 0},
                      TEXT("a rule has an id and an action"));
    }
}

// Takes a number and its unit off the front. Errors: false.
static bool take_duration(struct text *text, int64_t *ret_ms) {
    int64_t value = 0;
    size_t at = 0;
    while (at < text->len && at < 12 && text->ptr[at] >= '0' && text->ptr[at] <= '9')
        value = value * 10 + (text->ptr[at++] - '0');
    struct text unit = text_slice(*text, at, text->len);
    static const struct {
        struct text name;
        int64_t ms;
    } units[] = {
        {TEXT_INIT("ms"), 1}, {TEXT_INIT("s"), 1000}, {TEXT_INIT("m"), 60000}, {TEXT_INIT("h"), 3600000}};
    for (size_t i = 0; at > 0 && i < sizeof units / sizeof units[0]; i++) {
        if (!text_starts_with(unit, units[i].name)) continue;
        *text = text_slice(unit, units[i].name.len, unit.len);
        *ret_ms += value * units[i].ms;
        return true;
    }
    return false;
}

static void decode_duration(struct json_reader *reader, int64_t *ret_ms) {
    struct text text;
    int64_t ms = 0;
    if (!json_text(reader, &text)) return;
    struct text rest = text;
    bool fine = rest.len > 0;
    while (fine && rest.len > 0) fine = take_duration(&rest, &ms);
    if (fine)
        *ret_ms = ms;
    else
        json_note(reader, FINDING_INVALID, text, TEXT("a duration is written as 90s, 500ms or 2m"));
}

enum { WINDOW_TRANSPORT, WINDOW_WATCH, WINDOW_GRACE, WINDOW_LEASE, WINDOW_INCOMPLETE, WINDOW_SETTLE };
static const struct json_name window_names[] = {
    [WINDOW_TRANSPORT] = JSON_NAME("transport"),   [WINDOW_WATCH] = JSON_NAME("watch"),
    [WINDOW_GRACE] = JSON_NAME("grace"),           [WINDOW_LEASE] = JSON_NAME("lease"),
    [WINDOW_INCOMPLETE] = JSON_NAME("incomplete"), [WINDOW_SETTLE] = JSON_NAME("settle"),
};
static const struct json_fields WINDOW = JSON_FIELDS(window_names);

static void decode_windows(struct json_reader *reader, struct policy_windows *windows) {
    int64_t *const targets[] = {&windows->transport_ms, &windows->watch_ms,      &windows->grace_ms,
                                &windows->lease_ms,     &windows->incomplete_ms, &windows->settle_ms};
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &WINDOW, &seen, &field)) decode_duration(reader, targets[field]);
}

enum { CANARY_NAMESPACES, CANARY_NODES };
static const struct json_name canary_names[] = {
    [CANARY_NAMESPACES] = JSON_NAME("namespaces"),
    [CANARY_NODES] = JSON_NAME("nodeSelector"),
};
static const struct json_fields CANARY = JSON_FIELDS(canary_names);

static void decode_canary(struct json_reader *reader, struct ledger_policy *policy) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &CANARY, &seen, &field)) {
        if (field == CANARY_NAMESPACES)
            decode_text_list(reader, &policy->canary_namespaces);
        else
            decode_label_selector(reader, &policy->canary_node_selector);
    }
}

enum { HOLD_TAINT, HOLD_GATE, HOLD_DENY };
static const struct json_name hold_names[] = {
    [HOLD_TAINT] = JSON_NAME("taint"),
    [HOLD_GATE] = JSON_NAME("gate"),
    [HOLD_DENY] = JSON_NAME("deny"),
};
static const struct json_fields HOLD = JSON_FIELDS(hold_names);

static void decode_hold(struct json_reader *reader, struct ledger_policy *policy) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &HOLD, &seen, &field)) switch (field) {
        case HOLD_TAINT: decode_opt_bool(reader, &policy->hold_taint); break;
        case HOLD_GATE: decode_opt_bool(reader, &policy->hold_gate); break;
        case HOLD_DENY: decode_opt_bool(reader, &policy->hold_deny); break;
        }
}

enum {
    FREEZE_CLUSTER,
    FREEZE_DRIVER,
    FREEZE_NODE,
    FREEZE_NAMESPACE,
    FREEZE_REASON,
    FREEZE_BY,
    FREEZE_AT,
    FREEZE_EXPIRES,
};
static const struct json_name freeze_names[] = {
    [FREEZE_CLUSTER] = JSON_NAME("cluster"), [FREEZE_DRIVER] = JSON_NAME("driver"),
    [FREEZE_NODE] = JSON_NAME("node"),       [FREEZE_NAMESPACE] = JSON_NAME("namespace"),
    [FREEZE_REASON] = JSON_NAME("reason"),   [FREEZE_BY] = JSON_NAME("by"),
    [FREEZE_AT] = JSON_NAME("at"),           [FREEZE_EXPIRES] = JSON_NAME("expires"),
};
static const struct json_fields FREEZE = JSON_FIELDS(freeze_names);

static void decode_freeze(struct json_reader *reader, struct freeze *freeze) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &FREEZE, &seen, &field)) switch (field) {
        case FREEZE_CLUSTER: json_bool(reader, &freeze->cluster); break;
        case FREEZE_DRIVER: json_text(reader, &freeze->driver); break;
        case FREEZE_NODE: json_text(reader, &freeze->node); break;
        case FREEZE_NAMESPACE: json_text(reader, &freeze->namespace); break;
        case FREEZE_REASON: json_text(reader, &freeze->reason); break;
        case FREEZE_BY: json_text(reader, &freeze->by); break;
        case FREEZE_AT: decode_time(reader, &freeze->at); break;
        case FREEZE_EXPIRES: decode_time(reader, &freeze->expires); break;
        }
    int scope_count =
        freeze->cluster + (freeze->driver.len > 0) + (freeze->node.len > 0) + (freeze->namespace.len > 0);
    if (scope_count != 1)
        json_note(reader, FINDING_INVALID, (struct text){NULL, 0},
                  TEXT("a freeze has exactly one of cluster, driver, node and namespace"));
}

static void decode_freezes(struct json_reader *reader, struct freeze_list *list) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct freeze *freeze = JSON_APPEND(reader, list);
        if (freeze == NULL) return;
        decode_freeze(reader, freeze);
    }
}

enum {
    RESUME_DRIVER,
    RESUME_NODE,
    RESUME_FROM,
    RESUME_ACCEPT,
    RESUME_REASON,
    RESUME_BY,
    RESUME_AT,
    RESUME_CLUSTER,
    RESUME_NAMESPACE,
};
static const struct json_name resume_names[] = {
    [RESUME_DRIVER] = JSON_NAME("driver"),
    [RESUME_NODE] = JSON_NAME("node"),
    [RESUME_FROM] = JSON_NAME("fromVersion"),
    [RESUME_ACCEPT] = JSON_NAME("accept"),
    [RESUME_REASON] = JSON_NAME("reason"),
    [RESUME_BY] = JSON_NAME("by"),
    [RESUME_AT] = JSON_NAME("at"),
    [RESUME_CLUSTER] = JSON_NAME("cluster"),
    [RESUME_NAMESPACE] = JSON_NAME("namespace"),
};
static const struct json_fields RESUME = JSON_FIELDS(resume_names);

static void decode_resumes(struct json_reader *reader, struct resume_list *list) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct resume *resume = JSON_APPEND(reader, list);
        if (resume == NULL) return;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &RESUME, &seen, &field)) switch (field) {
            case RESUME_DRIVER: json_text(reader, &resume->driver); break;
            case RESUME_NODE: json_text(reader, &resume->node); break;
            case RESUME_FROM: decode_opt_int64(reader, &resume->from_version); break;
            case RESUME_ACCEPT: decode_text_list(reader, &resume->accept); break;
            case RESUME_REASON: json_text(reader, &resume->reason); break;
            case RESUME_BY: json_text(reader, &resume->by); break;
            case RESUME_AT: decode_time(reader, &resume->at); break;
            case RESUME_CLUSTER: json_bool(reader, &resume->cluster); break;
            case RESUME_NAMESPACE: json_text(reader, &resume->namespace); break;
            }
    }
}

enum {
    SPEC_RULES,
    SPEC_CANARY,
    SPEC_GATED,
    SPEC_NUMA,
    SPEC_WINDOWS,
    SPEC_DIVERGENCE,
    SPEC_HOLD,
    SPEC_FREEZES,
    SPEC_RESUMES,
    SPEC_PROMOTION,
};
static const struct json_name spec_names[] = {
    [SPEC_RULES] = JSON_NAME("rules"),        [SPEC_CANARY] = JSON_NAME("canary"),
    [SPEC_GATED] = JSON_NAME("gatedClasses"), [SPEC_NUMA] = JSON_NAME("numaAttributes"),
    [SPEC_WINDOWS] = JSON_NAME("windows"),    [SPEC_DIVERGENCE] = JSON_NAME("gateOnDivergence"),
    [SPEC_HOLD] = JSON_NAME("hold"),          [SPEC_FREEZES] = JSON_NAME("freezes"),
    [SPEC_RESUMES] = JSON_NAME("resumes"),    [SPEC_PROMOTION] = JSON_NAME("promotion"),
};
static const struct json_fields SPEC = JSON_FIELDS(spec_names);

static void decode_spec(struct json_reader *reader, struct ledger_policy *policy) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &SPEC, &seen, &field)) switch (field) {
        case SPEC_RULES: decode_rules(reader, &policy->rules); break;
        case SPEC_CANARY: decode_canary(reader, policy); break;
        case SPEC_GATED: decode_text_list(reader, &policy->gated_classes); break;
        case SPEC_NUMA: decode_text_list(reader, &policy->numa_attributes); break;
        case SPEC_WINDOWS: decode_windows(reader, &policy->windows); break;
        case SPEC_DIVERGENCE: decode_text_list(reader, &policy->gate_on_divergence); break;
        case SPEC_HOLD: decode_hold(reader, policy); break;
        case SPEC_FREEZES: decode_freezes(reader, &policy->freezes); break;
        case SPEC_RESUMES: decode_resumes(reader, &policy->resumes); break;
        case SPEC_PROMOTION: decode_raw(reader, &policy->promotion); break;
        }
}

enum { POLICY_METADATA, POLICY_SPEC, POLICY_STATUS, POLICY_API_VERSION, POLICY_KIND };
static const struct json_name policy_names[] = {
    [POLICY_METADATA] = JSON_NAME("metadata"), [POLICY_SPEC] = JSON_NAME("spec"),
    [POLICY_STATUS] = JSON_NAME("status"),     [POLICY_API_VERSION] = JSON_NAME("apiVersion"),
    [POLICY_KIND] = JSON_NAME("kind"),
};
static const struct json_fields POLICY = JSON_FIELDS(policy_names);

void decode_ledger_policy(struct json_reader *reader, struct object *ret) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    ret->policy.windows = (struct policy_windows){.transport_ms = TRANSPORT_MS,
                                                  .watch_ms = WATCH_MS,
                                                  .grace_ms = GRACE_MS,
                                                  .lease_ms = LEASE_MS,
                                                  .incomplete_ms = INCOMPLETE_MS,
                                                  .settle_ms = SETTLE_MS};
    while (json_field(reader, &POLICY, &seen, &field)) switch (field) {
        case POLICY_METADATA: decode_object_meta(reader, &ret->policy.metadata); break;
        case POLICY_SPEC: decode_spec(reader, &ret->policy); break;
        case POLICY_STATUS: json_skip(reader); break;
        case POLICY_API_VERSION: json_text(reader, &ret->api_version); break;
        case POLICY_KIND: json_text(reader, &ret->kind_name); break;
        }
}
