// SPDX-License-Identifier: Apache-2.0
// Node, Namespace, Lease and DeviceTaintRule, as far as the ledger and the gates read them; everything else
// is passed over, in every mode. Source: k8s.io/api v0.36.3 and v0.37.2 core/v1, coordination/v1, resource/v1
// and v1beta2 types.go.
#include "server/codec/decode_parts.h"

// All of these have the same outside: the parts that differ have a reader each, or none.
struct outside {
    void (*spec)(struct json_reader *reader, struct object *ret);
    void (*status)(struct json_reader *reader, struct object *ret);
};

enum { OBJECT_METADATA, OBJECT_SPEC, OBJECT_STATUS, OBJECT_API_VERSION, OBJECT_KIND };
static const struct json_name object_names[] = {
    [OBJECT_METADATA] = JSON_NAME("metadata"), [OBJECT_SPEC] = JSON_NAME("spec"),
    [OBJECT_STATUS] = JSON_NAME("status"),     [OBJECT_API_VERSION] = JSON_NAME("apiVersion"),
    [OBJECT_KIND] = JSON_NAME("kind"),
};
static const struct json_fields OBJECT = JSON_FIELDS(object_names);

static void decode_part(struct json_reader *reader, struct object *ret,
                        void (*part)(struct json_reader *reader, struct object *ret)) {
    if (part == NULL)
        json_skip(reader);
    else
        part(reader, ret);
}

static void decode_whole(struct json_reader *reader, struct object *ret, struct object_meta *metadata,
                         const struct outside *outside) {
    enum json_mode mode = reader->mode;
    reader->mode = JSON_WIRE;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &OBJECT, &seen, &field)) switch (field) {
        case OBJECT_METADATA: decode_object_meta(reader, metadata); break;
        case OBJECT_SPEC: decode_part(reader, ret, outside->spec); break;
        case OBJECT_STATUS: decode_part(reader, ret, outside->status); break;
        case OBJECT_API_VERSION: json_text(reader, &ret->api_version); break;
        case OBJECT_KIND: json_text(reader, &ret->kind_name); break;
        }
    reader->mode = mode;
}

static const struct json_name node_spec_names[] = {JSON_NAME("unschedulable")};
static const struct json_fields NODE_SPEC = JSON_FIELDS(node_spec_names);

static void decode_node_spec(struct json_reader *reader, struct object *ret) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &NODE_SPEC, &seen, &field)) json_bool(reader, &ret->node.unschedulable);
}

static const struct json_name node_info_names[] = {JSON_NAME("kubeletVersion")};
static const struct json_fields NODE_INFO = JSON_FIELDS(node_info_names);

enum { NODE_CAPACITY, NODE_ALLOCATABLE, NODE_INFORMATION, NODE_FEATURES };
static const struct json_name node_status_names[] = {
    [NODE_CAPACITY] = JSON_NAME("capacity"),
    [NODE_ALLOCATABLE] = JSON_NAME("allocatable"),
    [NODE_INFORMATION] = JSON_NAME("nodeInfo"),
    [NODE_FEATURES] = JSON_NAME("declaredFeatures"),
};
static const struct json_fields NODE_STATUS = JSON_FIELDS(node_status_names);

static void decode_node_info(struct json_reader *reader, struct node *node) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &NODE_INFO, &seen, &field)) json_text(reader, &node->kubelet_version);
}

static void decode_node_status(struct json_reader *reader, struct object *ret) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &NODE_STATUS, &seen, &field)) switch (field) {
        case NODE_CAPACITY: decode_quantity_map(reader, &ret->node.capacity); break;
        case NODE_ALLOCATABLE: decode_quantity_map(reader, &ret->node.allocatable); break;
        case NODE_INFORMATION: decode_node_info(reader, &ret->node); break;
        case NODE_FEATURES: decode_text_list(reader, &ret->node.declared_features); break;
        }
}

void decode_node(struct json_reader *reader, struct object *ret) {
    static const struct outside outside = {decode_node_spec, decode_node_status};
    decode_whole(reader, ret, &ret->node.metadata, &outside);
}

void decode_namespace(struct json_reader *reader, struct object *ret) {
    static const struct outside outside = {NULL, NULL};
    decode_whole(reader, ret, &ret->namespace.metadata, &outside);
}

enum { LEASE_HOLDER, LEASE_DURATION, LEASE_RENEWED };
static const struct json_name lease_names[] = {
    [LEASE_HOLDER] = JSON_NAME("holderIdentity"),
    [LEASE_DURATION] = JSON_NAME("leaseDurationSeconds"),
    [LEASE_RENEWED] = JSON_NAME("renewTime"),
};
static const struct json_fields LEASE = JSON_FIELDS(lease_names);

static void decode_lease_spec(struct json_reader *reader, struct object *ret) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &LEASE, &seen, &field)) switch (field) {
        case LEASE_HOLDER: json_text(reader, &ret->lease.holder_identity); break;
        case LEASE_DURATION: json_int64(reader, &ret->lease.lease_duration_seconds); break;
        case LEASE_RENEWED: decode_time(reader, &ret->lease.renew_time); break;
        }
}

void decode_lease(struct json_reader *reader, struct object *ret) {
    static const struct outside outside = {decode_lease_spec, NULL};
    decode_whole(reader, ret, &ret->lease.metadata, &outside);
}

enum { SELECTOR_DRIVER, SELECTOR_POOL, SELECTOR_DEVICE };
static const struct json_name selector_names[] = {
    [SELECTOR_DRIVER] = JSON_NAME("driver"),
    [SELECTOR_POOL] = JSON_NAME("pool"),
    [SELECTOR_DEVICE] = JSON_NAME("device"),
};
static const struct json_fields SELECTOR = JSON_FIELDS(selector_names);

static void decode_selector(struct json_reader *reader, struct device_taint_rule *rule) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &SELECTOR, &seen, &field)) switch (field) {
        case SELECTOR_DRIVER: decode_opt_text(reader, &rule->driver); break;
        case SELECTOR_POOL: decode_opt_text(reader, &rule->pool); break;
        case SELECTOR_DEVICE: decode_opt_text(reader, &rule->device); break;
        }
}

enum { TAINT_KEY, TAINT_VALUE, TAINT_EFFECT };
static const struct json_name taint_names[] = {
    [TAINT_KEY] = JSON_NAME("key"),
    [TAINT_VALUE] = JSON_NAME("value"),
    [TAINT_EFFECT] = JSON_NAME("effect"),
};
static const struct json_fields TAINT = JSON_FIELDS(taint_names);

static void decode_taint(struct json_reader *reader, struct device_taint_rule *rule) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &TAINT, &seen, &field)) switch (field) {
        case TAINT_KEY: json_text(reader, &rule->taint_key); break;
        case TAINT_VALUE: json_text(reader, &rule->taint_value); break;
        case TAINT_EFFECT: json_text(reader, &rule->taint_effect); break;
        }
}

enum { RULE_SELECTOR, RULE_TAINT };
static const struct json_name rule_names[] = {
    [RULE_SELECTOR] = JSON_NAME("deviceSelector"),
    [RULE_TAINT] = JSON_NAME("taint"),
};
static const struct json_fields RULE = JSON_FIELDS(rule_names);

static void decode_rule_spec(struct json_reader *reader, struct object *ret) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &RULE, &seen, &field)) switch (field) {
        case RULE_SELECTOR: decode_selector(reader, &ret->taint_rule); break;
        case RULE_TAINT: decode_taint(reader, &ret->taint_rule); break;
        }
}

void decode_device_taint_rule(struct json_reader *reader, struct object *ret) {
    static const struct outside outside = {decode_rule_spec, NULL};
    decode_whole(reader, ret, &ret->taint_rule.metadata, &outside);
}
