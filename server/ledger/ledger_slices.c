// SPDX-License-Identifier: Apache-2.0
// ResourceSlices and the pools that they make up.
#include "server/ledger/state.h"

static uint64_t pool_hash(const struct ledger *ledger, const struct name *driver, const struct name *pool,
                          enum node_scope_kind scope, const struct name *value) {
    const void *key[] = {driver, pool, value, (const void *)(uintptr_t)scope};
    return siphash(ledger->options.seed, key, sizeof key);
}

static struct pool_entry *find_by_names(const struct ledger *ledger, const struct name *driver,
                                        const struct name *pool, enum node_scope_kind scope,
                                        const struct name *value) {
    for (struct link *link = index_first(&ledger->pools, pool_hash(ledger, driver, pool, scope, value));
         link != NULL; link = index_next(link)) {
        struct pool_entry *entry = LINK_OWNER(link, struct pool_entry, by_key);
        if (entry->driver == driver && entry->pool == pool && entry->scope == scope &&
            entry->scope_value == value)
            return entry;
    }
    return NULL;
}

const struct pool_entry *pool_find(const struct ledger *ledger, const struct pool_key *key) {
    const struct name *driver = name_find(&ledger->names, key->driver);
    const struct name *pool = name_find(&ledger->names, key->pool);
    const struct name *value = name_find(&ledger->names, key->scope.value);
    if (driver == NULL || pool == NULL || value == NULL) return NULL;
    return find_by_names(ledger, driver, pool, key->scope.kind, value);
}

static void pool_free(struct ledger *ledger, struct pool_entry *pool) {
    name_drop(&ledger->names, pool->driver);
    name_drop(&ledger->names, pool->pool);
    name_drop(&ledger->names, pool->scope_value);
    heap_free(&ledger->heap, pool, sizeof *pool);
}

static struct pool_entry *pool_get(struct ledger *ledger, const struct pool_key *key) {
    struct pool_entry *known = (struct pool_entry *)(uintptr_t)pool_find(ledger, key);
    if (known != NULL) return known;
    struct pool_entry *pool = heap_alloc(&ledger->heap, sizeof *pool);
    if (pool == NULL) return NULL;
    pool->scope = key->scope.kind;
    pool->driver = name_take(&ledger->names, key->driver);
    pool->pool = name_take(&ledger->names, key->pool);
    pool->scope_value = name_take(&ledger->names, key->scope.value);
    if (pool->driver == NULL || pool->pool == NULL || pool->scope_value == NULL ||
        !index_reserve(&ledger->pools)) {
        pool_free(ledger, pool);
        return NULL;
    }
    index_insert(&ledger->pools, &pool->by_key,
                 pool_hash(ledger, pool->driver, pool->pool, pool->scope, pool->scope_value));
    return pool;
}

static void pool_unlink(struct slice_entry *slice) {
    struct slice_entry **at = &slice->pool->slices;
    while (*at != slice) at = &(*at)->pool_next;
    *at = slice->pool_next;
}

static void pool_link(struct slice_entry *slice, struct pool_entry *pool) {
    slice->pool = pool;
    slice->pool_next = pool->slices;
    pool->slices = slice;
    if (slice->generation > pool->retired_generation) pool->retired_generation = slice->generation;
}

static struct slice_entry *slice_find(const struct ledger *ledger, struct text name) {
    const struct name *known = name_find(&ledger->names, name);
    if (known == NULL) return NULL;
    for (struct link *link = index_first(&ledger->slices, names_hash(ledger->options.seed, &known, 1));
         link != NULL; link = index_next(link)) {
        struct slice_entry *slice = LINK_OWNER(link, struct slice_entry, by_name);
        if (slice->name == known) return slice;
    }
    return NULL;
}

static void slice_free(struct ledger *ledger, struct slice_entry *slice) {
    name_drop(&ledger->names, slice->name);
    name_drop(&ledger->names, slice->uid);
    heap_free(&ledger->heap, slice, sizeof *slice);
}

static void slice_remove(struct ledger *ledger, struct slice_entry *slice) {
    pool_unlink(slice);
    index_remove(&ledger->slices, &slice->by_name);
    slice_free(ledger, slice);
}

static struct slice_entry *slice_new(struct ledger *ledger, const struct resource_slice *object) {
    struct slice_entry *slice = heap_alloc(&ledger->heap, sizeof *slice);
    if (slice == NULL) return NULL;
    slice->name = name_take(&ledger->names, object->metadata.name);
    slice->uid = name_take(&ledger->names, object->metadata.uid);
    if (slice->name == NULL || slice->uid == NULL || !index_reserve(&ledger->slices)) {
        slice_free(ledger, slice);
        return NULL;
    }
    return slice;
}

enum ledger_outcome slice_apply(struct ledger *ledger, const struct ledger_event *event) {
    const struct resource_slice *object = &event->object->slice;
    struct slice_entry *known = slice_find(ledger, object->metadata.name);
    const struct name *known_uid = known == NULL ? NULL : known->uid;
    enum ledger_outcome outcome =
        order_of(ledger, known_uid, known == NULL ? 0 : known->resource_version, event);
    if (outcome == LEDGER_REPEATED && known != NULL)
        known->list_round = ledger->kinds[KIND_RESOURCE_SLICE].list_round;
    if (outcome != LEDGER_APPLIED) return outcome;
    if (event->type == EVENT_DELETED) {
        if (known == NULL) return LEDGER_REPEATED;
        if (!tombstone_add(ledger, known->uid, event->resource_version)) return LEDGER_FAILED;
        slice_remove(ledger, known);
        return LEDGER_APPLIED;
    }
    // Everything that can fail comes first; the commit below cannot.
    struct slice_entry *fresh = slice_new(ledger, object);
    if (fresh == NULL) return LEDGER_FAILED;
    struct pool_key key = pool_key_of(object);
    struct pool_entry *pool = pool_get(ledger, &key);
    bool replaced = known != NULL && known->uid != fresh->uid;
    if (pool == NULL || (replaced && !tombstone_add(ledger, known->uid, known->resource_version))) {
        slice_free(ledger, fresh);
        return LEDGER_FAILED;
    }
    if (known != NULL) slice_remove(ledger, known);
    fresh->resource_version = event->resource_version;
    fresh->generation = object->pool.generation;
    fresh->resource_slice_count = object->pool.resource_slice_count;
    fresh->list_round = ledger->kinds[KIND_RESOURCE_SLICE].list_round;
    pool_link(fresh, pool);
    index_insert(&ledger->slices, &fresh->by_name, names_hash(ledger->options.seed, &fresh->name, 1));
    return LEDGER_APPLIED;
}

void slices_sweep(struct ledger *ledger, uint64_t list_round) {
    size_t bucket = 0;
    struct link *link = index_each(&ledger->slices, &bucket, NULL);
    while (link != NULL) {
        struct slice_entry *slice = LINK_OWNER(link, struct slice_entry, by_name);
        link = index_each(&ledger->slices, &bucket, link);
        if (slice->list_round != list_round) slice_remove(ledger, slice);
    }
}

void slices_release(struct ledger *ledger) {
    slices_sweep(ledger, UINT64_MAX);
    size_t bucket = 0;
    struct link *link = index_each(&ledger->pools, &bucket, NULL);
    while (link != NULL) {
        struct pool_entry *pool = LINK_OWNER(link, struct pool_entry, by_key);
        link = index_each(&ledger->pools, &bucket, link);
        pool_free(ledger, pool);
    }
    index_release(&ledger->pools);
    index_release(&ledger->slices);
}
