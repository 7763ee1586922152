// SPDX-License-Identifier: Apache-2.0
// Whether what is known of a driver on a node may be relied on, and if not, why and since when.
#ifndef DRAWBRIDGE_LEDGER_FRESHNESS_H
#define DRAWBRIDGE_LEDGER_FRESHNESS_H

#include "server/ledger/report.h"
#include "server/ledger/state.h"

struct freshness_report {
    enum freshness state;
    struct text cause; // in the arena or static; empty when fresh
    int64_t since_ms;  // 0: not known
};

// What it does: what holds for all drivers of a node: caches, freezes of the cluster and the node, its Lease,
// watches.
struct freshness_report freshness_of_node(const struct ledger *ledger, const struct node_entry *node,
                                          struct arena *arena);

// What it does: what holds for one driver beside that: a freeze of it, and whether it lives at all.
struct freshness_report freshness_of_driver(const struct ledger *ledger, const struct name *driver,
                                            struct arena *arena);

// What it does: what holds for one pool as the node sees it.
struct freshness_report freshness_of_pool(const struct ledger *ledger, const struct pool_group *group,
                                          const struct node_entry *node, struct arena *arena);

// What it does: tells whether a pool without slices says nothing more about its driver on a node: the driver
// goes on under another pool name (drivers rename their pools when they are upgraded, or publish without
// mappings again); or it has been gone for so long that nobody expects it back, and no claim has a device of
// it. The kubelet takes the slices away 30 s after the driver is gone, and all when it starts, so that a
// driver that only restarts is back long before.
#define DRIVER_LEFT_MS 600000
bool pool_is_left(const struct ledger *ledger, const struct pool_entry *pool, const struct node_entry *node);

// Whether a divergence of this class closes a node by policy.
bool freshness_gates_on(const struct ledger *ledger, const char *class);

// The worse of two; a is kept when they are equal.
void freshness_worsen(struct freshness_report *a, struct freshness_report b);

#endif
