// SPDX-License-Identifier: Apache-2.0
// What rules ask about amounts: what an allocation would take of a node, and what a Pod's own requests leave.
#include "server/ledger/device_use.h"
#include "server/ledger/footprint.h"
#include "server/ledger/pod_requests.h"
#include "server/ledger/report.h"
#include "server/ledger/view_answers.h"

// ---- what an allocation that is not in the ledger yet would take

static size_t references_of(const struct ledger *ledger, const struct pod_entry *pod,
                            const struct resource_claim *claim) {
    const struct name *name = name_find(&ledger->names, claim->metadata.name);
    for (size_t i = 0; pod != NULL && name != NULL && i < pod->claim_count; i++)
        if (pod->claims[i].claim == name) return pod->claims[i].reference_count;
    return 0;
}

static struct quantity_map footprint_of(const struct ledger *ledger, const struct resource_claim *claim,
                                        const struct pod_entry *pod, const struct node_entry *node,
                                        struct arena *arena) {
    struct quantity_map sums = {.set = true};
    size_t references = references_of(ledger, pod, claim);
    for (size_t i = 0; i < claim->allocation.results.count; i++) {
        const struct allocation_result *result = &claim->allocation.results.items[i];
        struct used_device used;
        struct row row;
        if (!device_used(ledger, result, node, &used)) continue;
        if (!result_row(ledger, result, arena, &row)) return sums;
        row.shape = used.shape;
        footprint_mapping(&row, NULL, &sums, arena);
        footprint_overhead(&row, NULL, references, &sums, arena);
    }
    return sums;
}

static const struct pod_entry *pod_of(const struct ledger *ledger, struct text uid) {
    const struct name *name = uid.len == 0 ? NULL : name_find(&ledger->names, uid);
    return name == NULL ? NULL : pod_by_uid(ledger, name);
}

// What the Pod's other claims take already.
static void add_other_claims(const struct ledger *ledger, const struct pod_entry *pod,
                             struct text without_uid, struct arena *arena, struct quantity_map *sums) {
    for (size_t i = 0; i < pod->claim_count; i++) {
        if (pod->claims[i].claim == NULL) continue;
        const struct claim_entry *claim = claim_find(ledger, pod->namespace, pod->claims[i].claim);
        if (claim == NULL || !claim->allocated || text_equal(claim->uid->text, without_uid)) continue;
        struct quantity_map taken = footprint_claim(claim, pod, arena);
        sums_add_all(sums, &taken, arena);
    }
}

// ---- the node's account

static struct quantity amount_of(const struct quantity_map *sums, struct text resource) {
    for (size_t i = 0; i < sums->count; i++)
        if (text_equal(sums->items[i].key, resource)) return sums->items[i].value;
    return quantity_from_int64(0, QUANTITY_DECIMAL_SI);
}

// What a Pod that is not on the node yet will take beside its claims.
static struct quantity ordinary_of(const struct pod_entry *pod, struct text resource) {
    const struct quantity none = {.set = false};
    for (size_t i = 0; pod != NULL && pod->node == NULL && i < pod->demand_count; i++) {
        const struct demand *demand = &pod->demands[i];
        if (!text_equal(demand->resource->text, resource)) continue;
        return pod_demand_sum(&demand->on_top, &demand->within, &demand->overhead, demand->pod_level, none);
    }
    return none;
}

void view_add_shortage(struct arena *arena, struct view_shortage_list *list, struct text what,
                       struct text node) {
    struct view_shortage *shortage = LIST_APPEND(arena, list);
    if (shortage != NULL) *shortage = (struct view_shortage){.what = what, .node = node};
}

static void compare_total(const struct total_report *total, const struct quantity_map *taken,
                          const struct pod_entry *pod, struct text node, struct arena *arena,
                          struct view_shortage_list *list) {
    struct quantity wanted = amount_of(taken, total->resource);
    struct quantity free = total->free;
    if (quantity_sign(wanted) == 0) return;
    struct quantity ordinary = ordinary_of(pod, total->resource);
    if (ordinary.set) free = quantity_subtract(free, ordinary);
    if (quantity_compare(wanted, free) <= 0) return;
    view_add_shortage(arena, list,
                      text_format(arena, "it takes %.*s of %.*s, and node %.*s has %.*s free by the ledger",
                                  TEXT_ARG(quantity_canonical(arena, wanted)), TEXT_ARG(total->resource),
                                  TEXT_ARG(node), TEXT_ARG(quantity_canonical(arena, free))),
                      node);
}

enum view_answer answer_shortages(const void *state, const struct resource_claim *claim, struct text pod_uid,
                                  struct text node, struct arena *arena,
                                  struct view_shortage_list *ret_shortages) {
    const struct ledger *ledger = state;
    const struct node_entry *place = node.len == 0 ? NULL : node_find(ledger, node);
    struct view_shortage_list list = {NULL, 0};
    view_capacity_shortages(ledger, claim, place, arena, &list);
    if (place == NULL || !place->known) {
        if (list.count == 0) return VIEW_NOT_FOUND;
        *ret_shortages = list;
        return VIEW_KNOWN;
    }
    const struct pod_entry *pod = pod_of(ledger, pod_uid);
    struct quantity_map taken = footprint_of(ledger, claim, pod, place, arena);
    if (taken.count > 0) {
        struct node_report *report = arena_zalloc(arena, 1, sizeof *report);
        if (report == NULL || !ledger_node_report(ledger, node, false, arena, report)) return VIEW_NOT_FOUND;
        for (size_t i = 0; i < report->totals.count; i++)
            compare_total(&report->totals.items[i], &taken, pod, node, arena, &list);
        view_numa_shortages(ledger, claim, place, arena, &list);
    }
    *ret_shortages = list;
    return VIEW_KNOWN;
}

// ---- the Pod's own requests

enum view_answer answer_pod_level(const void *state, const struct resource_claim *claim, struct text pod_uid,
                                  struct text node, struct arena *arena,
                                  struct view_shortage_list *ret_shortages) {
    const struct ledger *ledger = state;
    const struct pod_entry *pod = pod_of(ledger, pod_uid);
    struct view_shortage_list list = {NULL, 0};
    if (pod == NULL) return VIEW_NOT_FOUND;
    const struct node_entry *place = node.len == 0 ? NULL : node_find(ledger, node);
    struct quantity_map taken = footprint_of(ledger, claim, pod, place, arena);
    add_other_claims(ledger, pod, claim->metadata.uid, arena, &taken);
    for (size_t i = 0; i < pod->demand_count; i++) {
        const struct demand *demand = &pod->demands[i];
        struct text resource = demand->resource->text;
        struct quantity claims = amount_of(&taken, resource);
        if (!demand->pod_level || quantity_sign(claims) == 0) continue;
        struct quantity wanted = demand->on_top.set ? quantity_add(demand->on_top, claims) : claims;
        if (quantity_compare(wanted, demand->within) <= 0) continue;
        view_add_shortage(
            arena, &list,
            text_format(arena, "the Pod asks for %.*s of %.*s, and its containers and claims take %.*s",
                        TEXT_ARG(quantity_canonical(arena, demand->within)), TEXT_ARG(resource),
                        TEXT_ARG(quantity_canonical(arena, wanted))),
            node);
    }
    *ret_shortages = list;
    return VIEW_KNOWN;
}
