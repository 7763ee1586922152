// SPDX-License-Identifier: Apache-2.0
// ResourceClaim and ResourceClaimTemplate, without the requests and the status.
// Source: k8s.io/api v0.36.3 and v0.37.2 resource/{v1,v1beta2,v1beta1}/types.go, ResourceClaim.
#include "server/codec/decode_parts.h"

enum { CONSTRAINT_REQUESTS, CONSTRAINT_MATCH, CONSTRAINT_DISTINCT };
static const struct json_name constraint_names[] = {
    [CONSTRAINT_REQUESTS] = JSON_NAME("requests"),
    [CONSTRAINT_MATCH] = JSON_NAME("matchAttribute"),
    [CONSTRAINT_DISTINCT] = JSON_NAME("distinctAttribute"),
};
static const struct json_fields CONSTRAINT = JSON_FIELDS(constraint_names);

static void decode_constraints(struct json_reader *reader, struct device_constraint_list *list) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct device_constraint *item = JSON_APPEND(reader, list);
        if (item == NULL) return;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &CONSTRAINT, &seen, &field)) switch (field) {
            case CONSTRAINT_REQUESTS: decode_text_list(reader, &item->requests); break;
            case CONSTRAINT_MATCH: decode_opt_text(reader, &item->match_attribute); break;
            case CONSTRAINT_DISTINCT: decode_opt_text(reader, &item->distinct_attribute); break;
            }
    }
}

enum { CLAIM_REQUESTS, CLAIM_CONSTRAINTS, CLAIM_CONFIG };
static const struct json_name device_claim_names[] = {
    [CLAIM_REQUESTS] = JSON_NAME("requests"),
    [CLAIM_CONSTRAINTS] = JSON_NAME("constraints"),
    [CLAIM_CONFIG] = JSON_NAME("config"),
};
static const struct json_fields DEVICE_CLAIM = JSON_FIELDS(device_claim_names);
static const struct json_name claim_spec_names[] = {JSON_NAME("devices")};
static const struct json_fields CLAIM_SPEC = JSON_FIELDS(claim_spec_names);

static void decode_claim_spec(struct json_reader *reader, struct device_claim *claim) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &CLAIM_SPEC, &seen, &field)) {
        uint64_t devices_seen = JSON_BEGIN;
        while (json_field(reader, &DEVICE_CLAIM, &devices_seen, &field)) switch (field) {
            case CLAIM_REQUESTS: decode_device_requests(reader, &claim->requests); break;
            case CLAIM_CONSTRAINTS: decode_constraints(reader, &claim->constraints); break;
            case CLAIM_CONFIG:
                decode_device_configurations(reader, CONFIGURATION_OF_CLAIM, &claim->config);
                break;
            }
    }
}

enum { OBJECT_KIND, OBJECT_API_VERSION, OBJECT_METADATA, OBJECT_SPEC, OBJECT_STATUS };
static const struct json_name object_names[] = {
    [OBJECT_KIND] = JSON_NAME("kind"),         [OBJECT_API_VERSION] = JSON_NAME("apiVersion"),
    [OBJECT_METADATA] = JSON_NAME("metadata"), [OBJECT_SPEC] = JSON_NAME("spec"),
    [OBJECT_STATUS] = JSON_NAME("status"),
};
static const struct json_fields CLAIM = JSON_FIELDS(object_names);
// A template has no status.
static const struct json_fields TEMPLATE = {object_names, OBJECT_STATUS};

void decode_resource_claim(struct json_reader *reader, struct object *ret) {
    struct resource_claim *claim = &ret->claim;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &CLAIM, &seen, &field)) {
        const char *begin = json_place(reader);
        switch (field) {
        case OBJECT_KIND: json_text(reader, &ret->kind_name); break;
        case OBJECT_API_VERSION: json_text(reader, &ret->api_version); break;
        case OBJECT_METADATA: decode_object_meta(reader, &claim->metadata); break;
        case OBJECT_SPEC:
            decode_claim_spec(reader, &claim->devices);
            claim->spec_raw = (struct text){begin, (size_t)(json_place(reader) - begin)};
            break;
        case OBJECT_STATUS: decode_claim_status(reader, claim); break;
        }
    }
}

enum { TEMPLATE_METADATA, TEMPLATE_SPEC };
static const struct json_name template_spec_names[] = {
    [TEMPLATE_METADATA] = JSON_NAME("metadata"),
    [TEMPLATE_SPEC] = JSON_NAME("spec"),
};
static const struct json_fields TEMPLATE_SPEC_FIELDS = JSON_FIELDS(template_spec_names);

static void decode_template_spec(struct json_reader *reader, struct resource_claim_template *claim_template) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &TEMPLATE_SPEC_FIELDS, &seen, &field)) switch (field) {
        case TEMPLATE_METADATA: decode_object_meta(reader, &claim_template->spec_metadata); break;
        case TEMPLATE_SPEC: decode_claim_spec(reader, &claim_template->devices); break;
        }
}

void decode_resource_claim_template(struct json_reader *reader, struct object *ret) {
    struct resource_claim_template *claim_template = &ret->claim_template;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &TEMPLATE, &seen, &field)) {
        const char *begin = json_place(reader);
        switch (field) {
        case OBJECT_KIND: json_text(reader, &ret->kind_name); break;
        case OBJECT_API_VERSION: json_text(reader, &ret->api_version); break;
        case OBJECT_METADATA: decode_object_meta(reader, &claim_template->metadata); break;
        case OBJECT_SPEC:
            decode_template_spec(reader, claim_template);
            claim_template->spec_raw = (struct text){begin, (size_t)(json_place(reader) - begin)};
            break;
        }
    }
}
