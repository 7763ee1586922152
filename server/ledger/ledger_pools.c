// SPDX-License-Identifier: Apache-2.0
// Pools: the slices of one (driver, pool, node scope), and what the scheduler sees of them from a node.
#include "server/ledger/state.h"

static uint64_t pool_hash(const struct ledger *ledger, const struct name *driver, const struct name *pool,
                          enum node_scope_kind scope, const struct name *value) {
    const void *key[] = {driver, pool, value, (const void *)(uintptr_t)scope};
    return siphash(ledger->options.seed, key, sizeof key);
}

static uint64_t group_hash(const struct ledger *ledger, const struct name *driver, const struct name *pool) {
    const struct name *key[] = {driver, pool};
    return names_hash(ledger->options.seed, key, 2);
}

struct pool_group *group_find(const struct ledger *ledger, const struct name *driver,
                              const struct name *pool) {
    for (struct link *link = index_first(&ledger->groups, group_hash(ledger, driver, pool)); link != NULL;
         link = index_next(link)) {
        struct pool_group *group = LINK_OWNER(link, struct pool_group, by_key);
        if (group->driver == driver && group->pool == pool) return group;
    }
    return NULL;
}

static void group_free(struct ledger *ledger, struct pool_group *group) {
    drop(ledger, group->driver);
    drop(ledger, group->pool);
    heap_free(&ledger->heap, group, sizeof *group);
}

struct pool_group *group_take(struct ledger *ledger, struct text driver, struct text pool) {
    struct pool_group *group = heap_alloc(&ledger->heap, sizeof *group);
    if (group == NULL) return NULL;
    group->driver = take(ledger, driver);
    group->pool = take(ledger, pool);
    bool fine = group->driver != NULL && group->pool != NULL;
    struct pool_group *known = fine ? group_find(ledger, group->driver, group->pool) : NULL;
    if (known != NULL || !fine || !index_reserve(&ledger->groups) ||
        !index_reserve(&ledger->groups_by_pool)) {
        group_free(ledger, group);
        if (known != NULL) known->refs++;
        return known;
    }
    group->refs = 1;
    index_insert(&ledger->groups, &group->by_key, group_hash(ledger, group->driver, group->pool));
    index_insert(&ledger->groups_by_pool, &group->by_pool, names_hash(ledger->options.seed, &group->pool, 1));
    return group;
}

void group_drop(struct ledger *ledger, struct pool_group *group) {
    if (group == NULL || --group->refs > 0) return;
    index_remove(&ledger->groups, &group->by_key);
    index_remove(&ledger->groups_by_pool, &group->by_pool);
    group_free(ledger, group);
}

static struct pool_entry *find_by_names(const struct ledger *ledger, const struct name *driver,
                                        const struct name *pool, enum node_scope_kind scope,
                                        const struct name *value) {
    for (struct link *link = index_first(&ledger->pools, pool_hash(ledger, driver, pool, scope, value));
         link != NULL; link = index_next(link)) {
        struct pool_entry *entry = LINK_OWNER(link, struct pool_entry, by_key);
        if (entry->group->driver == driver && entry->group->pool == pool && entry->scope == scope &&
            entry->scope_value == value)
            return entry;
    }
    return NULL;
}

struct pool_entry *pool_find(const struct ledger *ledger, const struct pool_key *key) {
    const struct name *driver = name_find(&ledger->names, key->driver);
    const struct name *pool = name_find(&ledger->names, key->pool);
    const struct name *value = name_find(&ledger->names, key->scope.value);
    if (driver == NULL || pool == NULL || value == NULL) return NULL;
    return find_by_names(ledger, driver, pool, key->scope.kind, value);
}

static void pool_free(struct ledger *ledger, struct pool_entry *pool) {
    pool_forget_remembered(pool);
    group_drop(ledger, pool->group);
    drop(ledger, pool->scope_value);
    selector_free(&ledger->names, pool->selector);
    node_drop(ledger, pool->node);
    heap_free(&ledger->heap, pool, sizeof *pool);
}

static bool pool_fill(struct ledger *ledger, const struct pool_key *key, const struct node_selector *selector,
                      struct pool_entry *pool) {
    pool->scope = key->scope.kind;
    pool->scope_value = take(ledger, key->scope.value);
    if (pool->scope_value == NULL || !index_reserve(&ledger->pools)) return false;
    if (pool->scope == SCOPE_NODE) {
        pool->node = node_take(ledger, key->scope.value);
        if (pool->node == NULL) return false;
    }
    if (pool->scope == SCOPE_SELECTOR && selector != NULL) {
        pool->selector = selector_new(&ledger->names, selector);
        if (pool->selector == NULL) return false;
    }
    pool->group = group_take(ledger, key->driver, key->pool);
    return pool->group != NULL;
}

struct pool_entry *pool_get(struct ledger *ledger, const struct pool_key *key,
                            const struct node_selector *selector) {
    struct pool_entry *known = pool_find(ledger, key);
    if (known != NULL) return known;
    struct pool_entry *pool = heap_alloc(&ledger->heap, sizeof *pool);
    if (pool == NULL) return NULL;
    if (!pool_fill(ledger, key, selector, pool)) {
        pool_free(ledger, pool);
        return NULL;
    }
    struct pool_group *group = pool->group;
    index_insert(&ledger->pools, &pool->by_key,
                 pool_hash(ledger, group->driver, group->pool, pool->scope, pool->scope_value));
    pool->group_next = group->pools;
    pool->group_before = NULL;
    if (group->pools != NULL) group->pools->group_before = pool;
    group->pools = pool;
    if (pool->node != NULL) {
        pool->node_next = pool->node->pools;
        pool->node->pools = pool;
    } else {
        pool->wide_next = group->wide;
        group->wide = pool;
        pool->far_next = ledger->wide_pools;
        ledger->wide_pools = pool;
    }
    pool->retired_generation = remembered_retired(ledger, pool);
    return pool;
}

static void pool_forget(struct ledger *ledger, struct pool_entry *pool) {
    struct pool_group *group = pool->group;
    if (pool->group_next != NULL) pool->group_next->group_before = pool->group_before;
    if (pool->group_before != NULL)
        pool->group_before->group_next = pool->group_next;
    else
        group->pools = pool->group_next;
    struct pool_entry **at;
    if (pool->node != NULL) {
        for (at = &pool->node->pools; *at != pool; at = &(*at)->node_next) {
        }
        *at = pool->node_next;
    } else {
        for (at = &group->wide; *at != pool; at = &(*at)->wide_next) {
        }
        *at = pool->wide_next;
        for (at = &ledger->wide_pools; *at != pool; at = &(*at)->far_next) {
        }
        *at = pool->far_next;
    }
    index_remove(&ledger->pools, &pool->by_key);
    pool_free(ledger, pool);
}

void pool_settle(struct ledger *ledger, struct pool_entry *pool) {
    if (pool->slices != NULL || pool->rows.first != NULL) return;
    // A pool that took something of its node is remembered: its absence is not emptiness, and its generations
    // must not start again unseen. It goes with its node.
    if (pool->had_mappings && (pool->node == NULL || pool->node->known)) return;
    pool_forget(ledger, pool);
}

void pools_forget_node(struct ledger *ledger, struct node_entry *node) {
    struct pool_entry *pool = node->pools;
    while (pool != NULL) {
        struct pool_entry *next = pool->node_next;
        pool_settle(ledger, pool);
        pool = next;
    }
}

void pools_release(struct ledger *ledger) {
    size_t bucket = 0;
    struct link *link = index_each(&ledger->pools, &bucket, NULL);
    while (link != NULL) {
        struct pool_entry *pool = LINK_OWNER(link, struct pool_entry, by_key);
        link = index_each(&ledger->pools, &bucket, link);
        pool_forget(ledger, pool);
    }
    index_release(&ledger->pools);
    index_release(&ledger->groups);
    index_release(&ledger->groups_by_pool);
}

// ---- what a node sees

static bool place_concerns(const struct device_place *place, const struct node_entry *node) {
    return place->all_nodes || place->node == node->name ||
           (place->node_selector != NULL && selector_matches(place->node_selector, node));
}

static bool slice_concerns(const struct slice_entry *slice, const struct node_entry *node) {
    if (slice->places == NULL || node == NULL) return true;
    for (size_t i = 0; i < slice->device_count; i++)
        if (place_concerns(&slice->places[i], node)) return true;
    return false;
}

bool device_concerns(const struct slice_entry *slice, size_t at, const struct node_entry *node) {
    return slice->places == NULL || node == NULL || place_concerns(&slice->places[at], node);
}

bool pool_concerns(const struct pool_entry *pool, const struct node_entry *node) {
    switch (pool->scope) {
    case SCOPE_NODE: return pool->node == node;
    case SCOPE_SELECTOR: return pool->selector != NULL && selector_matches(pool->selector, node);
    case SCOPE_ALL_NODES: return true;
    case SCOPE_PER_DEVICE: break;
    }
    for (const struct slice_entry *slice = pool->slices; slice != NULL; slice = slice->pool_next)
        if (slice_concerns(slice, node)) return true;
    return false;
}

// A pool name may be used on each of many nodes, so the node's own pool is looked up, and only the wide ones
// are gone through.
struct pool_walk pool_walk(const struct ledger *ledger, const struct pool_group *group,
                           const struct node_entry *node) {
    struct pool_walk walk = {.node = node, .next = group->wide};
    if (node != NULL) walk.own = find_by_names(ledger, group->driver, group->pool, SCOPE_NODE, node->name);
    return walk;
}

struct pool_entry *pool_walk_next(struct pool_walk *walk) {
    if (walk->own != NULL) {
        struct pool_entry *own = walk->own;
        walk->own = NULL;
        return own;
    }
    while (walk->next != NULL) {
        struct pool_entry *pool = walk->next;
        walk->next = pool->wide_next;
        if (walk->node == NULL || pool_concerns(pool, walk->node)) return pool;
    }
    return NULL;
}

// What the group as a whole has of a generation, whatever node it is for.
static size_t count_everywhere(const struct pool_group *group, int64_t generation, bool *ret_newer) {
    size_t count = 0;
    *ret_newer = false;
    for (const struct pool_entry *pool = group->pools; pool != NULL; pool = pool->group_next)
        for (const struct slice_entry *slice = pool->slices; slice != NULL; slice = slice->pool_next) {
            if (slice->generation == generation) count++;
            if (slice->generation > generation) *ret_newer = true;
        }
    return count;
}

static void gather_slice(const struct slice_entry *slice, struct gathered *gathered) {
    if (slice->generation > gathered->generation || gathered->slice_count == 0) {
        *gathered =
            (struct gathered){.generation = slice->generation, .wanted_count = slice->resource_slice_count};
    }
    if (slice->generation < gathered->generation) return;
    gathered->slice_count++;
    if (slice->resource_slice_count != gathered->wanted_count) gathered->disagreed = true;
    if (slice->resource_version > gathered->version) gathered->version = slice->resource_version;
}

bool group_gather(const struct ledger *ledger, const struct pool_group *group, const struct node_entry *node,
                  int64_t below, struct gathered *ret_gathered) {
    struct gathered gathered = {0};
    struct pool_walk walk = pool_walk(ledger, group, node);
    for (struct pool_entry *pool; (pool = pool_walk_next(&walk)) != NULL;)
        for (const struct slice_entry *slice = pool->slices; slice != NULL; slice = slice->pool_next)
            if (slice->generation < below && slice_concerns(slice, node)) gather_slice(slice, &gathered);
    if (gathered.slice_count == 0) return false;
    gathered.found_count = gathered.slice_count;
    gathered.complete = !gathered.disagreed && (int64_t)gathered.slice_count == gathered.wanted_count;
    if (!gathered.complete && !gathered.disagreed) {
        bool newer;
        gathered.found_count = count_everywhere(group, gathered.generation, &newer);
        gathered.complete = !newer && (int64_t)gathered.found_count == gathered.wanted_count;
    }
    *ret_gathered = gathered;
    return true;
}

static const struct device_entry *slice_device(const struct slice_entry *slice, const struct name *name,
                                               const struct node_entry *node) {
    size_t low = 0;
    size_t high = slice->device_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)slice->devices[middle].name < (uintptr_t)name)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < slice->device_count && slice->devices[low].name == name; low++)
        if (device_concerns(slice, low, node)) return &slice->devices[low];
    return NULL;
}

const struct device_entry *group_device(const struct ledger *ledger, const struct pool_group *group,
                                        const struct node_entry *node, int64_t generation,
                                        const struct name *device, struct pool_entry **ret_pool) {
    const struct device_entry *best = NULL;
    const struct slice_entry *best_slice = NULL;
    struct pool_walk walk = pool_walk(ledger, group, node);
    for (struct pool_entry *pool; (pool = pool_walk_next(&walk)) != NULL;)
        for (const struct slice_entry *slice = pool->slices; slice != NULL; slice = slice->pool_next) {
            if (slice->generation != generation) continue;
            const struct device_entry *found = slice_device(slice, device, node);
            if (found == NULL) continue;
            if (best != NULL && text_compare(best_slice->name->text, slice->name->text) <= 0) continue;
            best = found;
            best_slice = slice;
            *ret_pool = pool;
        }
    return best;
}
