// SPDX-License-Identifier: Apache-2.0
// Text is a pointer and a length, owned by somebody else; NUL bytes are legal in it.
#ifndef DRAWBRIDGE_CORE_TEXT_H
#define DRAWBRIDGE_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "validators/core/arena.h"
#include "validators/core/banned.h"

struct text {
    const char *ptr; // may be NULL when len is 0
    size_t len;      // in bytes
};

#define TEXT(literal) ((struct text){(literal), sizeof(literal) - 1})
#define TEXT_INIT(literal)                                                                                   \
    { (literal), sizeof(literal) - 1 }
// For printf: printf("%.*s", TEXT_ARG(t)).
#define TEXT_ARG(text) (int)((text).len > 65536 ? 65536 : (text).len), (text).ptr == NULL ? "" : (text).ptr

static inline bool text_equal(struct text a, struct text b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool text_is_empty(struct text text) {
    return text.len == 0;
}

// A view of a NUL-terminated string.
struct text text_of(const char *string);

// Byte order, as Go compares strings: negative, zero, positive.
int text_compare(struct text a, struct text b);

bool text_starts_with(struct text text, struct text prefix);
bool text_ends_with(struct text text, struct text suffix);

// The index of a byte at or after from, or text.len when there is none.
size_t text_find(struct text text, char byte, size_t from);

// Bytes from start up to end (not included); both are clamped to the text.
struct text text_slice(struct text text, size_t start, size_t end);

// What it does: printf into the arena. Owner: the arena (NUL-terminated behind the length).
// Errors: an empty text when the arena is poisoned.
struct text text_format(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

// What it does: a copy in the arena, NUL-terminated behind the length. Errors: an empty text, arena poisoned.
struct text text_copy(struct arena *arena, struct text text);

// What it does: makes text fit for a message: control bytes, DEL, invalid UTF-8 and direction marks become
// \xNN or \uNNNN, quotes and backslashes are escaped, and what is longer than limit_bytes is cut at a
// character with "…".
struct text text_printable(struct arena *arena, struct text text, size_t limit_bytes);

// What it does: the number of bytes of the well-formed UTF-8 sequence at text.ptr, 0 when there is none.
// Source: Unicode 15, table 3-7 (as Go's utf8.DecodeRune).
size_t text_utf8_len(struct text text);

// What it does: reads a decimal integer, all of the text. Errors: false when it is not one or leaves int64.
bool text_to_int64(struct text text, int64_t *ret_value) __attribute__((warn_unused_result));

// What it does: how many single-byte edits turn a into b, at most limit (then limit + 1 is returned).
// For "did you mean"; texts over 64 bytes count as far apart.
size_t text_distance(struct text a, struct text b, size_t limit);

#endif
