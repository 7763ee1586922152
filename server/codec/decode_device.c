// SPDX-License-Identifier: Apache-2.0
// The devices of a ResourceSlice: this is where nearly all of the time of a review goes.
// Source: k8s.io/api v0.36.3 and v0.37.2 resource/{v1,v1beta2,v1beta1}/types.go, Device, BasicDevice.
#include "server/codec/decode_parts.h"

static const struct json_name counter_names[] = {JSON_NAME("value")};
static const struct json_fields COUNTER = JSON_FIELDS(counter_names);

void decode_counter_map(struct json_reader *reader, struct counter_map *ret) {
    struct json_iterator iterator = {0};
    struct text key;
    while (json_member(reader, &iterator, &key)) {
        struct counter *counter = JSON_APPEND(reader, ret);
        if (counter == NULL) return;
        counter->key = key;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &COUNTER, &seen, &field)) json_quantity(reader, &counter->value);
    }
}

enum { CONSUMPTION_SET, CONSUMPTION_COUNTERS, CONSUMPTION_GROUPS };
static const struct json_name consumption_names[] = {
    [CONSUMPTION_SET] = JSON_NAME("counterSet"),
    [CONSUMPTION_COUNTERS] = JSON_NAME("counters"),
    [CONSUMPTION_GROUPS] = JSON_NAME_WHEN("compatibilityGroups", WHEN_MINOR_37),
};
static const struct json_fields CONSUMPTION = JSON_FIELDS(consumption_names);

static void decode_consumptions(struct json_reader *reader, struct device_counter_consumption_list *list) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct device_counter_consumption *item = JSON_APPEND(reader, list);
        if (item == NULL) return;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &CONSUMPTION, &seen, &field)) {
            if (decode_skip_foreign(reader)) continue;
            switch (field) {
            case CONSUMPTION_SET: json_text(reader, &item->counter_set); break;
            case CONSUMPTION_COUNTERS: decode_counter_map(reader, &item->counters); break;
            case CONSUMPTION_GROUPS: decode_text_list(reader, &item->compatibility_groups); break;
            }
        }
    }
}

enum { RANGE_MIN, RANGE_MAX, RANGE_STEP };
static const struct json_name range_names[] = {
    [RANGE_MIN] = JSON_NAME("min"),
    [RANGE_MAX] = JSON_NAME("max"),
    [RANGE_STEP] = JSON_NAME("step"),
};
static const struct json_fields RANGE = JSON_FIELDS(range_names);

static void decode_range(struct json_reader *reader, struct capacity_request_policy_range *range) {
    if (json_null(reader)) return;
    range->set = true;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &RANGE, &seen, &field)) switch (field) {
        case RANGE_MIN: json_quantity(reader, &range->min); break;
        case RANGE_MAX: json_quantity(reader, &range->max); break;
        case RANGE_STEP: json_quantity(reader, &range->step); break;
        }
}

static void decode_quantity_list(struct json_reader *reader, struct quantity_list *list) {
    if (json_null(reader)) return;
    list->set = true;
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct quantity *item = JSON_APPEND(reader, list);
        if (item == NULL) return;
        json_quantity(reader, item);
    }
}

enum { POLICY_DEFAULT, POLICY_VALUES, POLICY_RANGE };
static const struct json_name policy_names[] = {
    [POLICY_DEFAULT] = JSON_NAME("default"),
    [POLICY_VALUES] = JSON_NAME("validValues"),
    [POLICY_RANGE] = JSON_NAME("validRange"),
};
static const struct json_fields POLICY = JSON_FIELDS(policy_names);

static const struct capacity_request_policy *decode_policy(struct json_reader *reader) {
    if (json_null(reader)) return NULL;
    struct capacity_request_policy *policy = json_new(reader, sizeof *policy);
    if (policy == NULL) return NULL;
    policy->set = true;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &POLICY, &seen, &field)) switch (field) {
        case POLICY_DEFAULT: json_quantity(reader, &policy->default_value); break;
        case POLICY_VALUES: decode_quantity_list(reader, &policy->valid_values); break;
        case POLICY_RANGE: decode_range(reader, &policy->valid_range); break;
        }
    return policy;
}

enum { CAPACITY_VALUE, CAPACITY_POLICY };
static const struct json_name capacity_names[] = {
    [CAPACITY_VALUE] = JSON_NAME("value"),
    [CAPACITY_POLICY] = JSON_NAME("requestPolicy"),
};
static const struct json_fields CAPACITY = JSON_FIELDS(capacity_names);

static void decode_capacities(struct json_reader *reader, struct device_capacity_map *map) {
    struct json_iterator iterator = {0};
    struct text key;
    while (json_member(reader, &iterator, &key)) {
        struct device_capacity *capacity = JSON_APPEND(reader, map);
        if (capacity == NULL) return;
        capacity->key = key;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &CAPACITY, &seen, &field)) switch (field) {
            case CAPACITY_VALUE: json_quantity(reader, &capacity->value); break;
            case CAPACITY_POLICY: capacity->request_policy = decode_policy(reader); break;
            }
    }
}

enum { TAINT_KEY, TAINT_VALUE, TAINT_EFFECT, TAINT_TIME_ADDED };
static const struct json_name taint_names[] = {
    [TAINT_KEY] = JSON_NAME("key"),
    [TAINT_VALUE] = JSON_NAME("value"),
    [TAINT_EFFECT] = JSON_NAME("effect"),
    [TAINT_TIME_ADDED] = JSON_NAME("timeAdded"),
};
static const struct json_fields TAINT = JSON_FIELDS(taint_names);

static void decode_taints(struct json_reader *reader, struct device_taint_list *taints) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct device_taint *taint = JSON_APPEND(reader, taints);
        if (taint == NULL) return;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &TAINT, &seen, &field)) switch (field) {
            case TAINT_KEY: json_text(reader, &taint->key); break;
            case TAINT_VALUE: json_text(reader, &taint->value); break;
            case TAINT_EFFECT: json_text(reader, &taint->effect); break;
            case TAINT_TIME_ADDED: decode_time(reader, &taint->time_added); break;
            }
    }
}

enum {
    DEVICE_NAME,
    DEVICE_ATTRIBUTES,
    DEVICE_CAPACITY,
    DEVICE_CONSUMES,
    DEVICE_NODE_NAME,
    DEVICE_NODE_SELECTOR,
    DEVICE_ALL_NODES,
    DEVICE_TAINTS,
    DEVICE_BINDS_TO_NODE,
    DEVICE_BINDING,
    DEVICE_BINDING_FAILURE,
    DEVICE_MULTIPLE,
    DEVICE_MAPPINGS_36,
    DEVICE_RESOURCES_37,
};
static const struct json_name device_names[] = {
    [DEVICE_NAME] = JSON_NAME("name"),
    [DEVICE_ATTRIBUTES] = JSON_NAME("attributes"),
    [DEVICE_CAPACITY] = JSON_NAME("capacity"),
    [DEVICE_CONSUMES] = JSON_NAME("consumesCounters"),
    [DEVICE_NODE_NAME] = JSON_NAME("nodeName"),
    [DEVICE_NODE_SELECTOR] = JSON_NAME("nodeSelector"),
    [DEVICE_ALL_NODES] = JSON_NAME("allNodes"),
    [DEVICE_TAINTS] = JSON_NAME("taints"),
    [DEVICE_BINDS_TO_NODE] = JSON_NAME("bindsToNode"),
    [DEVICE_BINDING] = JSON_NAME("bindingConditions"),
    [DEVICE_BINDING_FAILURE] = JSON_NAME("bindingFailureConditions"),
    [DEVICE_MULTIPLE] = JSON_NAME("allowMultipleAllocations"),
    [DEVICE_MAPPINGS_36] = JSON_NAME_WHEN("nodeAllocatableResourceMappings", WHEN_MINOR_36),
    [DEVICE_RESOURCES_37] = JSON_NAME_WHEN("nodeAllocatableResources", WHEN_MINOR_37),
};
static const struct json_fields DEVICE = JSON_FIELDS(device_names);
#define NAME_AND_ATTRIBUTES ((uint64_t)1 << DEVICE_NAME | (uint64_t)1 << DEVICE_ATTRIBUTES)
// v1beta1: the same fields without the name, one level down.
static const struct json_fields BASIC = {device_names + 1, sizeof device_names / sizeof device_names[0] - 1};

// What the cluster does not know it passes over unread, so nothing in there is a finding.
static void decode_node_allocatable(struct json_reader *reader, unsigned field, struct device *device) {
    struct finding_list *findings = reader->findings;
    struct finding_list ignored;
    if (reader->foreign) {
        finding_list_init(&ignored, reader->arena);
        ignored.limit = 0;
        reader->findings = &ignored;
    }
    if (field == DEVICE_MAPPINGS_36)
        decode_mappings_v136(reader, &device->mappings_v136);
    else
        decode_resources_v137(reader, &device->resources_v137);
    reader->findings = findings;
}

// before: the device before, or NULL.
static void decode_device_part(struct json_reader *reader, unsigned field, const struct device *before,
                               struct device *device) {
    switch (field) {
    case DEVICE_NAME: json_text(reader, &device->name); break;
    case DEVICE_ATTRIBUTES:
        decode_attributes(reader, before == NULL ? NULL : &before->attributes, &device->attributes);
        break;
    case DEVICE_CAPACITY: decode_capacities(reader, &device->capacity); break;
    case DEVICE_CONSUMES: decode_consumptions(reader, &device->consumes_counters); break;
    case DEVICE_NODE_NAME: decode_opt_text(reader, &device->node_name); break;
    case DEVICE_NODE_SELECTOR: device->node_selector = decode_node_selector(reader); break;
    case DEVICE_ALL_NODES: decode_opt_bool(reader, &device->all_nodes); break;
    case DEVICE_TAINTS: decode_taints(reader, &device->taints); break;
    case DEVICE_BINDS_TO_NODE: decode_opt_bool(reader, &device->binds_to_node); break;
    case DEVICE_BINDING: decode_text_list(reader, &device->binding_conditions); break;
    case DEVICE_BINDING_FAILURE: decode_text_list(reader, &device->binding_failure_conditions); break;
    case DEVICE_MULTIPLE: decode_opt_bool(reader, &device->allow_multiple_allocations); break;
    case DEVICE_MAPPINGS_36:
    case DEVICE_RESOURCES_37: decode_node_allocatable(reader, field, device); break;
    }
}

// What most devices of a slice have in common with the one before. What is written in the same way is not
// read again: the devices share it.
struct common_parts {
    const struct device *before; // NULL before the first device
    // As written in it, where nothing was noted; else empty.
    struct text capacity;
    struct text mappings;
    struct text resources;
    struct text rest; // what came behind its name and its attributes, with the bracket
};

static bool share_part(struct json_reader *reader, unsigned field, const struct common_parts *common,
                       struct device *device) {
    if (common->before == NULL) return false;
    switch (field) {
    case DEVICE_CAPACITY:
        if (!json_skip_same(reader, common->capacity)) return false;
        device->capacity = common->before->capacity;
        return true;
    case DEVICE_MAPPINGS_36:
        if (!json_skip_same(reader, common->mappings)) return false;
        device->mappings_v136 = common->before->mappings_v136;
        return true;
    case DEVICE_RESOURCES_37:
        if (!json_skip_same(reader, common->resources)) return false;
        device->resources_v137 = common->before->resources_v137;
        return true;
    default: return false;
    }
}

// Behind its name and its attributes a device mostly goes on as the one before, to its end.
static bool share_rest(struct json_reader *reader, const struct common_parts *common, struct device *device) {
    if (!json_skip_same_rest(reader, common->rest)) return false;
    struct device shared = *common->before;
    shared.name = device->name;
    shared.attributes = device->attributes;
    shared.rest_before = true;
    *device = shared;
    return true;
}

static void keep_part(unsigned field, struct text written, struct common_parts *common) {
    if (field == DEVICE_CAPACITY) common->capacity = written;
    if (field == DEVICE_MAPPINGS_36) common->mappings = written;
    if (field == DEVICE_RESOURCES_37) common->resources = written;
}

static bool same_maps(const struct node_allocatable_map *a, const struct node_allocatable_map *b) {
    return a->items == b->items && a->count == b->count && a->set == b->set;
}

static bool is_like(const struct device *device, const struct device *before) {
    const struct opt_bool *shared = &device->allow_multiple_allocations;
    const struct opt_bool *shared_before = &before->allow_multiple_allocations;
    return device->capacity.items == before->capacity.items &&
           device->capacity.count == before->capacity.count &&
           same_maps(&device->mappings_v136, &before->mappings_v136) &&
           same_maps(&device->resources_v137, &before->resources_v137) && shared->set == shared_before->set &&
           shared->value == shared_before->value && device->node_name.set == before->node_name.set &&
           text_equal(device->node_name.value, before->node_name.value);
}

static void decode_device(struct json_reader *reader, struct common_parts *common, struct device *device) {
    struct common_parts kept = {.before = device};
    const char *begin = json_place(reader);
    size_t noted_before = json_noted(reader);
    const char *rest = NULL;
    size_t noted_before_rest = 0;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &DEVICE, &seen, &field)) {
        const char *part_begin = json_place(reader);
        size_t noted = json_noted(reader);
        if (!share_part(reader, field, common, device))
            decode_device_part(reader, field, common->before, device);
        keep_part(field, decode_clean_object(reader, part_begin, noted), &kept);
        if (field != DEVICE_ATTRIBUTES || seen != NAME_AND_ATTRIBUTES) continue;
        rest = json_place(reader);
        noted_before_rest = json_noted(reader);
        if (!share_rest(reader, common, device)) continue;
        kept = *common;
        kept.before = device;
        break;
    }
    const char *end = json_place(reader);
    device->written = decode_clean_object(reader, begin, noted_before);
    bool clean_rest = rest != NULL && rest < end && json_noted(reader) == noted_before_rest;
    kept.rest = clean_rest ? (struct text){rest, (size_t)(end - rest)} : (struct text){NULL, 0};
    *common = kept;
}

// Takes a device from another list when it is written alike. Its parts are then not known by themselves.
static bool share_device(struct json_reader *reader, const struct device_list *like, size_t position,
                         struct common_parts *common, struct device *device) {
    if (like == NULL || position >= like->count) return false;
    if (!json_skip_same(reader, like->items[position].written)) return false;
    *device = like->items[position];
    // Before it may stand another device than there.
    device->attributes.like_before = 0;
    device->attributes.key_before = 0;
    device->rest_before = false;
    *common = (struct common_parts){.before = device};
    return true;
}

enum { V1BETA1_NAME, V1BETA1_BASIC };
static const struct json_name v1beta1_names[] = {
    [V1BETA1_NAME] = JSON_NAME("name"),
    [V1BETA1_BASIC] = JSON_NAME("basic"),
};
static const struct json_fields DEVICE_V1BETA1 = JSON_FIELDS(v1beta1_names);

static void decode_device_v1beta1(struct json_reader *reader, struct device *device) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &DEVICE_V1BETA1, &seen, &field)) {
        if (field == V1BETA1_NAME) {
            json_text(reader, &device->name);
            continue;
        }
        uint64_t basic_seen = JSON_BEGIN;
        unsigned basic_field;
        while (json_field(reader, &BASIC, &basic_seen, &basic_field))
            decode_device_part(reader, basic_field + 1, NULL, device);
    }
}

void decode_devices(struct json_reader *reader, const struct device_list *like, struct device_list *ret) {
    if (json_null(reader)) return;
    ret->set = true;
    bool is_v1beta1 = (reader->when & WHEN_V1BETA1) != 0;
    struct json_iterator iterator = {0};
    struct common_parts common = {.before = NULL};
    while (json_element(reader, &iterator)) {
        size_t position = ret->count;
        struct device *device = JSON_APPEND(reader, ret);
        if (device == NULL) return;
        if (is_v1beta1) {
            decode_device_v1beta1(reader, device);
            continue;
        }
        common.before = position > 0 ? device - 1 : NULL; // the list may have moved
        const struct device *before = common.before;
        if (!share_device(reader, like, position, &common, device)) decode_device(reader, &common, device);
        device->like_before = before != NULL && is_like(device, before);
    }
}
