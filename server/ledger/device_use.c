// SPDX-License-Identifier: Apache-2.0
// Devices under review, and who takes of them.
#include "server/ledger/device_use.h"

#include "server/ledger/view_answers.h"

bool device_used(const struct ledger *ledger, const struct allocation_result *result,
                 const struct node_entry *node, struct used_device *ret_used) {
    const struct name *driver = name_find(&ledger->names, result->driver);
    const struct name *pool_name = name_find(&ledger->names, result->pool);
    const struct name *name = name_find(&ledger->names, result->device);
    const struct pool_group *group =
        driver == NULL || pool_name == NULL || name == NULL ? NULL : group_find(ledger, driver, pool_name);
    struct gathered gathered;
    struct pool_entry *pool;
    if (group == NULL || !group_gather(ledger, group, node, INT64_MAX, &gathered)) return false;
    const struct device_entry *device = group_device(ledger, group, node, gathered.generation, name, &pool);
    if (device == NULL) return false;
    bool one_place = node != NULL || group->wide == NULL || group->wide->wide_next == NULL;
    *ret_used = (struct used_device){
        .group = group, .device = name, .shape = device->shape, .certain = gathered.complete && one_place};
    return true;
}

bool result_row(const struct ledger *ledger, const struct allocation_result *result, struct arena *arena,
                struct row *ret_row) {
    const struct quantity_map *map = &result->consumed_capacity;
    struct row row = {.admin = result->admin_access.value, .consumed_set = map->set};
    row.consumed = arena_zalloc(arena, map->count + 1, sizeof *row.consumed);
    if (row.consumed == NULL) return false;
    for (size_t i = 0; i < map->count; i++) {
        // A capacity that no device has has no name here, and takes nothing.
        const struct name *key = name_find(&ledger->names, map->items[i].key);
        if (key != NULL) row.consumed[row.consumed_count++] = (struct consumed){key, map->items[i].value};
    }
    *ret_row = row;
    return true;
}

// ---- who takes of a device

static bool is_consumed_on(const struct claim_entry *claim, const struct node_entry *node) {
    for (size_t i = 0; i <= claim->consumer_count; i++)
        if (claim->placements[i].node == node && !claim->placements[i].held) return true;
    return false;
}

static bool takes(const struct taking *taking, const struct row *row) {
    const struct used_device *used = taking->used;
    if (row->group != used->group || row->device != used->device || !row_is_there(row, taking->node))
        return false;
    if (text_equal(row->claim->uid->text, taking->without_uid)) return false;
    return taking->with_held || is_consumed_on(row->claim, taking->node);
}

static const struct row *next_row(const struct taking *taking, const struct row *after) {
    const struct used_device *used = taking->used;
    struct link *link = after != NULL ? index_next(&after->by_device)
                                      : index_first(&taking->ledger->rows,
                                                    row_hash(taking->ledger, used->group, used->device));
    for (; link != NULL; link = index_next(link)) {
        const struct row *row = LINK_OWNER(link, struct row, by_device);
        if (takes(taking, row)) return row;
    }
    return NULL;
}

static const struct pending_device *next_pending(const struct taking *taking,
                                                 const struct pending_device *after) {
    const struct used_device *used = taking->used;
    const struct name *driver = used->group->driver;
    const struct name *pool = used->group->pool;
    const struct pending_device *pending =
        provisional_of_device(taking->ledger, driver, pool, used->device, after);
    for (; pending != NULL;
         pending = provisional_of_device(taking->ledger, driver, pool, used->device, pending)) {
        const struct name *where = pending->claim->node;
        if (text_equal(pending->claim->uid->text, taking->without_uid)) continue;
        if (taking->node == NULL || where->text.len == 0 || where == taking->node->name) return pending;
    }
    return NULL;
}

// Whether a claim's share was visited before: as a row, or as an older write of the same claim.
static bool is_visited(const struct taking *taking, const struct pending_device *pending) {
    const struct name *uid = pending->claim->uid;
    for (const struct row *row = next_row(taking, NULL); row != NULL; row = next_row(taking, row))
        if (row->claim->uid == uid && row->share == pending->share) return true;
    for (const struct pending_device *other = next_pending(taking, NULL); other != pending && other != NULL;
         other = next_pending(taking, other))
        if (other->claim->uid == uid && other->share == pending->share) return true;
    return false;
}

static struct row *pending_row(const struct taking *taking, const struct pending_device *pending) {
    struct row *row = arena_zalloc(taking->arena, 1, sizeof *row);
    size_t count = pending->consumed.count;
    struct consumed *consumed = arena_zalloc(taking->arena, count + 1, sizeof *consumed);
    if (row == NULL || consumed == NULL) return NULL;
    for (size_t i = 0; i < count; i++)
        consumed[i] =
            (struct consumed){pending->consumed.items[i].resource, pending->consumed.items[i].quantity};
    row->share = pending->share;
    row->shape = taking->used->shape;
    row->consumed = consumed;
    row->consumed_count = count;
    return row;
}

void each_taker(const struct taking *taking, taker_visit *visit, void *context) {
    for (const struct row *row = next_row(taking, NULL); row != NULL; row = next_row(taking, row))
        visit(row, context);
    for (const struct pending_device *pending = next_pending(taking, NULL); pending != NULL;
         pending = next_pending(taking, pending)) {
        if (is_visited(taking, pending)) continue;
        const struct row *row = pending_row(taking, pending);
        if (row == NULL) return;
        visit(row, context);
    }
}
