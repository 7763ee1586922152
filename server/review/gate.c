// SPDX-License-Identifier: Apache-2.0
// The order of judging.
#include "server/review/gate.h"

#include <stdatomic.h>

#include "server/review/gate_policy.h"
#include "server/review/same_spec.h"
#include "validators/rules/pod_gate.h"

#define GATE_WAIT_MS  200
#define GATE_PAUSE_MS 10

static struct text spec_of(const struct object *object) {
    switch (object->kind) {
    case KIND_RESOURCE_SLICE: return object->slice.spec_raw;
    case KIND_RESOURCE_CLAIM: return object->claim.spec_raw;
    case KIND_RESOURCE_CLAIM_TEMPLATE: return object->claim_template.spec_raw;
    case KIND_DEVICE_CLASS: return object->device_class.spec_raw;
    default: return (struct text){NULL, 0};
    }
}

// ---- what is asked of the store before anything is judged

struct preparation {
    const struct review *review;
    struct arena *arena;
    struct gate_policy policy;
    bool has_siblings; // other slices of the slice's pool are live
};

static void prepare(const struct view *view, void *context) {
    struct preparation *preparation = context;
    const struct object *object = &preparation->review->object;
    gate_policy_read(view, preparation->review, preparation->arena, &preparation->policy);
    if (object->kind != KIND_RESOURCE_SLICE) return;
    struct pool_key key = pool_key_of(&object->slice);
    struct pool_state pool = {.slice_count = 0};
    enum view_answer answer = VIEW_ASK(view, pool, &key, object->slice.metadata.name, &pool);
    preparation->has_siblings = answer == VIEW_KNOWN && pool.slice_count > 0;
}

// ---- the rules that ask the cache, and the record of what they let in

struct view_run {
    const struct gate *gate;
    const struct review *review;
    struct rule_input *input;
    const struct rule_actions *actions;
    struct finding_list *findings;
    bool pod_unknown; // a Pod that the claim is reserved for is not in the cache
};

// A later claim of a Pod is never denied: what was found about it is only told.
static void soften(struct finding_list *findings, size_t first) {
    for (size_t i = first; i < findings->count; i++)
        if (findings->items[i].severity == SEVERITY_DENY) findings->items[i].severity = SEVERITY_WARN;
}

static int64_t old_version_of(const struct review *review) {
    int64_t version = 0;
    if (!text_to_int64(review->old.claim.metadata.resource_version, &version)) return 0;
    return version;
}

static void record(const struct view *view, const struct view_run *run, const struct claim_write *write) {
    const struct gate_record record = {.claim = write->claim,
                                       .old_version = old_version_of(run->review),
                                       .pod_uid = write->consumer_uid,
                                       .node = write->node};
    if (run->gate->store->record == NULL || run->review->dry_run || finding_list_denies(run->findings))
        return;
    if (run->gate->store->record(view, &record) || run->review->scope_only) return;
    struct path status = path_field(NULL, TEXT("status"));
    struct path path = path_field(&status, TEXT("allocation"));
    run->findings->rule = "ledger-stale";
    run->findings->severity = SEVERITY_DENY;
    finding_hint(finding_add(run->findings, FINDING_INTERNAL, &path, (struct text){NULL, 0},
                             TEXT("too many allocations wait to be seen in the cache")),
                 TEXT("it ends within seconds; the scheduler then tries again"));
}

// The resourceclaim controller reserves claims for Pods that are on their node already; denied, it would try
// again for a quarter of an hour.
static bool is_for_bound_pod(const struct review *review, const struct claim_write *write) {
    return !write->allocates && user_is_controller(review->user_name) &&
           !text_equal(review->user_name, TEXT("system:kube-scheduler"));
}

static void run_view_rules(const struct view *view, void *context) {
    struct view_run *run = context;
    size_t first = run->findings->count;
    struct claim_write write = {.allocates = false};
    run->input->view = view;
    bool adds = run->review->subresource.len > 0 && claim_write_of(run->input, &write);
    registry_run_rules(run->input, RULES_VIEW, run->actions, run->findings);
    bool later = adds && claim_write_is_later(run->input, &write);
    run->input->view = NULL;
    if (!adds) return;
    run->pod_unknown = write.consumer_uid.len > 0 && !write.pod_known;
    if (later || is_for_bound_pod(run->review, &write)) soften(run->findings, first);
    record(view, run, &write);
}

// An UPDATE that goes below what its own old object says: nothing that is still to come can explain it.
static bool regresses_itself(const struct rule_input *input) {
    return input->object->kind == KIND_RESOURCE_SLICE && input->old != NULL &&
           input->object->slice.pool.generation < input->old->slice.pool.generation;
}

// Rules that could deny because the cache is a moment behind.
static bool may_lag(const struct view_run *run, const struct finding *finding) {
    static const char *const rules[] = {"generation-regressed", "mapping-missing", "claim-duplicate",
                                        "claim-shared", "claim-regressed"};
    if (finding->severity != SEVERITY_DENY || regresses_itself(run->input)) return false;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (strcmp(finding->rule, rules[i]) == 0) return true;
    return false;
}

static bool is_worth_waiting(const struct view_run *run, size_t first) {
    if (run->pod_unknown && finding_list_denies(run->findings)) return true;
    for (size_t i = first; i < run->findings->count; i++)
        if (may_lag(run, &run->findings->items[i])) return true;
    return false;
}

// A slice that may only seem to regress is let in with a warning: a false denial destroys the pool.
static void doubt(const struct view_run *run, size_t first) {
    for (size_t i = first; i < run->findings->count; i++)
        if (may_lag(run, &run->findings->items[i])) run->findings->items[i].severity = SEVERITY_WARN;
}

// Judged again, a little later, before a denial that the cache's lag could explain: until nothing speaks
// against the review any more, at most GATE_WAIT_MS.
static void judge_again(const struct gate *gate, struct view_run *run, bool is_slice, size_t first,
                        size_t dropped) {
    // The cache of claims has to pass what this write stands on. What else may be on its way has no version
    // that is known here: the next look tells.
    int64_t version = is_slice ? INT64_MAX : old_version_of(run->review);
    for (int waited_ms = 0; waited_ms < GATE_WAIT_MS && is_worth_waiting(run, first);
         waited_ms += GATE_PAUSE_MS) {
        if (gate->store->wait(gate->store->state, is_slice ? KIND_RESOURCE_SLICE : KIND_RESOURCE_CLAIM,
                              version, GATE_PAUSE_MS))
            version = INT64_MAX;
        run->findings->count = first;
        run->findings->dropped_count = dropped;
        gate->store->with_view(gate->store->state, run_view_rules, run);
    }
}

// Of slices one waits at a time: a driver that publishes the same fault again and again must not hold up
// others. Allocations are the scheduler's, and each of them waits: tenants cannot write them.
static void run_cached_rules(const struct gate *gate, struct view_run *run) {
    static atomic_flag a_slice_waits = ATOMIC_FLAG_INIT;
    size_t first = run->findings->count, dropped = run->findings->dropped_count;
    gate->store->with_view(gate->store->state, run_view_rules, run);
    if (gate->store->wait == NULL || !is_worth_waiting(run, first)) return;
    bool is_slice = run->review->object.kind == KIND_RESOURCE_SLICE;
    if (is_slice && atomic_flag_test_and_set(&a_slice_waits)) {
        doubt(run, first);
        return;
    }
    judge_again(gate, run, is_slice, first, dropped);
    if (is_slice) atomic_flag_clear(&a_slice_waits);
}

static bool is_status(const struct review *review) {
    return text_equal(review->subresource, TEXT("status"));
}

// Releases, deallocations and drivers' own statuses pass, whatever the claim looks like otherwise.
static bool adds_nothing(const struct rule_input *input) {
    struct claim_write write;
    return !claim_write_of(input, &write);
}

void gate_judge(const struct gate *gate, const struct review *review, struct arena *arena,
                struct finding_list *findings) {
    if (!review->object_set) {
        // Only a forged review says that something is created and does not say what.
        struct path path = path_field(NULL, TEXT("object"));
        finding_add(findings, FINDING_REQUIRED, &path, (struct text){"", 0},
                    TEXT("the review has no object"));
        return;
    }
    // Pods without claims are none of ours, and are not slowed down.
    if (review->object.kind == KIND_POD && review->object.pod.resource_claims.count == 0) return;
    bool has_old = review->operation == REVIEW_UPDATE && review->old_set;
    static const struct rule_settings built_in = {.numa_attributes = {.set = false}};
    struct rule_input input = {
        .object = &review->object,
        .old = has_old ? &review->old : NULL,
        .operation = has_old ? OPERATION_UPDATE : OPERATION_CREATE,
        .subresource = review->subresource,
        .minor = gate->minor,
        .online = true,
        .settings = gate->settings != NULL ? gate->settings : &built_in,
        .arena = arena,
        .user = review->user_name,
    };
    bool passes = is_status(review)
                      ? adds_nothing(&input)
                      : has_old && same_json(arena, spec_of(&review->object), spec_of(&review->old));
    if (passes || review->scope_only) {
        // Nothing that a rule reads has changed: what was stored before may be wrong, but it must stay
        // possible to add a finalizer to it, to own it and to let it go. Outside of the canary an object's
        // form is none of ours.
        findings->count = 0;
        findings->dropped_count = 0;
    }
    if (passes || (review->scope_only && gate->store == NULL)) return;
    struct preparation preparation = {.review = review, .arena = arena};
    const struct rule_actions *actions = gate->actions;
    if (gate->store != NULL) {
        gate->store->with_view(gate->store->state, prepare, &preparation);
        if (actions == NULL) actions = &preparation.policy.actions;
        if (preparation.policy.settings.numa_attributes.set) input.settings = &preparation.policy.settings;
        if (preparation.policy.severities == NULL) return; // out of memory: the arena tells
    }
    input.pool_has_siblings = preparation.has_siblings;
    // The API server has checked what it stores before it asks; a status is not ours to check again.
    if (!is_status(review) && !review->scope_only) registry_check_schema(&input, findings);
    registry_run_rules(&input, RULES_OFFLINE, actions, findings);
    if (gate->store == NULL) return;
    struct view_run run = {
        .gate = gate, .review = review, .input = &input, .actions = actions, .findings = findings};
    run_cached_rules(gate, &run);
}

// ---- the scheduling gate

struct pod_question {
    const struct gate *gate;
    const struct review *review;
    struct arena *arena;
    bool holds;
};

// A driver that begins anew is given a moment before Pods are held.
static bool is_held_up(const struct view_standing *standing) {
    return !standing->fresh && !text_equal(standing->state, TEXT("Rebuilding"));
}

static void ask_about_pod(const struct view *view, void *context) {
    struct pod_question *question = context;
    const struct pod *pod = &question->review->object.pod;
    const struct text none = {NULL, 0};
    struct text_list drivers = {NULL, 0, false};
    struct gate_policy policy;
    gate_policy_read(view, question->review, question->arena, &policy);
    if (!policy.hold_gate) return;
    for (size_t i = 0; i < pod->resource_claims.count; i++) {
        struct view_pod_claim claim = {.gated = false};
        struct view_freeze freeze;
        if (pod_claim_known(view, pod, &pod->resource_claims.items[i], question->arena, &claim) !=
                VIEW_KNOWN ||
            !claim.gated)
            continue;
        if (VIEW_ASK(view, freeze, pod->metadata.namespace, none, none, question->arena, &freeze) ==
            VIEW_KNOWN)
            question->holds = true;
        for (size_t k = 0; k < claim.drivers.count; k++) {
            struct text *driver = LIST_APPEND(question->arena, &drivers);
            if (driver != NULL) *driver = claim.drivers.items[k];
        }
    }
    struct view_standing standing = {.fresh = true};
    if (drivers.count > 0 && VIEW_ASK(view, best_node, &drivers, question->arena, &standing) == VIEW_KNOWN &&
        is_held_up(&standing))
        question->holds = true;
}

bool gate_holds_pod(const struct gate *gate, const struct review *review, struct arena *arena,
                    bool *ret_add) {
    struct pod_question question = {.gate = gate, .review = review, .arena = arena};
    *ret_add = false;
    if (gate->store == NULL || review->resource != RESOURCE_PODS || review->operation != REVIEW_CREATE ||
        !review->object_set || review->subresource.len > 0)
        return true;
    const struct pod *pod = &review->object.pod;
    if (pod->resource_claims.count == 0 || pod->node_name.len > 0) return true;
    gate->store->with_view(gate->store->state, ask_about_pod, &question);
    *ret_add = question.holds;
    return !arena->poisoned;
}
