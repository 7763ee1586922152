// SPDX-License-Identifier: Apache-2.0
// The same questions as the gate's when the Pod was made.
#include "server/operate/pod_plan.h"

#include "server/ledger/waiting.h"

// How a driver stands anywhere, asked once.
struct driver_standing {
    struct text driver;
    struct view_standing standing;
    bool known;
};
struct standing_list {
    struct driver_standing *items;
    size_t count;
};

struct planner {
    struct view view;
    struct arena *arena;
    struct standing_list standings;
    bool no_gates; // by policy
};

static const struct driver_standing *standing_of(struct planner *planner, struct text driver) {
    const struct text anywhere = {NULL, 0};
    for (size_t i = 0; i < planner->standings.count; i++)
        if (text_equal(planner->standings.items[i].driver, driver)) return &planner->standings.items[i];
    struct driver_standing *item = LIST_APPEND(planner->arena, &planner->standings);
    if (item == NULL) return NULL;
    item->driver = driver;
    item->known =
        VIEW_ASK(&planner->view, standing, anywhere, driver, planner->arena, &item->standing) == VIEW_KNOWN;
    return item;
}

static void hold(struct planner *planner, struct pod_verdict *verdict, const struct view_pod_claim *claim,
                 struct text driver, struct text state, struct text cause) {
    struct arena *arena = planner->arena;
    verdict->held = true;
    verdict->driver = text_copy(arena, driver);
    verdict->state = text_copy(arena, state);
    verdict->cause = text_copy(arena, cause);
    verdict->claim = text_copy(arena, claim->name);
    verdict->claim_uid = text_copy(arena, claim->uid);
}

// A driver that begins anew is given a moment, as when the Pod was made.
static void look_at_drivers(struct planner *planner, const struct view_pod_claim *claim,
                            struct pod_verdict *verdict) {
    for (size_t i = 0; i < claim->drivers.count && !verdict->held; i++) {
        const struct driver_standing *found = standing_of(planner, claim->drivers.items[i]);
        if (found == NULL || !found->known || found->standing.fresh ||
            text_equal(found->standing.state, TEXT("Rebuilding")))
            continue;
        hold(planner, verdict, claim, found->driver, found->standing.state, found->standing.cause);
    }
}

static void judge_pod(struct planner *planner, const struct waiting_pod *waiting,
                      struct pod_verdict *verdict) {
    const struct text none = {NULL, 0};
    struct view_pod pod;
    struct view_freeze freeze;
    if (VIEW_ASK(&planner->view, pod, waiting->uid, planner->arena, &pod) != VIEW_KNOWN) return;
    bool frozen = VIEW_ASK(&planner->view, freeze, waiting->namespace, none, none, planner->arena, &freeze) ==
                  VIEW_KNOWN;
    for (size_t i = 0; i < pod.claim_count && !verdict->held; i++) {
        const struct view_pod_claim *claim = &pod.claims[i];
        if (!claim->gated || claim->allocated) continue;
        if (frozen)
            hold(planner, verdict, claim, none, TEXT("Frozen"),
                 text_format(planner->arena, "%.*s is frozen: %.*s", TEXT_ARG(freeze.scope),
                             TEXT_ARG(freeze.reason)));
        else
            look_at_drivers(planner, claim, verdict);
    }
}

static bool keep(struct planner *planner, struct pod_plan *plan, const struct pod_verdict *verdict) {
    struct pod_verdict *item = LIST_APPEND(planner->arena, plan);
    if (item == NULL) return false;
    *item = *verdict;
    item->namespace = text_copy(planner->arena, verdict->namespace);
    item->name = text_copy(planner->arena, verdict->name);
    item->uid = text_copy(planner->arena, verdict->uid);
    return true;
}

bool pod_plan_make(const struct ledger *ledger, struct arena *arena, struct pod_plan *ret_plan) {
    struct planner planner = {.view = ledger_view(ledger), .arena = arena};
    struct waiting_pod_list waiting;
    struct pod_plan plan = {.items = NULL};
    const struct ledger_policy *policy = planner.view.table->policy(planner.view.state);
    planner.no_gates = policy != NULL && policy->hold_gate.set && !policy->hold_gate.value;
    if (!ledger_waiting_pods(ledger, POD_PLAN_LIMIT, arena, &waiting)) return false;
    for (size_t i = 0; i < waiting.count; i++) {
        struct pod_verdict verdict = {.namespace = waiting.items[i].namespace,
                                      .name = waiting.items[i].name,
                                      .uid = waiting.items[i].uid,
                                      .gated = waiting.items[i].gated};
        if (!verdict.gated || !planner.no_gates) judge_pod(&planner, &waiting.items[i], &verdict);
        if ((verdict.held || verdict.gated) && !keep(&planner, &plan, &verdict)) return false;
    }
    plan.omitted = waiting.omitted;
    *ret_plan = plan;
    return !arena->poisoned;
}
