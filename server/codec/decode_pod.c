// SPDX-License-Identifier: Apache-2.0
// Pod, as far as accounting and the gates read it; everything else is passed over, in every mode.
// Source: k8s.io/api v0.36.3 and v0.37.2 core/v1/types.go.
#include "server/codec/decode_parts.h"

static const struct json_name name_names[] = {JSON_NAME("name")};
static const struct json_fields NAME = JSON_FIELDS(name_names);

// A list of objects of which only the names count.
static void decode_names(struct json_reader *reader, struct text_list *ret) {
    if (json_null(reader)) return;
    ret->set = true;
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct text *name = JSON_APPEND(reader, ret);
        if (name == NULL) return;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &NAME, &seen, &field)) json_text(reader, name);
    }
}

enum { RESOURCES_REQUESTS, RESOURCES_LIMITS, RESOURCES_CLAIMS };
static const struct json_name resources_names[] = {
    [RESOURCES_REQUESTS] = JSON_NAME("requests"),
    [RESOURCES_LIMITS] = JSON_NAME("limits"),
    [RESOURCES_CLAIMS] = JSON_NAME("claims"),
};
static const struct json_fields RESOURCES = JSON_FIELDS(resources_names);

// Returns false for null.
static bool decode_resources(struct json_reader *reader, struct resource_requirements *ret) {
    if (json_null(reader)) return false;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &RESOURCES, &seen, &field)) switch (field) {
        case RESOURCES_REQUESTS: decode_quantity_map(reader, &ret->requests); break;
        case RESOURCES_LIMITS: decode_quantity_map(reader, &ret->limits); break;
        case RESOURCES_CLAIMS: decode_names(reader, &ret->claims); break;
        }
    return true;
}

enum { CONTAINER_NAME, CONTAINER_RESOURCES, CONTAINER_RESTART_POLICY };
static const struct json_name container_names[] = {
    [CONTAINER_NAME] = JSON_NAME("name"),
    [CONTAINER_RESOURCES] = JSON_NAME("resources"),
    [CONTAINER_RESTART_POLICY] = JSON_NAME("restartPolicy"),
};
static const struct json_fields CONTAINER = JSON_FIELDS(container_names);

static void decode_containers(struct json_reader *reader, struct container_list *ret) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct container *container = JSON_APPEND(reader, ret);
        if (container == NULL) return;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        struct text policy = {"", 0};
        while (json_field(reader, &CONTAINER, &seen, &field)) switch (field) {
            case CONTAINER_NAME: json_text(reader, &container->name); break;
            case CONTAINER_RESOURCES: decode_resources(reader, &container->resources); break;
            case CONTAINER_RESTART_POLICY: json_text(reader, &policy); break;
            }
        container->restart_always = text_equal(policy, TEXT("Always"));
    }
}

enum { POD_CLAIM_NAME, POD_CLAIM_CLAIM, POD_CLAIM_TEMPLATE };
static const struct json_name pod_claim_names[] = {
    [POD_CLAIM_NAME] = JSON_NAME("name"),
    [POD_CLAIM_CLAIM] = JSON_NAME("resourceClaimName"),
    [POD_CLAIM_TEMPLATE] = JSON_NAME("resourceClaimTemplateName"),
};
static const struct json_fields POD_CLAIM = JSON_FIELDS(pod_claim_names);

static void decode_pod_claims(struct json_reader *reader, struct pod_resource_claim_list *ret) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct pod_resource_claim *claim = JSON_APPEND(reader, ret);
        if (claim == NULL) return;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &POD_CLAIM, &seen, &field)) switch (field) {
            case POD_CLAIM_NAME: json_text(reader, &claim->name); break;
            case POD_CLAIM_CLAIM: decode_opt_text(reader, &claim->claim_name); break;
            case POD_CLAIM_TEMPLATE: decode_opt_text(reader, &claim->template_name); break;
            }
    }
}

static const struct json_name group_names[] = {JSON_NAME("podGroupName")};
static const struct json_fields GROUP = JSON_FIELDS(group_names);

static void decode_group(struct json_reader *reader, struct text *ret_name) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &GROUP, &seen, &field)) json_text(reader, ret_name);
}

enum {
    SPEC_NODE_NAME,
    SPEC_SCHEDULER,
    SPEC_GATES,
    SPEC_CLAIMS,
    SPEC_INIT_CONTAINERS,
    SPEC_CONTAINERS,
    SPEC_OVERHEAD,
    SPEC_RESOURCES,
    SPEC_GROUP,
};
static const struct json_name spec_names[] = {
    [SPEC_NODE_NAME] = JSON_NAME("nodeName"),
    [SPEC_SCHEDULER] = JSON_NAME("schedulerName"),
    [SPEC_GATES] = JSON_NAME("schedulingGates"),
    [SPEC_CLAIMS] = JSON_NAME("resourceClaims"),
    [SPEC_INIT_CONTAINERS] = JSON_NAME("initContainers"),
    [SPEC_CONTAINERS] = JSON_NAME("containers"),
    [SPEC_OVERHEAD] = JSON_NAME("overhead"),
    [SPEC_RESOURCES] = JSON_NAME("resources"),
    [SPEC_GROUP] = JSON_NAME("schedulingGroup"),
};
static const struct json_fields SPEC = JSON_FIELDS(spec_names);

static void decode_spec(struct json_reader *reader, struct pod *pod) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &SPEC, &seen, &field)) switch (field) {
        case SPEC_NODE_NAME: json_text(reader, &pod->node_name); break;
        case SPEC_SCHEDULER: json_text(reader, &pod->scheduler_name); break;
        case SPEC_GATES: decode_names(reader, &pod->scheduling_gates); break;
        case SPEC_CLAIMS: decode_pod_claims(reader, &pod->resource_claims); break;
        case SPEC_INIT_CONTAINERS: decode_containers(reader, &pod->init_containers); break;
        case SPEC_CONTAINERS: decode_containers(reader, &pod->containers); break;
        case SPEC_OVERHEAD: decode_quantity_map(reader, &pod->overhead); break;
        case SPEC_RESOURCES: pod->resources_set = decode_resources(reader, &pod->resources); break;
        case SPEC_GROUP: decode_group(reader, &pod->scheduling_group); break;
        }
}

enum { POD_METADATA, POD_SPEC, POD_STATUS, POD_API_VERSION, POD_KIND };
static const struct json_name pod_names[] = {
    [POD_METADATA] = JSON_NAME("metadata"), [POD_SPEC] = JSON_NAME("spec"),
    [POD_STATUS] = JSON_NAME("status"),     [POD_API_VERSION] = JSON_NAME("apiVersion"),
    [POD_KIND] = JSON_NAME("kind"),
};
static const struct json_fields POD = JSON_FIELDS(pod_names);

void decode_pod(struct json_reader *reader, struct object *ret) {
    enum json_mode mode = reader->mode;
    reader->mode = JSON_WIRE;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &POD, &seen, &field)) switch (field) {
        case POD_METADATA: decode_object_meta(reader, &ret->pod.metadata); break;
        case POD_SPEC: decode_spec(reader, &ret->pod); break;
        case POD_STATUS: decode_pod_status(reader, &ret->pod); break;
        case POD_API_VERSION: json_text(reader, &ret->api_version); break;
        case POD_KIND: json_text(reader, &ret->kind_name); break;
        }
    reader->mode = mode;
}
