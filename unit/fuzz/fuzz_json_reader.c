// SPDX-License-Identifier: Apache-2.0
// The JSON reader against jansson: both take and refuse the same texts, and read the same values from them.
// Where jansson is stricter for reasons of its own, only the reader takes the text: invalid UTF-8, lone
// surrogates, \u0000 in a key, numbers beyond int64 or double, nesting deeper than 2,048. Where it is laxer,
// only the reader refuses: it passes over some NUL bytes between tokens.

// Both headers use these names.
#define JSON_OBJECT JANSSON_OBJECT
#define JSON_ARRAY  JANSSON_ARRAY
#define JSON_STRING JANSSON_STRING
#define JSON_NULL   JANSSON_NULL
#define json_null   jansson_null
#include <jansson.h>
#undef JSON_OBJECT
#undef JSON_ARRAY
#undef JSON_STRING
#undef JSON_NULL
#undef JSON_STRICT
#undef json_null

#include "validators/core/json_reader.h"

#define ARENA_CAP_BYTES ((size_t)16 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool held) {
    if (!held) abort();
}

static void compare(struct json_reader *reader, const json_t *value);

static void compare_array(struct json_reader *reader, const json_t *value) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) compare(reader, json_array_get(value, iterator.count - 1));
    if (reader->error == JSON_FINE) expect(iterator.count == json_array_size(value));
}

static void compare_object(struct json_reader *reader, const json_t *value) {
    struct json_iterator iterator = {0};
    struct text key;
    while (json_member(reader, &iterator, &key)) {
        char *name = malloc(key.len + 1);
        if (key.len > 0) memcpy(name, key.ptr, key.len);
        name[key.len] = '\0';
        const json_t *member = json_object_get(value, name);
        free(name);
        expect(member != NULL);
        compare(reader, member);
    }
    if (reader->error == JSON_FINE) expect(iterator.count == json_object_size(value));
}

static void compare(struct json_reader *reader, const json_t *value) {
    struct text text;
    bool truth;
    int64_t number;
    switch (json_peek(reader)) {
    case JSON_OBJECT: compare_object(reader, value); break;
    case JSON_ARRAY: compare_array(reader, value); break;
    case JSON_STRING:
        expect(json_text(reader, &text));
        expect(text.len == json_string_length(value) &&
               memcmp(text.ptr, json_string_value(value), text.len) == 0);
        break;
    case JSON_BOOL: expect(json_bool(reader, &truth) && truth == json_is_true(value)); break;
    case JSON_NUMBER:
        if (json_is_integer(value))
            expect(json_int64(reader, &number) && number == json_integer_value(value));
        else
            expect(!json_int64(reader, &number));
        break;
    case JSON_NULL: expect(json_null(reader) && json_typeof(value) == JANSSON_NULL); break;
    case JSON_NONE: json_skip(reader); break;
    }
}

// Why jansson may refuse what the reader takes.
static bool may_refuse(const json_error_t *error) {
    switch (json_error_code(error)) {
    case json_error_invalid_utf8:
    case json_error_numeric_overflow:
    case json_error_stack_overflow:
    case json_error_null_byte_in_key:
    case json_error_null_character: return true;
    case json_error_invalid_syntax: return strncmp(error->text, "invalid Unicode", 15) == 0;
    default: return false;
    }
}

static bool reader_takes(struct text input, struct arena *arena) {
    struct finding_list findings;
    finding_list_init(&findings, arena);
    struct json_reader reader;
    json_init(&reader, input, arena, &findings, JSON_WIRE);
    json_skip(&reader);
    struct fault fault;
    bool taken = json_finish(&reader, &fault);
    expect(taken || (fault.code != FAULT_NONE && fault.text[0] != '\0'));
    expect(reader.error_offset <= input.len);
    return taken;
}

// Reads any value as lists and maps; true when no typed limit and no repeated key stands against it.
static bool reader_walks(struct json_reader *reader) {
    struct json_iterator iterator = {0};
    struct text key;
    switch (json_peek(reader)) {
    case JSON_OBJECT:
        while (json_member(reader, &iterator, &key)) reader_walks(reader);
        break;
    case JSON_ARRAY:
        while (json_element(reader, &iterator)) reader_walks(reader);
        break;
    default: json_skip(reader); break;
    }
    return reader->error == JSON_FINE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct text input = {(const char *)data, size};
    struct arena arena;
    arena_init(&arena, ARENA_CAP_BYTES);
    bool taken = reader_takes(input, &arena);
    bool has_nul = size > 0 && memchr(data, '\0', size) != NULL;
    json_error_t error;
    json_t *value =
        json_loadb(input.ptr, input.len, JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &error);
    struct finding_list findings;
    finding_list_init(&findings, &arena);
    struct json_reader reader;
    json_init(&reader, input, &arena, &findings, JSON_WIRE);
    if (value != NULL && has_nul && !taken) {
        expect(!(reader_walks(&reader) && json_finish(&reader, NULL)));
    } else if (value != NULL) {
        expect(taken);
        compare(&reader, value);
        struct fault fault;
        bool fine = json_finish(&reader, &fault);
        expect(fine || reader.error == JSON_DEPTH || reader.error == JSON_KEYS ||
               reader.error == JSON_MEMORY);
    } else if (json_error_code(&error) == json_error_duplicate_key) {
        expect(!reader_walks(&reader));
    } else {
        expect(!taken || may_refuse(&error));
    }
    json_decref(value);
    arena_release(&arena);
    return 0;
}
