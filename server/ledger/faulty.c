// SPDX-License-Identifier: Apache-2.0
// Devices of a slice are sorted by their name's address, so two slices are compared in one walk.
#include "server/ledger/faulty.h"

#include "server/ledger/state.h"

// So many pools of the same name are looked at before it counts as sound elsewhere.
#define POOLS_LOOKED_AT 64u

struct search {
    const struct ledger *ledger;
    const struct pool_entry *pool;
    int64_t generation; // the newest one of the pool
    struct arena *arena;
    struct faulty_device_list *list;
};

static int64_t newest_generation(const struct pool_entry *pool) {
    int64_t generation = -1;
    for (const struct slice_entry *slice = pool->slices; slice != NULL; slice = slice->pool_next)
        if (slice->generation > generation) generation = slice->generation;
    return generation;
}

static bool takes_something(const struct device_entry *device) {
    return device->shape->mapping_count > 0;
}

// ---- the same pool on other nodes

static size_t device_at(const struct slice_entry *slice, const struct name *name) {
    size_t at = 0;
    while (at < slice->device_count && slice->devices[at].name != name) at++;
    return at;
}

static bool has_it_sound(const struct search *search, const struct pool_entry *pool,
                         const struct name *name) {
    int64_t newest = newest_generation(pool);
    for (const struct slice_entry *slice = pool->slices; slice != NULL; slice = slice->pool_next) {
        size_t at = slice->generation == newest ? device_at(slice, name) : slice->device_count;
        if (at < slice->device_count && device_fault(search->ledger, slice, at, search->arena) == NULL)
            return true;
    }
    return false;
}

static bool is_sound_elsewhere(const struct search *search, const struct name *name) {
    size_t looked_at = 0;
    for (const struct pool_entry *other = search->pool->group->pools; other != NULL;
         other = other->group_next) {
        // Devices that say where they are may have namesakes in their own pool.
        if (other == search->pool && other->scope != SCOPE_PER_DEVICE) continue;
        if (looked_at++ == POOLS_LOOKED_AT || has_it_sound(search, other, name)) return true;
    }
    return false;
}

// The first of the rules that the devices of a pool break, when every device breaks one; NULL when some do
// not.
static const char *fault_of_all(const struct search *search, const struct pool_entry *pool) {
    int64_t newest = newest_generation(pool);
    const char *first = NULL;
    for (const struct slice_entry *slice = pool->slices; slice != NULL; slice = slice->pool_next)
        for (size_t i = 0; i < slice->device_count && slice->generation == newest; i++) {
            const char *rule = device_fault(search->ledger, slice, i, search->arena);
            if (rule == NULL) return NULL;
            if (first == NULL || strcmp(rule, first) < 0) first = rule;
        }
    return first;
}

static bool pool_is_sound_elsewhere(const struct search *search) {
    size_t looked_at = 0;
    for (const struct pool_entry *other = search->pool->group->pools; other != NULL;
         other = other->group_next) {
        if (other == search->pool || other->slices == NULL) continue;
        if (looked_at++ == POOLS_LOOKED_AT || fault_of_all(search, other) == NULL) return true;
    }
    return false;
}

// ---- the list

static struct faulty_device *add_entry(const struct search *search, struct text device, const char *rule) {
    const struct pool_group *group = search->pool->group;
    struct faulty_device_list *list = search->list;
    struct faulty_device *item = list->count < FAULTY_DEVICES_LIMIT ? LIST_APPEND(search->arena, list) : NULL;
    if (item != NULL)
        *item = (struct faulty_device){
            .driver = group->driver->text, .pool = group->pool->text, .device = device, .rule = rule};
    return item;
}

// Once, with the first of several rules, so that the order of slices does not tell; not when all of its pool
// is there already.
static void add(const struct search *search, const struct name *device, const char *rule) {
    const struct pool_group *group = search->pool->group;
    const struct faulty_device_list *list = search->list;
    for (size_t i = 0; i < list->count; i++)
        if ((list->items[i].device.ptr == device->text.ptr || list->items[i].device.len == 0) &&
            list->items[i].pool.ptr == group->pool->text.ptr &&
            list->items[i].driver.ptr == group->driver->text.ptr) {
            if (list->items[i].device.len > 0 && strcmp(rule, list->items[i].rule) < 0)
                list->items[i].rule = rule;
            return;
        }
    struct faulty_device *item = add_entry(search, device->text, rule);
    if (item != NULL) item->sound_elsewhere = is_sound_elsewhere(search, device);
}

// Adds the devices that both slices have; with only_differing those whose mappings differ, and only that of
// the first slice: the other driver's has its turn.
static void meet(const struct search *search, const struct slice_entry *a, const struct slice_entry *b,
                 bool only_differing, const char *rule) {
    size_t i = 0, k = 0;
    while (i < a->device_count && k < b->device_count) {
        const struct device_entry *x = &a->devices[i], *y = &b->devices[k];
        if (x->name == y->name) {
            bool concerned = takes_something(x) || (!only_differing && takes_something(y));
            if (concerned && (!only_differing || x->shape != y->shape)) add(search, x->name, rule);
            i++;
            k++;
        } else if ((uintptr_t)x->name < (uintptr_t)y->name) {
            i++;
        } else {
            k++;
        }
    }
}

static void look_for_duplicates(const struct search *search) {
    size_t count = 0;
    for (const struct slice_entry *a = search->pool->slices; a != NULL; a = a->pool_next) {
        if (a->generation != search->generation) continue;
        if (count++ == FAULTY_SLICES_LIMIT) return;
        for (const struct slice_entry *b = a->pool_next; b != NULL; b = b->pool_next)
            if (b->generation == search->generation) meet(search, a, b, false, "device-duplicate");
    }
}

static void look_at_other(const struct search *search, const struct pool_entry *other) {
    int64_t other_generation = newest_generation(other);
    for (const struct slice_entry *a = search->pool->slices; a != NULL; a = a->pool_next)
        for (const struct slice_entry *b = other->slices; b != NULL && a->generation == search->generation;
             b = b->pool_next)
            if (b->generation == other_generation) meet(search, a, b, true, "device-ambiguous");
}

// Pools of the same name on the same node, of other drivers.
static void look_for_namesakes(const struct search *search) {
    for (const struct pool_entry *other = search->pool->node->pools; other != NULL; other = other->node_next)
        if (other != search->pool && other->group->pool == search->pool->group->pool)
            look_at_other(search, other);
}

// ---- mappings that a rule denies

// Where it is all of the pool, one entry says so.
static void look_at_mappings(const struct search *search) {
    const char *rule = fault_of_all(search, search->pool);
    if (rule != NULL) {
        struct faulty_device *item = add_entry(search, (struct text){NULL, 0}, rule);
        if (item != NULL) item->sound_elsewhere = pool_is_sound_elsewhere(search);
        return;
    }
    for (const struct slice_entry *slice = search->pool->slices; slice != NULL; slice = slice->pool_next)
        for (size_t i = 0; i < slice->device_count && slice->generation == search->generation; i++) {
            rule = device_fault(search->ledger, slice, i, search->arena);
            if (rule != NULL) add(search, slice->devices[i].name, rule);
        }
}

static void look_at_pool(const struct ledger *ledger, const struct pool_entry *pool, struct arena *arena,
                         struct faulty_device_list *list) {
    const struct search search = {
        .ledger = ledger, .pool = pool, .generation = newest_generation(pool), .arena = arena, .list = list};
    static const struct judge_rule duplicate = {"device-duplicate", SEVERITY_DENY, false};
    static const struct judge_rule ambiguous = {"device-ambiguous", SEVERITY_DENY, false};
    if (!pool->had_mappings) return;
    look_at_mappings(&search);
    if (pool->scope != SCOPE_PER_DEVICE && rule_denies(ledger, &duplicate, pool->group->driver))
        look_for_duplicates(&search);
    if (ledger->minor < 37 && pool->node != NULL && rule_denies(ledger, &ambiguous, pool->group->driver))
        look_for_namesakes(&search);
}

bool ledger_faulty_devices(const struct ledger *ledger, struct text node, struct arena *arena,
                           struct faulty_device_list *ret_devices) {
    const struct node_entry *entry = node_find(ledger, node);
    struct faulty_device_list list = {.items = NULL};
    if (entry != NULL)
        for (const struct pool_entry *pool = entry->pools; pool != NULL; pool = pool->node_next)
            look_at_pool(ledger, pool, arena, &list);
    for (const struct pool_entry *pool = ledger->wide_pools; entry != NULL && pool != NULL;
         pool = pool->far_next)
        if (pool_concerns(pool, entry)) look_at_pool(ledger, pool, arena, &list);
    *ret_devices = list;
    return !arena->poisoned;
}
