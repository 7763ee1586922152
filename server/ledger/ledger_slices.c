// SPDX-License-Identifier: Apache-2.0
// ResourceSlices: the devices of pools.
#include "server/ledger/state.h"

static void pool_unlink(struct slice_entry *slice) {
    struct slice_entry **at = &slice->pool->slices;
    while (*at != slice) at = &(*at)->pool_next;
    *at = slice->pool_next;
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
    for (size_t i = 0; i < slice->device_count; i++) {
        drop(ledger, slice->devices[i].name);
        shape_drop(&ledger->shapes, slice->devices[i].shape);
    }
    heap_free(&ledger->heap, slice->devices, slice->device_count * sizeof *slice->devices);
    for (size_t i = 0; i < slice->device_count && slice->places != NULL; i++) {
        drop(ledger, slice->places[i].node);
        selector_free(&ledger->names, slice->places[i].node_selector);
    }
    heap_free(&ledger->heap, slice->places, slice->device_count * sizeof *slice->places);
    heap_free(&ledger->heap, slice->faults, slice->device_count * sizeof *slice->faults);
    amounts_release(&ledger->names, &slice->amounts);
    drop(ledger, slice->name);
    drop(ledger, slice->uid);
    heap_free(&ledger->heap, slice, sizeof *slice);
}

// ---- a new state

static bool make_place(struct ledger *ledger, const struct device *device, struct device_place *place) {
    place->all_nodes = device->all_nodes.value;
    if (device->node_name.set && device->node_name.value.len > 0) {
        place->node = take(ledger, device->node_name.value);
        if (place->node == NULL) return false;
    }
    if (device->node_selector == NULL) return true;
    place->node_selector = selector_new(&ledger->names, device->node_selector);
    return place->node_selector != NULL;
}

static void swap_devices(struct slice_entry *slice, size_t a, size_t b) {
    struct device_entry device = slice->devices[a];
    slice->devices[a] = slice->devices[b];
    slice->devices[b] = device;
    if (slice->faults != NULL) {
        uint64_t faults = slice->faults[a];
        slice->faults[a] = slice->faults[b];
        slice->faults[b] = faults;
    }
    if (slice->places == NULL) return;
    struct device_place place = slice->places[a];
    slice->places[a] = slice->places[b];
    slice->places[b] = place;
}

static void sift_down(struct slice_entry *slice, size_t root, size_t end) {
    const struct device_entry *devices = slice->devices;
    for (size_t child; (child = 2 * root + 1) < end; root = child) {
        if (child + 1 < end && (uintptr_t)devices[child].name < (uintptr_t)devices[child + 1].name) child++;
        if ((uintptr_t)devices[root].name >= (uintptr_t)devices[child].name) return;
        swap_devices(slice, root, child);
    }
}

// By the name's address, in place and whatever order a tenant chose.
static void sort_devices(struct slice_entry *slice) {
    size_t count = slice->device_count;
    for (size_t i = count / 2; i > 0; i--) sift_down(slice, i - 1, count);
    for (size_t end = count; end > 1; end--) {
        swap_devices(slice, 0, end - 1);
        sift_down(slice, 0, end - 1);
    }
}

// Few slices have devices with faults; the others do without the words.
static bool copy_faults(struct ledger *ledger, const uint64_t *faults, struct slice_entry *slice) {
    uint64_t any = 0;
    for (size_t i = 0; faults != NULL && i < slice->device_count; i++) any |= faults[i];
    if (any == 0) return true;
    slice->faults = heap_alloc(&ledger->heap, slice->device_count * sizeof *slice->faults);
    if (slice->faults == NULL) return false;
    memcpy(slice->faults, faults, slice->device_count * sizeof *slice->faults);
    return true;
}

static void add_to_digest(struct slice_entry *slice, const struct device_entry *device) {
    uint64_t one[2] = {device->shape->digest[0], device->shape->digest[1]};
    digest_text(one, device->name->text);
    slice->digest[0] += one[0];
    slice->digest[1] += one[1];
}

static bool make_devices(struct ledger *ledger, const struct resource_slice *object, const uint64_t *faults,
                         struct slice_entry *slice) {
    size_t count = object->devices.count;
    if (count == 0) return true;
    slice->devices = heap_alloc(&ledger->heap, count * sizeof *slice->devices);
    if (slice->devices == NULL) return false;
    if (object->per_device_node_selection.value) {
        slice->places = heap_alloc(&ledger->heap, count * sizeof *slice->places);
        if (slice->places == NULL) {
            heap_free(&ledger->heap, slice->devices, count * sizeof *slice->devices);
            slice->devices = NULL;
            return false;
        }
    }
    slice->device_count = count;
    if (!copy_faults(ledger, faults, slice)) return false;
    for (size_t i = 0; i < count; i++) {
        const struct device *device = &object->devices.items[i];
        slice->devices[i].name = take(ledger, device->name);
        slice->devices[i].shape = shape_take(&ledger->shapes, device, ledger->minor);
        if (slice->devices[i].name == NULL || slice->devices[i].shape == NULL) return false;
        if (slice->places != NULL && !make_place(ledger, device, &slice->places[i])) return false;
        if (slice->devices[i].shape->mapping_count > 0) slice->has_mappings = true;
        add_to_digest(slice, &slice->devices[i]);
    }
    sort_devices(slice);
    return true;
}

static struct slice_entry *slice_new(struct ledger *ledger, const struct ledger_event *event) {
    const struct resource_slice *object = &event->object->slice;
    struct slice_entry *slice = heap_alloc(&ledger->heap, sizeof *slice);
    if (slice == NULL) return NULL;
    slice->generation = object->pool.generation;
    slice->resource_slice_count = object->pool.resource_slice_count;
    slice->name = take(ledger, object->metadata.name);
    slice->uid = take(ledger, object->metadata.uid);
    bool fine = event->amounts == NULL || amounts_copy(&ledger->names, event->amounts, &slice->amounts);
    if (fine && slice->name != NULL && slice->uid != NULL &&
        make_devices(ledger, object, event->faults, slice) && index_reserve(&ledger->slices))
        return slice;
    slice_free(ledger, slice);
    return NULL;
}

// ---- commit: nothing below can fail

// Nodes that see a pool. Wide pools are seen by many; their nodes are found when they are asked.
static void touch_pool(struct ledger *ledger, struct pool_entry *pool) {
    node_touch(ledger, pool->node);
    for (struct row *row = pool->rows.first; row != NULL; row = row->next)
        for (size_t i = 0; i <= row->claim->consumer_count && pool->node == NULL; i++)
            node_touch(ledger, row->claim->placements[i].node);
}

static void pool_changed(struct ledger *ledger, struct pool_entry *pool) {
    struct gathered gathered;
    if (pool->node == NULL) pool_take_over(ledger, pool);
    bool complete = group_gather(ledger, pool->group, pool->node, INT64_MAX, &gathered) && gathered.complete;
    pool->changed_ms = ledger->now_ms;
    if (complete)
        pool->incomplete_ms = 0;
    else if (pool->incomplete_ms == 0)
        pool->incomplete_ms = ledger->now_ms;
    touch_pool(ledger, pool);
    pool_quarantine(ledger, pool);
    group_look_again(ledger, pool->group);
    pool_look_again(ledger, pool);
}

static void link_slice(struct ledger *ledger, struct slice_entry *slice, struct pool_entry *pool) {
    slice->pool = pool;
    slice->pool_next = pool->slices;
    pool->slices = slice;
    pool_forget_remembered(pool);
    if (slice->has_mappings) {
        pool->had_mappings = true;
        driver_note_mapped(ledger, pool->group->driver);
    }
    if (slice->generation > pool->retired_generation) pool->retired_generation = slice->generation;
    pace_note(&pool->pace, slice->generation, ledger->now_ms);
    index_insert(&ledger->slices, &slice->by_name, names_hash(ledger->options.seed, &slice->name, 1));
}

static void unlink_slice(struct ledger *ledger, struct slice_entry *slice) {
    pool_unlink(slice);
    index_remove(&ledger->slices, &slice->by_name);
}

static void slice_remove(struct ledger *ledger, struct slice_entry *slice) {
    struct pool_entry *pool = slice->pool;
    unlink_slice(ledger, slice);
    slice_free(ledger, slice);
    pool_changed(ledger, pool);
    pool_settle(ledger, pool);
}

// A slice that is put in the place of its former state does not leave its pool empty in between.
static void replace_slice(struct ledger *ledger, struct slice_entry *known, struct slice_entry *fresh,
                          struct pool_entry *pool) {
    if (known->pool == pool) {
        unlink_slice(ledger, known);
        link_slice(ledger, fresh, pool);
        slice_free(ledger, known);
    } else {
        link_slice(ledger, fresh, pool);
        slice_remove(ledger, known);
    }
}

static void commit_slice(struct ledger *ledger, struct slice_entry *fresh, struct slice_entry *known,
                         struct pool_entry *pool, int64_t resource_version) {
    fresh->resource_version = resource_version;
    fresh->list_round = ledger->kinds[KIND_RESOURCE_SLICE].list_round;
    if (known != NULL)
        replace_slice(ledger, known, fresh, pool);
    else
        link_slice(ledger, fresh, pool);
    pool_changed(ledger, pool);
}

enum ledger_outcome slice_apply(struct ledger *ledger, const struct ledger_event *event) {
    const struct resource_slice *object = &event->object->slice;
    struct slice_entry *known = slice_find(ledger, object->metadata.name);
    const struct name *known_uid = known == NULL ? NULL : known->uid;
    enum ledger_outcome outcome =
        order_of(ledger, known_uid, known == NULL ? 0 : known->resource_version, event);
    if (seen_in_list(outcome, event) && known != NULL)
        known->list_round = ledger->kinds[KIND_RESOURCE_SLICE].list_round;
    if (outcome != LEDGER_APPLIED) return outcome;
    if (event->type == EVENT_DELETED) {
        if (known == NULL) return gone_unseen(ledger, event);
        if (!tombstone_add(ledger, known->uid, event->resource_version)) return LEDGER_FAILED;
        slice_remove(ledger, known);
        return LEDGER_APPLIED;
    }
    struct slice_entry *fresh = slice_new(ledger, event);
    if (fresh == NULL) return LEDGER_FAILED;
    struct pool_key key = pool_key_of(object);
    struct pool_entry *pool = pool_get(ledger, &key, object->node_selector);
    bool replaced = known != NULL && known->uid != fresh->uid;
    if (pool == NULL || (replaced && !tombstone_add(ledger, known->uid, known->resource_version))) {
        slice_free(ledger, fresh);
        if (pool != NULL) pool_settle(ledger, pool);
        return LEDGER_FAILED;
    }
    commit_slice(ledger, fresh, known, pool, event->resource_version);
    return LEDGER_APPLIED;
}

void slice_sweep(struct ledger *ledger, uint64_t list_round) {
    size_t bucket = 0;
    struct link *link = index_each(&ledger->slices, &bucket, NULL);
    while (link != NULL) {
        struct slice_entry *slice = LINK_OWNER(link, struct slice_entry, by_name);
        link = index_each(&ledger->slices, &bucket, link);
        if (slice->list_round == list_round) continue;
        swept(ledger, slice->uid, slice->resource_version);
        slice_remove(ledger, slice);
    }
}
