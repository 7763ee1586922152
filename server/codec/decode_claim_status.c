// SPDX-License-Identifier: Apache-2.0
// The status of a ResourceClaim: allocation, consumers, what drivers report.
// Source: k8s.io/api v0.36.3 and v0.37.2 resource/v1/types.go, ResourceClaimStatus;
// k8s.io/apimachinery v0.36.3 pkg/apis/meta/v1/types.go, Condition.
#include "server/codec/decode_parts.h"

enum {
    RESULT_REQUEST,
    RESULT_DRIVER,
    RESULT_POOL,
    RESULT_DEVICE,
    RESULT_ADMIN_ACCESS,
    RESULT_TOLERATIONS,
    RESULT_BINDING,
    RESULT_BINDING_FAILURE,
    RESULT_SHARE_ID,
    RESULT_CONSUMED,
    RESULT_SKIP_NODE_OPERATIONS,
};
static const struct json_name result_names[] = {
    [RESULT_REQUEST] = JSON_NAME("request"),
    [RESULT_DRIVER] = JSON_NAME("driver"),
    [RESULT_POOL] = JSON_NAME("pool"),
    [RESULT_DEVICE] = JSON_NAME("device"),
    [RESULT_ADMIN_ACCESS] = JSON_NAME("adminAccess"),
    [RESULT_TOLERATIONS] = JSON_NAME("tolerations"),
    [RESULT_BINDING] = JSON_NAME("bindingConditions"),
    [RESULT_BINDING_FAILURE] = JSON_NAME("bindingFailureConditions"),
    [RESULT_SHARE_ID] = JSON_NAME("shareID"),
    [RESULT_CONSUMED] = JSON_NAME("consumedCapacity"),
    [RESULT_SKIP_NODE_OPERATIONS] = JSON_NAME_WHEN("skipNodeOperations", WHEN_MINOR_37),
};
static const struct json_fields RESULT = JSON_FIELDS(result_names);

static void decode_result(struct json_reader *reader, struct allocation_result *result) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &RESULT, &seen, &field)) {
        if (decode_skip_foreign(reader)) continue;
        switch (field) {
        case RESULT_REQUEST: json_text(reader, &result->request); break;
        case RESULT_DRIVER: json_text(reader, &result->driver); break;
        case RESULT_POOL: json_text(reader, &result->pool); break;
        case RESULT_DEVICE: json_text(reader, &result->device); break;
        case RESULT_ADMIN_ACCESS: decode_opt_bool(reader, &result->admin_access); break;
        case RESULT_TOLERATIONS: decode_tolerations(reader, &result->tolerations); break;
        case RESULT_BINDING: decode_text_list(reader, &result->binding_conditions); break;
        case RESULT_BINDING_FAILURE: decode_text_list(reader, &result->binding_failure_conditions); break;
        case RESULT_SHARE_ID: decode_opt_text(reader, &result->share_id); break;
        case RESULT_CONSUMED: decode_quantity_map(reader, &result->consumed_capacity); break;
        case RESULT_SKIP_NODE_OPERATIONS: decode_text_list(reader, &result->skip_node_operations); break;
        }
    }
}

static void decode_results(struct json_reader *reader, struct allocation_result_list *results) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct allocation_result *result = JSON_APPEND(reader, results);
        if (result == NULL) return;
        decode_result(reader, result);
    }
}

enum { DEVICES_RESULTS, DEVICES_CONFIG };
static const struct json_name allocated_names[] = {
    [DEVICES_RESULTS] = JSON_NAME("results"),
    [DEVICES_CONFIG] = JSON_NAME("config"),
};
static const struct json_fields ALLOCATED = JSON_FIELDS(allocated_names);

static void decode_allocated(struct json_reader *reader, struct allocation *allocation) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &ALLOCATED, &seen, &field)) switch (field) {
        case DEVICES_RESULTS: decode_results(reader, &allocation->results); break;
        case DEVICES_CONFIG:
            decode_device_configurations(reader, CONFIGURATION_OF_ALLOCATION, &allocation->config);
            break;
        }
}

enum { ALLOCATION_DEVICES, ALLOCATION_NODE_SELECTOR, ALLOCATION_TIMESTAMP };
static const struct json_name allocation_names[] = {
    [ALLOCATION_DEVICES] = JSON_NAME("devices"),
    [ALLOCATION_NODE_SELECTOR] = JSON_NAME("nodeSelector"),
    [ALLOCATION_TIMESTAMP] = JSON_NAME("allocationTimestamp"),
};
static const struct json_fields ALLOCATION = JSON_FIELDS(allocation_names);

static void decode_allocation(struct json_reader *reader, struct allocation *allocation) {
    if (json_null(reader)) return;
    allocation->set = true;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &ALLOCATION, &seen, &field)) switch (field) {
        case ALLOCATION_DEVICES: decode_allocated(reader, allocation); break;
        case ALLOCATION_NODE_SELECTOR: allocation->node_selector = decode_node_selector(reader); break;
        case ALLOCATION_TIMESTAMP: decode_time(reader, &allocation->allocation_timestamp); break;
        }
}

enum { CONSUMER_API_GROUP, CONSUMER_RESOURCE, CONSUMER_NAME, CONSUMER_UID };
static const struct json_name consumer_names[] = {
    [CONSUMER_API_GROUP] = JSON_NAME("apiGroup"),
    [CONSUMER_RESOURCE] = JSON_NAME("resource"),
    [CONSUMER_NAME] = JSON_NAME("name"),
    [CONSUMER_UID] = JSON_NAME("uid"),
};
static const struct json_fields CONSUMER = JSON_FIELDS(consumer_names);

static void decode_consumers(struct json_reader *reader, struct consumer_reference_list *consumers) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct consumer_reference *consumer = JSON_APPEND(reader, consumers);
        if (consumer == NULL) return;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &CONSUMER, &seen, &field)) switch (field) {
            case CONSUMER_API_GROUP: json_text(reader, &consumer->api_group); break;
            case CONSUMER_RESOURCE: json_text(reader, &consumer->resource); break;
            case CONSUMER_NAME: json_text(reader, &consumer->name); break;
            case CONSUMER_UID: json_text(reader, &consumer->uid); break;
            }
    }
}

enum {
    CONDITION_TYPE,
    CONDITION_STATUS,
    CONDITION_OBSERVED_GENERATION,
    CONDITION_LAST_TRANSITION,
    CONDITION_REASON,
    CONDITION_MESSAGE,
};
static const struct json_name condition_names[] = {
    [CONDITION_TYPE] = JSON_NAME("type"),
    [CONDITION_STATUS] = JSON_NAME("status"),
    [CONDITION_OBSERVED_GENERATION] = JSON_NAME("observedGeneration"),
    [CONDITION_LAST_TRANSITION] = JSON_NAME("lastTransitionTime"),
    [CONDITION_REASON] = JSON_NAME("reason"),
    [CONDITION_MESSAGE] = JSON_NAME("message"),
};
static const struct json_fields CONDITION = JSON_FIELDS(condition_names);

static void decode_conditions(struct json_reader *reader, struct condition_list *conditions) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct condition *condition = JSON_APPEND(reader, conditions);
        if (condition == NULL) return;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &CONDITION, &seen, &field)) switch (field) {
            case CONDITION_TYPE: json_text(reader, &condition->type); break;
            case CONDITION_STATUS: json_text(reader, &condition->status); break;
            case CONDITION_OBSERVED_GENERATION: json_int64(reader, &condition->observed_generation); break;
            case CONDITION_LAST_TRANSITION: decode_time(reader, &condition->last_transition_time); break;
            case CONDITION_REASON: json_text(reader, &condition->reason); break;
            case CONDITION_MESSAGE: json_text(reader, &condition->message); break;
            }
    }
}

enum { NETWORK_INTERFACE, NETWORK_IPS, NETWORK_HARDWARE_ADDRESS };
static const struct json_name network_names[] = {
    [NETWORK_INTERFACE] = JSON_NAME("interfaceName"),
    [NETWORK_IPS] = JSON_NAME("ips"),
    [NETWORK_HARDWARE_ADDRESS] = JSON_NAME("hardwareAddress"),
};
static const struct json_fields NETWORK = JSON_FIELDS(network_names);

static void decode_network(struct json_reader *reader, struct allocated_device_status *status) {
    if (json_null(reader)) return;
    status->network_data_set = true;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &NETWORK, &seen, &field)) switch (field) {
        case NETWORK_INTERFACE: json_text(reader, &status->interface_name); break;
        case NETWORK_IPS: decode_text_list(reader, &status->ips); break;
        case NETWORK_HARDWARE_ADDRESS: json_text(reader, &status->hardware_address); break;
        }
}

enum {
    REPORT_DRIVER,
    REPORT_POOL,
    REPORT_DEVICE,
    REPORT_SHARE_ID,
    REPORT_CONDITIONS,
    REPORT_DATA,
    REPORT_NETWORK_DATA,
};
static const struct json_name report_names[] = {
    [REPORT_DRIVER] = JSON_NAME("driver"),
    [REPORT_POOL] = JSON_NAME("pool"),
    [REPORT_DEVICE] = JSON_NAME("device"),
    [REPORT_SHARE_ID] = JSON_NAME("shareID"),
    [REPORT_CONDITIONS] = JSON_NAME("conditions"),
    [REPORT_DATA] = JSON_NAME("data"),
    [REPORT_NETWORK_DATA] = JSON_NAME("networkData"),
};
static const struct json_fields REPORT = JSON_FIELDS(report_names);

static void decode_reports(struct json_reader *reader, struct allocated_device_status_list *list) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct allocated_device_status *item = JSON_APPEND(reader, list);
        if (item == NULL) return;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &REPORT, &seen, &field)) switch (field) {
            case REPORT_DRIVER: json_text(reader, &item->driver); break;
            case REPORT_POOL: json_text(reader, &item->pool); break;
            case REPORT_DEVICE: json_text(reader, &item->device); break;
            case REPORT_SHARE_ID: decode_opt_text(reader, &item->share_id); break;
            case REPORT_CONDITIONS: decode_conditions(reader, &item->conditions); break;
            case REPORT_DATA: decode_raw(reader, &item->data); break;
            case REPORT_NETWORK_DATA: decode_network(reader, item); break;
            }
    }
}

enum { STATUS_ALLOCATION, STATUS_RESERVED_FOR, STATUS_DEVICES };
static const struct json_name status_names[] = {
    [STATUS_ALLOCATION] = JSON_NAME("allocation"),
    [STATUS_RESERVED_FOR] = JSON_NAME("reservedFor"),
    [STATUS_DEVICES] = JSON_NAME("devices"),
};
static const struct json_fields STATUS = JSON_FIELDS(status_names);

void decode_claim_status(struct json_reader *reader, struct resource_claim *claim) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &STATUS, &seen, &field)) switch (field) {
        case STATUS_ALLOCATION: decode_allocation(reader, &claim->allocation); break;
        case STATUS_RESERVED_FOR: decode_consumers(reader, &claim->reserved_for); break;
        case STATUS_DEVICES: decode_reports(reader, &claim->device_statuses); break;
        }
}
