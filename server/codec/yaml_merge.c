// SPDX-License-Identifier: Apache-2.0
// Merge keys (<<). What must go is overwritten with blanks, so that no offset ever moves.
// Source: go.yaml.in/yaml/v2 v2.4.4 decode.go, merge and mapping.
#include "server/codec/yaml_bridge.h"

struct member {
    struct text key; // as it stands in the JSON
    struct span range;
    bool merged;
};
struct member_list {
    struct member *items;
    size_t count;
};

// --- Walking over what was written. It is well-formed, so this needs no checks. ---

static size_t skip_string(const char *json, size_t at) {
    for (at++; json[at] != '"'; at++)
        if (json[at] == '\\') at++;
    return at + 1;
}

static bool ends_scalar(char byte) {
    return byte == ',' || byte == '}' || byte == ']' || byte == ' ';
}

static size_t skip_value(const char *json, size_t at) {
    if (json[at] == '"') return skip_string(json, at);
    if (json[at] != '{' && json[at] != '[') {
        while (!ends_scalar(json[at])) at++;
        return at;
    }
    size_t depth = 0;
    do {
        if (json[at] == '"') {
            at = skip_string(json, at);
            continue;
        }
        if (json[at] == '{' || json[at] == '[') depth++;
        if (json[at] == '}' || json[at] == ']') depth--;
        at++;
    } while (depth > 0);
    return at;
}

static size_t skip_blanks(const char *json, size_t at) {
    while (json[at] == ' ' || json[at] == ',') at++;
    return at;
}

// --- Overwriting ---

// Values in the range that an alias may still ask for are copied first.
static bool keep_anchors(struct bridge *bridge, struct span range) {
    for (size_t i = 0; i < bridge->anchors.count; i++) {
        struct anchor *anchor = &bridge->anchors.items[i];
        if (anchor->is_scalar || anchor->open || anchor->kept != NULL) continue;
        if (anchor->range.begin < range.begin || anchor->range.end > range.end) continue;
        size_t count = anchor->range.end - anchor->range.begin;
        char *copy = arena_alloc(bridge->arena, count);
        if (copy == NULL) return bridge_fail_memory(bridge);
        memcpy(copy, bridge->out + anchor->range.begin, count);
        anchor->kept = copy;
    }
    return true;
}

static bool overwrite(struct bridge *bridge, struct span range) {
    if (!keep_anchors(bridge, range)) return false;
    memset(bridge->out + range.begin, ' ', range.end - range.begin);
    return true;
}

// --- The end of a mapping ---

static int compare_members(const void *left, const void *right) {
    const struct member *a = left;
    const struct member *b = right;
    int order = text_compare(a->key, b->key);
    if (order != 0) return order;
    return a->range.begin < b->range.begin ? -1 : a->range.begin > b->range.begin;
}

static bool list_members(struct bridge *bridge, const struct frame *frame, struct member_list *ret_list) {
    const char *json = bridge->out;
    size_t merged = 0;
    for (size_t at = skip_blanks(json, frame->begin + 1); at < bridge->len; at = skip_blanks(json, at)) {
        struct member *member = LIST_APPEND(bridge->arena, ret_list);
        if (member == NULL) return bridge_fail_memory(bridge);
        member->range.begin = at;
        at = skip_string(json, at);
        member->key = (struct text){json + member->range.begin, at - member->range.begin};
        at = skip_value(json, at + 1);
        member->range.end = at;
        while (merged < frame->merged.count && frame->merged.items[merged].end <= member->range.begin)
            merged++;
        member->merged =
            merged < frame->merged.count && frame->merged.items[merged].begin <= member->range.begin;
    }
    return true;
}

// Overwrites a member and the comma behind it. There is one: a later member of the same key stands.
static bool drop_member(struct bridge *bridge, const struct member *member) {
    size_t comma = member->range.end;
    while (bridge->out[comma] == ' ') comma++;
    bridge->out[comma] = ' ';
    return overwrite(bridge, member->range);
}

bool bridge_drop_overridden(struct bridge *bridge, const struct frame *frame) {
    struct member_list list = {0};
    // Room for the bracket that ends the walk; it is written again when the mapping ends.
    if (!bridge_reserve(bridge, 1)) return false;
    bridge->out[bridge->len] = '}';
    if (!list_members(bridge, frame, &list)) return false;
    if (list.count > 1) qsort(list.items, list.count, sizeof *list.items, compare_members);
    for (size_t i = 0; i < list.count; i++) {
        size_t last = i;
        while (last + 1 < list.count && text_equal(list.items[last + 1].key, list.items[i].key)) last++;
        for (; i < last; i++) {
            bool overridden = list.items[i].merged || list.items[last].merged;
            if (overridden && !drop_member(bridge, &list.items[i])) return false;
        }
    }
    return true;
}

// --- The end of a merge key's value ---

// Adds the members of one mapping.
static bool put_members(struct bridge *bridge, struct frame *frame, struct span mapping, size_t last_place) {
    struct span inner = {mapping.begin + 1, mapping.end - 1};
    if (skip_blanks(bridge->out, inner.begin) >= inner.end) return true;
    if (!bridge_begin_value(bridge)) return false;
    struct span *span = LIST_APPEND(bridge->arena, &frame->merged);
    if (span == NULL) return bridge_fail_memory(bridge);
    span->begin = bridge->len;
    struct span places = {frame->merge_place, last_place};
    if (!bridge_put_range(bridge, NULL, inner, places)) return false;
    span->end = bridge->len;
    return true;
}

bool bridge_end_merge(struct bridge *bridge, struct frame *frame, const yaml_mark_t *mark) {
    struct span value = {frame->merge_begin, bridge->len};
    size_t last_place = bridge->place_count;
    struct span_list items = {0};
    bool is_list = bridge->out[value.begin] == '[';
    size_t at = is_list ? skip_blanks(bridge->out, value.begin + 1) : value.begin;
    size_t end = is_list ? value.end - 1 : value.end;
    while (at < end) {
        if (bridge->out[at] != '{')
            return bridge_fail(bridge, mark, FAULT_INPUT,
                               "a merge key (<<) takes a mapping or a list of mappings");
        struct span *item = LIST_APPEND(bridge->arena, &items);
        if (item == NULL) return bridge_fail_memory(bridge);
        item->begin = at;
        item->end = at = skip_value(bridge->out, at);
        while (at < end && (bridge->out[at] == ' ' || bridge->out[at] == ',')) at++;
    }
    frame->wants_value = false;
    frame->merges = false;
    // Earlier mappings of a list take precedence, so they come last.
    for (size_t i = items.count; i > 0; i--)
        if (!put_members(bridge, frame, items.items[i - 1], last_place)) return false;
    return overwrite(bridge, value);
}
