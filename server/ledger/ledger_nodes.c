// SPDX-License-Identifier: Apache-2.0
// Nodes: what they have to give, and who stands on them. A node is also held when only Pods, pools or claims
// name it: its object may come later, or be gone.
#include "server/ledger/state.h"

struct node_entry *node_find(const struct ledger *ledger, struct text name) {
    const struct name *known = name_find(&ledger->names, name);
    if (known == NULL) return NULL;
    for (struct link *link = index_first(&ledger->nodes, names_hash(ledger->options.seed, &known, 1));
         link != NULL; link = index_next(link)) {
        struct node_entry *node = LINK_OWNER(link, struct node_entry, by_name);
        if (node->name == known) return node;
    }
    return NULL;
}

void labels_release(struct ledger *ledger, struct node_label *labels, size_t count) {
    for (size_t i = 0; i < count; i++) {
        drop(ledger, labels[i].key);
        drop(ledger, labels[i].value);
    }
    heap_free(&ledger->heap, labels, count * sizeof *labels);
}

bool labels_copy(struct ledger *ledger, const struct text_map *map, struct node_label **ret_labels,
                 size_t *ret_count) {
    struct node_label *labels = NULL;
    if (map->count > 0) {
        labels = heap_alloc(&ledger->heap, map->count * sizeof *labels);
        if (labels == NULL) return false;
    }
    for (size_t i = 0; i < map->count; i++) {
        struct node_label label = {take(ledger, map->items[i].key), take(ledger, map->items[i].value)};
        size_t at = i;
        for (; at > 0 && (uintptr_t)labels[at - 1].key > (uintptr_t)label.key; at--)
            labels[at] = labels[at - 1];
        labels[at] = label;
        if (label.key != NULL && label.value != NULL) continue;
        labels_release(ledger, labels, map->count);
        return false;
    }
    *ret_labels = labels;
    *ret_count = map->count;
    return true;
}

void node_touch(struct ledger *ledger, struct node_entry *node) {
    if (node == NULL || node == ledger->nowhere) return;
    node->version++;
    if (node->dirty) return;
    node->dirty = true;
    node->dirty_next = NULL;
    node_share(node);
    if (ledger->dirty_last == NULL)
        ledger->dirty_first = node;
    else
        ledger->dirty_last->dirty_next = node;
    ledger->dirty_last = node;
}

static void node_empty(struct ledger *ledger, struct node_entry *node) {
    amounts_release(&ledger->names, &node->allocatable);
    labels_release(ledger, node->labels, node->label_count);
    node->labels = NULL;
    node->label_count = 0;
    drop(ledger, node->uid);
    node->uid = NULL;
}

static void node_free(struct ledger *ledger, struct node_entry *node) {
    node_empty(ledger, node);
    drop(ledger, node->name);
    heap_free(&ledger->heap, node, sizeof *node);
}

void node_share(struct node_entry *node) {
    node->refs++;
}

void node_drop(struct ledger *ledger, struct node_entry *node) {
    if (node == NULL || --node->refs > 0 || node->known) return;
    if (node != ledger->nowhere) index_remove(&ledger->nodes, &node->by_name);
    node_free(ledger, node);
}

struct node_entry *node_take(struct ledger *ledger, struct text name) {
    struct node_entry *known = node_find(ledger, name);
    if (known != NULL) {
        node_share(known);
        return known;
    }
    struct node_entry *node = heap_alloc(&ledger->heap, sizeof *node);
    if (node == NULL) return NULL;
    node->name = take(ledger, name);
    node->uid = take(ledger, (struct text){NULL, 0});
    if (node->name == NULL || node->uid == NULL || !index_reserve(&ledger->nodes)) {
        node_free(ledger, node);
        return NULL;
    }
    node->refs = 1;
    index_insert(&ledger->nodes, &node->by_name, names_hash(ledger->options.seed, &node->name, 1));
    return node;
}

static void node_remove(struct ledger *ledger, struct node_entry *node) {
    node_share(node);
    node->known = false;
    node_empty(ledger, node);
    node->uid = name_share(ledger->empty);
    node->resource_version = 0;
    pools_forget_node(ledger, node);
    node_touch(ledger, node);
    node_drop(ledger, node);
}

// What a Node says, ready to be put in the place of what is known.
struct parts {
    const struct name *uid;
    struct amounts allocatable;
    struct node_label *labels;
    size_t label_count;
};

static void parts_release(struct ledger *ledger, struct parts *parts) {
    drop(ledger, parts->uid);
    amounts_release(&ledger->names, &parts->allocatable);
    labels_release(ledger, parts->labels, parts->label_count);
}

// Labels decide which pools of several nodes concern this one.
static void look_again(struct ledger *ledger, struct node_entry *node) {
    for (struct placement *placement = node->placements, *next; placement != NULL; placement = next) {
        next = placement->next;
        for (size_t i = 0; i < placement->claim->row_count; i++)
            row_resolve(ledger, placement->claim->rows[i]);
    }
}

static int minor_of(struct text version) {
    size_t at = text_find(version, '.', 0);
    size_t end = at + 1;
    while (end < version.len && version.ptr[end] >= '0' && version.ptr[end] <= '9') end++;
    int64_t minor;
    if (at >= version.len || !text_to_int64(text_slice(version, at + 1, end), &minor)) return 0;
    return minor > 0 && minor < 1000 ? (int)minor : 0;
}

static void commit_node(struct ledger *ledger, struct node_entry *node, const struct node *object,
                        const struct parts *parts) {
    node_empty(ledger, node);
    node->uid = parts->uid;
    node->allocatable = parts->allocatable;
    node->labels = parts->labels;
    node->label_count = parts->label_count;
    node->known = true;
    node->kubelet_minor = minor_of(object->kubelet_version);
    node->unschedulable = object->unschedulable;
    node->declares_feature = false;
    for (size_t i = 0; i < object->declared_features.count; i++)
        if (text_equal(object->declared_features.items[i], TEXT("DRANodeAllocatableResources")))
            node->declares_feature = true;
    node->list_round = ledger->kinds[KIND_NODE].list_round;
    node_touch(ledger, node);
    look_again(ledger, node);
}

enum ledger_outcome node_apply(struct ledger *ledger, const struct ledger_event *event) {
    const struct node *object = &event->object->node;
    struct node_entry *entry = node_find(ledger, object->metadata.name);
    struct node_entry *known = entry != NULL && entry->known ? entry : NULL;
    enum ledger_outcome outcome = order_of(ledger, known == NULL ? NULL : known->uid,
                                           known == NULL ? 0 : known->resource_version, event);
    if (seen_in_list(outcome, event) && known != NULL)
        known->list_round = ledger->kinds[KIND_NODE].list_round;
    if (outcome != LEDGER_APPLIED) return outcome;
    if (event->type == EVENT_DELETED) {
        if (known == NULL) return gone_unseen(ledger, event);
        if (!tombstone_add(ledger, known->uid, event->resource_version)) return LEDGER_FAILED;
        node_remove(ledger, known);
        return LEDGER_APPLIED;
    }
    struct parts parts = {.uid = take(ledger, object->metadata.uid)};
    entry = node_take(ledger, object->metadata.name);
    bool ready = parts.uid != NULL && entry != NULL &&
                 amounts_copy(&ledger->names, &object->allocatable, &parts.allocatable) &&
                 labels_copy(ledger, &object->metadata.labels, &parts.labels, &parts.label_count);
    // A node made again under its name starts afresh; the old one must not come back.
    bool replaced = known != NULL && known->uid != parts.uid;
    if (ready && replaced) ready = tombstone_add(ledger, known->uid, known->resource_version);
    if (!ready) {
        parts_release(ledger, &parts);
        node_drop(ledger, entry);
        return LEDGER_FAILED;
    }
    if (replaced) node_remove(ledger, known);
    commit_node(ledger, entry, object, &parts);
    node_pools_take_over(ledger, entry);
    entry->resource_version = event->resource_version;
    node_drop(ledger, entry);
    return LEDGER_APPLIED;
}

void node_sweep(struct ledger *ledger, uint64_t list_round) {
    size_t bucket = 0;
    struct link *link = index_each(&ledger->nodes, &bucket, NULL);
    while (link != NULL) {
        struct node_entry *node = LINK_OWNER(link, struct node_entry, by_name);
        link = index_each(&ledger->nodes, &bucket, link);
        if (!node->known || node->list_round == list_round) continue;
        swept(ledger, node->uid, node->resource_version);
        node_remove(ledger, node);
    }
}

void nodes_release(struct ledger *ledger) {
    node_sweep(ledger, UINT64_MAX);
    while (ledger->dirty_first != NULL) {
        struct node_entry *node = ledger->dirty_first;
        ledger->dirty_first = node->dirty_next;
        node_drop(ledger, node);
    }
    ledger->dirty_last = NULL;
    struct node_entry *nowhere = ledger->nowhere;
    if (nowhere != NULL) node_drop(ledger, nowhere);
    index_release(&ledger->nodes);
}
