// SPDX-License-Identifier: Apache-2.0
// Writing the JSON of a YAML document into a buffer that grows, and the places beside it.
#include "server/codec/yaml_bridge.h"

#define SMALL_STRING_BYTES 4096u // up to here room is made for the worst case at once

bool bridge_fail(struct bridge *bridge, const yaml_mark_t *mark, enum fault_code code, const char *words) {
    bridge->error.line = (uint32_t)mark->line + bridge->first_line;
    bridge->error.column = (uint32_t)mark->column + 1;
    return fault_set(bridge->fault, code, "%s", words);
}

bool bridge_fail_memory(struct bridge *bridge) {
    return fault_set(bridge->fault, FAULT_MEMORY, "the document needs more memory than %zu bytes as JSON",
                     bridge->arena->cap_bytes);
}

static bool grow(struct bridge *bridge, size_t more) {
    size_t capacity = bridge->capacity * 2;
    if (capacity < bridge->len + more) capacity = bridge->len + more;
    char *grown = capacity > UINT32_MAX ? NULL : arena_alloc(bridge->arena, capacity);
    if (grown == NULL) return bridge_fail_memory(bridge);
    memcpy(grown, bridge->out, bridge->len);
    bridge->out = grown;
    bridge->capacity = capacity;
    return true;
}

bool bridge_reserve(struct bridge *bridge, size_t more) {
    return bridge->capacity - bridge->len >= more || grow(bridge, more);
}

bool bridge_put_bytes(struct bridge *bridge, const char *bytes, size_t count) {
    if (!bridge_reserve(bridge, count)) return false;
    memcpy(bridge->out + bridge->len, bytes, count);
    bridge->len += count;
    return true;
}

static bool put_place(struct bridge *bridge, struct yaml_place place) {
    if (bridge->place_count == bridge->place_capacity) {
        size_t capacity = bridge->place_capacity * 2;
        struct yaml_place *grown = arena_alloc(bridge->arena, capacity * sizeof *grown);
        if (grown == NULL) return bridge_fail_memory(bridge);
        memcpy(grown, bridge->places, bridge->place_count * sizeof *grown);
        bridge->places = grown;
        bridge->place_capacity = capacity;
    }
    bridge->places[bridge->place_count++] = place;
    return true;
}

bool bridge_put_mark(struct bridge *bridge, const yaml_mark_t *mark) {
    struct yaml_place place = {(uint32_t)bridge->len, (uint32_t)mark->line + bridge->first_line,
                               (uint32_t)mark->column + 1};
    return put_place(bridge, place);
}

// Bytes that JSON writes as they are: all but controls, the quote and the backslash.
static inline bool is_plain(unsigned char byte) {
    return byte >= 0x20 && byte != '"' && byte != '\\';
}

static char *put_escape(char *at, unsigned char byte) {
    static const char hex[] = "0123456789abcdef";
    *at++ = '\\';
    switch (byte) {
    case '"':
    case '\\': *at++ = (char)byte; return at;
    case '\n': *at++ = 'n'; return at;
    case '\r': *at++ = 'r'; return at;
    case '\t': *at++ = 't'; return at;
    default: break;
    }
    *at++ = 'u';
    *at++ = '0';
    *at++ = '0';
    *at++ = hex[byte >> 4];
    *at++ = hex[byte & 15];
    return at;
}

// The most bytes that a text takes between its quotes.
static size_t escaped_most(struct text text) {
    if (text.len <= SMALL_STRING_BYTES) return text.len * 6;
    size_t escapes = 0;
    for (size_t i = 0; i < text.len; i++) escapes += !is_plain((unsigned char)text.ptr[i]);
    return text.len + escapes * 5;
}

bool bridge_put_string(struct bridge *bridge, struct text text) {
    if (!bridge_reserve(bridge, escaped_most(text) + 2)) return false;
    char *at = bridge->out + bridge->len;
    *at++ = '"';
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        if (is_plain(byte))
            *at++ = (char)byte;
        else
            at = put_escape(at, byte);
    }
    *at++ = '"';
    bridge->len = (size_t)(at - bridge->out);
    return true;
}

bool bridge_put_range(struct bridge *bridge, const char *from, struct span range, struct span places) {
    size_t count = range.end - range.begin;
    if (count > YAML_ALIAS_BYTES_LIMIT - bridge->alias_bytes)
        return fault_set(bridge->fault, FAULT_LIMIT, "aliases add more than %zu bytes to the document",
                         YAML_ALIAS_BYTES_LIMIT);
    bridge->alias_bytes += count;
    size_t begin = bridge->len;
    if (!bridge_reserve(bridge, count)) return false;
    memcpy(bridge->out + begin, from != NULL ? from : bridge->out + range.begin, count);
    bridge->len += count;
    for (size_t i = places.begin; i < places.end; i++) {
        struct yaml_place place = bridge->places[i];
        if (place.json_offset < range.begin || place.json_offset >= range.end) continue;
        place.json_offset = (uint32_t)(place.json_offset - range.begin + begin);
        if (!put_place(bridge, place)) return false;
    }
    return true;
}

bool bridge_begin_value(struct bridge *bridge) {
    if (bridge->depth == 0) return true;
    struct frame *frame = &bridge->frames[bridge->depth - 1];
    if (frame->wants_value) return frame->merges || bridge_put_bytes(bridge, ":", 1);
    if (frame->filled) return bridge_put_bytes(bridge, ",", 1);
    frame->filled = true;
    return true;
}
