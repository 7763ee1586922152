// SPDX-License-Identifier: Apache-2.0
// Both forms of the node-allocatable resources of a device. Each is read in every minor, so that a rule can
// tell about the one that the cluster does not know.
// Source: k8s.io/api v0.36.3 resource/v1/types.go, NodeAllocatableResourceMapping; v0.37.2 the same,
// NodeAllocatableResource.
#include "server/codec/decode_parts.h"

enum { MAPPING_CAPACITY_KEY, MAPPING_ALLOCATION_MULTIPLIER };
static const struct json_name mapping_v136_names[] = {
    [MAPPING_CAPACITY_KEY] = JSON_NAME("capacityKey"),
    [MAPPING_ALLOCATION_MULTIPLIER] = JSON_NAME("allocationMultiplier"),
};
static const struct json_fields MAPPING_V136 = JSON_FIELDS(mapping_v136_names);

void decode_mappings_v136(struct json_reader *reader, struct node_allocatable_map *ret) {
    if (json_null(reader)) return;
    ret->set = true;
    struct json_iterator iterator = {0};
    struct text key;
    while (json_member(reader, &iterator, &key)) {
        struct node_allocatable *item = JSON_APPEND(reader, ret);
        if (item == NULL) return;
        item->key = key;
        item->mapping_set = true;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &MAPPING_V136, &seen, &field)) switch (field) {
            case MAPPING_CAPACITY_KEY: decode_opt_text(reader, &item->capacity_key); break;
            case MAPPING_ALLOCATION_MULTIPLIER: json_quantity(reader, &item->allocation_multiplier); break;
            }
    }
}

enum { V137_CAPACITY_KEY, V137_CAPACITY_MULTIPLIER, V137_DEVICE_MULTIPLIER };
static const struct json_name mapping_v137_names[] = {
    [V137_CAPACITY_KEY] = JSON_NAME("capacityKey"),
    [V137_CAPACITY_MULTIPLIER] = JSON_NAME("capacityMultiplier"),
    [V137_DEVICE_MULTIPLIER] = JSON_NAME("deviceMultiplier"),
};
static const struct json_fields MAPPING_V137 = JSON_FIELDS(mapping_v137_names);

static void decode_mapping_v137(struct json_reader *reader, struct node_allocatable *item) {
    if (json_null(reader)) return;
    item->mapping_set = true;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &MAPPING_V137, &seen, &field)) switch (field) {
        case V137_CAPACITY_KEY: decode_opt_text(reader, &item->capacity_key); break;
        case V137_CAPACITY_MULTIPLIER: json_quantity(reader, &item->capacity_multiplier); break;
        case V137_DEVICE_MULTIPLIER: json_quantity(reader, &item->device_multiplier); break;
        }
}

enum { OVERHEAD_PER_POD, OVERHEAD_PER_CONTAINER };
static const struct json_name overhead_names[] = {
    [OVERHEAD_PER_POD] = JSON_NAME("perPod"),
    [OVERHEAD_PER_CONTAINER] = JSON_NAME("perContainer"),
};
static const struct json_fields OVERHEAD = JSON_FIELDS(overhead_names);

static void decode_item_overhead(struct json_reader *reader, struct node_allocatable *item) {
    if (json_null(reader)) return;
    item->overhead_set = true;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &OVERHEAD, &seen, &field)) switch (field) {
        case OVERHEAD_PER_POD: json_quantity(reader, &item->per_pod); break;
        case OVERHEAD_PER_CONTAINER: json_quantity(reader, &item->per_container); break;
        }
}

enum { RESOURCE_MAPPING, RESOURCE_OVERHEAD };
static const struct json_name resource_names[] = {
    [RESOURCE_MAPPING] = JSON_NAME("mapping"),
    [RESOURCE_OVERHEAD] = JSON_NAME("overhead"),
};
static const struct json_fields RESOURCE = JSON_FIELDS(resource_names);

void decode_resources_v137(struct json_reader *reader, struct node_allocatable_map *ret) {
    if (json_null(reader)) return;
    ret->set = true;
    struct json_iterator iterator = {0};
    struct text key;
    while (json_member(reader, &iterator, &key)) {
        struct node_allocatable *item = JSON_APPEND(reader, ret);
        if (item == NULL) return;
        item->key = key;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &RESOURCE, &seen, &field)) switch (field) {
            case RESOURCE_MAPPING: decode_mapping_v137(reader, item); break;
            case RESOURCE_OVERHEAD: decode_item_overhead(reader, item); break;
            }
    }
}
