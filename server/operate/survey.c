// SPDX-License-Identifier: Apache-2.0
// Each question is one short hold of the store.
#include "server/operate/survey.h"

#include <stdlib.h>

#include "server/ledger/clock.h"
#include "server/operate/policy_watch.h"

// ---- names

static void ask_changed(struct ledger *ledger, void *context) {
    char **name = context;
    struct text changed = ledger_take_changed_node(ledger);
    if (changed.len > 0) *name = strndup(changed.ptr, changed.len);
}

char *survey_changed(struct store *store) {
    char *name = NULL;
    store_with_ledger(store, ask_changed, &name);
    return name;
}

// ---- a node

struct node_question {
    struct text name;
    int minor;
    bool whole;
    struct arena arena;
    struct survey_node node;
};

// What holds for the whole node (its Lease, a freeze of it) holds for its drivers.
static void stand_as_node(const struct view *view, struct text node, struct driver_report *driver,
                          struct arena *arena) {
    struct view_standing standing;
    if (VIEW_ASK(view, standing, node, driver->driver, arena, &standing) != VIEW_KNOWN || standing.fresh)
        return;
    for (int state = FRESHNESS_UNMAPPED - 1; state > (int)driver->state; state--) {
        if (!text_equal(standing.state, text_of(freshness_name((enum freshness)state)))) continue;
        driver->state = (enum freshness)state;
        driver->cause = standing.cause;
        driver->since_ms = 0;
    }
}

static json_t *text_value(struct text text) {
    return json_stringn(text.ptr == NULL ? "" : text.ptr, text.len);
}

static json_t *divergence_list(const struct divergence_report_list *list) {
    json_t *array = json_array();
    for (size_t i = 0; i < list->count; i++) {
        const struct divergence_report *one = &list->items[i];
        size_t slash = text_find(one->pod, '/', 0);
        if (!one->settled) continue;
        json_t *entry = json_pack(
            "{s:o, s:o, s:o, s:o, s:o, s:s}", "namespace", text_value(text_slice(one->pod, 0, slash)), "pod",
            text_value(text_slice(one->pod, slash + 1, one->pod.len)), "podUID", text_value(one->pod_uid),
            "claim", text_value(one->claim), "claimUID", text_value(one->claim_uid), "class", one->class);
        if (entry != NULL) json_array_append_new(array, entry);
    }
    return array;
}

static json_t *faulty_list(const struct faulty_device_list *list) {
    json_t *array = json_array();
    for (size_t i = 0; i < list->count; i++) {
        const struct faulty_device *one = &list->items[i];
        // A taint rule would keep its sound namesake away as well; the gate looks at the node.
        if (one->sound_elsewhere) continue;
        json_t *entry =
            json_pack("{s:o, s:o, s:o, s:s}", "driver", text_value(one->driver), "pool",
                      text_value(one->pool), "device", text_value(one->device), "rule", one->rule);
        if (entry != NULL) json_array_append_new(array, entry);
    }
    return array;
}

static void ask_node(struct ledger *ledger, void *context) {
    struct node_question *question = context;
    struct node_report report;
    struct node_ledger memory;
    struct view view = ledger_view(ledger);
    if (!ledger_node_report(ledger, question->name, false, &question->arena, &report)) return;
    if (question->whole && !ledger_node_memory(ledger, question->name, &question->arena, &memory)) return;
    for (size_t i = 0; i < report.drivers.count; i++)
        stand_as_node(&view, question->name, &report.drivers.items[i], &question->arena);
    question->node.known = report.known;
    question->node.status =
        node_status_of(&report, question->whole ? &memory : NULL, question->minor, &question->arena);
    question->node.divergences = divergence_list(&report.divergence);
    question->node.faulty = faulty_list(&report.unusable);
}

bool survey_node(struct store *store, const char *name, int minor, bool whole, struct survey_node *ret_node) {
    struct node_question question = {.name = text_of(name), .minor = minor, .whole = whole};
    arena_init(&question.arena, SURVEY_MEMORY_BYTES);
    store_with_ledger(store, ask_node, &question);
    arena_release(&question.arena);
    if (question.node.status == NULL || question.node.divergences == NULL || question.node.faulty == NULL) {
        survey_node_release(&question.node);
        return false;
    }
    *ret_node = question.node;
    return true;
}

void survey_node_release(struct survey_node *node) {
    json_decref(node->status);
    json_decref(node->divergences);
    json_decref(node->faulty);
    *node = (struct survey_node){.known = false};
}

bool survey_is_synced(const json_t *status) {
    const char *state = json_string_value(json_object_get(status, "state"));
    return state != NULL && strcmp(state, "NotSynced") != 0;
}

static void ask_listed(struct ledger *ledger, void *context) {
    static const enum object_kind kinds[] = {KIND_NODE, KIND_RESOURCE_SLICE, KIND_RESOURCE_CLAIM, KIND_POD};
    bool *listed = context;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        *listed = *listed && ledger_is_synced(ledger, kinds[i]);
}

bool survey_is_listed(struct store *store) {
    bool listed = true;
    store_with_ledger(store, ask_listed, &listed);
    return listed;
}

// ---- the policy

struct policy_question {
    int64_t wall_ms;
    struct survey_policy *policy;
};

static void ask_policy(struct ledger *ledger, void *context) {
    const struct policy_question *question = context;
    struct view view = ledger_view(ledger);
    const struct ledger_policy *policy = view.table->policy(view.state);
    if (policy == NULL) return;
    question->policy->hold_taint = !policy->hold_taint.set || policy->hold_taint.value;
    for (size_t i = 0; i < policy->freezes.count; i++) {
        const struct freeze *freeze = &policy->freezes.items[i];
        int64_t end_ms;
        size_t scope = freeze->cluster ? 0 : freeze->driver.len > 0 ? 1 : freeze->node.len > 0 ? 2 : 3;
        bool over = time_read_ms(freeze->expires, &end_ms) && end_ms <= question->wall_ms;
        ++*(over ? &question->policy->expired : &question->policy->frozen[scope]);
    }
}

void survey_policy(struct store *store, int64_t wall_ms, struct survey_policy *ret_policy) {
    *ret_policy = (struct survey_policy){.hold_taint = true};
    struct policy_question question = {wall_ms, ret_policy};
    store_with_ledger(store, ask_policy, &question);
}

static void ask_entries(struct ledger *ledger, void *context) {
    json_t **ret_entries = context;
    struct view view = ledger_view(ledger);
    if (ledger_is_synced(ledger, KIND_LEDGER_POLICY))
        *ret_entries = policy_watch_entries(view.table->policy(view.state));
}

json_t *survey_policy_entries(struct store *store) {
    json_t *entries = NULL;
    store_with_ledger(store, ask_entries, &entries);
    return entries;
}

// ---- Pods

struct pods_question {
    struct arena *arena;
    struct pod_plan *plan;
    bool fine;
};

static void ask_pods(struct ledger *ledger, void *context) {
    struct pods_question *question = context;
    question->fine = pod_plan_add(ledger, question->arena, question->plan);
}

bool survey_pods(struct store *store, struct arena *arena, struct pod_plan *ret_plan) {
    struct pods_question question = {.arena = arena, .plan = ret_plan};
    *ret_plan = (struct pod_plan){.more = true};
    do store_with_ledger(store, ask_pods, &question);
    while (question.fine && ret_plan->more && ret_plan->looked_at < POD_PLAN_LIMIT);
    return question.fine;
}

// ---- who a denied write was for

struct consumer_question {
    const struct denied_write *write;
    struct arena *arena;
    struct survey_consumer consumer;
    bool found;
};

static void ask_consumer(struct ledger *ledger, void *context) {
    struct consumer_question *question = context;
    const struct denied_write *write = question->write;
    struct view view = ledger_view(ledger);
    struct view_pod pod;
    struct view_node node;
    if (VIEW_ASK(&view, pod, write->pod_uid, question->arena, &pod) != VIEW_KNOWN || !pod.live ||
        !text_equal(pod.namespace, write->namespace))
        return;
    for (size_t i = 0; i < pod.claim_count && !question->found; i++)
        question->found = write->claim_uid.len > 0 && text_equal(pod.claims[i].uid, write->claim_uid) &&
                          text_equal(pod.claims[i].name, write->claim);
    if (!question->found) return;
    struct text name = write->node.len > 0 ? write->node : pod.node;
    bool known = name.len > 0 && VIEW_ASK(&view, node, name, &node) == VIEW_KNOWN;
    question->consumer.pod = text_copy(question->arena, pod.name);
    if (known) question->consumer.node = text_copy(question->arena, name);
}

bool survey_consumer(struct store *store, const struct denied_write *write, struct arena *arena,
                     struct survey_consumer *ret_consumer) {
    struct consumer_question question = {.write = write, .arena = arena};
    store_with_ledger(store, ask_consumer, &question);
    *ret_consumer = question.consumer;
    return question.found && !arena->poisoned;
}

// ---- rejections

static void ask_rejections(struct ledger *ledger, void *context) {
    json_t **ret_list = context;
    struct rejection_report_list list;
    struct arena arena;
    arena_init(&arena, SURVEY_MEMORY_BYTES);
    if (ledger_rejections(ledger, &arena, &list)) *ret_list = json_array();
    for (size_t i = 0; *ret_list != NULL && i < list.count; i++) {
        const struct rejection_report *one = &list.items[i];
        json_t *entry = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "rule", one->rule,
                                  "namespace", text_value(one->namespace), "name", text_value(one->name),
                                  "uid", text_value(one->uid), "driver", text_value(one->driver), "pool",
                                  text_value(one->pool), "device", text_value(one->device), "otherUID",
                                  text_value(one->other_uid), "count", (json_int_t)one->count);
        if (entry != NULL) json_array_append_new(*ret_list, entry);
    }
    arena_release(&arena);
}

json_t *survey_rejections(struct store *store) {
    json_t *list = NULL;
    store_with_ledger(store, ask_rejections, &list);
    return list;
}
