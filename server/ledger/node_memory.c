// SPDX-License-Identifier: Apache-2.0
// What a NodeLedger must remember of a node: the other side of ledger_memory.c.
#include "server/ledger/footprint.h"
#include "server/ledger/report.h"

static struct text digest_text_of(const uint64_t digest[2], struct arena *arena) {
    char text[DIGEST_TEXT_BYTES];
    digest_print(digest, text);
    return text_copy(arena, text_of(text));
}

static void add_overhead(struct overhead_resource_list *list, struct text resource, struct quantity per_pod,
                         struct quantity per_container, struct arena *arena) {
    struct overhead_resource *item = LIST_APPEND(arena, list);
    if (item != NULL) *item = (struct overhead_resource){resource, per_pod, per_container};
}

static void add_overheads(const struct row *row, struct overhead_resource_list *list, struct arena *arena) {
    static const struct quantity nothing;
    const struct remembered_row *fixed = row->fixed;
    if (fixed != NULL) {
        for (size_t i = 0; i < fixed->per_pod.count; i++)
            add_overhead(list, fixed->per_pod.items[i].resource->text, fixed->per_pod.items[i].quantity,
                         nothing, arena);
        for (size_t i = 0; i < fixed->per_container.count; i++)
            add_overhead(list, fixed->per_container.items[i].resource->text, nothing,
                         fixed->per_container.items[i].quantity, arena);
        return;
    }
    for (size_t i = 0; row->shape != NULL && i < row->shape->mapping_count; i++) {
        const struct shape_mapping *mapping = &row->shape->mappings[i];
        if (mapping->per_pod.set || mapping->per_container.set)
            add_overhead(list, mapping->resource->text, mapping->per_pod, mapping->per_container, arena);
    }
}

static void add_row(const struct ledger *ledger, const struct row *row, bool held,
                    struct node_ledger_claim_list *list, struct arena *arena) {
    const struct claim_entry *claim = row->claim;
    const uint64_t *digest = row_digest(row);
    if (digest == NULL) return; // nothing is known of its mapping yet
    struct node_ledger_claim *item = LIST_APPEND(arena, list);
    if (item == NULL) return;
    *item = (struct node_ledger_claim){.uid = claim->uid->text,
                                       .namespace = claim->namespace->text,
                                       .name = claim->name->text,
                                       .driver = row->group->driver->text,
                                       .pool = row->group->pool->text,
                                       .device = row->device->text,
                                       .share_id = row->share->text,
                                       .version = row->version,
                                       .digest = digest_text_of(digest, arena),
                                       .held = held,
                                       .resources = {.set = true},
                                       .numa = row_numa(ledger, row)};
    footprint_mapping(row, NULL, &item->resources, arena);
    add_overheads(row, &item->overhead, arena);
}

static bool add_pool(const struct pool_entry *pool, struct node_ledger_driver_list *list,
                     struct arena *arena) {
    if (!pool->had_mappings) return true;
    struct node_ledger_driver *driver = LIST_APPEND(arena, list);
    if (driver == NULL) return false;
    driver->driver = pool->group->driver->text;
    driver->pool = pool->group->pool->text;
    driver->retired_generation = pool->retired_generation;
    if (pool->quarantined) driver->state = TEXT("Quarantined");
    return true;
}

bool ledger_node_memory(const struct ledger *ledger, struct text node, struct arena *arena,
                        struct node_ledger *ret_memory) {
    const struct node_entry *entry = node_find(ledger, node);
    if (entry == NULL) return false;
    struct node_ledger memory = {.metadata = {.name = entry->name->text}, .version = (int64_t)entry->version};
    for (const struct pool_entry *pool = entry->pools; pool != NULL; pool = pool->node_next)
        if (!add_pool(pool, &memory.drivers, arena)) return false;
    for (const struct pool_entry *pool = ledger->wide_pools; pool != NULL; pool = pool->far_next)
        if (pool_concerns(pool, entry) && !add_pool(pool, &memory.drivers, arena)) return false;
    for (const struct placement *placement = entry->placements; placement != NULL;
         placement = placement->next)
        for (size_t i = 0; i < placement->claim->row_count; i++)
            add_row(ledger, placement->claim->rows[i], placement->held, &memory.claims, arena);
    if (arena->poisoned) return false;
    *ret_memory = memory;
    return true;
}
