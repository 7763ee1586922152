// SPDX-License-Identifier: Apache-2.0
// JSON read back in tests.
#include "unit/lib/parsed.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct parsed *parsed_new(const char *json, size_t len) {
    json_error_t why;
    json_t *root = json_loadb(json, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, &why);
    cr_assert_not_null(root, "%s: %.*s", why.text, (int)len, json);
    return (struct parsed *)root;
}

void parsed_free(struct parsed *parsed) {
    json_decref((json_t *)parsed);
}

static json_t *find(const struct parsed *parsed, const char *path) {
    json_t *at = (json_t *)(uintptr_t)parsed;
    while (at != NULL && *path != '\0') {
        char name[128];
        size_t len = strcspn(path, "/");
        cr_assert_lt(len, sizeof name);
        memcpy(name, path, len);
        name[len] = '\0';
        at = json_is_array(at) ? json_array_get(at, strtoul(name, NULL, 10)) : json_object_get(at, name);
        path += len + (path[len] == '/');
    }
    return at;
}

bool parsed_has(const struct parsed *parsed, const char *path) {
    return find(parsed, path) != NULL;
}

bool parsed_is_true(const struct parsed *parsed, const char *path) {
    return json_is_true(find(parsed, path));
}

const char *parsed_text(const struct parsed *parsed, const char *path, size_t *ret_len) {
    const json_t *value = find(parsed, path);
    if (ret_len != NULL) *ret_len = json_string_length(value);
    return json_string_value(value);
}

int64_t parsed_int(const struct parsed *parsed, const char *path) {
    const json_t *value = find(parsed, path);
    return json_is_integer(value) ? json_integer_value(value) : -1;
}

double parsed_number(const struct parsed *parsed, const char *path) {
    const json_t *value = find(parsed, path);
    return json_is_number(value) ? json_number_value(value) : -1;
}

size_t parsed_size(const struct parsed *parsed, const char *path) {
    const json_t *value = find(parsed, path);
    return json_is_array(value) ? json_array_size(value) : json_object_size(value);
}
