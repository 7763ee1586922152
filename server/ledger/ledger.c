// SPDX-License-Identifier: Apache-2.0
// The ledger as a whole: life, order of events, lists, clock. Each kind has a file of its own.
#include "server/ledger/state.h"

struct ledger *ledger_new(const struct ledger_options *options, struct fault *fault) {
    struct heap first = {0};
    struct ledger *ledger = heap_alloc(&first, sizeof *ledger);
    if (ledger == NULL) {
        fault_set(fault, FAULT_MEMORY, "no memory for the ledger");
        return NULL;
    }
    ledger->options = *options;
    ledger->heap.cap_bytes = options->memory_cap_bytes;
    ledger->names.index.heap = &ledger->heap;
    memcpy(ledger->names.seed, options->seed, sizeof ledger->names.seed);
    ledger->slices.heap = ledger->pools.heap = ledger->nodes.heap = ledger->tombstones.heap = &ledger->heap;
    return ledger;
}

static void tombstone_forget_oldest(struct ledger *ledger) {
    struct tombstone *oldest = ledger->oldest_tombstone;
    ledger->oldest_tombstone = oldest->next;
    if (oldest->next == NULL) ledger->newest_tombstone = NULL;
    index_remove(&ledger->tombstones, &oldest->by_uid);
    name_drop(&ledger->names, oldest->uid);
    heap_free(&ledger->heap, oldest, sizeof *oldest);
}

void ledger_free(struct ledger *ledger) {
    if (ledger == NULL) return;
    slices_release(ledger);
    nodes_release(ledger);
    while (ledger->oldest_tombstone != NULL) tombstone_forget_oldest(ledger);
    index_release(&ledger->tombstones);
    index_release(&ledger->names.index);
    struct heap first = {.used_bytes = sizeof *ledger, .count = 1};
    heap_free(&first, ledger, sizeof *ledger);
}

static const struct tombstone *tombstone_find(const struct ledger *ledger, struct text uid) {
    const struct name *name = name_find(&ledger->names, uid);
    if (name == NULL) return NULL;
    for (struct link *link = index_first(&ledger->tombstones, names_hash(ledger->options.seed, &name, 1));
         link != NULL; link = index_next(link)) {
        const struct tombstone *tombstone = LINK_OWNER(link, struct tombstone, by_uid);
        if (tombstone->uid == name) return tombstone;
    }
    return NULL;
}

enum ledger_outcome order_of(const struct ledger *ledger, const struct name *known_uid, int64_t known_version,
                             const struct ledger_event *event) {
    struct text uid = object_metadata(event->object)->uid;
    if (known_uid != NULL && text_equal(known_uid->text, uid)) {
        if (event->resource_version < known_version) return LEDGER_OLDER;
        // A deletion carries the version of the deletion, or that of the last change; both end the object.
        if (event->type != EVENT_DELETED && event->resource_version == known_version) return LEDGER_REPEATED;
        return LEDGER_APPLIED;
    }
    const struct tombstone *gone = uid.len == 0 ? NULL : tombstone_find(ledger, uid);
    // In a folder of manifests an object may come back as itself; its version then is higher than that of its
    // end.
    if (gone != NULL && (event->type == EVENT_DELETED || event->resource_version <= gone->resource_version))
        return event->type == EVENT_DELETED ? LEDGER_REPEATED : LEDGER_OLDER;
    if (known_uid == NULL) return LEDGER_APPLIED;
    // Another object of the same name: the newer one is the one that lives.
    if (event->type == EVENT_DELETED || event->resource_version < known_version) return LEDGER_OLDER;
    return LEDGER_APPLIED;
}

bool tombstone_add(struct ledger *ledger, const struct name *uid, int64_t resource_version) {
    if (uid->text.len == 0) return true;
    if (ledger->tombstones.count >= TOMBSTONES_MAX) tombstone_forget_oldest(ledger);
    if (!index_reserve(&ledger->tombstones)) return false;
    struct tombstone *tombstone = heap_alloc(&ledger->heap, sizeof *tombstone);
    if (tombstone == NULL) return false;
    tombstone->uid = name_share(uid);
    tombstone->resource_version = resource_version;
    if (ledger->newest_tombstone == NULL)
        ledger->oldest_tombstone = tombstone;
    else
        ledger->newest_tombstone->next = tombstone;
    ledger->newest_tombstone = tombstone;
    index_insert(&ledger->tombstones, &tombstone->by_uid, names_hash(ledger->options.seed, &uid, 1));
    return true;
}

void amounts_release(struct ledger *ledger, struct amounts *amounts) {
    for (size_t i = 0; i < amounts->count; i++) name_drop(&ledger->names, amounts->items[i].resource);
    heap_free(&ledger->heap, amounts->items, amounts->count * sizeof *amounts->items);
    *amounts = (struct amounts){0};
}

bool amounts_copy(struct ledger *ledger, const struct quantity_map *map, struct amounts *ret_amounts) {
    struct amounts copy = {0};
    if (map->count > 0) {
        copy.items = heap_alloc(&ledger->heap, map->count * sizeof *copy.items);
        if (copy.items == NULL) return false;
    }
    copy.count = map->count;
    for (size_t i = 0; i < map->count; i++) {
        struct amount amount = {.resource = name_take(&ledger->names, map->items[i].key),
                                .quantity = map->items[i].value};
        if (amount.resource == NULL) {
            amounts_release(ledger, &copy);
            return false;
        }
        amount.quantity.source = (struct text){NULL, 0};
        amount.quantity.cached = false;
        size_t at = i;
        while (at > 0 && text_compare(copy.items[at - 1].resource->text, amount.resource->text) > 0) {
            copy.items[at] = copy.items[at - 1];
            at--;
        }
        copy.items[at] = amount;
    }
    *ret_amounts = copy;
    return true;
}

enum ledger_outcome ledger_apply(struct ledger *ledger, const struct ledger_event *event,
                                 struct fault *fault) {
    if (event->type == EVENT_BOOKMARK) return LEDGER_APPLIED;
    enum ledger_outcome outcome = LEDGER_IGNORED;
    switch (event->object->kind) {
    case KIND_RESOURCE_SLICE: outcome = slice_apply(ledger, event); break;
    case KIND_NODE: outcome = node_apply(ledger, event); break;
    default: break;
    }
    if (outcome == LEDGER_FAILED) fault_set(fault, FAULT_MEMORY, "no memory for an object of the cluster");
    return outcome;
}

void ledger_list_begin(struct ledger *ledger, enum object_kind kind) {
    ledger->kinds[kind].listing = true;
    ledger->kinds[kind].list_round++;
}

void ledger_list_end(struct ledger *ledger, enum object_kind kind) {
    struct kind_state *state = &ledger->kinds[kind];
    if (!state->listing) return;
    state->listing = false;
    if (kind == KIND_RESOURCE_SLICE) slices_sweep(ledger, state->list_round);
    if (kind == KIND_NODE) nodes_sweep(ledger, state->list_round);
    state->synced = true;
}

void ledger_list_cancel(struct ledger *ledger, enum object_kind kind) {
    ledger->kinds[kind].listing = false;
}

void ledger_advance(struct ledger *ledger, int64_t now_ms) {
    if (now_ms > ledger->now_ms) ledger->now_ms = now_ms;
}

void ledger_set_synced(struct ledger *ledger, enum object_kind kind, bool synced) {
    ledger->kinds[kind].synced = synced;
}

void ledger_watch_alive(struct ledger *ledger, enum object_kind kind, int64_t now_ms) {
    if (now_ms > ledger->kinds[kind].alive_ms) ledger->kinds[kind].alive_ms = now_ms;
}

const struct heap *ledger_heap(const struct ledger *ledger) {
    return &ledger->heap;
}
