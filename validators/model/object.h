// SPDX-License-Identifier: Apache-2.0
// Any object that drawbridge reads, and the few words that tell how it was read.
#ifndef DRAWBRIDGE_MODEL_OBJECT_H
#define DRAWBRIDGE_MODEL_OBJECT_H

#include "validators/model/node.h"
#include "validators/model/pod.h"
#include "validators/model/policy.h"
#include "validators/model/rbac.h"
#include "validators/model/resource_claim.h"
#include "validators/model/resource_slice.h"

enum object_kind {
    KIND_OTHER, // a kind that nobody here judges
    KIND_RESOURCE_SLICE,
    KIND_RESOURCE_CLAIM,
    KIND_RESOURCE_CLAIM_TEMPLATE,
    KIND_DEVICE_CLASS,
    // The kinds below are followed by the feeds and read by the ledger and the gates.
    KIND_NODE,
    KIND_POD,
    KIND_NAMESPACE,
    KIND_LEASE,
    KIND_DEVICE_TAINT_RULE,
    KIND_LEDGER_POLICY,
    KIND_NODE_LEDGER,
    // Rights of drivers, read by `check`.
    KIND_ROLE,
    KIND_CLUSTER_ROLE,
    KIND_CLUSTER_ROLE_BINDING,
};

// A Kubernetes minor that drawbridge knows: what a cluster is, whatever apiVersion it speaks.
enum kube_minor { MINOR_36 = 36, MINOR_37 = 37 };
#define MINOR_OLDEST MINOR_36
#define MINOR_NEWEST MINOR_37

enum resource_version { RESOURCE_V1, RESOURCE_V1BETA2, RESOURCE_V1BETA1 };

// Bits of json_reader.when: the contexts in which a field exists.
#define WHEN_MINOR_36 0x01u
#define WHEN_MINOR_37 0x02u
#define WHEN_V1       0x10u
#define WHEN_V1BETA2  0x20u
#define WHEN_V1BETA1  0x40u

struct object {
    enum object_kind kind;
    enum resource_version version; // of resource.k8s.io objects
    struct text api_version;       // as written
    struct text kind_name;         // as written
    union {
        struct resource_slice slice;
        struct resource_claim claim;
        struct resource_claim_template claim_template;
        struct device_class device_class;
        struct node node;
        struct pod pod;
        struct namespace_object namespace;
        struct lease lease;
        struct device_taint_rule taint_rule;
        struct ledger_policy policy;
        struct node_ledger node_ledger;
        struct role role;
        struct role_binding role_binding;
    };
};

// The metadata of whatever kind it is; NULL for KIND_OTHER.
const struct object_meta *object_metadata(const struct object *object);

#endif
