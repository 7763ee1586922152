// SPDX-License-Identifier: Apache-2.0
// The status of a Pod.
// Source: k8s.io/api v0.36.3 and v0.37.2 core/v1/types.go, PodStatus.
#include "server/codec/decode_parts.h"

enum { REQUIREMENTS_REQUESTS, REQUIREMENTS_LIMITS };
static const struct json_name requirements_names[] = {
    [REQUIREMENTS_REQUESTS] = JSON_NAME("requests"),
    [REQUIREMENTS_LIMITS] = JSON_NAME("limits"),
};
static const struct json_fields REQUIREMENTS = JSON_FIELDS(requirements_names);

// Returns false for null.
static bool decode_requirements(struct json_reader *reader, struct resource_requirements *ret) {
    if (json_null(reader)) return false;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &REQUIREMENTS, &seen, &field))
        decode_quantity_map(reader, field == REQUIREMENTS_REQUESTS ? &ret->requests : &ret->limits);
    return true;
}

enum { CONTAINER_NAME, CONTAINER_ALLOCATED, CONTAINER_RESOURCES };
static const struct json_name container_names[] = {
    [CONTAINER_NAME] = JSON_NAME("name"),
    [CONTAINER_ALLOCATED] = JSON_NAME("allocatedResources"),
    [CONTAINER_RESOURCES] = JSON_NAME("resources"),
};
static const struct json_fields CONTAINER = JSON_FIELDS(container_names);

static void decode_containers(struct json_reader *reader, struct container_status_list *ret) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct container_status *status = JSON_APPEND(reader, ret);
        if (status == NULL) return;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &CONTAINER, &seen, &field)) switch (field) {
            case CONTAINER_NAME: json_text(reader, &status->name); break;
            case CONTAINER_ALLOCATED: decode_quantity_map(reader, &status->allocated_resources); break;
            case CONTAINER_RESOURCES:
                status->resources_set = decode_requirements(reader, &status->resources);
                break;
            }
    }
}

enum { CLAIM_NAME, CLAIM_CLAIM };
static const struct json_name claim_names[] = {
    [CLAIM_NAME] = JSON_NAME("name"),
    [CLAIM_CLAIM] = JSON_NAME("resourceClaimName"),
};
static const struct json_fields CLAIM = JSON_FIELDS(claim_names);

static void decode_claims(struct json_reader *reader, struct pod_claim_status_list *ret) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct pod_claim_status *status = JSON_APPEND(reader, ret);
        if (status == NULL) return;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &CLAIM, &seen, &field)) switch (field) {
            case CLAIM_NAME: json_text(reader, &status->name); break;
            case CLAIM_CLAIM: decode_opt_text(reader, &status->claim_name); break;
            }
    }
}

static const struct json_name extended_names[] = {JSON_NAME("resourceClaimName")};
static const struct json_fields EXTENDED = JSON_FIELDS(extended_names);

static void decode_extended(struct json_reader *reader, struct opt_text *ret) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &EXTENDED, &seen, &field)) decode_opt_text(reader, ret);
}

enum { MAPPING_NAME, MAPPING_QUANTITY };
static const struct json_name mapping_names[] = {
    [MAPPING_NAME] = JSON_NAME("name"),
    [MAPPING_QUANTITY] = JSON_NAME("quantity"),
};
static const struct json_fields MAPPING = JSON_FIELDS(mapping_names);

static void decode_mapping(struct json_reader *reader, struct quantity_map *ret) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct quantity_entry *entry = JSON_APPEND(reader, ret);
        if (entry == NULL) return;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &MAPPING, &seen, &field)) switch (field) {
            case MAPPING_NAME: json_text(reader, &entry->key); break;
            case MAPPING_QUANTITY: json_quantity(reader, &entry->value); break;
            }
    }
}

enum { OVERHEAD_NAME, OVERHEAD_PER_POD, OVERHEAD_PER_CONTAINER };
static const struct json_name overhead_names[] = {
    [OVERHEAD_NAME] = JSON_NAME("name"),
    [OVERHEAD_PER_POD] = JSON_NAME("perPod"),
    [OVERHEAD_PER_CONTAINER] = JSON_NAME("perContainer"),
};
static const struct json_fields OVERHEAD = JSON_FIELDS(overhead_names);

void decode_overhead(struct json_reader *reader, struct overhead_resource_list *ret) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct overhead_resource *overhead = JSON_APPEND(reader, ret);
        if (overhead == NULL) return;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &OVERHEAD, &seen, &field)) switch (field) {
            case OVERHEAD_NAME: json_text(reader, &overhead->name); break;
            case OVERHEAD_PER_POD: json_quantity(reader, &overhead->per_pod); break;
            case OVERHEAD_PER_CONTAINER: json_quantity(reader, &overhead->per_container); break;
            }
    }
}

enum {
    ALLOCATABLE_CLAIM,
    ALLOCATABLE_CONTAINERS,
    ALLOCATABLE_RESOURCES,
    ALLOCATABLE_MAPPING,
    ALLOCATABLE_OVERHEAD
};
static const struct json_name allocatable_names[] = {
    [ALLOCATABLE_CLAIM] = JSON_NAME("resourceClaimName"), [ALLOCATABLE_CONTAINERS] = JSON_NAME("containers"),
    [ALLOCATABLE_RESOURCES] = JSON_NAME("resources"),     [ALLOCATABLE_MAPPING] = JSON_NAME("mapping"),
    [ALLOCATABLE_OVERHEAD] = JSON_NAME("overhead"),
};
static const struct json_fields ALLOCATABLE = JSON_FIELDS(allocatable_names);

// Both minors' forms.
static void decode_allocatable(struct json_reader *reader, struct node_allocatable_claim_status_list *ret) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct node_allocatable_claim_status *status = JSON_APPEND(reader, ret);
        if (status == NULL) return;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &ALLOCATABLE, &seen, &field)) switch (field) {
            case ALLOCATABLE_CLAIM: json_text(reader, &status->claim_name); break;
            case ALLOCATABLE_CONTAINERS: decode_text_list(reader, &status->containers); break;
            case ALLOCATABLE_RESOURCES: decode_quantity_map(reader, &status->resources); break;
            case ALLOCATABLE_MAPPING: decode_mapping(reader, &status->mapping); break;
            case ALLOCATABLE_OVERHEAD: decode_overhead(reader, &status->overhead); break;
            }
    }
}

enum { CONDITION_TYPE, CONDITION_REASON };
static const struct json_name condition_names[] = {
    [CONDITION_TYPE] = JSON_NAME("type"),
    [CONDITION_REASON] = JSON_NAME("reason"),
};
static const struct json_fields CONDITION = JSON_FIELDS(condition_names);

// The first PodResizePending decides, and only a resize that is under way without one is told instead.
static void decode_conditions(struct json_reader *reader, bool *ret_scheduled, struct text *ret_resize) {
    struct json_iterator iterator = {0};
    bool pending = false;
    while (json_element(reader, &iterator)) {
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        struct text type = {"", 0};
        struct text reason = {"", 0};
        while (json_field(reader, &CONDITION, &seen, &field))
            json_text(reader, field == CONDITION_TYPE ? &type : &reason);
        if (text_equal(type, TEXT("PodScheduled"))) *ret_scheduled = true;
        if (pending) continue;
        pending = text_equal(type, TEXT("PodResizePending"));
        if (pending)
            *ret_resize = reason;
        else if (text_equal(type, TEXT("PodResizeInProgress")))
            *ret_resize = TEXT("InProgress");
    }
}

enum {
    STATUS_PHASE,
    STATUS_CONDITIONS,
    STATUS_NOMINATED,
    STATUS_INIT_CONTAINERS,
    STATUS_CONTAINERS,
    STATUS_CLAIMS,
    STATUS_EXTENDED,
    STATUS_ALLOCATABLE,
    STATUS_ALLOCATED,
    STATUS_RESOURCES,
};
static const struct json_name status_names[] = {
    [STATUS_PHASE] = JSON_NAME("phase"),
    [STATUS_CONDITIONS] = JSON_NAME("conditions"),
    [STATUS_NOMINATED] = JSON_NAME("nominatedNodeName"),
    [STATUS_INIT_CONTAINERS] = JSON_NAME("initContainerStatuses"),
    [STATUS_CONTAINERS] = JSON_NAME("containerStatuses"),
    [STATUS_CLAIMS] = JSON_NAME("resourceClaimStatuses"),
    [STATUS_EXTENDED] = JSON_NAME("extendedResourceClaimStatus"),
    [STATUS_ALLOCATABLE] = JSON_NAME("nodeAllocatableResourceClaimStatuses"),
    [STATUS_ALLOCATED] = JSON_NAME("allocatedResources"),
    [STATUS_RESOURCES] = JSON_NAME("resources"),
};
static const struct json_fields STATUS = JSON_FIELDS(status_names);

void decode_pod_status(struct json_reader *reader, struct pod *ret) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &STATUS, &seen, &field)) switch (field) {
        case STATUS_PHASE: json_text(reader, &ret->phase); break;
        case STATUS_CONDITIONS: decode_conditions(reader, &ret->scheduled, &ret->resize); break;
        case STATUS_NOMINATED: json_text(reader, &ret->nominated_node_name); break;
        case STATUS_INIT_CONTAINERS: decode_containers(reader, &ret->init_container_statuses); break;
        case STATUS_CONTAINERS: decode_containers(reader, &ret->container_statuses); break;
        case STATUS_CLAIMS: decode_claims(reader, &ret->claim_statuses); break;
        case STATUS_EXTENDED: decode_extended(reader, &ret->extended_claim_name); break;
        case STATUS_ALLOCATABLE: decode_allocatable(reader, &ret->allocatable_statuses); break;
        case STATUS_ALLOCATED: decode_quantity_map(reader, &ret->allocated_resources); break;
        case STATUS_RESOURCES:
            ret->status_resources_set = decode_requirements(reader, &ret->status_resources);
            break;
        }
}
