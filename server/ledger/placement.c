// SPDX-License-Identifier: Apache-2.0
// On which nodes a claim counts: those of the live Pods that it is reserved for; held by none, on the one
// node that its allocation names; else on none.
#include "server/ledger/state.h"

struct node_entry *claim_home(const struct claim_entry *claim) {
    if (claim->exact != NULL) return claim->exact;
    for (size_t i = 0; i < claim->row_count; i++)
        if (claim->rows[i]->pool != NULL && claim->rows[i]->pool->node != NULL)
            return claim->rows[i]->pool->node;
    return NULL;
}

struct node_entry *consumer_node(const struct claim_entry *claim, const struct pod_entry *pod) {
    struct node_entry *home = claim_home(claim);
    if (home != NULL) return home;
    return pod->node != NULL ? pod->node : pod->nominated;
}

static void unlink_placement(struct ledger *ledger, struct placement *placement) {
    struct node_entry *node = placement->node;
    if (node == NULL) return;
    if (placement->next != NULL) placement->next->previous = placement->previous;
    if (placement->previous != NULL)
        placement->previous->next = placement->next;
    else
        node->placements = placement->next;
    placement->node = NULL;
    placement->next = placement->previous = NULL;
    node_touch(ledger, node);
    node_drop(ledger, node);
}

static void link_placement(struct ledger *ledger, struct placement *placement, struct claim_entry *claim,
                           struct node_entry *node, bool held) {
    placement->node = node;
    placement->claim = claim;
    placement->held = held;
    placement->previous = NULL;
    placement->next = node->placements;
    if (node->placements != NULL) node->placements->previous = placement;
    node->placements = placement;
    node_share(node);
    node_touch(ledger, node);
}

void claim_displace(struct ledger *ledger, struct claim_entry *claim) {
    for (size_t i = 0; i <= claim->consumer_count; i++) unlink_placement(ledger, &claim->placements[i]);
}

static bool is_placed(const struct claim_entry *claim, const struct node_entry *node) {
    for (size_t i = 0; i <= claim->consumer_count; i++)
        if (claim->placements[i].node == node) return true;
    return false;
}

void claim_place(struct ledger *ledger, struct claim_entry *claim) {
    // The old nodes must not go while the new ones are linked: a claim mostly stays where it is.
    struct node_entry *home = claim_home(claim);
    if (home != NULL) node_share(home);
    claim_displace(ledger, claim);
    bool consumed = false;
    size_t used = 0;
    for (size_t i = 0; i < claim->consumer_count && claim->allocated; i++) {
        const struct pod_entry *pod = pod_by_uid(ledger, claim->consumers[i].pod_uid);
        if (pod == NULL || !pod->live) continue;
        consumed = true;
        struct node_entry *node = consumer_node(claim, pod);
        if (node == NULL || is_placed(claim, node)) continue;
        link_placement(ledger, &claim->placements[used++], claim, node, false);
    }
    bool held = claim->allocated && !consumed;
    if (!held)
        claim->held_ms = 0;
    else if (claim->held_ms == 0)
        claim->held_ms = ledger->now_ms;
    if (claim->allocated && used == 0)
        link_placement(ledger, &claim->placements[0], claim, held && home != NULL ? home : ledger->nowhere,
                       held);
    if (home != NULL) node_drop(ledger, home);
    // What it held up while it stood on a node may go on.
    for (size_t i = 0; i < claim->row_count; i++)
        if (claim->rows[i]->pool != NULL && claim->rows[i]->pool->quarantined)
            pool_look_again(ledger, claim->rows[i]->pool);
}
