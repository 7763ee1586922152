// SPDX-License-Identifier: Apache-2.0
// ledger-stale: what is known of a node's devices, or of what they take, is not fresh.
//
// A claim is allocated only where the books are known to be right: the watches of the control plane live, the
// node's Lease is renewed, the driver's slices are there and its pool is complete, nothing is frozen or in
// quarantine, and no divergence of a kind that the policy gates on stands. Only the drivers that the Pod's
// claims use are looked at, on the node that is chosen for it: the one that the allocation names, or the
// Pod's nodeName or nominatedNodeName.
//
// An allocation whose nodeSelector matches several nodes concerns more than the chosen one: each node that it
// matches, that is not cordoned, and on which a driver of the allocation has slices of its own with mappings,
// must be fresh for that driver when the claim is allocated. A driver that only publishes devices for many
// nodes at once is looked at as a whole, so that a node that is down does not hold up others; so is an
// allocation without a nodeSelector, which concerns no node in particular. A reservation is for one Pod, so
// only the node chosen for it counts.
//
// A Pod is judged as a whole when the first of its claims is written; a later one is never denied.
//
// What to do: mostly wait; the message says what is not fresh, since when, and what ends it. `drawbridge
// ledger show` has all states.
//
// Reads: status.allocation, status.reservedFor; Pod spec.resourceClaims and its claims; DeviceClass; labels
// of Nodes; the state of each (node, driver).
//
// Default: deny of allocations and reservations, warn when a claim is created. Policy may set deny, warn,
// audit or off; a deny at creation never concerns controllers and the scheduler.
//
// Source: kubernetes issue 141912 (a slice stays after its driver is gone).
#include "validators/rules/claim_gate.h"

struct stale {
    struct text node;
    struct text driver;
    struct view_standing standing;
    bool elsewhere; // not on the node that is chosen for the Pod
};

static bool is_stale(const struct rule_input *input, struct text node, struct text driver,
                     struct stale *ret_stale) {
    bool mapped = false;
    struct view_standing standing = {.fresh = true, .age_ms = -1};
    enum view_answer answer = VIEW_ASK(input->view, driver_is_mapped, driver, &mapped);
    if (answer == VIEW_KNOWN && !mapped) return false;
    if (answer == VIEW_NOT_FOUND) return false;
    if (answer == VIEW_KNOWN) answer = VIEW_ASK(input->view, standing, node, driver, input->arena, &standing);
    if (answer == VIEW_NOT_SYNCED)
        standing = (struct view_standing){.state = TEXT("NotSynced"),
                                          .cause = TEXT("the control plane has not been read yet"),
                                          .age_ms = -1};
    if (answer == VIEW_NOT_FOUND || standing.fresh) return false;
    *ret_stale = (struct stale){.node = node, .driver = driver, .standing = standing};
    return true;
}

// Whether a driver is not fresh on one of the nodes where the allocation may be used, too.
static bool is_stale_elsewhere(const struct rule_input *input, const struct node_selector *selector,
                               struct text driver, struct stale *ret_stale) {
    struct stale stale = {.driver = driver, .elsewhere = true};
    if (VIEW_ASK(input->view, worst_node, selector, driver, input->arena, &stale.node, &stale.standing) !=
            VIEW_KNOWN ||
        stale.standing.fresh)
        return false;
    *ret_stale = stale;
    return true;
}

static struct text what_of(struct arena *arena, const struct stale *stale) {
    const struct view_standing *standing = &stale->standing;
    struct text age = {NULL, 0};
    if (standing->age_ms >= 0)
        age = text_format(arena, " for %.*s", TEXT_ARG(age_text(arena, standing->age_ms)));
    return text_format(arena, "%s%.*s%sdriver %.*s is %.*s%.*s: %.*s%s", stale->node.len > 0 ? "node " : "",
                       TEXT_ARG(stale->node), stale->node.len > 0 ? ", " : "", TEXT_ARG(stale->driver),
                       TEXT_ARG(standing->state), TEXT_ARG(age), TEXT_ARG(standing->cause),
                       stale->elsewhere ? "; the allocation concerns that node too" : "");
}

static bool find_stale(const struct rule_input *input, const struct claim_write *write,
                       struct stale *ret_stale) {
    const struct allocation_result_list *results = &write->claim->allocation.results;
    for (size_t i = 0; i < results->count; i++)
        if (is_stale(input, write->node, results->items[i].driver, ret_stale)) return true;
    // The Pod's other claims would be allocated on the same node next.
    for (size_t i = 0; write->pod_known && i < write->pod.claim_count; i++) {
        const struct view_pod_claim *other = &write->pod.claims[i];
        if (!other->gated || text_equal(other->uid, write->claim->metadata.uid)) continue;
        for (size_t k = 0; k < other->drivers.count; k++)
            if (is_stale(input, write->node, other->drivers.items[k], ret_stale)) return true;
    }
    const struct node_selector *selector = write->claim->allocation.node_selector;
    bool several = write->allocates && selector != NULL && selector_node(selector).len == 0;
    for (size_t i = 0; several && i < results->count; i++)
        if (is_stale_elsewhere(input, selector, results->items[i].driver, ret_stale)) return true;
    return false;
}

static void judge_class(const struct rule_input *input, struct text name, const struct path *path,
                        void *context) {
    struct finding_list *findings = context;
    struct view_class class = {.gated = false};
    struct stale stale;
    const struct text anywhere = {NULL, 0};
    if (VIEW_ASK(input->view, device_class, name, &class) != VIEW_KNOWN) return;
    if (!class.gated || class.driver.len == 0 || !is_stale(input, anywhere, class.driver, &stale)) return;
    struct finding *finding =
        finding_add(findings, FINDING_FORBIDDEN, path, name, what_of(input->arena, &stale));
    finding_hint(finding, TEXT("Pods with this claim wait until it is fresh"));
    if (finding != NULL && finding->severity == SEVERITY_DENY && user_is_controller(input->user))
        finding->severity = SEVERITY_WARN;
}

void rule_ledger_stale(const struct rule_input *input, struct finding_list *findings) {
    struct claim_write write;
    struct stale stale;
    if (input->subresource.len == 0) {
        if (input->operation == OPERATION_CREATE) for_each_class(input, judge_class, findings);
        return;
    }
    if (!claim_write_of(input, &write) || !find_stale(input, &write, &stale)) return;
    claim_finding(input, &write, findings, FINDING_FORBIDDEN, what_of(input->arena, &stale),
                  TEXT("it ends when the cause does; the scheduler then tries again"));
}
