// SPDX-License-Identifier: Apache-2.0
// ResourceClaim and ResourceClaimTemplate as plain structs, all served API versions folded into one form.
// Source: k8s.io/api v0.36.3 and v0.37.2 resource/{v1,v1beta2,v1beta1}/types.go.
#ifndef DRAWBRIDGE_MODEL_RESOURCE_CLAIM_H
#define DRAWBRIDGE_MODEL_RESOURCE_CLAIM_H

#include "validators/model/meta.h"

struct device_selector {
    bool cel_set; // `cel` is there
    struct text expression;
};
struct device_selector_list {
    struct device_selector *items;
    size_t count;
};

struct device_toleration {
    struct text key;
    struct text operator;
    struct text value;
    struct text effect;
    struct opt_int64 toleration_seconds;
};
struct device_toleration_list {
    struct device_toleration *items;
    size_t count;
};

struct derived_attribute { // v1.37
    struct text name;
    struct text expression;
};
struct derived_attribute_list {
    struct derived_attribute *items;
    size_t count;
};

// ExactDeviceRequest and DeviceSubRequest in one: a subrequest has a name, an exact request may have admin
// access.
struct exact_request {
    struct text name; // subrequests only
    struct text device_class_name;
    struct device_selector_list selectors;
    struct text allocation_mode; // as written; empty means the default, ExactCount
    int64_t count;               // 0 means the default
    struct opt_bool admin_access;
    struct device_toleration_list tolerations;
    bool capacity_set;
    struct quantity_map capacity_requests;
    struct derived_attribute_list derived_attributes; // v1.37
};
struct exact_request_list {
    struct exact_request *items;
    size_t count;
    bool set;
};

struct device_request {
    struct text name;
    const struct exact_request *exactly; // NULL when absent; v1beta1's flat fields end here too
    struct exact_request_list first_available;
};
struct device_request_list {
    struct device_request *items;
    size_t count;
};

struct device_constraint {
    struct text_list requests;
    struct opt_text match_attribute;
    struct opt_text distinct_attribute;
};
struct device_constraint_list {
    struct device_constraint *items;
    size_t count;
};

// DeviceClaimConfiguration, DeviceClassConfiguration and DeviceAllocationConfiguration in one.
struct device_configuration {
    struct text source; // allocation results only
    struct text_list requests;
    bool opaque_set;
    struct text driver;
    struct text parameters; // raw JSON; empty when absent
};
struct device_configuration_list {
    struct device_configuration *items;
    size_t count;
};

struct device_claim {
    struct device_request_list requests;
    struct device_constraint_list constraints;
    struct device_configuration_list config;
};

struct allocation_result { // DeviceRequestAllocationResult
    struct text request;
    struct text driver;
    struct text pool;
    struct text device;
    struct opt_bool admin_access;
    struct device_toleration_list tolerations;
    struct text_list binding_conditions;
    struct text_list binding_failure_conditions;
    struct opt_text share_id;
    struct quantity_map consumed_capacity;
    struct text_list skip_node_operations; // v1.37
};
struct allocation_result_list {
    struct allocation_result *items;
    size_t count;
};

struct allocation { // AllocationResult
    bool set;
    struct allocation_result_list results;
    struct device_configuration_list config;
    const struct node_selector *node_selector; // NULL when absent: all nodes
    struct text allocation_timestamp;
};

struct consumer_reference {
    struct text api_group;
    struct text resource;
    struct text name;
    struct text uid;
};
struct consumer_reference_list {
    struct consumer_reference *items;
    size_t count;
};

// A PodGroup: Pods that are scheduled together may share a claim.
static inline bool consumer_is_group(const struct consumer_reference *consumer) {
    return text_equal(consumer->resource, TEXT("podgroups")) &&
           text_equal(consumer->api_group, TEXT("scheduling.k8s.io"));
}

struct condition {
    struct text type;
    struct text status;
    int64_t observed_generation;
    struct text last_transition_time;
    struct text reason;
    struct text message;
};
struct condition_list {
    struct condition *items;
    size_t count;
};

struct allocated_device_status {
    struct text driver;
    struct text pool;
    struct text device;
    struct opt_text share_id;
    struct condition_list conditions;
    struct text data; // raw JSON; empty when absent
    bool network_data_set;
    struct text interface_name;
    struct text_list ips;
    struct text hardware_address;
};
struct allocated_device_status_list {
    struct allocated_device_status *items;
    size_t count;
};

struct resource_claim {
    struct object_meta metadata;
    struct device_claim devices; // spec.devices
    struct allocation allocation;
    struct consumer_reference_list reserved_for;
    struct allocated_device_status_list device_statuses;
    struct text spec_raw; // the bytes of `spec` as they came; a view of the input
};

struct resource_claim_template {
    struct object_meta metadata;
    struct object_meta spec_metadata; // metadata of the claims to be made
    struct device_claim devices;      // spec.spec.devices
    struct text spec_raw;
};

struct device_class {
    struct object_meta metadata;
    struct device_selector_list selectors;
    struct device_configuration_list config;
    struct opt_text extended_resource_name;
    struct text spec_raw;
};

#endif
