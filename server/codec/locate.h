// SPDX-License-Identifier: Apache-2.0
// From the path of a finding to the bytes that it is about, and from bytes to line and column.
#ifndef DRAWBRIDGE_CODEC_LOCATE_H
#define DRAWBRIDGE_CODEC_LOCATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "validators/core/text.h"

// Where a path ends in JSON text.
struct json_spot {
    size_t key;       // offset of the key's opening quote; of the value for items and the root
    size_t value;     // offset of the value
    size_t value_end; // one past it
    bool exact;       // false: the path goes on, but there is nothing; the spot is the last that was there
};

// Where the elements of an array begin, so that the findings of a long list are found in one walk.
struct located_array {
    size_t offset; // of its bracket
    const uint32_t *elements;
    size_t count;
};
#define LOCATE_ARRAYS 4u

// The findings of one object ask the same object over and over.
struct locator {
    struct text json;
    struct arena *arena;
    struct located_array arrays[LOCATE_ARRAYS];
    unsigned array_count;
    struct text prefix; // of the last path, up to its first bracket, and where it led
    struct json_spot prefix_spot;
};

// What it does: starts to locate in one well-formed JSON value. The arena keeps what was learnt of long
// arrays.
void locator_init(struct locator *locator, struct text json, struct arena *arena);

// What it does: walks a path, which must outlive the locator, as upstream prints it
// (`spec.devices[0].capacity[dra.example.com/cpu].value`). Of a key that is there twice the last one counts.
// v1beta1's `basic` level, which paths leave out, and the `exactly` level, which flat requests do not have,
// are passed over.
struct json_spot locator_find(struct locator *locator, struct text path);

// Where the lines of a text begin. Built when it is first asked.
struct line_index {
    struct text text;
    uint32_t *starts; // NULL until built
    size_t count;
};

void line_index_release(struct line_index *index);

// What it does: line and column (from 1, in characters; in bytes on lines longer than LINE_COUNTED_BYTES) of
// a byte. Errors: both 0 when memory ran out.
#define LINE_COUNTED_BYTES 65536u
void line_index_place(struct line_index *index, size_t offset, uint32_t *ret_line, uint32_t *ret_column);

// What it does: a line without its end; empty when there is no such line.
struct text line_index_line(struct line_index *index, uint32_t line);

#endif
