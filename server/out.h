// SPDX-License-Identifier: Apache-2.0
// A writer into a buffer of fixed size: log lines and answers are built in one pass, without the heap.
// What does not fit is left out and `full` is set; nothing is ever written past the end.
#ifndef DRAWBRIDGE_OUT_H
#define DRAWBRIDGE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "validators/core/text.h"

struct out {
    char *ptr;
    size_t len;
    size_t cap_bytes;
    bool full; // something was left out
};

static inline struct out out_of(char *ptr, size_t cap_bytes) {
    return (struct out){.ptr = ptr, .cap_bytes = cap_bytes};
}

// Appends bytes as they are, all or none.
void out_text(struct out *out, struct text text);
#define OUT_LITERAL(out, literal) out_text((out), TEXT(literal))

// Appends a decimal number.
void out_int64(struct out *out, int64_t value);

// Appends printf text, all or none. Not for hot paths.
void out_format(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

// What it does: appends a JSON string with its quotes. Control bytes are escaped, bytes that are not UTF-8
// become U+FFFD. Only whole characters are written; when the room ends the string is closed early and `full`
// is set. limit_bytes cuts the text (0: no limit).
void out_json_string(struct out *out, struct text text, size_t limit_bytes);

#endif
