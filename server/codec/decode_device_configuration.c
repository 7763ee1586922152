// SPDX-License-Identifier: Apache-2.0
// Configurations of claims, classes and allocations.
// Source: k8s.io/api v0.36.3 resource/v1/types.go, DeviceConfiguration and the structs that embed it.
#include "server/codec/decode_parts.h"

enum { OPAQUE_DRIVER, OPAQUE_PARAMETERS };
static const struct json_name opaque_names[] = {
    [OPAQUE_DRIVER] = JSON_NAME("driver"),
    [OPAQUE_PARAMETERS] = JSON_NAME("parameters"),
};
static const struct json_fields OPAQUE = JSON_FIELDS(opaque_names);

static void decode_opaque(struct json_reader *reader, struct device_configuration *configuration) {
    if (json_null(reader)) return;
    configuration->opaque_set = true;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &OPAQUE, &seen, &field)) switch (field) {
        case OPAQUE_DRIVER: json_text(reader, &configuration->driver); break;
        case OPAQUE_PARAMETERS: decode_raw(reader, &configuration->parameters); break;
        }
}

// The three kinds have the last one, the last two and all of these.
enum { CONFIGURATION_SOURCE, CONFIGURATION_REQUESTS, CONFIGURATION_OPAQUE, CONFIGURATION_FIELDS };
static const struct json_name configuration_names[] = {
    [CONFIGURATION_SOURCE] = JSON_NAME("source"),
    [CONFIGURATION_REQUESTS] = JSON_NAME("requests"),
    [CONFIGURATION_OPAQUE] = JSON_NAME("opaque"),
};

static unsigned first_field(enum configuration_kind kind) {
    switch (kind) {
    case CONFIGURATION_OF_CLASS: return CONFIGURATION_OPAQUE;
    case CONFIGURATION_OF_CLAIM: return CONFIGURATION_REQUESTS;
    case CONFIGURATION_OF_ALLOCATION: break;
    }
    return CONFIGURATION_SOURCE;
}

void decode_device_configurations(struct json_reader *reader, enum configuration_kind kind,
                                  struct device_configuration_list *ret) {
    unsigned first = first_field(kind);
    const struct json_fields fields = {configuration_names + first, CONFIGURATION_FIELDS - first};
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct device_configuration *item = JSON_APPEND(reader, ret);
        if (item == NULL) return;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &fields, &seen, &field)) switch (field + first) {
            case CONFIGURATION_SOURCE: json_text(reader, &item->source); break;
            case CONFIGURATION_REQUESTS: decode_text_list(reader, &item->requests); break;
            case CONFIGURATION_OPAQUE: decode_opaque(reader, item); break;
            }
    }
}
