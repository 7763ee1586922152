// SPDX-License-Identifier: Apache-2.0
// A walk over two JSON values at once. Lists of objects are matched by what names their elements.
#include "server/cli/ledger_compare.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define PATH_BYTES 2048

struct compare {
    json_t *differences;
    const char *node;
    bool failed;
};

// Members that are not compared, wherever they stand.
static const char *const passed_over[] = {"state",     "causes",   "cause",      "since",
                                          "heldSince", "observed", "rejections", "counts"};

// What names an element, in this order.
static const char *const names[] = {"pod",    "claim",   "uid", "claimUID", "driver", "pool",
                                    "device", "shareID", "id",  "name",     "podUID"};

static bool is_passed_over(const char *key, const char *path) {
    // A node's own version counts changes; that of a row is the mapping's.
    if (strcmp(key, "version") == 0 && path[0] == '\0') return true;
    for (size_t i = 0; i < sizeof passed_over / sizeof passed_over[0]; i++)
        if (strcmp(key, passed_over[i]) == 0) return true;
    return false;
}

static void note(struct compare *compare, const char *path, const json_t *a, const json_t *b) {
    json_t *difference =
        json_pack("{s:s,s:s,s:O*,s:O*}", "node", compare->node, "path", path, "a", a, "b", b);
    bool fine = difference != NULL;
    if (fine && a == NULL) fine = json_object_set_new(difference, "a", json_null()) == 0;
    if (fine && b == NULL) fine = json_object_set_new(difference, "b", json_null()) == 0;
    if (json_array_append_new(compare->differences, difference) != 0) fine = false;
    if (!fine) compare->failed = true;
}

static void compare_values(struct compare *compare, const char *path, const json_t *a, const json_t *b);

static void compare_member(struct compare *compare, const char *path, const char *key, const json_t *a,
                           const json_t *b) {
    char deeper[PATH_BYTES];
    snprintf(deeper, sizeof deeper, "%s%s%s", path, path[0] == '\0' ? "" : ".", key);
    compare_values(compare, deeper, a, b);
}

static void compare_objects(struct compare *compare, const char *path, const json_t *a, const json_t *b) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)a, key, value) {
        if (!is_passed_over(key, path)) compare_member(compare, path, key, value, json_object_get(b, key));
    }
    json_object_foreach((json_t *)b, key, value) {
        if (!is_passed_over(key, path) && json_object_get(a, key) == NULL)
            compare_member(compare, path, key, NULL, value);
    }
}

static bool same_name(const json_t *a, const json_t *b) {
    if (!json_is_object(a) || !json_is_object(b)) return json_equal(a, b);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const json_t *left = json_object_get(a, names[i]);
        const json_t *right = json_object_get(b, names[i]);
        if (left != right && (left == NULL || right == NULL || !json_equal(left, right))) return false;
    }
    return true;
}

static const json_t *find_like(const json_t *list, const json_t *element, size_t near) {
    // Both are sorted alike, so the right one is mostly at the same place.
    if (same_name(json_array_get(list, near), element)) return json_array_get(list, near);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (same_name(json_array_get(list, i), element)) return json_array_get(list, i);
    return NULL;
}

// What names an element, for people: "uid/driver/pool/device".
static void name_of(const json_t *element, char *buffer, size_t size) {
    size_t len = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof names[0] && json_is_object(element); i++) {
        const json_t *value = json_object_get(element, names[i]);
        const char *before = len > 0 ? "/" : "";
        int got = 0;
        if (json_is_string(value) && json_string_length(value) > 0)
            got = snprintf(buffer + len, size - len, "%s%s", before, json_string_value(value));
        else if (json_is_integer(value))
            got = snprintf(buffer + len, size - len, "%s%lld", before, (long long)json_integer_value(value));
        if (got > 0) len += (size_t)got;
        if (len >= size) return;
    }
}

static void compare_lists(struct compare *compare, const char *path, const json_t *a, const json_t *b) {
    char deeper[PATH_BYTES];
    char name[PATH_BYTES / 2];
    for (size_t i = 0; i < json_array_size(a); i++) {
        const json_t *element = json_array_get(a, i);
        name_of(element, name, sizeof name);
        snprintf(deeper, sizeof deeper, "%s[%s]", path, name);
        compare_values(compare, deeper, element, find_like(b, element, i));
    }
    for (size_t i = 0; i < json_array_size(b); i++) {
        const json_t *element = json_array_get(b, i);
        if (find_like(a, element, i) != NULL) continue;
        name_of(element, name, sizeof name);
        snprintf(deeper, sizeof deeper, "%s[%s]", path, name);
        note(compare, deeper, NULL, element);
    }
}

// Recursion is as deep as the form of the ledger.
static void compare_values(struct compare *compare, const char *path, const json_t *a, const json_t *b) {
    if (json_is_object(a) && json_is_object(b))
        compare_objects(compare, path, a, b);
    else if (json_is_array(a) && json_is_array(b))
        compare_lists(compare, path, a, b);
    else if (a == NULL || b == NULL || !json_equal(a, b))
        note(compare, path, a, b);
}

static void compare_nodes(struct compare *compare, const json_t *a, const json_t *b) {
    for (size_t i = 0; i < json_array_size(a); i++) {
        const json_t *node = json_array_get(a, i);
        const json_t *other = find_like(b, node, i);
        compare->node = json_string_value(json_object_get(node, "name"));
        if (compare->node == NULL) compare->node = "";
        if (other == NULL)
            note(compare, "", node, NULL);
        else
            compare_objects(compare, "", node, other);
    }
    for (size_t i = 0; i < json_array_size(b); i++) {
        const json_t *node = json_array_get(b, i);
        compare->node = json_string_value(json_object_get(node, "name"));
        if (compare->node == NULL) compare->node = "";
        if (find_like(a, node, i) == NULL) note(compare, "", NULL, node);
    }
}

json_t *ledger_compare(const json_t *a, const json_t *b) {
    struct compare compare = {.differences = json_array()};
    if (compare.differences == NULL) return NULL;
    compare_nodes(&compare, json_object_get(a, "nodes"), json_object_get(b, "nodes"));
    compare.node = "";
    compare_values(&compare, "unplaced", json_object_get(a, "unplaced"), json_object_get(b, "unplaced"));
    if (!compare.failed) return compare.differences;
    json_decref(compare.differences);
    return NULL;
}
