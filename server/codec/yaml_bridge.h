// SPDX-License-Identifier: Apache-2.0
// The state of one YAML document that becomes JSON, shared by yaml.c (events), yaml_output.c (what is
// written) and yaml_merge.c (merge keys). Nobody else includes this.
#ifndef DRAWBRIDGE_CODEC_YAML_BRIDGE_H
#define DRAWBRIDGE_CODEC_YAML_BRIDGE_H

#include <yaml.h>

#include "server/codec/yaml.h"
#include "server/codec/yaml_scalar.h"

struct span {
    size_t begin, end;
};
struct span_list {
    struct span *items;
    size_t count;
};

struct anchor {
    struct text name;
    bool open; // its value is still being read
    bool is_scalar;
    bool is_mapping;
    unsigned depth;     // of what it holds
    size_t weight;      // decode steps it takes
    struct span range;  // in the JSON
    struct span places; // of it
    const char *kept;   // a copy, once the range itself was overwritten
    struct yaml_scalar scalar;
};

struct anchor_list {
    struct anchor *items;
    size_t count;
};

struct frame {
    bool is_mapping;
    bool in_brackets; // flow style
    bool wants_value; // a key was written, its value comes
    bool merges;      // the value that comes is that of a merge key
    bool filled;      // something stands behind the bracket already: the next one needs a comma
    size_t begin;     // of the bracket in the JSON
    size_t anchor;    // index + 1 of the anchor that this value completes
    size_t weight;    // decode steps before it
    size_t first_place;
    size_t merge_begin;      // where the value of the merge key begins
    size_t merge_place;      // the first place of it
    struct span_list merged; // members that came by merge keys
    unsigned deepest;        // nesting inside
};

struct bridge {
    struct arena *arena;
    struct fault *fault;
    yaml_parser_t parser;
    uint32_t first_line;
    struct yaml_place error;
    char *out;
    size_t len;
    size_t capacity;
    struct yaml_place *places;
    size_t place_count;
    size_t place_capacity;
    struct anchor_list anchors;
    size_t alias_count;
    size_t alias_bytes;
    size_t decode_count;
    size_t decoded_by_alias;
    unsigned depth;
    struct frame frames[YAML_DEPTH_LIMIT];
};

// What they do: note where and what is wrong. Always false.
bool bridge_fail(struct bridge *bridge, const yaml_mark_t *mark, enum fault_code code, const char *words);
bool bridge_fail_memory(struct bridge *bridge);

// What they do: write. False and a fault when memory or a bound ran out.
bool bridge_reserve(struct bridge *bridge, size_t more) __attribute__((warn_unused_result));
bool bridge_put_bytes(struct bridge *bridge, const char *bytes, size_t count)
    __attribute__((warn_unused_result));
bool bridge_put_string(struct bridge *bridge, struct text text) __attribute__((warn_unused_result));
bool bridge_put_mark(struct bridge *bridge, const yaml_mark_t *mark) __attribute__((warn_unused_result));

// What it does: writes the bytes from begin to end again (from is a copy of them, or NULL), with their
// places.
bool bridge_put_range(struct bridge *bridge, const char *from, struct span range, struct span places)
    __attribute__((warn_unused_result));

// What it does: writes the comma or the colon before a key or a value.
bool bridge_begin_value(struct bridge *bridge) __attribute__((warn_unused_result));

// What it does: the value of a merge key was written as it stands, from frame->merge_begin on; its members
// are written behind it and it is overwritten.
bool bridge_end_merge(struct bridge *bridge, struct frame *frame, const yaml_mark_t *mark)
    __attribute__((warn_unused_result));

// What it does: at the end of a mapping with merge keys, before its bracket is written: the last of equal
// keys stands, as in go-yaml. Keys that were written twice by hand both stay, so that the reader behind tells
// of them.
bool bridge_drop_overridden(struct bridge *bridge, const struct frame *frame)
    __attribute__((warn_unused_result));

#endif
