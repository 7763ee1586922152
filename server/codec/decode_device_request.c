// SPDX-License-Identifier: Apache-2.0
// The requests of a claim. v1beta1 has the fields of `exactly` flat in the request.
// Source: k8s.io/api v0.36.3 and v0.37.2 resource/{v1,v1beta1}/types.go, DeviceRequest, ExactDeviceRequest,
// DeviceSubRequest; kubernetes v1.36.3 pkg/apis/resource/v1beta1/conversion.go, hasAnyMainRequestFieldsSet.
#include "server/codec/decode_parts.h"

static const struct json_name selector_names[] = {JSON_NAME("cel")};
static const struct json_fields SELECTOR = JSON_FIELDS(selector_names);
static const struct json_name cel_names[] = {JSON_NAME("expression")};
static const struct json_fields CEL = JSON_FIELDS(cel_names);

static void decode_cel(struct json_reader *reader, struct device_selector *selector) {
    if (json_null(reader)) return;
    selector->cel_set = true;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &CEL, &seen, &field)) json_text(reader, &selector->expression);
}

void decode_device_selectors(struct json_reader *reader, struct device_selector_list *ret) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct device_selector *selector = JSON_APPEND(reader, ret);
        if (selector == NULL) return;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &SELECTOR, &seen, &field)) decode_cel(reader, selector);
    }
}

enum { TOLERATION_KEY, TOLERATION_OPERATOR, TOLERATION_VALUE, TOLERATION_EFFECT, TOLERATION_SECONDS };
static const struct json_name toleration_names[] = {
    [TOLERATION_KEY] = JSON_NAME("key"),
    [TOLERATION_OPERATOR] = JSON_NAME("operator"),
    [TOLERATION_VALUE] = JSON_NAME("value"),
    [TOLERATION_EFFECT] = JSON_NAME("effect"),
    [TOLERATION_SECONDS] = JSON_NAME("tolerationSeconds"),
};
static const struct json_fields TOLERATION = JSON_FIELDS(toleration_names);

void decode_tolerations(struct json_reader *reader, struct device_toleration_list *ret) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct device_toleration *item = JSON_APPEND(reader, ret);
        if (item == NULL) return;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &TOLERATION, &seen, &field)) switch (field) {
            case TOLERATION_KEY: json_text(reader, &item->key); break;
            case TOLERATION_OPERATOR: json_text(reader, &item->operator); break;
            case TOLERATION_VALUE: json_text(reader, &item->value); break;
            case TOLERATION_EFFECT: json_text(reader, &item->effect); break;
            case TOLERATION_SECONDS: decode_opt_int64(reader, &item->toleration_seconds); break;
            }
    }
}

static const struct json_name requirements_names[] = {JSON_NAME("requests")};
static const struct json_fields REQUIREMENTS = JSON_FIELDS(requirements_names);

static void decode_capacity(struct json_reader *reader, struct exact_request *request) {
    if (json_null(reader)) return;
    request->capacity_set = true;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &REQUIREMENTS, &seen, &field))
        decode_quantity_map(reader, &request->capacity_requests);
}

enum { DERIVED_NAME, DERIVED_EXPRESSION };
static const struct json_name derived_names[] = {
    [DERIVED_NAME] = JSON_NAME("name"),
    [DERIVED_EXPRESSION] = JSON_NAME("expression"),
};
static const struct json_fields DERIVED = JSON_FIELDS(derived_names);

static void decode_derived(struct json_reader *reader, struct derived_attribute_list *list) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct derived_attribute *item = JSON_APPEND(reader, list);
        if (item == NULL) return;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &DERIVED, &seen, &field)) switch (field) {
            case DERIVED_NAME: json_text(reader, &item->name); break;
            case DERIVED_EXPRESSION: json_text(reader, &item->expression); break;
            }
    }
}

// What the exact request, the subrequest and the flat request of v1beta1 share.
enum part {
    PART_CLASS,
    PART_SELECTORS,
    PART_MODE,
    PART_COUNT,
    PART_ADMIN,
    PART_TOLERATIONS,
    PART_CAPACITY,
    PART_DERIVED,
    PART_NAME,
    PART_FIRST_AVAILABLE,
};

static void decode_part(struct json_reader *reader, enum part part, struct exact_request *request) {
    if (decode_skip_foreign(reader)) return;
    switch (part) {
    case PART_CLASS: json_text(reader, &request->device_class_name); break;
    case PART_SELECTORS: decode_device_selectors(reader, &request->selectors); break;
    case PART_MODE: json_text(reader, &request->allocation_mode); break;
    case PART_COUNT: json_int64(reader, &request->count); break;
    case PART_ADMIN: decode_opt_bool(reader, &request->admin_access); break;
    case PART_TOLERATIONS: decode_tolerations(reader, &request->tolerations); break;
    case PART_CAPACITY: decode_capacity(reader, request); break;
    case PART_DERIVED: decode_derived(reader, &request->derived_attributes); break;
    case PART_NAME: json_text(reader, &request->name); break;
    case PART_FIRST_AVAILABLE: break; // read by the caller: it is no part of the exact request
    }
}

// The names of each form in its own order, and which part each name is.
static const struct json_name exact_names[] = {
    JSON_NAME("deviceClassName"), JSON_NAME("selectors"),
    JSON_NAME("allocationMode"),  JSON_NAME("count"),
    JSON_NAME("adminAccess"),     JSON_NAME("tolerations"),
    JSON_NAME("capacity"),        JSON_NAME_WHEN("derivedAttributes", WHEN_MINOR_37),
};
static const uint8_t exact_parts[] = {
    PART_CLASS, PART_SELECTORS,   PART_MODE,     PART_COUNT,
    PART_ADMIN, PART_TOLERATIONS, PART_CAPACITY, PART_DERIVED,
};
static const struct json_fields EXACT = JSON_FIELDS(exact_names);

static const struct json_name sub_names[] = {
    JSON_NAME("name"),      JSON_NAME("deviceClassName"),
    JSON_NAME("selectors"), JSON_NAME("allocationMode"),
    JSON_NAME("count"),     JSON_NAME("tolerations"),
    JSON_NAME("capacity"),  JSON_NAME_WHEN("derivedAttributes", WHEN_MINOR_37),
};
static const uint8_t sub_parts[] = {
    PART_NAME,  PART_CLASS,       PART_SELECTORS, PART_MODE,
    PART_COUNT, PART_TOLERATIONS, PART_CAPACITY,  PART_DERIVED,
};
static const struct json_fields SUB = JSON_FIELDS(sub_names);

static const struct json_name flat_names[] = {
    JSON_NAME("name"),           JSON_NAME("deviceClassName"),
    JSON_NAME("selectors"),      JSON_NAME("allocationMode"),
    JSON_NAME("count"),          JSON_NAME("adminAccess"),
    JSON_NAME("firstAvailable"), JSON_NAME("tolerations"),
    JSON_NAME("capacity"),       JSON_NAME_WHEN("derivedAttributes", WHEN_MINOR_37),
};
static const uint8_t flat_parts[] = {
    PART_NAME,  PART_CLASS,           PART_SELECTORS,   PART_MODE,     PART_COUNT,
    PART_ADMIN, PART_FIRST_AVAILABLE, PART_TOLERATIONS, PART_CAPACITY, PART_DERIVED,
};
static const struct json_fields FLAT = JSON_FIELDS(flat_names);

static void decode_subrequests(struct json_reader *reader, struct exact_request_list *list) {
    if (json_null(reader)) return;
    list->set = true;
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct exact_request *item = JSON_APPEND(reader, list);
        if (item == NULL) return;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &SUB, &seen, &field)) decode_part(reader, sub_parts[field], item);
    }
}

static const struct exact_request *decode_exactly(struct json_reader *reader) {
    if (json_null(reader)) return NULL;
    struct exact_request *exact = json_new(reader, sizeof *exact);
    if (exact == NULL) return NULL;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &EXACT, &seen, &field)) decode_part(reader, exact_parts[field], exact);
    return exact;
}

enum { REQUEST_NAME, REQUEST_EXACTLY, REQUEST_FIRST_AVAILABLE };
static const struct json_name request_names[] = {
    [REQUEST_NAME] = JSON_NAME("name"),
    [REQUEST_EXACTLY] = JSON_NAME("exactly"),
    [REQUEST_FIRST_AVAILABLE] = JSON_NAME("firstAvailable"),
};
static const struct json_fields REQUEST = JSON_FIELDS(request_names);

static void decode_request(struct json_reader *reader, struct device_request *request) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &REQUEST, &seen, &field)) switch (field) {
        case REQUEST_NAME: json_text(reader, &request->name); break;
        case REQUEST_EXACTLY: request->exactly = decode_exactly(reader); break;
        case REQUEST_FIRST_AVAILABLE: decode_subrequests(reader, &request->first_available); break;
        }
}

// Lists and structs count as set when they are there at all, scalars when they are not the zero value.
static void decode_request_v1beta1(struct json_reader *reader, struct device_request *request) {
    struct exact_request flat = {0};
    bool any = false;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &FLAT, &seen, &field)) {
        enum part part = flat_parts[field];
        bool is_container = part == PART_SELECTORS || part == PART_TOLERATIONS || part == PART_CAPACITY ||
                            part == PART_DERIVED;
        if (is_container && !reader->foreign && json_peek(reader) != JSON_NULL) any = true;
        if (part == PART_NAME)
            json_text(reader, &request->name);
        else if (part == PART_FIRST_AVAILABLE)
            decode_subrequests(reader, &request->first_available);
        else
            decode_part(reader, part, &flat);
    }
    if (flat.device_class_name.len > 0 || flat.allocation_mode.len > 0 || flat.count != 0 ||
        flat.admin_access.set)
        any = true;
    if (!any) return;
    struct exact_request *exact = json_new(reader, sizeof *exact);
    if (exact == NULL) return;
    *exact = flat;
    request->exactly = exact;
}

void decode_device_requests(struct json_reader *reader, struct device_request_list *ret) {
    bool is_v1beta1 = (reader->when & WHEN_V1BETA1) != 0;
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct device_request *request = JSON_APPEND(reader, ret);
        if (request == NULL) return;
        if (is_v1beta1)
            decode_request_v1beta1(reader, request);
        else
            decode_request(reader, request);
    }
}
