// SPDX-License-Identifier: Apache-2.0
// The same questions as the gate's when the Pod was made.
#include "server/operate/pod_plan.h"

#include "server/ledger/waiting.h"

// How the best node for a set of drivers stands, asked once.
struct set_standing {
    struct text_list drivers;
    struct view_standing standing;
    bool known;
};
struct standing_list {
    struct set_standing *items;
    size_t count;
};

struct planner {
    struct view view;
    struct arena *arena;
    struct standing_list standings;
    bool no_gates; // by policy
};

static bool same_drivers(const struct text_list *a, const struct text_list *b) {
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++)
        if (!text_equal(a->items[i], b->items[i])) return false;
    return true;
}

static const struct set_standing *standing_of(struct planner *planner, const struct text_list *drivers) {
    for (size_t i = 0; i < planner->standings.count; i++)
        if (same_drivers(&planner->standings.items[i].drivers, drivers)) return &planner->standings.items[i];
    struct set_standing *item = LIST_APPEND(planner->arena, &planner->standings);
    if (item == NULL) return NULL;
    item->drivers = *drivers;
    item->known = VIEW_ASK(&planner->view, best_node, drivers, planner->arena, &item->standing) == VIEW_KNOWN;
    return item;
}

static struct text joined(struct arena *arena, const struct text_list *drivers) {
    struct text all = {NULL, 0};
    for (size_t i = 0; i < drivers->count; i++)
        all = text_format(arena, "%.*s%s%.*s", TEXT_ARG(all), i > 0 ? ", " : "", TEXT_ARG(drivers->items[i]));
    return all;
}

static void hold(struct planner *planner, struct pod_verdict *verdict, const struct view_pod_claim *claim,
                 const struct text_list *drivers, struct text state, struct text cause) {
    struct arena *arena = planner->arena;
    verdict->held = true;
    verdict->drivers = joined(arena, drivers);
    verdict->state = text_copy(arena, state);
    verdict->cause = text_copy(arena, cause);
    verdict->claim = text_copy(arena, claim->name);
    verdict->claim_uid = text_copy(arena, claim->uid);
}

// A driver that begins anew is given a moment, as when the Pod was made.
static void look_at_drivers(struct planner *planner, const struct view_pod_claim *claim,
                            const struct text_list *drivers, struct pod_verdict *verdict) {
    const struct set_standing *found = standing_of(planner, drivers);
    if (found == NULL || !found->known || found->standing.fresh ||
        text_equal(found->standing.state, TEXT("Rebuilding")))
        return;
    hold(planner, verdict, claim, drivers, found->standing.state, found->standing.cause);
}

static void judge_pod(struct planner *planner, const struct waiting_pod *waiting,
                      struct pod_verdict *verdict) {
    const struct text nothing = {NULL, 0};
    const struct view_pod_claim *first = NULL;
    struct text_list drivers = {.items = NULL};
    struct view_pod pod;
    struct view_freeze freeze;
    if (VIEW_ASK(&planner->view, pod, waiting->uid, planner->arena, &pod) != VIEW_KNOWN) return;
    for (size_t i = 0; i < pod.claim_count; i++) {
        const struct view_pod_claim *claim = &pod.claims[i];
        // The claim of a template comes a moment after its Pod, and the Pod does not run without it.
        if (claim->uid.len == 0) verdict->awaits = true;
        if (!claim->gated) continue;
        if (first == NULL) first = claim;
        for (size_t k = 0; k < claim->drivers.count; k++) {
            struct text *driver = LIST_APPEND(planner->arena, &drivers);
            if (driver != NULL) *driver = claim->drivers.items[k];
        }
    }
    if (first == NULL) return;
    if (VIEW_ASK(&planner->view, freeze, waiting->namespace, nothing, nothing, planner->arena, &freeze) ==
        VIEW_KNOWN)
        hold(planner, verdict, first, &drivers, TEXT("Frozen"),
             text_format(planner->arena, "%.*s is frozen: %.*s", TEXT_ARG(freeze.scope),
                         TEXT_ARG(freeze.reason)));
    else if (drivers.count > 0)
        look_at_drivers(planner, first, &drivers, verdict);
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

bool pod_plan_add(const struct ledger *ledger, struct arena *arena, struct pod_plan *plan) {
    struct planner planner = {.view = ledger_view(ledger), .arena = arena};
    struct waiting_pod_list waiting;
    const struct ledger_policy *policy = planner.view.table->policy(planner.view.state);
    planner.no_gates = policy != NULL && policy->hold_gate.set && !policy->hold_gate.value;
    if (!ledger_waiting_pods(ledger, plan->looked_at, POD_PLAN_PART, arena, &waiting)) return false;
    for (size_t i = 0; i < waiting.count; i++) {
        struct pod_verdict verdict = {.namespace = waiting.items[i].namespace,
                                      .name = waiting.items[i].name,
                                      .uid = waiting.items[i].uid,
                                      .gated = waiting.items[i].gated};
        if (!verdict.gated || !planner.no_gates) judge_pod(&planner, &waiting.items[i], &verdict);
        if ((verdict.held || verdict.gated) && !keep(&planner, plan, &verdict)) return false;
    }
    plan->looked_at += waiting.count;
    plan->more = waiting.more;
    return !arena->poisoned;
}
