// SPDX-License-Identifier: Apache-2.0
// Order-insensitive comparison of JSON texts, without building a tree: members are listed as key and raw
// value, sorted by key, and compared pair by pair.
#include "server/review/same_spec.h"

#include <stdlib.h>

#include "validators/core/json_reader.h"

// Each level reads its text once more, so the depth bounds the work: 32 × the size, and no spec of a kind
// that is judged is deeper outside its opaque parameters.
#define SAME_DEPTH_LIMIT 32u

struct member {
    struct text key;
    struct text value;
};
struct member_list {
    struct member *items;
    size_t count;
};

// A sum over all bytes that are not blanks: the same for the same members in another order, unless strings
// are spelled with escapes. Cheap, so that what has really changed is told apart in one pass.
static uint64_t sum_of(struct text text, bool *ret_escapes) {
    uint64_t sum = 0;
    unsigned escapes = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        sum += byte > ' ' ? byte : 0u;
        escapes |= byte == '\\';
    }
    *ret_escapes = escapes != 0;
    return sum;
}

static int compare_members(const void *a, const void *b) {
    return text_compare(((const struct member *)a)->key, ((const struct member *)b)->key);
}

// The members of an object by key, or the elements of a list in order. False when they cannot be listed: a
// repeated key, too many keys, no memory.
static bool list_members(struct arena *arena, struct text json, enum json_type type,
                         struct member_list *ret_list) {
    struct json_reader *reader = arena_alloc(arena, sizeof *reader);
    struct finding_list findings;
    struct json_iterator iterator = {.open = false};
    struct text key = {NULL, 0};
    struct fault fault;
    if (reader == NULL) return false;
    finding_list_init(&findings, arena);
    json_init(reader, json, arena, &findings, JSON_WIRE);
    while (type == JSON_OBJECT ? json_member(reader, &iterator, &key) : json_element(reader, &iterator)) {
        struct member member = {.key = key};
        if (!json_raw(reader, &member.value)) break;
        struct member *item = LIST_APPEND(arena, ret_list);
        if (item == NULL) return false;
        *item = member;
    }
    if (!json_finish(reader, &fault)) return false;
    if (type == JSON_OBJECT && ret_list->count > 1)
        qsort(ret_list->items, ret_list->count, sizeof *ret_list->items, compare_members);
    return true;
}

static enum json_type type_of(struct text json) {
    switch (json.len > 0 ? json.ptr[0] : '\0') {
    case '{': return JSON_OBJECT;
    case '[': return JSON_ARRAY;
    case '"': return JSON_STRING;
    default: return JSON_NUMBER; // numbers and words: only their bytes count
    }
}

static bool same_string(struct arena *arena, struct text a, struct text b) {
    struct text texts[2] = {{NULL, 0}, {NULL, 0}};
    struct json_reader *reader = arena_alloc(arena, sizeof *reader);
    struct finding_list findings;
    if (reader == NULL) return false;
    finding_list_init(&findings, arena);
    json_init(reader, a, arena, &findings, JSON_WIRE);
    bool fine = json_text(reader, &texts[0]);
    json_init(reader, b, arena, &findings, JSON_WIRE);
    return fine && json_text(reader, &texts[1]) && text_equal(texts[0], texts[1]);
}

static bool same_value(struct arena *arena, struct text a, struct text b, unsigned depth) {
    if (text_equal(a, b)) return true;
    enum json_type type = type_of(a);
    if (type != type_of(b) || depth >= SAME_DEPTH_LIMIT) return false;
    if (type == JSON_STRING) return same_string(arena, a, b);
    if (type == JSON_NUMBER) return false;
    struct member_list of_a = {NULL, 0};
    struct member_list of_b = {NULL, 0};
    if (!list_members(arena, a, type, &of_a) || !list_members(arena, b, type, &of_b) ||
        of_a.count != of_b.count)
        return false;
    for (size_t i = 0; i < of_a.count; i++)
        if (!text_equal(of_a.items[i].key, of_b.items[i].key) ||
            !same_value(arena, of_a.items[i].value, of_b.items[i].value, depth + 1))
            return false;
    return true;
}

bool same_json(struct arena *arena, struct text a, struct text b) {
    if (text_equal(a, b)) return true;
    if (a.len == 0 || b.len == 0) return false;
    bool escapes_a;
    bool escapes_b;
    bool same_sum = sum_of(a, &escapes_a) == sum_of(b, &escapes_b);
    return (same_sum || escapes_a || escapes_b) && same_value(arena, a, b, 0);
}
