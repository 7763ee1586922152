// SPDX-License-Identifier: Apache-2.0
// LedgerPolicy and NodeLedger of drawbridge.dev/v1alpha1 as plain structs.
#ifndef DRAWBRIDGE_MODEL_POLICY_H
#define DRAWBRIDGE_MODEL_POLICY_H

#include "validators/model/meta.h"
#include "validators/model/pod.h"

struct label_selector {
    bool set;
    struct text_map match_labels;
    struct node_selector_requirement_list match_expressions; // operators In, NotIn, Exists, DoesNotExist
};

struct ledger_rule {
    struct text id;
    struct text action; // deny, warn, audit, off
    struct label_selector namespace_selector;
    struct text_list drivers;
};
struct ledger_rule_list {
    struct ledger_rule *items;
    size_t count;
};

// Exactly one of cluster, driver, node, namespace.
struct freeze {
    bool cluster;
    struct text driver;
    struct text node;
    struct text namespace;
    struct text reason;
    struct text by;
    struct text at;      // RFC 3339
    struct text expires; // RFC 3339
};
struct freeze_list {
    struct freeze *items;
    size_t count;
};

struct resume {
    bool cluster; // what was lifted; nothing follows from it
    struct text namespace;
    struct text driver;
    struct text node;
    struct opt_int64 from_version; // a mapping version
    struct text_list accept;       // claim UIDs, or "all"
    struct text reason;
    struct text by;
    struct text at;
};
struct resume_list {
    struct resume *items;
    size_t count;
};

// Units: milliseconds. 0 switches the clock off; the defaults are design.md's.
struct policy_windows {
    int64_t transport_ms;
    int64_t watch_ms;
    int64_t grace_ms;
    int64_t lease_ms;
    int64_t incomplete_ms;
    int64_t settle_ms;
};

struct ledger_policy {
    struct object_meta metadata;
    struct ledger_rule_list rules;
    struct text_list canary_namespaces;
    struct label_selector canary_node_selector;
    struct text_list gated_classes;
    struct text_list numa_attributes;
    struct policy_windows windows;
    struct text_list gate_on_divergence;
    struct opt_bool hold_taint;
    struct opt_bool hold_gate;
    struct opt_bool hold_deny;
    struct freeze_list freezes;
    struct resume_list resumes;
    struct text promotion; // raw JSON; empty when absent
};

struct node_ledger_driver {
    struct text driver;
    struct text pool;
    int64_t retired_generation;
    int64_t version;
    struct text digest;
    struct text state;
    struct text cause;
    struct text since;
};
struct node_ledger_driver_list {
    struct node_ledger_driver *items;
    size_t count;
};

struct node_ledger_claim {
    struct text uid;
    struct text namespace;
    struct text name;
    struct text driver;
    struct text pool;
    struct text device;
    struct text share_id;
    int64_t version;
    struct text digest;
    bool held;
    struct quantity_map resources; // the mapping that was committed under that version
    struct overhead_resource_list overhead;
    struct opt_int64 numa;
};
struct node_ledger_claim_list {
    struct node_ledger_claim *items;
    size_t count;
};

// Only what a rebuild needs is read back.
struct node_ledger {
    struct object_meta metadata; // named as the node
    int64_t version;
    struct node_ledger_driver_list drivers;
    struct node_ledger_claim_list claims;
};

#endif
