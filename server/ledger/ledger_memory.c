// SPDX-License-Identifier: Apache-2.0
// What NodeLedgers remember: under which mapping bound claims were admitted, and the highest generation that
// a pool ever had. A ledger that starts anew takes it over.
#include "server/ledger/state.h"

#define OVERHEAD_MEMORY_BYTES ((size_t)1024 * 1024)

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
    amounts_release(&ledger->names, &remembered->per_pod);
    amounts_release(&ledger->names, &remembered->per_container);
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

static bool copy_overhead(struct ledger *ledger, const struct overhead_resource_list *overhead,
                          struct remembered_row *row) {
    struct arena arena;
    arena_init(&arena, OVERHEAD_MEMORY_BYTES);
    struct quantity_map per_pod = {.set = true};
    struct quantity_map per_container = {.set = true};
    for (size_t i = 0; i < overhead->count; i++) {
        const struct overhead_resource *item = &overhead->items[i];
        struct quantity_entry *pod = LIST_APPEND(&arena, &per_pod);
        struct quantity_entry *container = LIST_APPEND(&arena, &per_container);
        if (pod == NULL || container == NULL) break;
        *pod = (struct quantity_entry){item->name, item->per_pod};
        *container = (struct quantity_entry){item->name, item->per_container};
    }
    bool fine = !arena.poisoned && amounts_copy(&ledger->names, &per_pod, &row->per_pod) &&
                amounts_copy(&ledger->names, &per_container, &row->per_container);
    arena_release(&arena);
    return fine;
}

static struct remembered_row *remembered_new(struct ledger *ledger, const struct node_ledger_claim *claim) {
    struct remembered_row *row = heap_alloc(&ledger->heap, sizeof *row);
    if (row == NULL) return NULL;
    row->refs = 1;
    row->version = claim->version;
    const struct text key[5] = {claim->uid, claim->driver, claim->pool, claim->device, claim->share_id};
    row->numa = claim->numa;
    bool fine = amounts_copy(&ledger->names, &claim->resources, &row->amounts) &&
                copy_overhead(ledger, &claim->overhead, row);
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
        memory->pools[i].quarantined = text_equal(object->drivers.items[i].state, TEXT("Quarantined"));
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

static void hand_over_pool(struct ledger *ledger, struct pool_entry *pool,
                           const struct remembered_pool *remembered) {
    pool->had_mappings = true;
    if (pool->remembered_ms == 0) pool->remembered_ms = ledger->now_ms;
    driver_note_mapped(ledger, pool->group->driver);
    if (remembered->retired_generation > pool->retired_generation)
        pool->retired_generation = remembered->retired_generation;
    if (remembered->quarantined && !pool->quarantined) {
        pool->quarantined = true;
        pool->quarantine_ms = ledger->now_ms;
    }
    pool_quarantine(ledger, pool);
    pool_look_again(ledger, pool);
}

// ---- pools of several nodes

void pool_note_remembered(struct ledger *ledger, struct pool_entry *pool) {
    if (pool->slices != NULL || pool->remembered) return;
    pool->remembered = true;
    pool->group->remembered_count++;
    for (struct pool_entry *wide = pool->group->wide; wide != NULL; wide = wide->wide_next)
        if (wide->slices != NULL && pool_concerns(wide, pool->node)) {
            pool_take_over(ledger, wide);
            return;
        }
}

void pool_forget_remembered(struct pool_entry *pool) {
    if (!pool->remembered) return;
    pool->remembered = false;
    pool->group->remembered_count--;
}

void pool_take_over(struct ledger *ledger, struct pool_entry *wide) {
    struct pool_group *group = wide->group;
    struct pool_entry *next;
    if (group->remembered_count == 0 || wide->slices == NULL) return;
    for (struct pool_entry *pool = group->pools; pool != NULL; pool = next) {
        next = pool->group_next;
        if (!pool->remembered || !pool_concerns(wide, pool->node)) continue;
        const struct remembered_pool remembered = {.retired_generation = pool->retired_generation,
                                                   .quarantined = pool->quarantined};
        hand_over_pool(ledger, wide, &remembered);
        pool->had_mappings = pool->quarantined = false;
        pool_forget_remembered(pool);
        node_touch(ledger, pool->node);
        pool_settle(ledger, pool);
    }
}

void node_pools_take_over(struct ledger *ledger, struct node_entry *node) {
    struct pool_entry *next;
    for (struct pool_entry *pool = node->pools; pool != NULL; pool = next) {
        next = pool->node_next;
        struct pool_entry *wide = pool->remembered ? pool->group->wide : NULL;
        while (wide != NULL && (wide->slices == NULL || !pool_concerns(wide, node))) wide = wide->wide_next;
        if (wide != NULL) pool_take_over(ledger, wide);
    }
}

// The pools that were there are known again, also while they have no slices: that is not the same as never
// having had any. Errors: false, memory.
static bool make_pools(struct ledger *ledger, const struct memory_entry *memory, struct pool_entry **pools) {
    for (size_t i = 0; i < memory->pool_count; i++) {
        struct pool_key key = {
            memory->pools[i].driver->text, memory->pools[i].pool->text, {SCOPE_NODE, memory->name->text}};
        pools[i] = pool_get(ledger, &key, NULL);
        if (pools[i] != NULL) continue;
        while (i > 0) pool_settle(ledger, pools[--i]);
        return false;
    }
    return true;
}

// What was there before its NodeLedger takes over what that remembers.
static void hand_over(struct ledger *ledger, const struct memory_entry *memory, struct pool_entry **pools) {
    for (size_t i = 0; i < memory->row_count; i++) {
        const struct remembered_row *remembered = memory->rows[i];
        const struct pool_group *group = group_find(ledger, remembered->key[1], remembered->key[2]);
        if (group == NULL) continue;
        for (struct link *link = index_first(&ledger->rows, row_hash(ledger, group, remembered->key[3]));
             link != NULL; link = index_next(link)) {
            struct row *row = LINK_OWNER(link, struct row, by_device);
            if (row->group == group && row->claim->uid == remembered->key[0]) row_remember(ledger, row);
        }
    }
    for (size_t i = 0; i < memory->pool_count; i++) hand_over_pool(ledger, pools[i], &memory->pools[i]);
    for (size_t i = 0; i < memory->pool_count; i++) {
        struct pool_key key = {
            memory->pools[i].driver->text, memory->pools[i].pool->text, {SCOPE_NODE, memory->name->text}};
        struct pool_entry *pool = pool_find(ledger, &key); // a pool that is named twice may be gone
        if (pool != NULL) pool_note_remembered(ledger, pool);
    }
    node_touch(ledger, node_find(ledger, memory->name->text));
}

enum ledger_outcome memory_apply(struct ledger *ledger, const struct ledger_event *event) {
    const struct node_ledger *object = &event->object->node_ledger;
    const struct name *name = name_find(&ledger->names, object->metadata.name);
    struct memory_entry *known = name == NULL ? NULL : memory_find(ledger, name);
    enum ledger_outcome outcome = order_of(ledger, known == NULL ? NULL : known->uid,
                                           known == NULL ? 0 : known->resource_version, event);
    if (seen_in_list(outcome, event) && known != NULL)
        known->list_round = ledger->kinds[KIND_NODE_LEDGER].list_round;
    if (outcome != LEDGER_APPLIED) return outcome;
    if (event->type == EVENT_DELETED) {
        if (known == NULL) return gone_unseen(ledger, event);
        if (!tombstone_add(ledger, known->uid, event->resource_version)) return LEDGER_FAILED;
        memory_remove(ledger, known);
        return LEDGER_APPLIED;
    }
    struct memory_entry *fresh = memory_new(ledger, object);
    if (fresh == NULL) return LEDGER_FAILED;
    size_t pool_bytes = fresh->pool_count * sizeof(struct pool_entry *);
    struct pool_entry **pools = heap_alloc(&ledger->heap, pool_bytes);
    bool fine = pools != NULL;
    if (fine && known != NULL && known->uid != fresh->uid)
        fine = tombstone_add(ledger, known->uid, known->resource_version);
    if (!fine || !make_pools(ledger, fresh, pools)) {
        heap_free(&ledger->heap, pools, pool_bytes);
        memory_free(ledger, fresh);
        return LEDGER_FAILED;
    }
    fresh->resource_version = event->resource_version;
    fresh->list_round = ledger->kinds[KIND_NODE_LEDGER].list_round;
    if (known != NULL) memory_remove(ledger, known);
    index_insert(&ledger->memories, &fresh->by_name, names_hash(ledger->options.seed, &fresh->name, 1));
    for (size_t i = 0; i < fresh->row_count; i++)
        index_insert(&ledger->remembered, &fresh->rows[i]->by_key, key_hash(ledger, fresh->rows[i]->key));
    hand_over(ledger, fresh, pools);
    heap_free(&ledger->heap, pools, pool_bytes);
    return LEDGER_APPLIED;
}

void memory_sweep(struct ledger *ledger, uint64_t list_round) {
    size_t bucket = 0;
    struct link *link = index_each(&ledger->memories, &bucket, NULL);
    while (link != NULL) {
        struct memory_entry *memory = LINK_OWNER(link, struct memory_entry, by_name);
        link = index_each(&ledger->memories, &bucket, link);
        if (memory->list_round == list_round) continue;
        swept(ledger, memory->uid, memory->resource_version);
        memory_remove(ledger, memory);
    }
}
