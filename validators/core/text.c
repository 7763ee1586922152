// SPDX-License-Identifier: Apache-2.0
// Text helpers.
#include "validators/core/text.h"

#include <stdarg.h>
#include <stdio.h>

#define DISTANCE_MAX_BYTES 64u

struct text text_of(const char *string) {
    return (struct text){string, string == NULL ? 0 : strlen(string)};
}

int text_compare(struct text a, struct text b) {
    size_t common = a.len < b.len ? a.len : b.len;
    int order = common == 0 ? 0 : memcmp(a.ptr, b.ptr, common);
    if (order != 0) return order;
    return (a.len > b.len) - (a.len < b.len);
}

bool text_starts_with(struct text text, struct text prefix) {
    return text.len >= prefix.len && (prefix.len == 0 || memcmp(text.ptr, prefix.ptr, prefix.len) == 0);
}

bool text_ends_with(struct text text, struct text suffix) {
    return text.len >= suffix.len &&
           (suffix.len == 0 || memcmp(text.ptr + text.len - suffix.len, suffix.ptr, suffix.len) == 0);
}

size_t text_find(struct text text, char byte, size_t from) {
    if (from >= text.len) return text.len;
    const char *hit = memchr(text.ptr + from, byte, text.len - from);
    return hit == NULL ? text.len : (size_t)(hit - text.ptr);
}

struct text text_slice(struct text text, size_t start, size_t end) {
    if (end > text.len) end = text.len;
    if (start > end) start = end;
    return (struct text){text.ptr == NULL ? NULL : text.ptr + start, end - start};
}

struct text text_format(struct arena *arena, const char *format, ...) {
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *copy = len < 0 ? NULL : arena_alloc(arena, (size_t)len + 1);
    if (copy != NULL) vsnprintf(copy, (size_t)len + 1, format, again);
    va_end(again);
    if (copy == NULL) return (struct text){"", 0};
    return (struct text){copy, (size_t)len};
}

struct text text_copy(struct arena *arena, struct text text) {
    if (text.len == SIZE_MAX) return (struct text){"", 0};
    char *copy = arena_alloc(arena, text.len + 1);
    if (copy == NULL) return (struct text){"", 0};
    if (text.len > 0) memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return (struct text){copy, text.len};
}

size_t text_utf8_len(struct text text) {
    if (text.len == 0) return 0;
    const unsigned char *s = (const unsigned char *)text.ptr;
    if (s[0] < 0x80) return 1;
    size_t need = s[0] >= 0xC2 && s[0] <= 0xDF   ? 2
                  : s[0] >= 0xE0 && s[0] <= 0xEF ? 3
                  : s[0] >= 0xF0 && s[0] <= 0xF4 ? 4
                                                 : 0;
    if (need == 0 || text.len < need) return 0;
    unsigned char low = 0x80;
    unsigned char high = 0xBF;
    if (s[0] == 0xE0) low = 0xA0;
    if (s[0] == 0xED) high = 0x9F;
    if (s[0] == 0xF0) low = 0x90;
    if (s[0] == 0xF4) high = 0x8F;
    if (s[1] < low || s[1] > high) return 0;
    for (size_t i = 2; i < need; i++)
        if (s[i] < 0x80 || s[i] > 0xBF) return 0;
    return need;
}

// Marks that change the direction of what follows, and line separators: a tenant's name must not reorder a
// message.
static bool is_unsafe_character(struct text sequence) {
    static const struct text unsafe[] = {
        TEXT_INIT("\xE2\x80\x8E"), TEXT_INIT("\xE2\x80\x8F"), TEXT_INIT("\xE2\x80\xA8"),
        TEXT_INIT("\xE2\x80\xA9"), TEXT_INIT("\xE2\x80\xAA"), TEXT_INIT("\xE2\x80\xAB"),
        TEXT_INIT("\xE2\x80\xAC"), TEXT_INIT("\xE2\x80\xAD"), TEXT_INIT("\xE2\x80\xAE"),
        TEXT_INIT("\xE2\x81\xA6"), TEXT_INIT("\xE2\x81\xA7"), TEXT_INIT("\xE2\x81\xA8"),
        TEXT_INIT("\xE2\x81\xA9"), TEXT_INIT("\xD8\x9C"),
    };
    if (sequence.len == 2 && (unsigned char)sequence.ptr[0] == 0xC2 && (unsigned char)sequence.ptr[1] < 0xA0)
        return true;
    for (size_t i = 0; i < sizeof unsafe / sizeof unsafe[0]; i++)
        if (text_equal(sequence, unsafe[i])) return true;
    return false;
}

struct text text_printable(struct arena *arena, struct text text, size_t limit_bytes) {
    static const char hex[] = "0123456789abcdef";
    size_t taken = text.len < limit_bytes ? text.len : limit_bytes;
    if (taken > (SIZE_MAX - 8) / 4) return (struct text){"", 0};
    char *out = arena_alloc(arena, taken * 4 + 8);
    if (out == NULL) return (struct text){"", 0};
    size_t at = 0;
    size_t len = 0;
    while (at < text.len) {
        struct text rest = {text.ptr + at, text.len - at};
        size_t width = text_utf8_len(rest);
        size_t step = width == 0 ? 1 : width;
        if (at + step > taken) break;
        unsigned char byte = (unsigned char)rest.ptr[0];
        if (width == 0 || byte < 0x20 || byte == 0x7F ||
            (width > 1 && is_unsafe_character(text_slice(rest, 0, width)))) {
            for (size_t i = 0; i < step; i++) {
                unsigned char b = (unsigned char)rest.ptr[i];
                out[len++] = '\\';
                out[len++] = 'x';
                out[len++] = hex[b >> 4];
                out[len++] = hex[b & 15];
            }
        } else {
            if (byte == '"' || byte == '\\') out[len++] = '\\';
            memcpy(out + len, rest.ptr, step);
            len += step;
        }
        at += step;
    }
    if (at < text.len) {
        memcpy(out + len, "\xE2\x80\xA6", 3);
        len += 3;
    }
    out[len] = '\0';
    return (struct text){out, len};
}

bool text_to_int64(struct text text, int64_t *ret_value) {
    bool negative = text.len > 0 && text.ptr[0] == '-';
    size_t at = negative ? 1 : 0;
    if (at == text.len) return false;
    int64_t value = 0;
    for (; at < text.len; at++) {
        char digit = text.ptr[at];
        if (digit < '0' || digit > '9') return false;
        int64_t step = digit - '0';
        if (__builtin_mul_overflow(value, 10, &value)) return false;
        if (__builtin_sub_overflow(value, step, &value)) return false;
    }
    // Kept negative until here, because the smallest int64 has no positive twin.
    if (!negative && __builtin_sub_overflow((int64_t)0, value, &value)) return false;
    *ret_value = value;
    return true;
}

size_t text_distance(struct text a, struct text b, size_t limit) {
    if (a.len > DISTANCE_MAX_BYTES || b.len > DISTANCE_MAX_BYTES) return limit + 1;
    size_t row[DISTANCE_MAX_BYTES + 1];
    for (size_t j = 0; j <= b.len; j++) row[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t replaced = diagonal + (a.ptr[i - 1] == b.ptr[j - 1] ? 0 : 1);
            size_t moved = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = replaced < moved ? replaced : moved;
        }
    }
    return row[b.len] > limit ? limit + 1 : row[b.len];
}
