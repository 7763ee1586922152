// SPDX-License-Identifier: Apache-2.0
// DeviceClass. Source: k8s.io/api v0.36.3 resource/v1/types.go, DeviceClass.
#include "server/codec/decode_parts.h"

enum { SPEC_SELECTORS, SPEC_CONFIG, SPEC_EXTENDED_RESOURCE };
static const struct json_name spec_names[] = {
    [SPEC_SELECTORS] = JSON_NAME("selectors"),
    [SPEC_CONFIG] = JSON_NAME("config"),
    [SPEC_EXTENDED_RESOURCE] = JSON_NAME("extendedResourceName"),
};
static const struct json_fields SPEC = JSON_FIELDS(spec_names);

static void decode_spec(struct json_reader *reader, struct device_class *device_class) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &SPEC, &seen, &field)) switch (field) {
        case SPEC_SELECTORS: decode_device_selectors(reader, &device_class->selectors); break;
        case SPEC_CONFIG:
            decode_device_configurations(reader, CONFIGURATION_OF_CLASS, &device_class->config);
            break;
        case SPEC_EXTENDED_RESOURCE: decode_opt_text(reader, &device_class->extended_resource_name); break;
        }
}

enum { CLASS_KIND, CLASS_API_VERSION, CLASS_METADATA, CLASS_SPEC };
static const struct json_name class_names[] = {
    [CLASS_KIND] = JSON_NAME("kind"),
    [CLASS_API_VERSION] = JSON_NAME("apiVersion"),
    [CLASS_METADATA] = JSON_NAME("metadata"),
    [CLASS_SPEC] = JSON_NAME("spec"),
};
static const struct json_fields CLASS = JSON_FIELDS(class_names);

void decode_device_class(struct json_reader *reader, struct object *ret) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &CLASS, &seen, &field)) {
        const char *begin = json_place(reader);
        switch (field) {
        case CLASS_KIND: json_text(reader, &ret->kind_name); break;
        case CLASS_API_VERSION: json_text(reader, &ret->api_version); break;
        case CLASS_METADATA: decode_object_meta(reader, &ret->device_class.metadata); break;
        case CLASS_SPEC:
            decode_spec(reader, &ret->device_class);
            ret->device_class.spec_raw = (struct text){begin, (size_t)(json_place(reader) - begin)};
            break;
        }
    }
}
