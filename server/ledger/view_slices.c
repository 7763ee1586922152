// SPDX-License-Identifier: Apache-2.0
// What rules ask about slices, devices and who has them.
#include "server/ledger/view_answers.h"

// So many other pools are looked at for a device of the same name; it is only a warning.
#define POOLS_LOOKED_AT 64u

static bool slices_are_synced(const struct ledger *ledger) {
    return ledger->kinds[KIND_RESOURCE_SLICE].synced;
}

struct view_mapping_list view_mappings(const struct shape *shape, struct arena *arena) {
    struct view_mapping_list list = {NULL, 0};
    if (shape == NULL || shape->mapping_count == 0) return list;
    struct view_mapping *items = arena_zalloc(arena, shape->mapping_count, sizeof *items);
    if (items == NULL) return list;
    for (size_t i = 0; i < shape->mapping_count; i++) {
        const struct shape_mapping *mapping = &shape->mappings[i];
        items[i] = (struct view_mapping){.resource = mapping->resource->text,
                                         .mapped = mapping->mapped,
                                         .multiplier = mapping->multiplier,
                                         .per_pod = mapping->per_pod,
                                         .per_container = mapping->per_container};
        if (mapping->capacity_key != NULL) items[i].capacity_key = mapping->capacity_key->text;
    }
    return (struct view_mapping_list){items, shape->mapping_count};
}

// Nothing was heard for so long that what is known of slices may be what was.
static bool is_silent(const struct ledger *ledger) {
    int64_t alive_ms = ledger->kinds[KIND_RESOURCE_SLICE].alive_ms;
    int64_t window_ms = policy_windows(ledger)->watch_ms;
    return alive_ms > 0 && window_ms > 0 && ledger->now_ms - alive_ms > window_ms;
}

enum view_answer answer_pool(const void *state, const struct pool_key *key, struct text without_slice,
                             struct pool_state *ret_state) {
    const struct ledger *ledger = state;
    if (!slices_are_synced(ledger)) return VIEW_NOT_SYNCED;
    const struct pool_entry *pool = pool_find(ledger, key);
    if (pool == NULL) return VIEW_NOT_FOUND;
    struct pool_state found = {.live_generation = -1,
                               .retired_generation = pool->retired_generation,
                               .runs_away = pace_runs_away(&pool->pace, ledger->now_ms),
                               .cache_is_silent = is_silent(ledger)};
    for (const struct slice_entry *slice = pool->slices; slice != NULL; slice = slice->pool_next) {
        if (text_equal(slice->name->text, without_slice)) continue;
        found.slice_count++;
        if (slice->generation > found.live_generation) {
            found.live_generation = slice->generation;
            found.live_slice = slice->name->text;
            found.newest_count = 0;
            found.wanted_count = slice->resource_slice_count;
            found.disagreed = false;
        }
        if (slice->generation < found.live_generation) continue;
        found.newest_count++;
        if (slice->resource_slice_count != found.wanted_count) found.disagreed = true;
    }
    *ret_state = found;
    return VIEW_KNOWN;
}

static const struct device_entry *device_in(const struct slice_entry *slice, const struct name *device) {
    size_t low = 0;
    size_t high = slice->device_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)slice->devices[middle].name < (uintptr_t)device)
            low = middle + 1;
        else
            high = middle;
    }
    return low < slice->device_count && slice->devices[low].name == device ? &slice->devices[low] : NULL;
}

static void fill_device(const struct slice_entry *slice, const struct device_entry *device,
                        struct arena *arena, struct view_device *ret_device) {
    const struct pool_entry *pool = slice->pool;
    *ret_device = (struct view_device){.slice = slice->name->text,
                                       .driver = pool->group->driver->text,
                                       .generation = slice->generation,
                                       .shareable = device->shape->shareable,
                                       .mappings = view_mappings(device->shape, arena)};
    if (pool->node != NULL) ret_device->node = pool->node->name->text;
}

enum view_answer answer_pool_device(const void *state, const struct pool_key *key, struct text without_slice,
                                    int64_t generation, bool or_newer, struct text device,
                                    struct arena *arena, struct view_device *ret_device) {
    const struct ledger *ledger = state;
    if (!slices_are_synced(ledger)) return VIEW_NOT_SYNCED;
    const struct pool_entry *pool = pool_find(ledger, key);
    const struct name *name = name_find(&ledger->names, device);
    if (pool == NULL || name == NULL) return VIEW_NOT_FOUND;
    for (const struct slice_entry *slice = pool->slices; slice != NULL; slice = slice->pool_next) {
        if (text_equal(slice->name->text, without_slice)) continue;
        if (or_newer ? slice->generation < generation : slice->generation != generation) continue;
        const struct device_entry *found = device_in(slice, name);
        if (found == NULL) continue;
        fill_device(slice, found, arena, ret_device);
        return VIEW_KNOWN;
    }
    return VIEW_NOT_FOUND;
}

// The highest generation of a pool's live slices; -1: none.
static int64_t newest_of(const struct pool_entry *pool) {
    int64_t newest = -1;
    for (const struct slice_entry *slice = pool->slices; slice != NULL; slice = slice->pool_next)
        if (slice->generation > newest) newest = slice->generation;
    return newest;
}

static bool newest_device(const struct pool_entry *pool, const struct name *name, struct arena *arena,
                          struct view_device *ret_device) {
    int64_t newest = newest_of(pool);
    for (const struct slice_entry *slice = pool->slices; slice != NULL; slice = slice->pool_next) {
        const struct device_entry *found = slice->generation == newest ? device_in(slice, name) : NULL;
        if (found == NULL) continue;
        fill_device(slice, found, arena, ret_device);
        return true;
    }
    return false;
}

enum view_answer answer_device_elsewhere(const void *state, const struct pool_key *key, struct text device,
                                         struct arena *arena, struct view_device *ret_device) {
    const struct ledger *ledger = state;
    if (!slices_are_synced(ledger)) return VIEW_NOT_SYNCED;
    const struct name *driver = name_find(&ledger->names, key->driver);
    const struct name *pool_name = name_find(&ledger->names, key->pool);
    const struct name *name = name_find(&ledger->names, device);
    const struct pool_group *group =
        driver == NULL || pool_name == NULL || name == NULL ? NULL : group_find(ledger, driver, pool_name);
    size_t looked_at = 0;
    for (const struct pool_entry *pool = group == NULL ? NULL : group->pools; pool != NULL;
         pool = pool->group_next) {
        if (pool->node == NULL || text_equal(pool->node->name->text, key->scope.value)) continue;
        if (looked_at++ == POOLS_LOOKED_AT) break;
        if (newest_device(pool, name, arena, ret_device)) return VIEW_KNOWN;
    }
    return VIEW_NOT_FOUND;
}

// Whether one node could see both: two pools of different nodes never meet; of wide ones it cannot be told.
static bool could_meet(const struct pool_entry *pool, const struct pool_key *key) {
    return pool->node == NULL || key->scope.kind != SCOPE_NODE ||
           text_equal(pool->node->name->text, key->scope.value);
}

enum view_answer answer_device_of_other_driver(const void *state, const struct pool_key *key,
                                               struct text device, struct arena *arena,
                                               struct view_device *ret_device) {
    const struct ledger *ledger = state;
    if (!slices_are_synced(ledger)) return VIEW_NOT_SYNCED;
    const struct name *pool_name = name_find(&ledger->names, key->pool);
    const struct name *name = name_find(&ledger->names, device);
    if (pool_name == NULL || name == NULL) return VIEW_NOT_FOUND;
    size_t looked_at = 0;
    for (struct link *link =
             index_first(&ledger->groups_by_pool, names_hash(ledger->options.seed, &pool_name, 1));
         link != NULL; link = index_next(link)) {
        const struct pool_group *group = LINK_OWNER(link, struct pool_group, by_pool);
        if (group->pool != pool_name || text_equal(group->driver->text, key->driver)) continue;
        for (const struct pool_entry *pool = group->pools; pool != NULL; pool = pool->group_next) {
            if (!could_meet(pool, key)) continue;
            if (looked_at++ == POOLS_LOOKED_AT) return VIEW_NOT_FOUND;
            if (newest_device(pool, name, arena, ret_device)) return VIEW_KNOWN;
        }
    }
    return VIEW_NOT_FOUND;
}

// ---- who has a device

static bool is_bound(const struct ledger *ledger, const struct claim_entry *claim) {
    for (size_t i = 0; i < claim->consumer_count; i++) {
        const struct pod_entry *pod = pod_by_uid(ledger, claim->consumers[i].pod_uid);
        if (pod != NULL && pod->live) return true;
    }
    return false;
}

static bool add_row(const struct ledger *ledger, const struct row *row, struct arena *arena,
                    struct device_holder_list *list) {
    struct device_holder *holder = LIST_APPEND(arena, list);
    if (holder == NULL) return false;
    const struct node_entry *home = claim_home(row->claim);
    *holder = (struct device_holder){.claim_uid = row->claim->uid->text,
                                     .share_id = row->share->text,
                                     .admin = row->admin,
                                     .bound = is_bound(ledger, row->claim),
                                     .mappings_known = row->shape != NULL && row->fixed == NULL};
    if (home != NULL) holder->node = home->name->text;
    if (holder->mappings_known) holder->mappings = view_mappings(row->shape, arena);
    return true;
}

bool row_is_there(const struct row *row, const struct node_entry *node) {
    if (node == NULL) return row->pool == NULL || row->pool->node == NULL;
    if (row->pool != NULL) return pool_concerns(row->pool, node);
    const struct node_entry *home = claim_home(row->claim);
    return home == NULL || home == node;
}

static void add_pending(const struct ledger *ledger, const struct name *key[3], struct text node,
                        struct arena *arena, struct device_holder_list *list) {
    for (const struct pending_device *pending = provisional_of_device(ledger, key[0], key[1], key[2], NULL);
         pending != NULL; pending = provisional_of_device(ledger, key[0], key[1], key[2], pending)) {
        struct text where = pending->claim->node->text;
        if (node.len > 0 && where.len > 0 && !text_equal(node, where)) continue;
        struct device_holder *holder = LIST_APPEND(arena, list);
        if (holder == NULL) return;
        *holder = (struct device_holder){.claim_uid = pending->claim->uid->text,
                                         .share_id = pending->share->text,
                                         .node = where,
                                         .pending = true};
    }
}

enum view_answer answer_holders(const void *state, const struct device_key *key, struct text node,
                                struct arena *arena, struct device_holder_list *ret_holders) {
    const struct ledger *ledger = state;
    struct device_holder_list list = {NULL, 0};
    const struct name *names[3] = {name_find(&ledger->names, key->driver),
                                   name_find(&ledger->names, key->pool),
                                   name_find(&ledger->names, key->device)};
    if (names[0] == NULL || names[1] == NULL || names[2] == NULL) return VIEW_NOT_FOUND;
    const struct node_entry *place = node.len == 0 ? NULL : node_find(ledger, node);
    const struct pool_group *group = group_find(ledger, names[0], names[1]);
    if (group != NULL)
        for (struct link *link = index_first(&ledger->rows, row_hash(ledger, group, names[2])); link != NULL;
             link = index_next(link)) {
            const struct row *row = LINK_OWNER(link, struct row, by_device);
            if (row->group != group || row->device != names[2] || !row_is_there(row, place)) continue;
            if (!add_row(ledger, row, arena, &list)) break;
        }
    add_pending(ledger, names, node, arena, &list);
    // What is there is there, whether all of the list has come or not.
    if (list.count == 0) return ledger->kinds[KIND_RESOURCE_CLAIM].synced ? VIEW_NOT_FOUND : VIEW_NOT_SYNCED;
    *ret_holders = list;
    return VIEW_KNOWN;
}

// ---- how a device stands

static int64_t resumed_from(const struct ledger *ledger, const struct device_key *key, struct text node) {
    int64_t from = 0;
    if (ledger->policy == NULL) return 0;
    const struct resume_list *resumes = &ledger->policy->policy.resumes;
    for (size_t i = 0; i < resumes->count; i++) {
        const struct resume *resume = &resumes->items[i];
        if (!resume->from_version.set) continue;
        if (resume->driver.len > 0 && !text_equal(resume->driver, key->driver)) continue;
        if (resume->node.len > 0 && !text_equal(resume->node, node)) continue;
        if (resume->from_version.value > from) from = resume->from_version.value;
    }
    return from;
}

// How many slices of one generation have a device, as a node sees them.
static size_t copies_of(const struct ledger *ledger, const struct pool_group *group,
                        const struct node_entry *node, int64_t generation, const struct name *name) {
    size_t copies = 0;
    struct pool_walk walk = pool_walk(ledger, group, node);
    for (struct pool_entry *pool; (pool = pool_walk_next(&walk)) != NULL;)
        for (const struct slice_entry *slice = pool->slices; slice != NULL; slice = slice->pool_next)
            if (slice->generation == generation && slice->places == NULL)
                copies += device_in(slice, name) != NULL;
    return copies;
}

// The fault of a device of a pool's newest generation; NULL when one of that name is usable.
static const char *newest_fault(const struct ledger *ledger, const struct pool_entry *pool,
                                const struct name *name, struct arena *arena) {
    int64_t newest = newest_of(pool);
    const char *fault = NULL;
    for (const struct slice_entry *slice = pool->slices; slice != NULL; slice = slice->pool_next) {
        const struct device_entry *found = slice->generation == newest ? device_in(slice, name) : NULL;
        if (found == NULL) continue;
        fault = device_fault(ledger, slice, (size_t)(found - slice->devices), arena);
        if (fault == NULL) break;
    }
    return fault;
}

static bool in_one_of(const struct ledger *ledger, const struct pool_group *group, const struct name *name,
                      struct arena *arena, struct device_standing *standing) {
    for (const struct pool_entry *pool = group->wide; pool != NULL; pool = pool->wide_next) {
        if (!newest_device(pool, name, arena, &standing->device)) continue;
        standing->found = standing->complete = true;
        standing->quarantined = pool->quarantined;
        standing->generation = standing->device.generation;
        standing->fault = newest_fault(ledger, pool, name, arena);
        if (standing->fault == NULL) break;
    }
    return standing->found;
}

static const char *fault_in(const struct ledger *ledger, const struct pool_entry *pool,
                            const struct device_entry *device, struct arena *arena) {
    for (const struct slice_entry *slice = pool->slices; slice != NULL; slice = slice->pool_next)
        if (device >= slice->devices && device < slice->devices + slice->device_count)
            return device_fault(ledger, slice, (size_t)(device - slice->devices), arena);
    return NULL;
}

enum view_answer answer_device(const void *state, const struct device_key *key, struct text node,
                               struct arena *arena, struct device_standing *ret_standing) {
    const struct ledger *ledger = state;
    if (!slices_are_synced(ledger)) return VIEW_NOT_SYNCED;
    const struct name *driver = name_find(&ledger->names, key->driver);
    const struct name *pool_name = name_find(&ledger->names, key->pool);
    const struct pool_group *group =
        driver == NULL || pool_name == NULL ? NULL : group_find(ledger, driver, pool_name);
    const struct node_entry *place = node.len == 0 ? NULL : node_find(ledger, node);
    if (group == NULL) return VIEW_NOT_FOUND;
    // Without a node there may still be but one place where the pool is.
    if (place == NULL && group->pools != NULL && group->pools->group_next == NULL) place = group->pools->node;
    struct device_standing standing = {.generation = -1, .from_version = resumed_from(ledger, key, node)};
    struct pool_walk walk = pool_walk(ledger, group, place);
    for (struct pool_entry *pool; (pool = pool_walk_next(&walk)) != NULL;) {
        if (pool->quarantined) standing.quarantined = true;
        if (pool->retired_generation > standing.retired_generation)
            standing.retired_generation = pool->retired_generation;
    }
    struct gathered gathered;
    struct pool_entry *pool = NULL;
    const struct name *name = name_find(&ledger->names, key->device);
    if (place == NULL && group->wide != NULL && group->wide->wide_next != NULL) {
        // Which of several it is cannot be told yet; it is enough that one of them has the device.
        if (name == NULL || !in_one_of(ledger, group, name, arena, &standing))
            standing.generation = newest_of(group->wide);
        *ret_standing = standing;
        return VIEW_KNOWN;
    }
    if (group_gather(ledger, group, place, INT64_MAX, &gathered)) {
        standing.generation = gathered.generation;
        standing.complete = gathered.complete;
        standing.version = gathered.version;
        standing.behind = standing.from_version > gathered.version;
        const struct device_entry *device =
            name == NULL ? NULL : group_device(ledger, group, place, gathered.generation, name, &pool);
        standing.found = device != NULL;
        if (device != NULL) {
            standing.fault = fault_in(ledger, pool, device, arena);
            if (standing.fault == NULL && device_is_ambiguous(ledger, pool, device))
                standing.fault = "device-ambiguous";
            standing.ambiguous = copies_of(ledger, group, place, gathered.generation, name) > 1;
            standing.device = (struct view_device){.driver = key->driver,
                                                   .generation = gathered.generation,
                                                   .shareable = device->shape->shareable,
                                                   .mappings = view_mappings(device->shape, arena)};
        }
    }
    *ret_standing = standing;
    return VIEW_KNOWN;
}
