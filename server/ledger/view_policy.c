// SPDX-License-Identifier: Apache-2.0
// What rules ask about classes, namespaces, nodes and freezes.
#include "server/ledger/clock.h"
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
