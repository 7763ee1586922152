// SPDX-License-Identifier: Apache-2.0
// What an allocation would overdraw beside the node's account: a capacity of its devices, and what the
// devices of one NUMA node can give together. What cannot be told is passed over.
#include "server/ledger/device_use.h"
#include "server/ledger/footprint.h"
#include "server/ledger/view_answers.h"

// A node has a few hundred devices. The mutex is held meanwhile, so that far more are not gone through.
#define DEVICES_LOOKED_AT 4096u

static void add(struct quantity *sum, struct quantity more) {
    // A negative amount, which v1.36 lets into a claim's status, frees nothing.
    if (quantity_sign(more) <= 0) return;
    *sum = sum->set ? quantity_add(*sum, more) : more;
    sum->set = true;
}

// ---- capacities of a device that many may have

struct capacity_use {
    const struct name *key;
    struct quantity sum;
};

// The scheduler counts what has a share ID, whether anybody consumes it or not; admin access takes nothing.
static void add_capacity(const struct row *row, void *context) {
    struct capacity_use *use = context;
    const struct quantity *consumed = row_consumed(row, use->key);
    if (!row->admin && row->share->text.len > 0 && consumed != NULL) add(&use->sum, *consumed);
}

static bool is_same_device(const struct allocation_result *a, const struct allocation_result *b) {
    return text_equal(a->device, b->device) && text_equal(a->pool, b->pool) &&
           text_equal(a->driver, b->driver);
}

// What the claim under review takes of a capacity of the device of its result `at`.
static struct quantity own_use(const struct resource_claim *claim, size_t at, struct text key) {
    struct quantity sum = {.set = false};
    const struct allocation_result_list *results = &claim->allocation.results;
    for (size_t i = 0; i < results->count; i++) {
        const struct allocation_result *result = &results->items[i];
        if (!is_same_device(result, &results->items[at]) || result->admin_access.value ||
            !result->share_id.set)
            continue;
        for (size_t k = 0; k < result->consumed_capacity.count; k++)
            if (text_equal(result->consumed_capacity.items[k].key, key))
                add(&sum, result->consumed_capacity.items[k].value);
    }
    return sum;
}

static void compare_capacity(const struct taking *taking, const struct allocation_result *result,
                             const struct shape_capacity *capacity, struct quantity own,
                             struct view_shortage_list *list) {
    struct arena *arena = taking->arena;
    struct capacity_use use = {.key = capacity->key, .sum = own};
    each_taker(taking, add_capacity, &use);
    if (quantity_compare(use.sum, capacity->quantity) <= 0) return;
    view_add_shortage(arena, list,
                      text_format(arena,
                                  "claims take %.*s of capacity %.*s, and device %.*s has %.*s (pool %.*s, "
                                  "driver %.*s)",
                                  TEXT_ARG(quantity_canonical(arena, use.sum)), TEXT_ARG(capacity->key->text),
                                  TEXT_ARG(result->device),
                                  TEXT_ARG(quantity_canonical(arena, capacity->quantity)),
                                  TEXT_ARG(result->pool), TEXT_ARG(result->driver)),
                      taking->node == NULL ? (struct text){NULL, 0} : taking->node->name->text);
}

void view_capacity_shortages(const struct ledger *ledger, const struct resource_claim *claim,
                             const struct node_entry *node, struct arena *arena,
                             struct view_shortage_list *list) {
    const struct allocation_result_list *results = &claim->allocation.results;
    for (size_t i = 0; i < results->count; i++) {
        struct used_device used;
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++) seen = is_same_device(&results->items[k], &results->items[i]);
        if (seen || !device_used(ledger, &results->items[i], node, &used) || !used.certain) continue;
        struct taking taking = {.ledger = ledger,
                                .used = &used,
                                .node = node,
                                .without_uid = claim->metadata.uid,
                                .with_held = true,
                                .arena = arena};
        for (size_t k = 0; k < used.shape->capacity_count; k++) {
            const struct shape_capacity *capacity = &used.shape->capacities[k];
            struct quantity own = own_use(claim, i, capacity->key->text);
            if (own.set) compare_capacity(&taking, &results->items[i], capacity, own, list);
        }
    }
}

// ---- what the devices of one NUMA node can give

struct numa_sum {
    int64_t numa;
    struct text resource;
    struct quantity taken;
    struct quantity gives;
    bool unknown;
};
struct numa_sum_list {
    struct numa_sum *items;
    size_t count;
};

struct taker_list {
    const struct row **items;
    size_t count;
};

struct numa_walk {
    const struct ledger *ledger;
    const struct node_entry *node;
    struct text without_uid;
    struct arena *arena;
    struct numa_sum_list sums; // those that the allocation under review adds to
    size_t looked_at;
    // of the device that is looked at
    const struct name *driver;
    int64_t numa;
    struct taker_list takers;
    const struct shape_mapping *mapping;
    struct quantity taken;
    struct quantity most; // of one row
};

static const struct text_list *spellings(const struct ledger *ledger) {
    return ledger->policy == NULL ? NULL : &ledger->policy->policy.numa_attributes;
}

static struct numa_sum *sum_of(struct numa_walk *walk, int64_t numa, struct text resource) {
    for (size_t i = 0; i < walk->sums.count; i++)
        if (walk->sums.items[i].numa == numa && text_equal(walk->sums.items[i].resource, resource))
            return &walk->sums.items[i];
    return NULL;
}

// What the allocation itself adds.
static void add_own(struct numa_walk *walk, const struct resource_claim *claim) {
    for (size_t i = 0; i < claim->allocation.results.count; i++) {
        const struct allocation_result *result = &claim->allocation.results.items[i];
        struct used_device used;
        struct row row;
        struct quantity_map amounts = {.set = true};
        int64_t numa;
        if (!device_used(walk->ledger, result, walk->node, &used) ||
            !shape_numa_node(used.shape, result->driver, spellings(walk->ledger), &numa) ||
            !result_row(walk->ledger, result, walk->arena, &row))
            continue;
        row.shape = used.shape;
        footprint_mapping(&row, NULL, &amounts, walk->arena);
        for (size_t k = 0; k < amounts.count; k++) {
            struct numa_sum *sum = sum_of(walk, numa, amounts.items[k].key);
            if (sum == NULL) {
                sum = LIST_APPEND(walk->arena, &walk->sums);
                if (sum == NULL) return;
                *sum = (struct numa_sum){.numa = numa, .resource = amounts.items[k].key};
            }
            add(&sum->taken, amounts.items[k].value);
        }
    }
}

static void note_taker(const struct row *row, void *context) {
    struct numa_walk *walk = context;
    const struct row **taker = LIST_APPEND(walk->arena, &walk->takers);
    if (taker != NULL) *taker = row;
}

static void add_taken(struct numa_walk *walk, const struct row *row) {
    struct quantity_map amounts = {.set = true};
    // A row is on the NUMA node that its device had when it was committed.
    struct opt_int64 numa = {.set = true, .value = walk->numa};
    if (row->claim != NULL) numa = row_numa(walk->ledger, row);
    if (!numa.set || numa.value != walk->numa) return;
    footprint_mapping(row, NULL, &amounts, walk->arena);
    for (size_t i = 0; i < amounts.count; i++) {
        if (!text_equal(amounts.items[i].key, walk->mapping->resource->text)) continue;
        add(&walk->taken, amounts.items[i].value);
        if (!walk->most.set || quantity_compare(walk->most, amounts.items[i].value) < 0)
            walk->most = amounts.items[i].value;
    }
}

// A fixed amount can be had once, but by any number of claims where the device is shareable: then there is no
// limit. One claim never overdraws a device that is its own, whatever the mapping was when it was committed.
static void add_given(struct numa_walk *walk, const struct shape *shape, struct numa_sum *sum) {
    const struct shape_mapping *mapping = walk->mapping;
    struct quantity gives = mapping->multiplier;
    if (mapping->capacity_key != NULL) {
        const struct quantity *capacity = shape_capacity(shape, mapping->capacity_key);
        if (capacity == NULL) {
            sum->unknown = true;
            return;
        }
        gives = quantity_multiply(*capacity, gives);
    } else if (shape->shareable) {
        sum->unknown = true;
        return;
    } else if (walk->most.set && quantity_compare(gives, walk->most) < 0) {
        gives = walk->most;
    }
    add(&sum->gives, gives);
}

static void look_at_device(struct numa_walk *walk, const struct pool_group *group,
                           const struct device_entry *device) {
    const struct shape *shape = device->shape;
    if (shape->mapping_count == 0 || shape->numa_count == 0) return;
    if (!shape_numa_node(shape, group->driver->text, spellings(walk->ledger), &walk->numa)) return;
    struct used_device used = {.group = group, .device = device->name, .shape = shape, .certain = true};
    struct taking taking = {.ledger = walk->ledger,
                            .used = &used,
                            .node = walk->node,
                            .without_uid = walk->without_uid,
                            .arena = walk->arena};
    walk->takers = (struct taker_list){.items = NULL};
    each_taker(&taking, note_taker, walk);
    for (size_t i = 0; i < shape->mapping_count; i++) {
        walk->mapping = &shape->mappings[i];
        struct numa_sum *sum = sum_of(walk, walk->numa, walk->mapping->resource->text);
        if (sum == NULL || !walk->mapping->mapped) continue;
        walk->taken = walk->most = (struct quantity){.set = false};
        for (size_t k = 0; k < walk->takers.count; k++) add_taken(walk, walk->takers.items[k]);
        if (walk->taken.set) add(&sum->taken, walk->taken);
        add_given(walk, shape, sum);
    }
}

// False: what the pool gives cannot be told.
static bool look_at_pool(struct numa_walk *walk, const struct pool_entry *pool) {
    struct gathered gathered;
    if (!pool->had_mappings || pool->slices == NULL || !pool_concerns(pool, walk->node)) return true;
    if (pool->quarantined || !group_gather(walk->ledger, pool->group, walk->node, INT64_MAX, &gathered) ||
        !gathered.complete)
        return false;
    for (const struct slice_entry *slice = pool->slices; slice != NULL; slice = slice->pool_next) {
        if (slice->generation != gathered.generation) continue;
        walk->looked_at += slice->device_count;
        if (walk->looked_at > DEVICES_LOOKED_AT) return false;
        for (size_t i = 0; i < slice->device_count; i++)
            if (device_concerns(slice, i, walk->node)) look_at_device(walk, pool->group, &slice->devices[i]);
    }
    return true;
}

static bool look_at_pools(struct numa_walk *walk) {
    bool told = true;
    for (const struct pool_entry *pool = walk->node->pools; pool != NULL && told; pool = pool->node_next)
        told = look_at_pool(walk, pool);
    for (const struct pool_entry *pool = walk->ledger->wide_pools; pool != NULL && told;
         pool = pool->far_next)
        told = look_at_pool(walk, pool);
    return told;
}

void view_numa_shortages(const struct ledger *ledger, const struct resource_claim *claim,
                         const struct node_entry *node, struct arena *arena,
                         struct view_shortage_list *list) {
    struct numa_walk walk = {
        .ledger = ledger, .node = node, .without_uid = claim->metadata.uid, .arena = arena};
    add_own(&walk, claim);
    if (walk.sums.count == 0 || !look_at_pools(&walk)) return;
    for (size_t i = 0; i < walk.sums.count; i++) {
        const struct numa_sum *sum = &walk.sums.items[i];
        if (sum->unknown || !sum->taken.set || !sum->gives.set ||
            quantity_compare(sum->taken, sum->gives) <= 0)
            continue;
        view_add_shortage(arena, list,
                          text_format(arena,
                                      "claims take %.*s of %.*s on NUMA node %lld of node %.*s, and its "
                                      "devices give %.*s",
                                      TEXT_ARG(quantity_canonical(arena, sum->taken)),
                                      TEXT_ARG(sum->resource), (long long)sum->numa,
                                      TEXT_ARG(node->name->text),
                                      TEXT_ARG(quantity_canonical(arena, sum->gives))),
                          node->name->text);
    }
}
