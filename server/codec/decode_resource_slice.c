// SPDX-License-Identifier: Apache-2.0
// ResourceSlice, without its devices.
// Source: k8s.io/api v0.36.3 and v0.37.2 resource/{v1,v1beta2,v1beta1}/types.go, ResourceSlice.
#include "server/codec/decode_parts.h"

enum { POOL_NAME, POOL_GENERATION, POOL_SLICE_COUNT };
static const struct json_name pool_names[] = {
    [POOL_NAME] = JSON_NAME("name"),
    [POOL_GENERATION] = JSON_NAME("generation"),
    [POOL_SLICE_COUNT] = JSON_NAME("resourceSliceCount"),
};
static const struct json_fields POOL = JSON_FIELDS(pool_names);

static void decode_pool(struct json_reader *reader, struct resource_pool *pool) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &POOL, &seen, &field)) switch (field) {
        case POOL_NAME: json_text(reader, &pool->name); break;
        case POOL_GENERATION: json_int64(reader, &pool->generation); break;
        case POOL_SLICE_COUNT: json_int64(reader, &pool->resource_slice_count); break;
        }
}

enum { SET_NAME, SET_COUNTERS };
static const struct json_name set_names[] = {
    [SET_NAME] = JSON_NAME("name"),
    [SET_COUNTERS] = JSON_NAME("counters"),
};
static const struct json_fields COUNTER_SET = JSON_FIELDS(set_names);

static void decode_counter_sets(struct json_reader *reader, struct counter_set_list *sets) {
    if (json_null(reader)) return;
    sets->set = true;
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct counter_set *set = JSON_APPEND(reader, sets);
        if (set == NULL) return;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &COUNTER_SET, &seen, &field)) switch (field) {
            case SET_NAME: json_text(reader, &set->name); break;
            case SET_COUNTERS: decode_counter_map(reader, &set->counters); break;
            }
    }
}

enum {
    SPEC_DRIVER,
    SPEC_POOL,
    SPEC_NODE_NAME,
    SPEC_NODE_SELECTOR,
    SPEC_ALL_NODES,
    SPEC_DEVICES,
    SPEC_PER_DEVICE,
    SPEC_SHARED_COUNTERS,
    SPEC_PARTITION_TYPE,
    SPEC_SKIP_NODE_OPERATIONS,
};
static const struct json_name spec_names[] = {
    [SPEC_DRIVER] = JSON_NAME("driver"),
    [SPEC_POOL] = JSON_NAME("pool"),
    [SPEC_NODE_NAME] = JSON_NAME("nodeName"),
    [SPEC_NODE_SELECTOR] = JSON_NAME("nodeSelector"),
    [SPEC_ALL_NODES] = JSON_NAME("allNodes"),
    [SPEC_DEVICES] = JSON_NAME("devices"),
    [SPEC_PER_DEVICE] = JSON_NAME("perDeviceNodeSelection"),
    [SPEC_SHARED_COUNTERS] = JSON_NAME("sharedCounters"),
    [SPEC_PARTITION_TYPE] = JSON_NAME_WHEN("partitionTypeAttribute", WHEN_MINOR_37),
    [SPEC_SKIP_NODE_OPERATIONS] = JSON_NAME_WHEN("skipNodeOperations", WHEN_MINOR_37),
};
static const struct json_fields SPEC = JSON_FIELDS(spec_names);

static void decode_spec(struct json_reader *reader, const struct resource_slice *like,
                        struct resource_slice *slice) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &SPEC, &seen, &field)) {
        if (decode_skip_foreign(reader)) continue;
        switch (field) {
        case SPEC_DRIVER: json_text(reader, &slice->driver); break;
        case SPEC_POOL: decode_pool(reader, &slice->pool); break;
        case SPEC_NODE_NAME: decode_opt_text(reader, &slice->node_name); break;
        case SPEC_NODE_SELECTOR: slice->node_selector = decode_node_selector(reader); break;
        case SPEC_ALL_NODES: decode_opt_bool(reader, &slice->all_nodes); break;
        case SPEC_DEVICES:
            decode_devices(reader, like == NULL ? NULL : &like->devices, &slice->devices);
            break;
        case SPEC_PER_DEVICE: decode_opt_bool(reader, &slice->per_device_node_selection); break;
        case SPEC_SHARED_COUNTERS: decode_counter_sets(reader, &slice->shared_counters); break;
        case SPEC_PARTITION_TYPE: decode_opt_text(reader, &slice->partition_type_attribute); break;
        case SPEC_SKIP_NODE_OPERATIONS: decode_text_list(reader, &slice->skip_node_operations); break;
        }
    }
    if (reader->when & WHEN_V1BETA1) {
        if (slice->node_name.value.len == 0) slice->node_name.set = false;
        if (!slice->all_nodes.value) slice->all_nodes.set = false;
    }
}

enum { SLICE_KIND, SLICE_API_VERSION, SLICE_METADATA, SLICE_SPEC };
static const struct json_name slice_names[] = {
    [SLICE_KIND] = JSON_NAME("kind"),
    [SLICE_API_VERSION] = JSON_NAME("apiVersion"),
    [SLICE_METADATA] = JSON_NAME("metadata"),
    [SLICE_SPEC] = JSON_NAME("spec"),
};
static const struct json_fields SLICE = JSON_FIELDS(slice_names);

void decode_resource_slice_like(struct json_reader *reader, const struct resource_slice *like,
                                struct object *ret) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &SLICE, &seen, &field)) switch (field) {
        case SLICE_KIND: json_text(reader, &ret->kind_name); break;
        case SLICE_API_VERSION: json_text(reader, &ret->api_version); break;
        case SLICE_METADATA: decode_object_meta(reader, &ret->slice.metadata); break;
        case SLICE_SPEC: {
            const char *begin = json_place(reader);
            decode_spec(reader, like, &ret->slice);
            ret->slice.spec_raw = (struct text){begin, (size_t)(json_place(reader) - begin)};
            break;
        }
        }
}

void decode_resource_slice(struct json_reader *reader, struct object *ret) {
    decode_resource_slice_like(reader, NULL, ret);
}
