// SPDX-License-Identifier: Apache-2.0
// Small values that several kinds hold.
#include "server/codec/decode_parts.h"

void decode_opt_text(struct json_reader *reader, struct opt_text *ret) {
    if (json_text(reader, &ret->value)) ret->set = true;
}

void decode_opt_bool(struct json_reader *reader, struct opt_bool *ret) {
    if (json_bool(reader, &ret->value)) ret->set = true;
}

void decode_opt_int64(struct json_reader *reader, struct opt_int64 *ret) {
    if (json_int64(reader, &ret->value)) ret->set = true;
}

void decode_text_list(struct json_reader *reader, struct text_list *ret) {
    if (json_null(reader)) return;
    ret->set = true;
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct text *item = JSON_APPEND(reader, ret);
        if (item == NULL) return;
        json_text(reader, item);
    }
}

void decode_text_map(struct json_reader *reader, struct text_map *ret) {
    struct json_iterator iterator = {0};
    struct text key;
    while (json_member(reader, &iterator, &key)) {
        struct text_pair *item = JSON_APPEND(reader, ret);
        if (item == NULL) return;
        item->key = key;
        json_text(reader, &item->value);
    }
}

void decode_quantity_map(struct json_reader *reader, struct quantity_map *ret) {
    if (json_null(reader)) return;
    ret->set = true;
    struct json_iterator iterator = {0};
    struct text key;
    while (json_member(reader, &iterator, &key)) {
        struct quantity_entry *item = JSON_APPEND(reader, ret);
        if (item == NULL) return;
        item->key = key;
        json_quantity(reader, &item->value);
    }
}

void decode_raw(struct json_reader *reader, struct text *ret) {
    if (!json_null(reader)) json_raw(reader, ret);
}

void decode_time(struct json_reader *reader, struct text *ret) {
    struct text written;
    if (!json_text(reader, &written)) return;
    if (decode_time_is_valid(written))
        *ret = written;
    else
        json_note(reader, FINDING_DECODING, written,
                  TEXT("cannot parse it as an RFC 3339 time such as \"2006-01-02T15:04:05Z\""));
}

bool decode_skip_foreign(struct json_reader *reader) {
    if (!reader->foreign) return false;
    json_skip(reader);
    return true;
}

struct text decode_clean_object(const struct json_reader *reader, const char *begin, size_t noted_before) {
    const char *end = json_place(reader);
    bool clean = begin < end && *begin == '{' && json_noted(reader) == noted_before;
    return clean ? (struct text){begin, (size_t)(end - begin)} : (struct text){NULL, 0};
}
