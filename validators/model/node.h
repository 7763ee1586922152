// SPDX-License-Identifier: Apache-2.0
// Node, Namespace, Lease and DeviceTaintRule, as far as the ledger and the gates read them.
// Source: k8s.io/api v0.36.3 core/v1, coordination/v1, resource/v1beta2 types.go; v0.37.2 resource/v1.
#ifndef DRAWBRIDGE_MODEL_NODE_H
#define DRAWBRIDGE_MODEL_NODE_H

#include "validators/model/meta.h"

struct node {
    struct object_meta metadata;
    struct quantity_map capacity;
    struct quantity_map allocatable;
    bool unschedulable;
    struct text kubelet_version;
    struct text_list declared_features; // v1.37
};

struct namespace_object {
    struct object_meta metadata;
};

struct lease {
    struct object_meta metadata;
    struct text holder_identity;
    struct text renew_time; // RFC 3339 with microseconds, as written
    int64_t lease_duration_seconds;
};

struct device_taint_rule {
    struct object_meta metadata;
    struct opt_text driver;
    struct opt_text pool;
    struct opt_text device;
    struct text taint_key;
    struct text taint_value;
    struct text taint_effect;
};

#endif
