// SPDX-License-Identifier: Apache-2.0
// What NodeLedgers remember: under which mapping bound claims were admitted, and the highest generation that
// a pool ever had. A ledger that starts anew takes it over.
#include "server/ledger/state.h"

static uint64_t key_hash(const struct ledger *ledger, const struct name *const key[5]) {
    return names_hash(ledger->options.seed, key, 5);
}

struct remembered_row *remembered_find(const struct ledger *ledger, const struct row *row) {
    const struct name *key[5] = {row->claim->uid, row->group->driver, row->group->pool, row->device,
                                 row->share};
    for (struct link *link = index_first(&ledger->remembered, key_hash(ledger, key)); link != NULL;
         link = index_next(link)) {
        struct remembered_row *remembered = LINK_OWNER(link, struct remembered_row, by_key);
        if (memcmp(remembered->key, key, sizeof key) == 0) return remembered;
    }
    return NULL;
}

void remembered_drop(struct ledger *ledger, struct remembered_row *remembered) {
    if (remembered == NULL || --remembered->refs > 0) return;
    for (size_t i = 0; i < 5; i++) drop(ledger, remembered->key[i]);
    amounts_release(&ledger->names, &remembered->amounts);
    heap_free(&ledger->heap, remembered, sizeof *remembered);
}

static struct memory_entry *memory_find(const struct ledger *ledger, const struct name *name) {
    for (struct link *link = index_first(&ledger->memories, names_hash(ledger->options.seed, &name, 1));
         link != NULL; link = index_next(link)) {
        struct memory_entry *memory = LINK_OWNER(link, struct memory_entry, by_name);
        if (memory->name == name) return memory;
    }
    return NULL;
}

static void memory_free(struct ledger *ledger, struct memory_entry *memory) {
    if (memory == NULL) return;
    for (size_t i = 0; i < memory->row_count; i++) remembered_drop(ledger, memory->rows[i]);
    heap_free(&ledger->heap, memory->rows, memory->row_count * sizeof *memory->rows);
    for (size_t i = 0; i < memory->pool_count; i++) {
        drop(ledger, memory->pools[i].driver);
        drop(ledger, memory->pools[i].pool);
    }
    heap_free(&ledger->heap, memory->pools, memory->pool_count * sizeof *memory->pools);
    drop(ledger, memory->name);
    drop(ledger, memory->uid);
    heap_free(&ledger->heap, memory, sizeof *memory);
}

static struct remembered_row *remembered_new(struct ledger *ledger, const struct node_ledger_claim *claim) {
    struct remembered_row *row = heap_alloc(&ledger->heap, sizeof *row);
    if (row == NULL) return NULL;
    row->refs = 1;
    row->version = claim->version;
    const struct text key[5] = {claim->uid, claim->driver, claim->pool, claim->device, claim->share_id};
    bool fine = amounts_copy(&ledger->names, &claim->resources, &row->amounts);
    for (size_t i = 0; i < 5; i++) {
        row->key[i] = take(ledger, key[i]);
        fine = fine && row->key[i] != NULL;
    }
    // A digest of another form equals nothing.
    if (!digest_parse(claim->digest, row->digest)) row->digest[0] = row->digest[1] = 0;
    if (fine) return row;
    remembered_drop(ledger, row);
    return NULL;
}

static bool fill(struct ledger *ledger, const struct node_ledger *object, struct memory_entry *memory) {
    size_t rows = object->claims.count;
    size_t pools = object->drivers.count;
    if (rows > 0) {
        memory->rows = heap_alloc(&ledger->heap, rows * sizeof(struct remembered_row *));
        if (memory->rows == NULL) return false;
        memory->row_count = rows;
    }
    for (size_t i = 0; i < rows; i++) {
        memory->rows[i] = remembered_new(ledger, &object->claims.items[i]);
        if (memory->rows[i] == NULL) return false;
    }
    if (pools > 0) {
        memory->pools = heap_alloc(&ledger->heap, pools * sizeof *memory->pools);
        if (memory->pools == NULL) return false;
        memory->pool_count = pools;
    }
    for (size_t i = 0; i < pools; i++) {
        memory->pools[i].driver = take(ledger, object->drivers.items[i].driver);
        memory->pools[i].pool = take(ledger, object->drivers.items[i].pool);
        memory->pools[i].retired_generation = object->drivers.items[i].retired_generation;
        if (memory->pools[i].driver == NULL || memory->pools[i].pool == NULL) return false;
    }
    return index_reserve(&ledger->memories) && index_reserve(&ledger->remembered);
}

static struct memory_entry *memory_new(struct ledger *ledger, const struct node_ledger *object) {
    struct memory_entry *memory = heap_alloc(&ledger->heap, sizeof *memory);
    if (memory == NULL) return NULL;
    memory->name = take(ledger, object->metadata.name);
    memory->uid = take(ledger, object->metadata.uid);
    if (memory->name != NULL && memory->uid != NULL && fill(ledger, object, memory)) return memory;
    memory_free(ledger, memory);
    return NULL;
}

static void memory_unlink(struct ledger *ledger, struct memory_entry *memory) {
    index_remove(&ledger->memories, &memory->by_name);
    for (size_t i = 0; i < memory->row_count; i++)
        index_remove(&ledger->remembered, &memory->rows[i]->by_key);
}

static void memory_remove(struct ledger *ledger, struct memory_entry *memory) {
    memory_unlink(ledger, memory);
    memory_free(ledger, memory);
}

// What is remembered of a pool of a node counts for the node's own pool.
int64_t remembered_retired(const struct ledger *ledger, const struct pool_entry *pool) {
    if (pool->node == NULL) return 0;
    const struct memory_entry *memory = memory_find(ledger, pool->node->name);
    for (size_t i = 0; memory != NULL && i < memory->pool_count; i++)
        if (memory->pools[i].driver == pool->group->driver && memory->pools[i].pool == pool->group->pool)
            return memory->pools[i].retired_generation;
    return 0;
}

// The claims and pools that were there before their NodeLedger take over what it remembers.
static void hand_over(struct ledger *ledger, const struct memory_entry *memory) {
    struct node_entry *node = node_find(ledger, memory->name->text);
    if (node == NULL) return;
    for (struct placement *placement = node->placements; placement != NULL; placement = placement->next)
        for (size_t i = 0; i < placement->claim->row_count; i++)
            row_remember(ledger, placement->claim->rows[i]);
    for (struct pool_entry *pool = node->pools; pool != NULL; pool = pool->node_next) {
        int64_t retired = remembered_retired(ledger, pool);
        bool behind = false;
        for (const struct slice_entry *slice = pool->slices; slice != NULL; slice = slice->pool_next)
            behind = behind || slice->generation < retired;
        if (retired <= pool->retired_generation) continue;
        pool->retired_generation = retired;
        if (!behind) continue;
        pool->quarantined = true;
        pool->quarantine_ms = ledger->now_ms;
        pool_look_again(ledger, pool);
    }
    node_touch(ledger, node);
}

enum ledger_outcome memory_apply(struct ledger *ledger, const struct ledger_event *event) {
    const struct node_ledger *object = &event->object->node_ledger;
    const struct name *name = name_find(&ledger->names, object->metadata.name);
    struct memory_entry *known = name == NULL ? NULL : memory_find(ledger, name);
    enum ledger_outcome outcome = order_of(ledger, known == NULL ? NULL : known->uid,
                                           known == NULL ? 0 : known->resource_version, event);
    if (outcome == LEDGER_REPEATED && known != NULL)
        known->list_round = ledger->kinds[KIND_NODE_LEDGER].list_round;
    if (outcome != LEDGER_APPLIED) return outcome;
    if (event->type == EVENT_DELETED) {
        if (known == NULL) return LEDGER_REPEATED;
        if (!tombstone_add(ledger, known->uid, event->resource_version)) return LEDGER_FAILED;
        memory_remove(ledger, known);
        return LEDGER_APPLIED;
    }
    struct memory_entry *fresh = memory_new(ledger, object);
    if (fresh == NULL) return LEDGER_FAILED;
    if (known != NULL && known->uid != fresh->uid &&
        !tombstone_add(ledger, known->uid, known->resource_version)) {
        memory_free(ledger, fresh);
        return LEDGER_FAILED;
    }
    fresh->resource_version = event->resource_version;
    fresh->list_round = ledger->kinds[KIND_NODE_LEDGER].list_round;
    if (known != NULL) memory_remove(ledger, known);
    index_insert(&ledger->memories, &fresh->by_name, names_hash(ledger->options.seed, &fresh->name, 1));
    for (size_t i = 0; i < fresh->row_count; i++)
        index_insert(&ledger->remembered, &fresh->rows[i]->by_key, key_hash(ledger, fresh->rows[i]->key));
    hand_over(ledger, fresh);
    return LEDGER_APPLIED;
}

void memory_sweep(struct ledger *ledger, uint64_t list_round) {
    size_t bucket = 0;
    struct link *link = index_each(&ledger->memories, &bucket, NULL);
    while (link != NULL) {
        struct memory_entry *memory = LINK_OWNER(link, struct memory_entry, by_name);
        link = index_each(&ledger->memories, &bucket, link);
        if (memory->list_round != list_round) memory_remove(ledger, memory);
    }
}
