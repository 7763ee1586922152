// SPDX-License-Identifier: Apache-2.0
// What rules ask about classes, namespaces, nodes, freezes, and how a driver stands on a node.
#include "server/ledger/clock.h"
#include "server/ledger/freshness.h"
#include "server/ledger/view_answers.h"

#define CANARY_LABEL "drawbridge.dev/canary"

static bool has_text(const struct text_list *list, struct text text) {
    for (size_t i = 0; i < list->count; i++)
        if (text_equal(list->items[i], text)) return true;
    return false;
}

// ---- labels

static const struct name *label_of(const struct node_label *labels, size_t count, struct text key) {
    for (size_t i = 0; i < count; i++)
        if (text_equal(labels[i].key->text, key)) return labels[i].value;
    return NULL;
}

static bool requirement_holds(const struct node_selector_requirement *requirement,
                              const struct node_label *labels, size_t count) {
    const struct name *value = label_of(labels, count, requirement->key);
    if (text_equal(requirement->operator, TEXT("Exists"))) return value != NULL;
    if (text_equal(requirement->operator, TEXT("DoesNotExist"))) return value == NULL;
    bool among = value != NULL && has_text(&requirement->values, value->text);
    if (text_equal(requirement->operator, TEXT("In"))) return among;
    return text_equal(requirement->operator, TEXT("NotIn")) && !among;
}

// What cannot be read matches nothing.
static bool labels_match(const struct label_selector *selector, const struct node_label *labels,
                         size_t count) {
    for (size_t i = 0; i < selector->match_labels.count; i++) {
        const struct name *value = label_of(labels, count, selector->match_labels.items[i].key);
        if (value == NULL || !text_equal(value->text, selector->match_labels.items[i].value)) return false;
    }
    for (size_t i = 0; i < selector->match_expressions.count; i++)
        if (!requirement_holds(&selector->match_expressions.items[i], labels, count)) return false;
    return true;
}

// ---- classes and namespaces

static const struct name *name_of(const struct ledger *ledger, struct text text) {
    return name_find(&ledger->names, text);
}

struct class_entry *class_find(const struct ledger *ledger, const struct name *name) {
    for (struct link *link = index_first(&ledger->classes, names_hash(ledger->options.seed, &name, 1));
         link != NULL; link = index_next(link)) {
        struct class_entry *found = LINK_OWNER(link, struct class_entry, by_name);
        if (found->name == name) return found;
    }
    return NULL;
}

static struct namespace_entry *namespace_find(const struct ledger *ledger, struct text text) {
    const struct name *name = name_of(ledger, text);
    if (name == NULL) return NULL;
    for (struct link *link = index_first(&ledger->namespaces, names_hash(ledger->options.seed, &name, 1));
         link != NULL; link = index_next(link)) {
        struct namespace_entry *found = LINK_OWNER(link, struct namespace_entry, by_name);
        if (found->name == name) return found;
    }
    return NULL;
}

void driver_note_mapped(struct ledger *ledger, const struct name *driver) {
    struct mapped_drivers *mapped = &ledger->mapped;
    for (size_t i = 0; i < mapped->count; i++)
        if (mapped->names[i] == driver) return;
    if (mapped->count < MAPPED_DRIVERS_MAX)
        mapped->names[mapped->count++] = name_share(driver);
    else
        mapped->more = true;
}

bool driver_was_mapped(const struct ledger *ledger, const struct name *driver) {
    for (size_t i = 0; i < ledger->mapped.count; i++)
        if (ledger->mapped.names[i] == driver) return true;
    size_t bucket = 0;
    for (struct link *link = ledger->mapped.more ? index_each(&ledger->pools, &bucket, NULL) : NULL;
         link != NULL; link = index_each(&ledger->pools, &bucket, link)) {
        const struct pool_entry *pool = LINK_OWNER(link, struct pool_entry, by_key);
        if (pool->group->driver == driver && pool->had_mappings) return true;
    }
    return false;
}

enum view_answer answer_driver_is_mapped(const void *state, struct text driver, bool *ret_mapped) {
    const struct ledger *ledger = state;
    const struct name *name = name_of(ledger, driver);
    bool mapped = name != NULL && driver_was_mapped(ledger, name);
    if (!mapped && !ledger->kinds[KIND_RESOURCE_SLICE].synced) return VIEW_NOT_SYNCED;
    *ret_mapped = mapped;
    return VIEW_KNOWN;
}

bool class_is_gated(const struct ledger *ledger, const struct class_entry *class_entry) {
    if (ledger->policy != NULL && has_text(&ledger->policy->policy.gated_classes, class_entry->name->text))
        return true;
    return class_entry->driver != ledger->empty && driver_was_mapped(ledger, class_entry->driver);
}

enum view_answer answer_device_class(const void *state, struct text name, struct view_class *ret_class) {
    const struct ledger *ledger = state;
    bool named = ledger->policy != NULL && has_text(&ledger->policy->policy.gated_classes, name);
    const struct name *known = name_of(ledger, name);
    const struct class_entry *found = known == NULL ? NULL : class_find(ledger, known);
    if (found == NULL && !named)
        return ledger->kinds[KIND_DEVICE_CLASS].synced ? VIEW_NOT_FOUND : VIEW_NOT_SYNCED;
    *ret_class = (struct view_class){.gated = named || class_is_gated(ledger, found)};
    if (found != NULL) ret_class->driver = found->driver->text;
    return VIEW_KNOWN;
}

enum view_answer answer_namespace_is_canary(const void *state, struct text name, bool *ret_canary) {
    const struct ledger *ledger = state;
    bool canary = ledger->policy != NULL && has_text(&ledger->policy->policy.canary_namespaces, name);
    const struct namespace_entry *found = namespace_find(ledger, name);
    if (!canary && found == NULL)
        return ledger->kinds[KIND_NAMESPACE].synced ? VIEW_NOT_FOUND : VIEW_NOT_SYNCED;
    if (!canary) {
        const struct name *value = label_of(found->labels, found->label_count, TEXT(CANARY_LABEL));
        canary = value != NULL && text_equal(value->text, TEXT("true"));
    }
    *ret_canary = canary;
    return VIEW_KNOWN;
}

enum view_answer answer_namespace_matches(const void *state, struct text name,
                                          const struct label_selector *selector, bool *ret_matches) {
    const struct namespace_entry *found = namespace_find(state, name);
    if (found == NULL) return VIEW_NOT_FOUND;
    *ret_matches = labels_match(selector, found->labels, found->label_count);
    return VIEW_KNOWN;
}

const struct ledger_policy *answer_policy(const void *state) {
    const struct ledger *ledger = state;
    return ledger->policy == NULL ? NULL : &ledger->policy->policy;
}

enum view_answer answer_node(const void *state, struct text name, struct view_node *ret_node) {
    const struct ledger *ledger = state;
    const struct node_entry *node = node_find(ledger, name);
    if (node == NULL || !node->known)
        return ledger->kinds[KIND_NODE].synced ? VIEW_NOT_FOUND : VIEW_NOT_SYNCED;
    *ret_node = (struct view_node){
        .canary = true, .kubelet_minor = node->kubelet_minor, .declares_feature = node->declares_feature};
    if (ledger->policy == NULL || !ledger->policy->policy.canary_node_selector.set) return VIEW_KNOWN;
    ret_node->canary_told = true;
    ret_node->canary =
        labels_match(&ledger->policy->policy.canary_node_selector, node->labels, node->label_count);
    return VIEW_KNOWN;
}

// ---- freezes

static bool is_over(const struct ledger *ledger, const struct freeze *freeze) {
    int64_t end_ms;
    return ledger->now_ms > 0 && freeze->expires.len > 0 && time_read_ms(freeze->expires, &end_ms) &&
           ledger->now_ms >= end_ms;
}

static struct text scope_of(const struct freeze *freeze, struct arena *arena) {
    if (freeze->cluster) return TEXT("the cluster");
    if (freeze->driver.len > 0) return text_format(arena, "driver %.*s", TEXT_ARG(freeze->driver));
    if (freeze->node.len > 0) return text_format(arena, "node %.*s", TEXT_ARG(freeze->node));
    return text_format(arena, "namespace %.*s", TEXT_ARG(freeze->namespace));
}

static bool stops(struct text frozen, struct text asked) {
    return frozen.len > 0 && text_equal(frozen, asked);
}

enum view_answer answer_freeze(const void *state, struct text namespace, struct text driver, struct text node,
                               struct arena *arena, struct view_freeze *ret_freeze) {
    const struct ledger *ledger = state;
    if (ledger->policy == NULL) return VIEW_NOT_FOUND;
    const struct freeze_list *freezes = &ledger->policy->policy.freezes;
    for (size_t i = 0; i < freezes->count; i++) {
        const struct freeze *freeze = &freezes->items[i];
        bool concerned = freeze->cluster || stops(freeze->namespace, namespace) ||
                         stops(freeze->driver, driver) || stops(freeze->node, node);
        if (!concerned || is_over(ledger, freeze)) continue;
        *ret_freeze = (struct view_freeze){.scope = scope_of(freeze, arena),
                                           .reason = text_copy(arena, freeze->reason),
                                           .expires = text_copy(arena, freeze->expires)};
        return VIEW_KNOWN;
    }
    return VIEW_NOT_FOUND;
}

// ---- how a driver stands

// The pools of a driver that a node sees, own ones and wide ones. A pool that is gone counts only where the
// driver has no other: drivers rename their pools.
struct pool_look {
    const struct name *driver;
    const struct node_entry *node;
    bool found; // some
    bool lives; // one with slices
};

static void look_at_pools(const struct ledger *ledger, struct pool_look *look, struct arena *arena,
                          struct freshness_report *report) {
    for (int far = 0; far < 2; far++)
        for (const struct pool_entry *pool = far ? ledger->wide_pools : look->node->pools; pool != NULL;
             pool = far ? pool->far_next : pool->node_next) {
            if (pool->group->driver != look->driver || !pool_concerns(pool, look->node)) continue;
            if (report == NULL) {
                look->found = true;
                if (pool->slices != NULL) look->lives = true;
            } else if (pool->slices != NULL || !look->lives) {
                freshness_worsen(report, freshness_of_pool(ledger, pool->group, look->node, arena));
            }
        }
}

static struct freshness_report on_node(const struct ledger *ledger, const struct node_entry *node,
                                       const struct name *driver, struct arena *arena, bool *ret_found) {
    struct freshness_report report = freshness_of_node(ledger, node, arena);
    freshness_worsen(&report, freshness_of_driver(ledger, driver, arena));
    struct pool_look look = {.driver = driver, .node = node};
    look_at_pools(ledger, &look, arena, NULL);
    look_at_pools(ledger, &look, arena, &report);
    *ret_found = look.found;
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
        bool found = true;
        struct freshness_report report;
        if (pool->node != NULL) {
            report = on_node(ledger, pool->node, driver, arena, &found);
        } else {
            report = freshness_of_driver(ledger, driver, arena);
            freshness_worsen(&report, freshness_of_pool(ledger, pool->group, NULL, arena));
        }
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
        const struct name *driver = name_of(ledger, drivers->items[i]);
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
    const struct name *name = name_of(ledger, driver);
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
