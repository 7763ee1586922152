// SPDX-License-Identifier: Apache-2.0
// What rules may ask, answered from the ledger.
#include "server/ledger/state.h"

static enum view_answer answer_pool(const void *state, const struct pool_key *key, struct text without_slice,
                                    struct pool_state *ret_state) {
    const struct ledger *ledger = state;
    if (!ledger->kinds[KIND_RESOURCE_SLICE].synced) return VIEW_NOT_SYNCED;
    const struct pool_entry *pool = pool_find(ledger, key);
    struct pool_state found = {.live_generation = -1};
    for (const struct slice_entry *slice = pool == NULL ? NULL : pool->slices; slice != NULL;
         slice = slice->pool_next) {
        if (text_equal(slice->name->text, without_slice)) continue;
        found.slice_count++;
        if (slice->generation > found.live_generation) {
            found.live_generation = slice->generation;
            found.live_slice = slice->name->text;
        }
    }
    if (found.slice_count == 0) return VIEW_NOT_FOUND;
    *ret_state = found;
    return VIEW_KNOWN;
}

static enum view_answer answer_node_allocatable(const void *state, struct text node_name,
                                                struct text resource, struct quantity *ret_quantity) {
    const struct ledger *ledger = state;
    if (!ledger->kinds[KIND_NODE].synced) return VIEW_NOT_SYNCED;
    const struct node_entry *node = node_find(ledger, node_name);
    if (node == NULL) return VIEW_NOT_FOUND;
    for (size_t i = 0; i < node->allocatable.count; i++) {
        if (!text_equal(node->allocatable.items[i].resource->text, resource)) continue;
        *ret_quantity = node->allocatable.items[i].quantity;
        return VIEW_KNOWN;
    }
    return VIEW_NOT_FOUND;
}

struct view ledger_view(const struct ledger *ledger) {
    static const struct view_table table = {.pool = answer_pool, .node_allocatable = answer_node_allocatable};
    return (struct view){.table = &table, .state = ledger};
}
