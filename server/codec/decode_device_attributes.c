// SPDX-License-Identifier: Apache-2.0
// The attributes of a device, most of which are those of the device before.
// Source: k8s.io/api v0.36.3 and v0.37.2 resource/{v1,v1beta2,v1beta1}/types.go, DeviceAttribute.
#include "server/codec/decode_parts.h"

static void decode_int64_list(struct json_reader *reader, struct int64_list *list) {
    if (json_null(reader)) return;
    list->set = true;
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        int64_t *item = JSON_APPEND(reader, list);
        if (item == NULL) return;
        json_int64(reader, item);
    }
}

static void decode_bool_list(struct json_reader *reader, struct bool_list *list) {
    if (json_null(reader)) return;
    list->set = true;
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        bool *item = JSON_APPEND(reader, list);
        if (item == NULL) return;
        json_bool(reader, item);
    }
}

enum {
    ATTRIBUTE_INT,
    ATTRIBUTE_BOOL,
    ATTRIBUTE_STRING,
    ATTRIBUTE_VERSION,
    ATTRIBUTE_INTS,
    ATTRIBUTE_BOOLS,
    ATTRIBUTE_STRINGS,
    ATTRIBUTE_VERSIONS,
};
static const struct json_name attribute_names[] = {
    [ATTRIBUTE_INT] = JSON_NAME("int"),         [ATTRIBUTE_BOOL] = JSON_NAME("bool"),
    [ATTRIBUTE_STRING] = JSON_NAME("string"),   [ATTRIBUTE_VERSION] = JSON_NAME("version"),
    [ATTRIBUTE_INTS] = JSON_NAME("ints"),       [ATTRIBUTE_BOOLS] = JSON_NAME("bools"),
    [ATTRIBUTE_STRINGS] = JSON_NAME("strings"), [ATTRIBUTE_VERSIONS] = JSON_NAME("versions"),
};
static const struct json_fields ATTRIBUTE = JSON_FIELDS(attribute_names);

static void decode_attribute_list(struct json_reader *reader, unsigned field,
                                  struct device_attribute *attribute) {
    if (attribute->lists == NULL) attribute->lists = json_new(reader, sizeof *attribute->lists);
    struct attribute_lists *lists = attribute->lists;
    if (lists == NULL) return;
    switch (field) {
    case ATTRIBUTE_INTS: decode_int64_list(reader, &lists->ints); break;
    case ATTRIBUTE_BOOLS: decode_bool_list(reader, &lists->bools); break;
    case ATTRIBUTE_STRINGS: decode_text_list(reader, &lists->strings); break;
    case ATTRIBUTE_VERSIONS: decode_text_list(reader, &lists->versions); break;
    }
}

static void decode_attribute(struct json_reader *reader, struct device_attribute *attribute) {
    // Most are written like this.
    attribute->string_value.set =
        json_single_text(reader, TEXT("{\"string\":\""), &attribute->string_value.value);
    if (attribute->string_value.set) return;
    attribute->int_value.set = json_single_int64(reader, TEXT("{\"int\":"), &attribute->int_value.value);
    if (attribute->int_value.set) return;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &ATTRIBUTE, &seen, &field)) switch (field) {
        case ATTRIBUTE_INT: decode_opt_int64(reader, &attribute->int_value); break;
        case ATTRIBUTE_BOOL: decode_opt_bool(reader, &attribute->bool_value); break;
        case ATTRIBUTE_STRING: decode_opt_text(reader, &attribute->string_value); break;
        case ATTRIBUTE_VERSION: decode_opt_text(reader, &attribute->version_value); break;
        default: decode_attribute_list(reader, field, attribute); break;
        }
}

// Of what is written alike, one reading is enough.
void decode_attributes(struct json_reader *reader, const struct device_attribute_map *before,
                       struct device_attribute_map *map) {
    struct json_iterator iterator = {0};
    struct text key;
    for (;;) {
        size_t at = map->count;
        const struct device_attribute *like =
            before != NULL && at < before->count ? &before->items[at] : NULL;
        enum json_likeness likeness =
            like == NULL ? JSON_UNLIKE : json_member_like(reader, &iterator, like->key, like->written, &key);
        if (likeness == JSON_UNLIKE && !json_member(reader, &iterator, &key)) return;
        struct device_attribute *attribute = JSON_APPEND(reader, map);
        if (attribute == NULL) return;
        // Written in another way it may still be the same.
        if (likeness == JSON_UNLIKE && like != NULL && text_equal(key, like->key))
            likeness = json_skip_same(reader, like->written) ? JSON_LIKE_ALL : JSON_LIKE_KEY;
        if (likeness != JSON_UNLIKE) map->key_before |= attribute_bit(at);
        if (likeness == JSON_LIKE_ALL) {
            *attribute = *like;
            map->like_before |= attribute_bit(at);
            continue;
        }
        const char *begin = json_place(reader);
        size_t noted = json_noted(reader);
        attribute->key = key;
        decode_attribute(reader, attribute);
        attribute->written = decode_clean_object(reader, begin, noted);
    }
}
