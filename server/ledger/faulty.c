// SPDX-License-Identifier: Apache-2.0
// Devices of a slice are sorted by their name's address, so two slices are compared in one walk.
#include "server/ledger/faulty.h"

#include "server/ledger/state.h"

struct search {
    const struct ledger *ledger;
    const struct pool_entry *pool;
    struct arena *arena;
    struct faulty_device_list *list;
};

static int64_t newest_generation(const struct pool_entry *pool) {
    int64_t generation = -1;
    for (const struct slice_entry *slice = pool->slices; slice != NULL; slice = slice->pool_next)
        if (slice->generation > generation) generation = slice->generation;
    return generation;
}

static void add(const struct search *search, const struct name *device, const char *rule) {
    struct faulty_device_list *list = search->list;
    if (list->count == FAULTY_DEVICES_LIMIT) return;
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].device.ptr == device->text.ptr &&
            list->items[i].pool.ptr == search->pool->group->pool->text.ptr &&
            list->items[i].driver.ptr == search->pool->group->driver->text.ptr)
            return;
    struct faulty_device *item = LIST_APPEND(search->arena, list);
    if (item == NULL) return;
    *item = (struct faulty_device){search->pool->group->driver->text, search->pool->group->pool->text,
                                   device->text, rule};
}

// Adds the devices that both slices have; with only_differing those whose mappings differ.
static void meet(const struct search *search, const struct slice_entry *a, const struct slice_entry *b,
                 bool only_differing, const char *rule) {
    size_t i = 0, k = 0;
    while (i < a->device_count && k < b->device_count) {
        const struct device_entry *x = &a->devices[i], *y = &b->devices[k];
        if (x->name == y->name) {
            if (!only_differing || x->shape != y->shape) add(search, x->name, rule);
            i++;
            k++;
        } else if ((uintptr_t)x->name < (uintptr_t)y->name) {
            i++;
        } else {
            k++;
        }
    }
}

static void look_for_duplicates(const struct search *search, int64_t generation) {
    size_t count = 0;
    for (const struct slice_entry *a = search->pool->slices; a != NULL; a = a->pool_next) {
        if (a->generation != generation) continue;
        if (count++ == FAULTY_SLICES_LIMIT) return;
        for (const struct slice_entry *b = a->pool_next; b != NULL; b = b->pool_next)
            if (b->generation == generation) meet(search, a, b, false, "device-duplicate");
    }
}

static void look_at_other(const struct search *search, int64_t generation, const struct pool_entry *other) {
    int64_t other_generation = newest_generation(other);
    for (const struct slice_entry *a = search->pool->slices; a != NULL; a = a->pool_next)
        for (const struct slice_entry *b = other->slices; b != NULL && a->generation == generation;
             b = b->pool_next)
            if (b->generation == other_generation) meet(search, a, b, true, "device-ambiguous");
}

// Pools of the same name on the same node, of other drivers.
static void look_for_namesakes(const struct search *search, int64_t generation) {
    for (const struct pool_entry *other = search->pool->node->pools; other != NULL; other = other->node_next)
        if (other != search->pool && other->group->pool == search->pool->group->pool)
            look_at_other(search, generation, other);
}

bool ledger_faulty_devices(const struct ledger *ledger, struct text node, struct arena *arena,
                           struct faulty_device_list *ret_devices) {
    const struct node_entry *entry = node_find(ledger, node);
    struct faulty_device_list list = {.items = NULL};
    for (const struct pool_entry *pool = entry == NULL ? NULL : entry->pools; pool != NULL;
         pool = pool->node_next) {
        const struct search search = {ledger, pool, arena, &list};
        int64_t generation = newest_generation(pool);
        look_for_duplicates(&search, generation);
        if (ledger->minor < 37) look_for_namesakes(&search, generation);
    }
    *ret_devices = list;
    return !arena->poisoned;
}
