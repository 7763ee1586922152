// SPDX-License-Identifier: Apache-2.0
// Pod status against the ledger, and the known faults of schedulers by name.
#include "server/ledger/divergence.h"

#include "server/ledger/footprint.h"

#define COMBINATIONS_MAX 1024u // of mistaken devices that are tried for one claim

static struct quantity_map map_of(const struct amounts *amounts, struct arena *arena) {
    struct quantity_map map = {.set = true};
    for (size_t i = 0; amounts != NULL && i < amounts->count; i++)
        sums_add(&map, amounts->items[i].resource->text, amounts->items[i].quantity, arena);
    return map;
}

static const struct reported *reported_of(const struct pod_entry *pod, const struct name *claim) {
    for (size_t i = 0; i < pod->reported_count; i++)
        if (pod->reported[i].claim == claim) return &pod->reported[i];
    return NULL;
}

// ---- which fault it is

// What would have been charged if some rows were taken for one of their rivals: digit i of `combination`, in
// a mixed base, tells which rival of row i; 0 is the row itself.
static struct quantity_map mistaken_sum(const struct claim_entry *claim, const struct pod_entry *pod,
                                        size_t combination, bool *ret_other_driver, struct arena *arena) {
    struct quantity_map sums = {.set = true};
    size_t references = pod_references(pod, claim);
    *ret_other_driver = false;
    for (size_t i = 0; i < claim->row_count; i++) {
        const struct row *row = claim->rows[i];
        size_t pick = combination % (row->rival_count + 1);
        combination /= row->rival_count + 1;
        const struct shape *shape = pick == 0 ? NULL : row->rivals[pick - 1].shape;
        if (pick > 0 && row->rivals[pick - 1].kind == RIVAL_WRONG_DRIVER) *ret_other_driver = true;
        footprint_mapping(row, shape, &sums, arena);
        footprint_overhead(row, shape, references, &sums, arena);
    }
    return sums;
}

// Whether what was reported is what a mistaken device takes.
static const char *mistaken_class(const struct claim_entry *claim, const struct pod_entry *pod,
                                  const struct quantity_map *reported, struct arena *arena) {
    size_t count = 1;
    const char *class = NULL;
    for (size_t i = 0; i < claim->row_count && count < COMBINATIONS_MAX; i++)
        count *= claim->rows[i]->rival_count + 1;
    if (count > COMBINATIONS_MAX) count = COMBINATIONS_MAX;
    for (size_t i = 1; i < count; i++) {
        bool other_driver;
        struct quantity_map sums = mistaken_sum(claim, pod, i, &other_driver, arena);
        if (!sums_equal(&sums, reported)) continue;
        if (!other_driver) return "obsolete-generation";
        class = "wrong-driver";
    }
    return class;
}

static const char *class_of(const struct ledger *ledger, const struct claim_entry *claim,
                            const struct pod_entry *pod, const struct quantity_map *reported,
                            struct arena *arena) {
    bool nothing = sums_are_nothing(reported);
    if (nothing && pod->preset) return "preset-node-uncharged";
    const char *class = mistaken_class(claim, pod, reported, arena);
    if (class != NULL) return class;
    if (nothing && ledger->minor < MINOR_37) return "preallocated-uncharged";
    return "unexplained";
}

// ---- one Pod

static bool is_settled(const struct ledger *ledger, const struct pod_entry *pod,
                       const struct claim_entry *claim) {
    int64_t last_ms = pod->event_ms;
    if (claim != NULL && claim->event_ms > last_ms) last_ms = claim->event_ms;
    return ledger->now_ms - last_ms >= policy_windows(ledger)->settle_ms;
}

static void add(const struct ledger *ledger, const struct pod_entry *pod, const struct claim_entry *claim,
                const struct name *claim_name, bool all_settled, struct arena *arena,
                struct divergence_report_list *list) {
    const struct reported *entry = reported_of(pod, claim_name);
    struct quantity_map reported = map_of(entry == NULL ? NULL : &entry->amounts, arena);
    struct quantity_map expected = {.set = true};
    if (claim != NULL) expected = footprint_claim(claim, pod_references(pod, claim), arena);
    if (sums_equal(&expected, &reported)) return;
    struct divergence_report *report = LIST_APPEND(arena, list);
    if (report == NULL) return;
    *report = (struct divergence_report){
        .pod = text_format(arena, "%.*s/%.*s", TEXT_ARG(pod->namespace->text), TEXT_ARG(pod->name->text)),
        .pod_uid = pod->uid->text,
        .claim = claim_name->text,
        .class = claim == NULL ? "unexplained" : class_of(ledger, claim, pod, &reported, arena),
        .expected = expected,
        .reported = reported,
        .settled = all_settled || is_settled(ledger, pod, claim),
    };
    const struct claim_entry *known = claim != NULL ? claim : claim_find(ledger, pod->namespace, claim_name);
    if (known != NULL) report->claim_uid = known->uid->text;
}

static bool is_reserved(const struct claim_entry *claim, const struct pod_entry *pod) {
    for (size_t i = 0; i < claim->consumer_count; i++)
        if (claim->consumers[i].pod_uid == pod->uid) return claim->allocated;
    return false;
}

void divergence_of_pod(const struct ledger *ledger, const struct pod_entry *pod, bool all_settled,
                       struct arena *arena, struct divergence_report_list *list) {
    uint64_t hash = names_hash(ledger->options.seed, &pod->uid, 1);
    for (struct link *link = index_first(&ledger->consumers, hash); link != NULL; link = index_next(link)) {
        const struct consumer *consumer = LINK_OWNER(link, struct consumer, by_pod);
        const struct claim_entry *claim = consumer->claim;
        if (consumer->pod_uid != pod->uid || !claim->allocated) continue;
        // Before it is bound a Pod is charged by nobody; what is written by then must be right all the same.
        if (pod->node == NULL && reported_of(pod, claim->name) == NULL) continue;
        add(ledger, pod, claim, claim->name, all_settled, arena, list);
    }
    for (size_t i = 0; i < pod->reported_count; i++) {
        const struct name *name = pod->reported[i].claim;
        const struct claim_entry *claim = claim_find(ledger, pod->namespace, name);
        if (claim != NULL && is_reserved(claim, pod)) continue;
        add(ledger, pod, NULL, name, all_settled, arena, list);
    }
}
