// SPDX-License-Identifier: Apache-2.0
// What rules may ask, answered from the ledger: the table, and the smallest answers.
#include "server/ledger/view_answers.h"

static enum view_answer answer_node_allocatable(const void *state, struct text node_name,
                                                struct text resource, struct quantity *ret_quantity) {
    const struct ledger *ledger = state;
    if (!ledger->kinds[KIND_NODE].synced) return VIEW_NOT_SYNCED;
    const struct node_entry *node = node_find(ledger, node_name);
    if (node == NULL || !node->known) return VIEW_NOT_FOUND;
    for (size_t i = 0; i < node->allocatable.count; i++) {
        if (!text_equal(node->allocatable.items[i].resource->text, resource)) continue;
        *ret_quantity = node->allocatable.items[i].quantity;
        return VIEW_KNOWN;
    }
    return VIEW_NOT_FOUND;
}

struct view ledger_view(const struct ledger *ledger) {
    static const struct view_table table = {
        .pool = answer_pool,
        .node_allocatable = answer_node_allocatable,
        .node = answer_node,
        .nodes_offer = answer_nodes_offer,
        .other_amounts = answer_other_amounts,
        .pool_device = answer_pool_device,
        .device_elsewhere = answer_device_elsewhere,
        .device_of_other_driver = answer_device_of_other_driver,
        .holders = answer_holders,
        .device = answer_device,
        .driver_is_mapped = answer_driver_is_mapped,
        .device_class = answer_device_class,
        .namespace_is_canary = answer_namespace_is_canary,
        .namespace_matches = answer_namespace_matches,
        .policy = answer_policy,
        .freeze = answer_freeze,
        .standing = answer_standing,
        .best_node = answer_best_node,
        .worst_node = answer_worst_node,
        .pod = answer_pod,
        .group_pod = answer_group_pod,
        .pod_has_claim = answer_pod_has_claim,
        .consumers = answer_consumers,
        .named_claim = answer_named_claim,
        .shortages = answer_shortages,
        .pod_level = answer_pod_level,
    };
    return (struct view){.table = &table, .state = ledger};
}
