// SPDX-License-Identifier: Apache-2.0
// Rows: one allocated device each, with the mapping under which it was committed.
#include "server/ledger/state.h"

void row_list_add(struct row_list *list, struct row *row) {
    row->list = list;
    row->previous = NULL;
    row->next = list->first;
    if (list->first != NULL) list->first->previous = row;
    list->first = row;
}

void row_list_remove(struct row *row) {
    if (row->list == NULL) return;
    if (row->next != NULL) row->next->previous = row->previous;
    if (row->previous != NULL)
        row->previous->next = row->next;
    else
        row->list->first = row->next;
    row->list = NULL;
    row->next = row->previous = NULL;
}

uint64_t row_hash(const struct ledger *ledger, const struct pool_group *group, const struct name *device) {
    const struct name *key[] = {group->driver, group->pool, device};
    return names_hash(ledger->options.seed, key, 3);
}

static void drop_rivals(struct ledger *ledger, struct row *row) {
    for (size_t i = 0; i < row->rival_count; i++) shape_drop(&ledger->shapes, row->rivals[i].shape);
    row->rival_count = 0;
}

void row_leave(struct ledger *ledger, struct row *row) {
    struct pool_entry *pool = row->pool;
    row_list_remove(row);
    if (row->indexed) index_remove(&ledger->rows, &row->by_device);
    row->indexed = false;
    row->pool = NULL;
    if (pool == NULL) return;
    pool_look_again(ledger, pool);
    pool_settle(ledger, pool);
}

void row_free(struct ledger *ledger, struct row *row) {
    if (row == NULL) return;
    row_leave(ledger, row);
    drop_rivals(ledger, row);
    shape_drop(&ledger->shapes, row->shape);
    remembered_drop(ledger, row->fixed);
    drop(ledger, row->device);
    drop(ledger, row->share);
    for (size_t i = 0; i < row->consumed_count; i++) drop(ledger, row->consumed[i].key);
    heap_free(&ledger->heap, row->consumed, row->consumed_count * sizeof *row->consumed);
    group_drop(ledger, row->group);
    heap_free(&ledger->heap, row, sizeof *row);
}

const uint64_t *row_digest(const struct row *row) {
    if (row->fixed != NULL) return row->fixed->digest;
    return row->shape == NULL ? NULL : row->shape->digest;
}

static void touch_claim(struct ledger *ledger, const struct claim_entry *claim) {
    for (size_t i = 0; i <= claim->consumer_count; i++) node_touch(ledger, claim->placements[i].node);
}

static void set_shape(struct ledger *ledger, struct row *row, const struct shape *shape) {
    if (row->shape == shape) return;
    const struct shape *old = row->shape;
    row->shape = shape == NULL ? NULL : shape_share(shape);
    shape_drop(&ledger->shapes, old);
}

void row_remember(struct ledger *ledger, struct row *row) {
    if (!row->first_sight) return;
    struct remembered_row *remembered = remembered_find(ledger, row);
    if (remembered == NULL) return;
    row->version = remembered->version;
    bool same = row->shape != NULL && remembered->digest[0] == row->shape->digest[0] &&
                remembered->digest[1] == row->shape->digest[1];
    struct remembered_row *fixed = same ? NULL : remembered;
    if (fixed == row->fixed) return;
    if (fixed != NULL) fixed->refs++;
    remembered_drop(ledger, row->fixed);
    row->fixed = fixed;
    touch_claim(ledger, row->claim);
}

// The node from which a row's pool is looked at; NULL: only pools that are not of one node.
static struct node_entry *home_of(const struct row *row) {
    struct node_entry *home = claim_home(row->claim);
    if (home != NULL) return home;
    // An allocation that does not say: there is but one place for this pool.
    struct pool_entry *only = row->group->pools;
    return only != NULL && only->group_next == NULL ? only->node : NULL;
}

static void add_rival(struct row *row, const struct shape *shape, enum rival_kind kind) {
    if (shape_equal(shape, row->shape) || row->rival_count == RIVALS_MAX) return;
    for (size_t i = 0; i < row->rival_count; i++)
        if (row->rivals[i].kind == kind && shape_equal(row->rivals[i].shape, shape)) return;
    row->rivals[row->rival_count++] = (struct rival){shape_share(shape), kind};
}

void row_note_rivals(struct ledger *ledger, struct row *row, const struct node_entry *node,
                     int64_t generation) {
    uint64_t hash = names_hash(ledger->options.seed, &row->group->pool, 1);
    struct pool_entry *pool;
    for (struct link *link = index_first(&ledger->groups_by_pool, hash); link != NULL;
         link = index_next(link)) {
        const struct pool_group *group = LINK_OWNER(link, struct pool_group, by_pool);
        if (group->pool != row->group->pool) continue;
        bool own = group == row->group;
        if (!own && ledger->minor >= MINOR_37) continue; // v1.37 looks at the driver too
        struct gathered gathered;
        for (int64_t below = INT64_MAX; group_gather(ledger, group, node, below, &gathered);
             below = gathered.generation) {
            if (own && gathered.generation == generation) continue;
            const struct device_entry *device =
                group_device(ledger, group, node, gathered.generation, row->device, &pool);
            if (device != NULL) add_rival(row, device->shape, own ? RIVAL_OBSOLETE : RIVAL_WRONG_DRIVER);
        }
    }
}

static void commit(struct ledger *ledger, struct row *row, const struct device_entry *device,
                   const struct gathered *gathered, struct pool_entry *pool) {
    set_shape(ledger, row, device->shape);
    row->version = gathered->version;
    row->pool = pool;
    row->tentative = !gathered->complete;
    row_list_remove(row);
    row_list_add(row->tentative ? &row->group->open : &pool->rows, row);
    drop_rivals(ledger, row);
    row_note_rivals(ledger, row, home_of(row), gathered->generation);
    row_remember(ledger, row);
    touch_claim(ledger, row->claim);
}

void row_resolve(struct ledger *ledger, struct row *row) {
    if (row->pool != NULL && !row->tentative) return;
    const struct node_entry *home = home_of(row);
    const struct device_entry *best = NULL;
    struct gathered best_gathered = {0};
    struct pool_entry *best_pool = NULL;
    struct gathered gathered;
    for (int64_t below = INT64_MAX; group_gather(ledger, row->group, home, below, &gathered);
         below = gathered.generation) {
        struct pool_entry *pool = NULL;
        const struct device_entry *device =
            group_device(ledger, row->group, home, gathered.generation, row->device, &pool);
        if (device == NULL || (best != NULL && !gathered.complete)) continue;
        best = device;
        best_gathered = gathered;
        best_pool = pool;
        if (gathered.complete) break;
    }
    if (best != NULL) {
        commit(ledger, row, best, &best_gathered, best_pool);
        return;
    }
    row->pool = NULL; // what it had taken so far stays until the device is back
    row_remember(ledger, row);
}

void group_look_again(struct ledger *ledger, struct pool_group *group) {
    struct row *next;
    for (struct row *row = group->open.first; row != NULL; row = next) {
        next = row->next;
        bool placed = row->pool != NULL;
        row_resolve(ledger, row);
        if (!placed && row->pool != NULL) claim_place(ledger, row->claim);
    }
}

// What the pool says of a row's device now; NULL while it is not back.
static const struct device_entry *device_now(const struct ledger *ledger, const struct row *row,
                                             struct gathered *ret_gathered) {
    struct pool_entry *pool;
    if (!group_gather(ledger, row->group, home_of(row), INT64_MAX, ret_gathered)) return NULL;
    if (!ret_gathered->complete) return NULL;
    return group_device(ledger, row->group, home_of(row), ret_gathered->generation, row->device, &pool);
}

static int64_t live_generation(const struct pool_entry *pool) {
    int64_t live = -1;
    for (const struct slice_entry *slice = pool->slices; slice != NULL; slice = slice->pool_next)
        if (slice->generation > live) live = slice->generation;
    return live;
}

void pool_quarantine(struct ledger *ledger, struct pool_entry *pool) {
    int64_t live = live_generation(pool);
    if (ledger->kinds[KIND_RESOURCE_SLICE].listing) return; // half a list says nothing of a pool
    if (pool->quarantined || !pool->had_mappings || live < 0 || live >= pool->retired_generation) return;
    pool->quarantined = true;
    pool->quarantine_ms = ledger->now_ms;
    node_touch(ledger, pool->node);
}

// What stands on no node is not bound, and no NodeLedger remembers it: it holds no quarantine.
static bool stands_nowhere(const struct ledger *ledger, const struct claim_entry *claim) {
    for (size_t i = 0; i <= claim->consumer_count; i++)
        if (claim->placements[i].node == ledger->nowhere) return true;
    return false;
}

void pool_look_again(struct ledger *ledger, struct pool_entry *pool) {
    // A pool may have many rows, and mostly nothing depends on them.
    if (!pool->quarantined && !policy_has_resumes(ledger)) return;
    bool held = false;
    struct gathered gathered;
    int64_t live = live_generation(pool);
    for (struct row *row = pool->rows.first; row != NULL; row = row->next) {
        const struct device_entry *device = device_now(ledger, row, &gathered);
        if (device == NULL) continue;
        const uint64_t *digest = row_digest(row);
        if (digest[0] == device->shape->digest[0] && digest[1] == device->shape->digest[1]) continue;
        if (!policy_accepts(ledger, row, pool)) {
            if (!stands_nowhere(ledger, row->claim)) held = true;
            continue;
        }
        set_shape(ledger, row, device->shape);
        remembered_drop(ledger, row->fixed);
        row->fixed = NULL;
        row->version = gathered.version;
        touch_claim(ledger, row->claim);
    }
    if (!pool->quarantined || held || live < 0) return;
    // Half a list says nothing of a pool. Claims may hold it that are not known yet, or of which it is not
    // known yet where they stand and what they took.
    if (ledger->kinds[KIND_RESOURCE_SLICE].listing || ledger->kinds[KIND_NODE_LEDGER].listing) return;
    if (!ledger->kinds[KIND_POD].synced || ledger->kinds[KIND_POD].listing) return;
    if (!ledger->kinds[KIND_RESOURCE_CLAIM].synced || ledger->kinds[KIND_RESOURCE_CLAIM].listing) return;
    if (!group_gather(ledger, pool->group, pool->node, INT64_MAX, &gathered) || !gathered.complete) return;
    pool->quarantined = false;
    pool->retired_generation = live;
    node_touch(ledger, pool->node);
}

void pools_listed(struct ledger *ledger) {
    size_t bucket = 0;
    for (struct link *link = index_each(&ledger->pools, &bucket, NULL); link != NULL;
         link = index_each(&ledger->pools, &bucket, link)) {
        struct pool_entry *pool = LINK_OWNER(link, struct pool_entry, by_key);
        pool_quarantine(ledger, pool);
        pool_look_again(ledger, pool);
    }
}
