// SPDX-License-Identifier: Apache-2.0
// The writer into a fixed buffer, with JSON escaping.
#include "server/out.h"

#include <stdarg.h>
#include <stdio.h>

void out_text(struct out *out, struct text text) {
    if (text.len > out->cap_bytes - out->len) {
        out->full = true;
        return;
    }
    if (text.len > 0) memcpy(out->ptr + out->len, text.ptr, text.len);
    out->len += text.len;
}

void out_int64(struct out *out, int64_t value) {
    char digits[24];
    size_t at = sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (value < 0) digits[--at] = '-';
    out_text(out, (struct text){digits + at, sizeof digits - at});
}

void out_format(struct out *out, const char *format, ...) {
    size_t room_bytes = out->cap_bytes - out->len;
    va_list args;
    va_start(args, format);
    int len = room_bytes == 0 ? -1 : vsnprintf(out->ptr + out->len, room_bytes, format, args);
    va_end(args);
    if (len < 0 || (size_t)len >= room_bytes)
        out->full = true;
    else
        out->len += (size_t)len;
}

// Bytes that stand for themselves in a JSON string: printable ASCII but for the quote and the backslash.
static bool is_plain(unsigned char byte) {
    return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

// The escaped form of one character at text.ptr; returns how many bytes of the text it stands for.
static size_t escape_one(struct text text, char ret_form[8], size_t *ret_len) {
    static const char hex[] = "0123456789abcdef";
    unsigned char byte = (unsigned char)text.ptr[0];
    if (byte >= 0x80) {
        size_t len = text_utf8_len(text);
        if (len == 0) {
            memcpy(ret_form, "\\ufffd", 6);
            *ret_len = 6;
            return 1;
        }
        memcpy(ret_form, text.ptr, len);
        *ret_len = len;
        return len;
    }
    ret_form[0] = '\\';
    *ret_len = 2;
    switch (byte) {
    case '"':
    case '\\': ret_form[1] = (char)byte; return 1;
    case '\n': ret_form[1] = 'n'; return 1;
    case '\r': ret_form[1] = 'r'; return 1;
    case '\t': ret_form[1] = 't'; return 1;
    default: break;
    }
    memcpy(ret_form, "\\u00", 4);
    ret_form[4] = hex[byte >> 4];
    ret_form[5] = hex[byte & 15];
    *ret_len = 6;
    return 1;
}

void out_json_string(struct out *out, struct text text, size_t limit_bytes) {
    if (out->cap_bytes - out->len < 2) {
        out->full = true;
        return;
    }
    size_t end = limit_bytes > 0 && text.len > limit_bytes ? limit_bytes : text.len;
    out->ptr[out->len++] = '"';
    size_t room_end = out->cap_bytes - 1; // the closing quote always fits
    size_t at = 0;
    while (at < end) {
        size_t run = at;
        size_t room_bytes = room_end - out->len;
        while (run < end && run - at < room_bytes && is_plain((unsigned char)text.ptr[run])) run++;
        if (run > at) {
            memcpy(out->ptr + out->len, text.ptr + at, run - at);
            out->len += run - at;
            at = run;
            continue;
        }
        char form[8];
        size_t form_len;
        size_t used = escape_one((struct text){text.ptr + at, text.len - at}, form, &form_len);
        if (at + used > end || form_len > room_bytes) {
            out->full = out->full || form_len > room_bytes;
            break;
        }
        memcpy(out->ptr + out->len, form, form_len);
        out->len += form_len;
        at += used;
    }
    out->ptr[out->len++] = '"';
}
