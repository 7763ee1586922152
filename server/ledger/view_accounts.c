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
    size_t count = 0;
    for (size_t i = 0; pod != NULL && name != NULL && i < pod->claim_count; i++)
        if (pod->claims[i].claim == name) count += pod->claims[i].reference_count;
    return count;
}

// A Pod may name one claim twice; it takes once. With `uses` only those entries are looked at.
static bool is_first(const struct pod_entry *pod, size_t at, const bool *uses) {
    for (size_t i = 0; i < at; i++)
        if (pod->claims[i].claim == pod->claims[at].claim && (uses == NULL || uses[i])) return false;
    return true;
}

static struct quantity_map footprint_of(const struct ledger *ledger, const struct resource_claim *claim,
                                        size_t references, const struct node_entry *node,
                                        struct arena *arena) {
    struct quantity_map sums = {.set = true};
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
        if (pod->claims[i].claim == NULL || !is_first(pod, i, NULL)) continue;
        const struct claim_entry *claim = claim_find(ledger, pod->namespace, pod->claims[i].claim);
        if (claim == NULL || !claim->allocated || text_equal(claim->uid->text, without_uid)) continue;
        struct quantity_map taken = footprint_claim(claim, pod_references(pod, claim), arena);
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
    struct quantity_map taken = footprint_of(ledger, claim, references_of(ledger, pod, claim), place, arena);
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

// ---- what the Pod says of itself

// What is asked about a Pod: the claim under review, and the sum of all that its claims take.
struct pod_question {
    const struct ledger *ledger;
    const struct resource_claim *claim;
    const struct pod_entry *pod;
    const struct node_entry *place;
    struct text node;
    struct arena *arena;
    struct quantity_map taken;
    struct view_shortage_list *list;
};

static void compare_requests(const struct pod_question *question) {
    struct arena *arena = question->arena;
    for (size_t i = 0; i < question->pod->demand_count; i++) {
        const struct demand *demand = &question->pod->demands[i];
        struct text resource = demand->resource->text;
        struct quantity claims = amount_of(&question->taken, resource);
        if (!demand->pod_level || quantity_sign(claims) == 0) continue;
        struct quantity wanted = demand->on_top.set ? quantity_add(demand->on_top, claims) : claims;
        if (quantity_compare(wanted, demand->within) <= 0) continue;
        view_add_shortage(arena, question->list,
                          text_format(arena,
                                      "the Pod asks for %.*s of %.*s, and its containers and claims take "
                                      "%.*s",
                                      TEXT_ARG(quantity_canonical(arena, demand->within)), TEXT_ARG(resource),
                                      TEXT_ARG(quantity_canonical(arena, wanted))),
                          question->node);
    }
}

// What the claims that one container refers to take of it, each with the overhead of one container.
static struct quantity_map taken_by_container(const struct pod_question *question, const bool *uses) {
    const struct ledger *ledger = question->ledger;
    const struct pod_entry *pod = question->pod;
    const struct name *own = name_find(&ledger->names, question->claim->metadata.name);
    struct quantity_map sums = {.set = true};
    for (size_t i = 0; i < pod->claim_count; i++) {
        const struct name *name = pod->claims[i].claim;
        struct quantity_map taken = {.set = true};
        if (!uses[i] || name == NULL || name == ledger->empty || !is_first(pod, i, uses)) continue;
        const struct claim_entry *other = claim_find(ledger, pod->namespace, name);
        if (name == own)
            taken = footprint_of(ledger, question->claim, 1, question->place, question->arena);
        else if (other != NULL && other->allocated)
            taken = footprint_claim(other, 1, question->arena);
        sums_add_all(&sums, &taken, question->arena);
    }
    return sums;
}

static void compare_limit(const struct pod_question *question, const struct own_limit *limit) {
    struct arena *arena = question->arena;
    struct quantity_map taken =
        limit->uses == NULL ? question->taken : taken_by_container(question, limit->uses);
    struct quantity claims = amount_of(&taken, limit->resource->text);
    if (quantity_sign(claims) == 0) return;
    struct quantity wanted = limit->containers.set ? quantity_add(limit->containers, claims) : claims;
    if (quantity_compare(wanted, limit->limit) <= 0) return;
    bool one = limit->container->text.len > 0;
    struct text who =
        one ? text_format(arena, "container %.*s with its claims takes", TEXT_ARG(limit->container->text))
            : TEXT("containers and claims take");
    view_add_shortage(arena, question->list,
                      text_format(arena, "%.*s %.*s of %.*s, the Pod's limit is %.*s", TEXT_ARG(who),
                                  TEXT_ARG(quantity_canonical(arena, wanted)),
                                  TEXT_ARG(limit->resource->text),
                                  TEXT_ARG(quantity_canonical(arena, limit->limit))),
                      question->node);
}

enum view_answer answer_pod_level(const void *state, const struct resource_claim *claim, struct text pod_uid,
                                  struct text node, struct arena *arena,
                                  struct view_shortage_list *ret_shortages) {
    const struct ledger *ledger = state;
    struct view_shortage_list list = {NULL, 0};
    struct pod_question question = {.ledger = ledger,
                                    .claim = claim,
                                    .pod = pod_of(ledger, pod_uid),
                                    .place = node.len == 0 ? NULL : node_find(ledger, node),
                                    .node = node,
                                    .arena = arena,
                                    .list = &list};
    const struct pod_entry *pod = question.pod;
    if (pod == NULL) return VIEW_NOT_FOUND;
    question.taken = footprint_of(ledger, claim, references_of(ledger, pod, claim), question.place, arena);
    add_other_claims(ledger, pod, claim->metadata.uid, arena, &question.taken);
    compare_requests(&question);
    for (size_t i = 0; i < pod->limit_count; i++) compare_limit(&question, &pod->limits[i]);
    *ret_shortages = list;
    return VIEW_KNOWN;
}
