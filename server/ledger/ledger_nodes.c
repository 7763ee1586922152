// SPDX-License-Identifier: Apache-2.0
// Nodes: what they have to give.
#include "server/ledger/state.h"

const struct node_entry *node_find(const struct ledger *ledger, struct text name) {
    const struct name *known = name_find(&ledger->names, name);
    if (known == NULL) return NULL;
    for (struct link *link = index_first(&ledger->nodes, names_hash(ledger->options.seed, &known, 1));
         link != NULL; link = index_next(link)) {
        const struct node_entry *node = LINK_OWNER(link, struct node_entry, by_name);
        if (node->name == known) return node;
    }
    return NULL;
}

static void node_free(struct ledger *ledger, struct node_entry *node) {
    amounts_release(ledger, &node->allocatable);
    name_drop(&ledger->names, node->name);
    name_drop(&ledger->names, node->uid);
    heap_free(&ledger->heap, node, sizeof *node);
}

static void node_remove(struct ledger *ledger, struct node_entry *node) {
    index_remove(&ledger->nodes, &node->by_name);
    node_free(ledger, node);
}

enum ledger_outcome node_apply(struct ledger *ledger, const struct ledger_event *event) {
    const struct node *object = &event->object->node;
    struct node_entry *known = (struct node_entry *)(uintptr_t)node_find(ledger, object->metadata.name);
    const struct name *known_uid = known == NULL ? NULL : known->uid;
    enum ledger_outcome outcome =
        order_of(ledger, known_uid, known == NULL ? 0 : known->resource_version, event);
    if (outcome == LEDGER_REPEATED && known != NULL) known->list_round = ledger->kinds[KIND_NODE].list_round;
    if (outcome != LEDGER_APPLIED) return outcome;
    if (event->type == EVENT_DELETED) {
        if (known == NULL) return LEDGER_REPEATED;
        if (!tombstone_add(ledger, known->uid, event->resource_version)) return LEDGER_FAILED;
        node_remove(ledger, known);
        return LEDGER_APPLIED;
    }
    struct node_entry *fresh = heap_alloc(&ledger->heap, sizeof *fresh);
    if (fresh == NULL) return LEDGER_FAILED;
    fresh->name = name_take(&ledger->names, object->metadata.name);
    fresh->uid = name_take(&ledger->names, object->metadata.uid);
    bool ready = fresh->name != NULL && fresh->uid != NULL && index_reserve(&ledger->nodes) &&
                 amounts_copy(ledger, &object->allocatable, &fresh->allocatable);
    // A node made again under its name starts afresh; the old one must not come back.
    if (ready && known != NULL && known->uid != fresh->uid)
        ready = tombstone_add(ledger, known->uid, known->resource_version);
    if (!ready) {
        node_free(ledger, fresh);
        return LEDGER_FAILED;
    }
    if (known != NULL) node_remove(ledger, known);
    fresh->resource_version = event->resource_version;
    fresh->list_round = ledger->kinds[KIND_NODE].list_round;
    index_insert(&ledger->nodes, &fresh->by_name, names_hash(ledger->options.seed, &fresh->name, 1));
    return LEDGER_APPLIED;
}

void nodes_sweep(struct ledger *ledger, uint64_t list_round) {
    size_t bucket = 0;
    struct link *link = index_each(&ledger->nodes, &bucket, NULL);
    while (link != NULL) {
        struct node_entry *node = LINK_OWNER(link, struct node_entry, by_name);
        link = index_each(&ledger->nodes, &bucket, link);
        if (node->list_round != list_round) node_remove(ledger, node);
    }
}

void nodes_release(struct ledger *ledger) {
    nodes_sweep(ledger, UINT64_MAX);
    index_release(&ledger->nodes);
}
