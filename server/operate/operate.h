// SPDX-License-Identifier: Apache-2.0
// The thread that looks after nodes: it surveys the ledger and, on the one replica that leads, writes
// NodeLedgers, DeviceTaintRules and Events and takes our scheduling gate off Pods that may go on.
//
// With a folder as the control plane there is nobody to write to and nobody to lead: the survey feeds the
// metrics, Events become log lines, and `drawbridge ledger show` shows what a NodeLedger would.
#ifndef DRAWBRIDGE_OPERATE_OPERATE_H
#define DRAWBRIDGE_OPERATE_OPERATE_H

#include "server/feed/kubeconfig.h"
#include "server/ledger/report.h"
#include "server/ledger/store.h"
#include "server/operate/denied.h"
#include "server/operate/holds.h"
#include "server/operate/write_kinds.h"

#define OPERATE_TICK_MS       250
#define OPERATE_NODE_WRITE_MS 10000 // between two writes about one node

struct operate_options {
    struct store *store;
    _Atomic int *minor;       // of Kubernetes; may be told late
    struct kubeconfig config; // taken over, also by a failure; server NULL: a folder
    const char *namespace;    // of the leader's Lease
    const char *identity;     // of this replica
    // What it does: keeps the audit record of an operator's action, one JSON object. Called by the thread.
    // NULL: records become log lines and nothing else.
    void (*audit)(void *context, struct text json);
    void *context;
};

// What the metrics show.
struct operate_facts {
    bool leads;
    bool taints_served;
    size_t taint_rule_count;
    size_t states[FRESHNESS_UNMAPPED + 1]; // nodes, by state
    size_t held[HOLD_STEP_COUNT];          // Pods; by denial: those that this replica denied within a minute
    uint64_t hold_buckets[HOLD_BUCKET_COUNT]; // holds that ended, see holds.h
    uint64_t hold_ended_count;
    double hold_ended_sum_s;
    size_t frozen[4]; // freezes in force: cluster, driver, node, namespace
    uint64_t events_dropped_count;
    uint64_t events_suppressed_count;
    uint64_t gates_removed_count;
    uint64_t written[WRITE_KIND_COUNT];
    uint64_t failed[WRITE_KIND_COUNT];
};

struct operate;

// What it does: starts the thread. Owner: the caller, operate_free; the store must outlive it. Errors:
// FAULT_IO, FAULT_MEMORY.
bool operate_new(struct operate_options *options, struct operate **ret_operate, struct fault *fault)
    __attribute__((warn_unused_result));

// Gives the Lease back and ends the thread. NULL is allowed.
void operate_free(struct operate *operate);

// What it does: notes that a claim write for a Pod was denied; it becomes Events on Pod, claim and Node.
// Thread: any.
void operate_note_denial(struct operate *operate, const struct denied_write *write);

// Whether this replica led at the last tick; what it writes on that word carries the version that it read.
// Thread: any.
bool operate_is_leader(struct operate *operate);

// Thread: any.
void operate_facts(struct operate *operate, struct operate_facts *ret_facts);

#endif
