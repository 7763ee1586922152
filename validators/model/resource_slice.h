// SPDX-License-Identifier: Apache-2.0
// ResourceSlice as a plain struct; the forms of all served API versions and of both minors are folded into
// this one. Source: k8s.io/api v0.36.3 and v0.37.2 resource/{v1,v1beta2,v1beta1}/types.go.
#ifndef DRAWBRIDGE_MODEL_RESOURCE_SLICE_H
#define DRAWBRIDGE_MODEL_RESOURCE_SLICE_H

#include "validators/model/meta.h"

struct int64_list {
    int64_t *items;
    size_t count;
    bool set;
};
struct bool_list {
    bool *items;
    size_t count;
    bool set;
};

struct attribute_lists {
    struct int64_list ints;
    struct bool_list bools;
    struct text_list strings;
    struct text_list versions;
};
struct device_attribute {
    struct text key; // qualified name, the map's key
    struct opt_int64 int_value;
    struct opt_text string_value;
    struct opt_text version_value;
    struct opt_bool bool_value;
    struct attribute_lists *lists; // few attributes are lists: NULL when this one has none
    struct text written;           // the value as it came; empty when something was noted in it
};
static inline const struct attribute_lists *attribute_lists(const struct device_attribute *attribute) {
    static const struct attribute_lists none;
    return attribute->lists == NULL ? &none : attribute->lists;
}
// Bit n of the two is about the attribute at place n and the one at this place of the device before. Mostly
// devices of a slice differ in few attributes, so a judge of an attribute that found nothing there need not
// look again. A bit that is not set also means that nobody compared.
struct device_attribute_map {
    struct device_attribute *items;
    size_t count;
    uint64_t like_before; // all of it is the same
    uint64_t key_before;  // the key is
};

// The bit of a place, 0 for those behind the last bit.
static inline uint64_t attribute_bit(size_t place) {
    return place < 64 ? (uint64_t)1 << place : 0;
}

// The first place from `place` on whose bit is not set; places behind the last bit have none.
static inline size_t attribute_without(uint64_t bits, size_t place) {
    if (place >= 64) return place;
    uint64_t others = ~bits >> place;
    return others == 0 ? 64 : place + (size_t)__builtin_ctzll(others);
}

struct quantity_list {
    struct quantity *items;
    size_t count;
    bool set;
};

struct capacity_request_policy_range {
    struct quantity min;
    struct quantity max;
    struct quantity step;
    bool set;
};
struct capacity_request_policy {
    struct quantity default_value;
    struct quantity_list valid_values;
    struct capacity_request_policy_range valid_range;
    bool set;
};

struct device_capacity {
    struct text key; // qualified name
    struct quantity value;
    const struct capacity_request_policy *request_policy; // NULL when absent
};
struct device_capacity_map {
    struct device_capacity *items;
    size_t count;
};

struct counter {
    struct text key;
    struct quantity value;
};
struct counter_map {
    struct counter *items;
    size_t count;
};
struct counter_set {
    struct text name;
    struct counter_map counters;
};
struct counter_set_list {
    struct counter_set *items;
    size_t count;
    bool set;
};
struct device_counter_consumption {
    struct text counter_set;
    struct counter_map counters;
    struct text_list compatibility_groups; // v1.37
};
struct device_counter_consumption_list {
    struct device_counter_consumption *items;
    size_t count;
};

struct device_taint {
    struct text key;
    struct text value;
    struct text effect;
    struct text time_added; // RFC 3339 as written; empty when absent
};
struct device_taint_list {
    struct device_taint *items;
    size_t count;
};

// One entry of either form of node-allocatable resources. Which form is told by the map that holds it.
struct node_allocatable {
    struct text key; // resource name
    // v1.36: nodeAllocatableResourceMappings[key]
    // v1.37: nodeAllocatableResources[key].mapping
    bool mapping_set; // v1.37: `mapping` is there; v1.36: always true
    struct opt_text capacity_key;
    struct quantity allocation_multiplier; // v1.36; absent means 1
    struct quantity capacity_multiplier;   // v1.37
    struct quantity device_multiplier;     // v1.37
    bool overhead_set;                     // v1.37: `overhead` is there
    struct quantity per_pod;
    struct quantity per_container;
};
struct node_allocatable_map {
    struct node_allocatable *items;
    size_t count;
    bool set;
};

struct device {
    struct text name;
    // Capacity, both forms of node-allocatable resources, allowMultipleAllocations and nodeName are those of
    // the device before it in the list. Most slices have one kind of device, so a judge of these that found
    // nothing there need not look again. False also means that nobody compared.
    bool like_before;
    bool rest_before;    // likewise all but its name and its attributes
    struct text written; // the device as it came, a view of the input; empty when something was noted in it
    struct device_attribute_map attributes;
    struct device_capacity_map capacity;
    struct device_counter_consumption_list consumes_counters;
    struct opt_text node_name;
    const struct node_selector *node_selector; // NULL when absent
    struct opt_bool all_nodes;
    struct device_taint_list taints;
    struct opt_bool binds_to_node;
    struct text_list binding_conditions;
    struct text_list binding_failure_conditions;
    struct opt_bool allow_multiple_allocations;
    struct node_allocatable_map mappings_v136;  // nodeAllocatableResourceMappings
    struct node_allocatable_map resources_v137; // nodeAllocatableResources
};
struct device_list {
    struct device *items;
    size_t count;
    bool set; // present and not null: `devices: []` differs from no devices beside sharedCounters
};

struct resource_pool {
    struct text name;
    int64_t generation;
    int64_t resource_slice_count;
};

struct resource_slice {
    struct object_meta metadata;
    struct text driver;
    struct resource_pool pool;
    struct opt_text node_name;
    const struct node_selector *node_selector; // NULL when absent
    struct opt_bool all_nodes;
    struct opt_bool per_device_node_selection;
    struct device_list devices;
    struct counter_set_list shared_counters;
    struct opt_text partition_type_attribute; // v1.37
    struct text_list skip_node_operations;    // v1.37
    struct text spec_raw; // the bytes of `spec` as they came, for "unchanged spec"; a view of the input
};

#endif
