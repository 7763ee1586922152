// SPDX-License-Identifier: Apache-2.0
// What rules ask about nodes beside a slice: what other devices could take of one, what several have.
#include "server/ledger/view_answers.h"
#include "validators/model/slice_amounts.h"

// So many nodes are looked at for one that offers a resource; it is only a warning.
#define NODES_LOOKED_AT 16384u

static int64_t newest_of(const struct pool_entry *pool) {
    int64_t newest = -1;
    for (const struct slice_entry *slice = pool->slices; slice != NULL; slice = slice->pool_next)
        if (slice->generation > newest) newest = slice->generation;
    return newest;
}

static void add_pool(const struct pool_entry *pool, int64_t generation, struct text without_slice,
                     struct arena *arena, struct quantity_map *amounts) {
    for (const struct slice_entry *slice = pool->slices; slice != NULL; slice = slice->pool_next) {
        if (slice->generation != generation || text_equal(slice->name->text, without_slice)) continue;
        for (size_t i = 0; i < slice->amounts.count; i++)
            amounts_add(amounts, slice->amounts.items[i].resource->text, slice->amounts.items[i].quantity,
                        arena);
    }
}

enum view_answer answer_other_amounts(const void *state, const struct pool_key *key,
                                      struct text without_slice, int64_t generation, struct arena *arena,
                                      struct quantity_map *ret_amounts) {
    const struct ledger *ledger = state;
    struct quantity_map amounts = {.set = true};
    if (!ledger->kinds[KIND_RESOURCE_SLICE].synced) return VIEW_NOT_SYNCED;
    const struct node_entry *node =
        key->scope.kind == SCOPE_NODE ? node_find(ledger, key->scope.value) : NULL;
    for (const struct pool_entry *pool = node == NULL ? NULL : node->pools; pool != NULL;
         pool = pool->node_next) {
        if (!text_equal(pool->group->driver->text, key->driver)) continue;
        bool own = text_equal(pool->group->pool->text, key->pool);
        add_pool(pool, own ? generation : newest_of(pool), without_slice, arena, &amounts);
    }
    if (amounts.count == 0) return VIEW_NOT_FOUND;
    *ret_amounts = amounts;
    return VIEW_KNOWN;
}

static bool offers(const struct node_entry *node, const struct name *resource) {
    return resource != NULL && amounts_find(&node->allocatable, resource) != NULL;
}

enum view_answer answer_nodes_offer(const void *state, const struct node_selector *selector,
                                    struct text resource, struct arena *arena, bool *ret_offer) {
    const struct ledger *ledger = state;
    const struct name *name = name_find(&ledger->names, resource);
    const struct selector *matcher =
        selector == NULL ? NULL : selector_in_arena(&ledger->names, selector, arena);
    size_t bucket = 0, looked_at = 0, matching = 0;
    if (!ledger->kinds[KIND_NODE].synced || arena->poisoned) return VIEW_NOT_SYNCED;
    for (struct link *link = index_each(&ledger->nodes, &bucket, NULL); link != NULL;
         link = index_each(&ledger->nodes, &bucket, link)) {
        const struct node_entry *node = LINK_OWNER(link, struct node_entry, by_name);
        if (!node->known) continue;
        if (looked_at++ == NODES_LOOKED_AT) return VIEW_NOT_FOUND;
        if (matcher != NULL && !selector_matches(matcher, node)) continue;
        matching++;
        if (!offers(node, name)) continue;
        *ret_offer = true;
        return VIEW_KNOWN;
    }
    if (matching == 0) return VIEW_NOT_FOUND;
    *ret_offer = false;
    return VIEW_KNOWN;
}
