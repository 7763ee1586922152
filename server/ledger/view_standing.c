// SPDX-License-Identifier: Apache-2.0
// What rules ask about how a driver stands: on a node, on the best of all, on all that an allocation
// concerns.
#include "server/ledger/freshness.h"
#include "server/ledger/view_answers.h"

// The pools of a driver that a node sees, own ones and wide ones, without those that it has left.
static struct freshness_report on_node(const struct ledger *ledger, const struct node_entry *node,
                                       const struct name *driver, struct arena *arena, bool *ret_found) {
    struct freshness_report report = freshness_of_node(ledger, node, arena);
    freshness_worsen(&report, freshness_of_driver(ledger, driver, arena));
    *ret_found = false;
    for (int far = 0; far < 2; far++)
        for (const struct pool_entry *pool = far ? ledger->wide_pools : node->pools; pool != NULL;
             pool = far ? pool->far_next : pool->node_next) {
            if (pool->group->driver != driver || !pool_concerns(pool, node) ||
                pool_is_left(ledger, pool, node))
                continue;
            *ret_found = true;
            freshness_worsen(&report, freshness_of_pool(ledger, pool->group, node, arena));
        }
    return report;
}

// When so many nodes are not fresh, the others are hardly better, and the mutex is held meanwhile.
#define NODES_LOOKED_AT 1024u

// The best of all nodes that have the driver: enough for a claim that may go to any of them.
static struct freshness_report anywhere(const struct ledger *ledger, const struct name *driver,
                                        struct arena *arena, bool *ret_found) {
    struct freshness_report best = {.state = FRESHNESS_UNMAPPED};
    size_t bucket = 0;
    size_t looked_at = 0;
    for (struct link *link = index_each(&ledger->pools, &bucket, NULL); link != NULL;
         link = index_each(&ledger->pools, &bucket, link)) {
        const struct pool_entry *pool = LINK_OWNER(link, struct pool_entry, by_key);
        if (pool->group->driver != driver) continue;
        bool found = pool->node != NULL || !pool_is_left(ledger, pool, NULL);
        struct freshness_report report;
        if (pool->node != NULL) {
            report = on_node(ledger, pool->node, driver, arena, &found);
        } else {
            report = freshness_of_driver(ledger, driver, arena);
            freshness_worsen(&report, freshness_of_pool(ledger, pool->group, NULL, arena));
        }
        if (!found) continue;
        *ret_found = true;
        if (report.state < best.state) best = report;
        if (best.state == FRESHNESS_FRESH || ++looked_at == NODES_LOOKED_AT) break;
    }
    return best;
}

static void fill_standing(const struct ledger *ledger, const struct freshness_report *report,
                          struct view_standing *ret_standing) {
    *ret_standing =
        (struct view_standing){.fresh = report->state == FRESHNESS_FRESH,
                               .state = text_of(freshness_name(report->state)),
                               .cause = report->cause,
                               .age_ms = report->since_ms > 0 && ledger->now_ms >= report->since_ms
                                             ? ledger->now_ms - report->since_ms
                                             : -1};
}

// The worst of several drivers on one node; false when it has not all of them.
static bool together(const struct ledger *ledger, const struct node_entry *node,
                     const struct text_list *drivers, struct arena *arena,
                     struct freshness_report *ret_report) {
    struct freshness_report worst = {.state = FRESHNESS_FRESH};
    for (size_t i = 0; i < drivers->count; i++) {
        const struct name *driver = name_find(&ledger->names, drivers->items[i]);
        bool found = false;
        if (driver == NULL) return false;
        freshness_worsen(&worst, on_node(ledger, node, driver, arena, &found));
        if (!found) return false;
    }
    *ret_report = worst;
    return true;
}

enum view_answer answer_best_node(const void *state, const struct text_list *drivers, struct arena *arena,
                                  struct view_standing *ret_standing) {
    const struct ledger *ledger = state;
    struct freshness_report best = {.state = FRESHNESS_UNMAPPED};
    size_t bucket = 0;
    size_t looked_at = 0;
    if (!ledger->kinds[KIND_RESOURCE_SLICE].synced || !ledger->kinds[KIND_NODE].synced)
        return VIEW_NOT_SYNCED;
    for (struct link *link = index_each(&ledger->nodes, &bucket, NULL); link != NULL;
         link = index_each(&ledger->nodes, &bucket, link)) {
        const struct node_entry *node = LINK_OWNER(link, struct node_entry, by_name);
        struct freshness_report report;
        if (!node->known || !together(ledger, node, drivers, arena, &report)) continue;
        if (looked_at++ == 0 || report.state < best.state) best = report;
        if (best.state == FRESHNESS_FRESH || looked_at == NODES_LOOKED_AT) break;
    }
    if (looked_at == 0) return VIEW_NOT_FOUND;
    fill_standing(ledger, &best, ret_standing);
    return VIEW_KNOWN;
}

enum view_answer answer_standing(const void *state, struct text node, struct text driver, struct arena *arena,
                                 struct view_standing *ret_standing) {
    const struct ledger *ledger = state;
    const struct name *name = name_find(&ledger->names, driver);
    bool found = false;
    struct freshness_report report;
    if (!ledger->kinds[KIND_RESOURCE_SLICE].synced || !ledger->kinds[KIND_NODE].synced)
        return VIEW_NOT_SYNCED;
    if (name == NULL) return VIEW_NOT_FOUND;
    const struct node_entry *place = node.len == 0 ? NULL : node_find(ledger, node);
    if (node.len > 0 && place == NULL) return VIEW_NOT_FOUND;
    report =
        place == NULL ? anywhere(ledger, name, arena, &found) : on_node(ledger, place, name, arena, &found);
    if (!found) return VIEW_NOT_FOUND;
    fill_standing(ledger, &report, ret_standing);
    return VIEW_KNOWN;
}

// ---- all nodes that an allocation concerns

// The driver has slices of its own with mappings on the node: what a claim takes there is in that node's
// books. Slices for many nodes are looked at as a whole, whichever of them is down.
static bool has_own_mappings(const struct node_entry *node, const struct name *driver) {
    for (const struct pool_entry *pool = node->pools; pool != NULL; pool = pool->node_next)
        if (pool->group->driver == driver && pool->had_mappings && pool->slices != NULL) return true;
    return false;
}

enum view_answer answer_worst_node(const void *state, const struct node_selector *selector,
                                   struct text driver, struct arena *arena, struct text *ret_node,
                                   struct view_standing *ret_standing) {
    const struct ledger *ledger = state;
    if (!ledger->kinds[KIND_RESOURCE_SLICE].synced || !ledger->kinds[KIND_NODE].synced)
        return VIEW_NOT_SYNCED;
    const struct name *name = name_find(&ledger->names, driver);
    const struct selector *wanted = selector_in_arena(&ledger->names, selector, arena);
    const struct node_entry *worst_node = NULL;
    struct freshness_report worst = {.state = FRESHNESS_FRESH};
    size_t bucket = 0;
    if (name == NULL || wanted == NULL) return VIEW_NOT_FOUND;
    for (struct link *link = index_each(&ledger->nodes, &bucket, NULL); link != NULL;
         link = index_each(&ledger->nodes, &bucket, link)) {
        const struct node_entry *node = LINK_OWNER(link, struct node_entry, by_name);
        // No Pod goes to a node that is cordoned.
        if (!node->known || node->unschedulable || !has_own_mappings(node, name) ||
            !selector_matches(wanted, node))
            continue;
        bool found;
        struct freshness_report report = on_node(ledger, node, name, arena, &found);
        // Of several that are as bad, every replica names the same one.
        if (worst_node != NULL &&
            (report.state < worst.state ||
             (report.state == worst.state && text_compare(worst_node->name->text, node->name->text) < 0)))
            continue;
        worst = report;
        worst_node = node;
    }
    if (worst_node == NULL) return VIEW_NOT_FOUND;
    fill_standing(ledger, &worst, ret_standing);
    *ret_node = worst_node->name->text;
    return VIEW_KNOWN;
}
