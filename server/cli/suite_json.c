// SPDX-License-Identifier: Apache-2.0
// Whether one JSON value holds another.
#include "server/cli/suite_run.h"

struct json_part {
    struct text key;
    struct text value;
};
struct json_part_list {
    struct json_part *items;
    size_t count;
};

static bool parts_of(struct arena *arena, struct text json, bool is_object, struct json_part_list *ret_list) {
    struct json_reader *reader = arena_alloc(arena, sizeof *reader);
    struct finding_list findings;
    struct json_iterator iterator = {0};
    struct text key = {NULL, 0};
    struct fault fault;
    if (reader == NULL) return false;
    finding_list_init(&findings, arena);
    json_init(reader, json, arena, &findings, JSON_WIRE);
    while (is_object ? json_member(reader, &iterator, &key) : json_element(reader, &iterator)) {
        struct json_part *part = JSON_APPEND(reader, ret_list);
        if (part == NULL) return false;
        part->key = key;
        json_raw(reader, &part->value);
    }
    return json_finish(reader, &fault);
}

static struct text string_of(struct arena *arena, struct text json) {
    struct json_reader *reader = arena_alloc(arena, sizeof *reader);
    struct finding_list findings;
    struct text text = {NULL, 0};
    if (reader == NULL) return text;
    finding_list_init(&findings, arena);
    json_init(reader, json, arena, &findings, JSON_WIRE);
    json_text(reader, &text);
    return text;
}

static bool differs(struct text path, struct text *ret_path) {
    *ret_path = path;
    return false;
}

static bool object_holds(struct arena *arena, const struct json_part_list *want,
                         const struct json_part_list *have, struct text path, struct text *ret_path) {
    for (size_t i = 0; i < want->count; i++) {
        struct text inner = text_format(arena, "%.*s%s%.*s", TEXT_ARG(path), path.len > 0 ? "." : "",
                                        TEXT_ARG(want->items[i].key));
        size_t at = 0;
        while (at < have->count && !text_equal(have->items[at].key, want->items[i].key)) at++;
        if (at == have->count) return differs(inner, ret_path);
        if (!suite_json_holds(arena, want->items[i].value, have->items[at].value, inner, ret_path))
            return false;
    }
    return true;
}

static bool list_holds(struct arena *arena, const struct json_part_list *want,
                       const struct json_part_list *have, struct text path, struct text *ret_path) {
    size_t at = 0;
    if (want->count == 0 && have->count > 0) return differs(path, ret_path);
    for (size_t i = 0; i < want->count; i++) {
        struct text inner = text_format(arena, "%.*s[%zu]", TEXT_ARG(path), i);
        struct text place = inner;
        while (at < have->count &&
               !suite_json_holds(arena, want->items[i].value, have->items[at].value, inner, &place))
            at++;
        if (at == have->count) return differs(place, ret_path);
        at++;
    }
    return true;
}

bool suite_json_holds(struct arena *arena, struct text want, struct text have, struct text path,
                      struct text *ret_path) {
    char first = want.len > 0 ? want.ptr[0] : '\0';
    if (have.len == 0 || have.ptr[0] != first) return text_equal(want, have) || differs(path, ret_path);
    if (first == '"')
        return text_equal(string_of(arena, want), string_of(arena, have)) || differs(path, ret_path);
    if (first != '{' && first != '[') return text_equal(want, have) || differs(path, ret_path);
    struct json_part_list of_want = {NULL, 0};
    struct json_part_list of_have = {NULL, 0};
    if (!parts_of(arena, want, first == '{', &of_want) || !parts_of(arena, have, first == '{', &of_have))
        return differs(path, ret_path);
    return first == '{' ? object_holds(arena, &of_want, &of_have, path, ret_path)
                        : list_holds(arena, &of_want, &of_have, path, ret_path);
}
