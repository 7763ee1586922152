// SPDX-License-Identifier: Apache-2.0
// The lexical part of reading JSON: where strings, numbers and whole values end, and what a string means.
// No state, no memory. Structure is strict; invalid UTF-8 and lone surrogates are let through, as Go does.
#ifndef DRAWBRIDGE_CORE_JSON_SCAN_H
#define DRAWBRIDGE_CORE_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "validators/core/text.h"

enum json_error {
    JSON_FINE,
    JSON_SYNTAX,
    JSON_TRUNCATED,
    JSON_DEPTH,
    JSON_DUPLICATE_KEY,
    JSON_KEYS,
    JSON_MEMORY
};

// How a string was written: as it is to be read, or with something to undo or replace.
enum json_spelling { JSON_PLAIN, JSON_ESCAPED };

static inline bool json_is_blank(char byte) {
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

static inline const char *json_scan_blanks(const char *at, const char *end) {
    while (at < end && json_is_blank(*at)) at++;
    return at;
}

// What it does: the first byte at or after `at` that is not plain string content: a quote, a backslash, a
// control, or a byte above ASCII; or end.
static inline const char *json_scan_plain(const char *at, const char *end) {
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');
    const __m128i space = _mm_set1_epi8(' ');
    while (end - at >= 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        // Signed: bytes above ASCII are negative, so one comparison finds them and the controls.
        __m128i stops =
            _mm_or_si128(_mm_cmplt_epi8(bytes, space),
                         _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
        int mask = _mm_movemask_epi8(stops);
        if (mask != 0) return at + __builtin_ctz((unsigned)mask);
        at += 16;
    }
#endif
    while (at < end && (unsigned char)*at >= ' ' && (unsigned char)*at < 0x80 && *at != '"' && *at != '\\')
        at++;
    return at;
}

// What they do: move *at past a string (from behind its opening quote to its closing quote), a number, or a
// whole value of any kind. Errors: *at is then where it went wrong. depth_left: how many levels of nesting
// the value may open.
enum json_error json_scan_string(const char **at, const char *end, enum json_spelling *ret_spelling);
enum json_error json_scan_number(const char **at, const char *end);
enum json_error json_scan_value(const char **at, const char *end, size_t depth_left);

// What it does: the meaning of what stands between the quotes of a valid string. Bad UTF-8 and lone
// surrogates become U+FFFD. Returns the length in bytes; writes it to out unless out is NULL.
// Source: Go encoding/json decode.go, unquoteBytes.
size_t json_unescape(struct text raw, char *out);

#endif
