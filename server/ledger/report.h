// SPDX-License-Identifier: Apache-2.0
// The ledger of one node as a person or a test reads it: totals, NUMA sub-ledgers, rows, divergence,
// freshness. Made when it is asked for, of what stands on that node alone. All texts and lists live in the
// caller's arena or in the ledger; they hold until the ledger changes.
#ifndef DRAWBRIDGE_LEDGER_REPORT_H
#define DRAWBRIDGE_LEDGER_REPORT_H

#include "server/ledger/faulty.h"
#include "server/ledger/ledger.h"
#include "server/ledger/shape.h"

// In the order from best to worst; Unmapped stands beside it.
enum freshness {
    FRESHNESS_FRESH,
    FRESHNESS_REBUILDING,
    FRESHNESS_STALE,
    FRESHNESS_DIVERGED,
    FRESHNESS_QUARANTINED,
    FRESHNESS_FROZEN,
    FRESHNESS_NOT_SYNCED,
    FRESHNESS_UNMAPPED, // no driver has mappings
};
const char *freshness_name(enum freshness freshness); // static text

struct total_report {
    struct text resource;
    struct quantity allocatable;
    struct quantity ordinary;
    struct quantity dra;
    struct quantity held;
    struct quantity free; // allocatable − ordinary − dra; may be negative
};
struct total_report_list {
    struct total_report *items; // by resource
    size_t count;
};

struct numa_report {
    struct opt_int64 id; // not set: devices without a NUMA node
    struct quantity_map dra;
    struct quantity_map held;
};
struct numa_report_list {
    struct numa_report *items; // by id, without one last
    size_t count;
};

struct row_report {
    struct text uid;
    struct text namespace;
    struct text name;
    struct text driver;
    struct text pool;
    struct text device;
    struct text share_id;
    int64_t version; // 0: the mapping is not known
    char digest[DIGEST_TEXT_BYTES];
    struct opt_int64 numa;
    struct quantity_map resources;
    struct text_list pods; // namespace/name of the live Pods that consume it here
    bool held;
    bool admin;
    int64_t held_ms;
    int64_t observed_ms;
};
struct row_report_list {
    struct row_report *items; // by claim, driver, pool, device, share ID
    size_t count;
};

struct divergence_report {
    struct text pod; // namespace/name
    struct text pod_uid;
    struct text claim;     // name
    struct text claim_uid; // empty when the claim is not known
    const char *class;     // static text
    struct quantity_map expected;
    struct quantity_map reported;
    bool settled;
};
struct divergence_report_list {
    struct divergence_report *items; // by Pod, claim
    size_t count;
};

// One (driver, pool) as the node sees it.
struct driver_report {
    struct text driver;
    struct text pool;
    int64_t generation; // -1: no slices
    int64_t retired_generation;
    int64_t version;
    char digest[DIGEST_TEXT_BYTES];
    enum freshness state;
    struct text cause;
    int64_t since_ms; // 0: not known
};
struct driver_report_list {
    struct driver_report *items; // by driver, pool; only drivers that have mappings
    size_t count;
};

struct node_report {
    struct text name;
    bool known; // the Node object is there
    uint64_t version;
    enum freshness state;
    struct text_list causes;
    struct total_report_list totals;
    struct numa_report_list numa;
    struct row_report_list claims;
    struct divergence_report_list divergence;
    struct driver_report_list drivers;
    struct faulty_device_list unusable; // by driver, pool, device
};

// What it does: the names of all nodes, sorted. Nodes whose object is not there are named while something
// stands on them. Owner: the arena. Errors: false, arena poisoned.
bool ledger_nodes(const struct ledger *ledger, struct arena *arena, struct text_list *ret_names)
    __attribute__((warn_unused_result));

// What it does: the ledger of one node. With all_settled every difference counts, settled or not. Errors:
// false when there is no such node, or the arena is poisoned.
bool ledger_node_report(const struct ledger *ledger, struct text node, bool all_settled, struct arena *arena,
                        struct node_report *ret_report) __attribute__((warn_unused_result));

// What it does: the rows of claims that are on no single node. Errors: false, arena poisoned.
bool ledger_unplaced(const struct ledger *ledger, struct arena *arena, struct row_report_list *ret_rows)
    __attribute__((warn_unused_result));

// What it does: what a NodeLedger must remember of a node, so that a ledger that starts anew knows under
// which mappings claims were admitted, and how far generations had come: retired marks of the pools that the
// node sees, and rows. metadata has the name alone. Owner, errors: as ledger_node_report.
bool ledger_node_memory(const struct ledger *ledger, struct text node, struct arena *arena,
                        struct node_ledger *ret_memory) __attribute__((warn_unused_result));

struct rejection_report {
    const char *rule; // static text
    struct text uid;
    struct text namespace;
    struct text name;
    struct text driver;
    struct text pool;
    struct text device;
    struct text share_id;
    struct text other_uid; // the claim that holds the device; empty when the row's own key was taken
    uint64_t count;
    int64_t at_ms;
};
struct rejection_report_list {
    struct rejection_report *items; // oldest first
    size_t count;
};
bool ledger_rejections(const struct ledger *ledger, struct arena *arena,
                       struct rejection_report_list *ret_rejections) __attribute__((warn_unused_result));

// What it does: how long ago the pool with mappings whose slices were touched longest ago was touched. Slices
// have no heartbeat: age alone says nothing bad. Units: milliseconds; -1: there is no such pool.
int64_t ledger_mapping_age_ms(const struct ledger *ledger);

// What it does: one node that changed since it was asked last, oldest first; empty when there is none. For
// writers of NodeLedgers and for gauges. The text holds until the ledger changes.
struct text ledger_take_changed_node(struct ledger *ledger);

#endif
