// SPDX-License-Identifier: Apache-2.0
// Where JSON tokens end, and what strings mean.
#include "validators/core/json_scan.h"

#include <stdint.h>

#define NESTING_LIMIT 10000u // levels that the bits below can hold

static enum json_error stopped_at(const char *at, const char *end) {
    return at >= end ? JSON_TRUNCATED : JSON_SYNTAX;
}

static bool is_digit(char byte) {
    return byte >= '0' && byte <= '9';
}

// The value of a hexadecimal digit, or -1.
static int hex_value(char byte) {
    if (is_digit(byte)) return byte - '0';
    if (byte >= 'a' && byte <= 'f') return byte - 'a' + 10;
    if (byte >= 'A' && byte <= 'F') return byte - 'A' + 10;
    return -1;
}

// Moves past one escape; *at is behind the backslash.
static enum json_error scan_escape(const char **at, const char *end) {
    if (*at >= end) return JSON_TRUNCATED;
    char kind = *(*at);
    if (kind != 'u') {
        if (memchr("\"\\/bfnrt", kind, 8) == NULL) return JSON_SYNTAX;
        (*at)++;
        return JSON_FINE;
    }
    for (int i = 0; i < 4; i++) {
        (*at)++;
        if (*at >= end || hex_value(**at) < 0) return stopped_at(*at, end);
    }
    (*at)++;
    return JSON_FINE;
}

enum json_error json_scan_string(const char **at, const char *end, enum json_spelling *ret_spelling) {
    enum json_spelling spelling = JSON_PLAIN;
    const char *p = *at;
    for (;;) {
        p = json_scan_plain(p, end);
        *at = p;
        if (p >= end) return JSON_TRUNCATED;
        if (*p == '"') break;
        if (*p == '\\') {
            spelling = JSON_ESCAPED;
            p++;
            enum json_error error = scan_escape(&p, end);
            *at = p;
            if (error != JSON_FINE) return error;
            continue;
        }
        if ((unsigned char)*p < 0x20) return JSON_SYNTAX;
        size_t width = text_utf8_len((struct text){p, (size_t)(end - p)});
        if (width == 0) spelling = JSON_ESCAPED;
        p += width == 0 ? 1 : width;
    }
    *ret_spelling = spelling;
    return JSON_FINE;
}

static const char *scan_digits(const char *at, const char *end) {
    while (at < end && is_digit(*at)) at++;
    return at;
}

enum json_error json_scan_number(const char **at, const char *end) {
    const char *p = *at;
    if (p < end && *p == '-') p++;
    *at = p;
    if (p >= end || !is_digit(*p)) return stopped_at(p, end);
    p = *p == '0' ? p + 1 : scan_digits(p, end);
    if (p < end && *p == '.') {
        const char *digits = p + 1;
        p = scan_digits(digits, end);
        *at = p;
        if (p == digits) return stopped_at(p, end);
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-')) p++;
        const char *digits = p;
        p = scan_digits(digits, end);
        *at = p;
        if (p == digits) return stopped_at(p, end);
    }
    *at = p;
    return JSON_FINE;
}

static enum json_error scan_literal(const char **at, const char *end, const char *word) {
    for (; *word != '\0'; word++, (*at)++)
        if (*at >= end || **at != *word) return stopped_at(*at, end);
    return JSON_FINE;
}

// Moves past a string whose meaning nobody asks for; *at is at its opening quote.
static enum json_error scan_quoted(const char **at, const char *end) {
    (*at)++;
    enum json_spelling spelling;
    enum json_error error = json_scan_string(at, end, &spelling);
    if (error == JSON_FINE) (*at)++;
    return error;
}

static enum json_error scan_scalar(const char **at, const char *end) {
    if (*at >= end) return JSON_TRUNCATED;
    switch (**at) {
    case '"': return scan_quoted(at, end);
    case 't': return scan_literal(at, end, "true");
    case 'f': return scan_literal(at, end, "false");
    case 'n': return scan_literal(at, end, "null");
    default: return json_scan_number(at, end);
    }
}

// Moves past `"key" :` and the blanks around it.
static enum json_error scan_key(const char **at, const char *end) {
    if (*at >= end || **at != '"') return stopped_at(*at, end);
    enum json_error error = scan_quoted(at, end);
    if (error != JSON_FINE) return error;
    *at = json_scan_blanks(*at, end);
    if (*at >= end || **at != ':') return stopped_at(*at, end);
    *at = json_scan_blanks(*at + 1, end);
    return JSON_FINE;
}

// The levels that are open: one bit each, set for an object.
struct nesting {
    size_t depth;
    uint8_t bits[NESTING_LIMIT / 8 + 1];
};

static void nesting_push(struct nesting *nesting, bool is_object) {
    uint8_t bit = (uint8_t)(1u << (nesting->depth % 8));
    uint8_t *byte = &nesting->bits[nesting->depth / 8];
    *byte = is_object ? (uint8_t)(*byte | bit) : (uint8_t)(*byte & ~bit);
    nesting->depth++;
}

static bool nesting_is_object(const struct nesting *nesting) {
    size_t level = nesting->depth - 1;
    return (nesting->bits[level / 8] >> (level % 8)) & 1;
}

// Moves past closing brackets and to the next value of the innermost level, or to the end of the whole value
// (depth 0).
static enum json_error scan_to_next(const char **at, const char *end, struct nesting *nesting) {
    while (nesting->depth > 0) {
        bool is_object = nesting_is_object(nesting);
        *at = json_scan_blanks(*at, end);
        if (*at >= end) return JSON_TRUNCATED;
        if (**at == ',') {
            *at = json_scan_blanks(*at + 1, end);
            return is_object ? scan_key(at, end) : JSON_FINE;
        }
        if (**at != (is_object ? '}' : ']')) return JSON_SYNTAX;
        (*at)++;
        nesting->depth--;
    }
    return JSON_FINE;
}

// Opens the container at *at, and closes it again when it is empty. *ret_inside: a value follows.
static enum json_error scan_open(const char **at, const char *end, size_t depth_left, struct nesting *nesting,
                                 bool *ret_inside) {
    bool is_object = **at == '{';
    if (nesting->depth >= depth_left || nesting->depth >= NESTING_LIMIT) return JSON_DEPTH;
    nesting_push(nesting, is_object);
    *at = json_scan_blanks(*at + 1, end);
    if (*at >= end) return JSON_TRUNCATED;
    *ret_inside = **at != (is_object ? '}' : ']');
    if (*ret_inside) return is_object ? scan_key(at, end) : JSON_FINE;
    (*at)++;
    nesting->depth--;
    return JSON_FINE;
}

enum json_error json_scan_value(const char **at, const char *end, size_t depth_left) {
    if (*at < end && **at != '{' && **at != '[') return scan_scalar(at, end);
    struct nesting nesting; // its bits are written before they are read
    nesting.depth = 0;
    do {
        enum json_error error;
        if (*at < end && (**at == '{' || **at == '[')) {
            bool inside;
            error = scan_open(at, end, depth_left, &nesting, &inside);
            if (error == JSON_FINE && inside) continue;
        } else {
            error = scan_scalar(at, end);
        }
        if (error == JSON_FINE) error = scan_to_next(at, end, &nesting);
        if (error != JSON_FINE) return error;
    } while (nesting.depth > 0);
    return JSON_FINE;
}

// Four hexadecimal digits, known to be valid.
static uint32_t hex4(const char *digits) {
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) value = value * 16 + (uint32_t)hex_value(digits[i]);
    return value;
}

static size_t write_utf8(uint32_t rune, char *out) {
    char bytes[4];
    size_t len;
    if (rune < 0x80) {
        bytes[0] = (char)rune;
        len = 1;
    } else if (rune < 0x800) {
        bytes[0] = (char)(0xC0 | (rune >> 6));
        bytes[1] = (char)(0x80 | (rune & 0x3F));
        len = 2;
    } else if (rune < 0x10000) {
        bytes[0] = (char)(0xE0 | (rune >> 12));
        bytes[1] = (char)(0x80 | ((rune >> 6) & 0x3F));
        bytes[2] = (char)(0x80 | (rune & 0x3F));
        len = 3;
    } else {
        bytes[0] = (char)(0xF0 | (rune >> 18));
        bytes[1] = (char)(0x80 | ((rune >> 12) & 0x3F));
        bytes[2] = (char)(0x80 | ((rune >> 6) & 0x3F));
        bytes[3] = (char)(0x80 | (rune & 0x3F));
        len = 4;
    }
    if (out != NULL) memcpy(out, bytes, len);
    return len;
}

// The character of a \u escape whose digits begin at `at`; moves *used past a second half of a pair.
static uint32_t unescape_unicode(struct text raw, size_t at, size_t *used) {
    uint32_t rune = hex4(raw.ptr + at);
    *used = 4;
    if (rune < 0xD800 || rune > 0xDFFF) return rune;
    bool has_more = raw.len - at >= 10 && raw.ptr[at + 4] == '\\' && raw.ptr[at + 5] == 'u';
    uint32_t low = has_more ? hex4(raw.ptr + at + 6) : 0;
    if (rune > 0xDBFF || low < 0xDC00 || low > 0xDFFF) return 0xFFFD;
    *used = 10;
    return 0x10000 + ((rune - 0xD800) << 10) + (low - 0xDC00);
}

static uint32_t unescape_letter(char letter) {
    switch (letter) {
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return (unsigned char)letter;
    }
}

size_t json_unescape(struct text raw, char *out) {
    size_t len = 0;
    size_t at = 0;
    while (at < raw.len) {
        char *place = out == NULL ? NULL : out + len;
        size_t used;
        if (raw.ptr[at] != '\\') {
            used = text_utf8_len((struct text){raw.ptr + at, raw.len - at});
            if (used == 0) {
                len += write_utf8(0xFFFD, place);
                used = 1;
            } else {
                if (place != NULL) memcpy(place, raw.ptr + at, used);
                len += used;
            }
        } else if (raw.ptr[at + 1] == 'u') {
            len += write_utf8(unescape_unicode(raw, at + 2, &used), place);
            used += 2;
        } else {
            len += write_utf8(unescape_letter(raw.ptr[at + 1]), place);
            used = 2;
        }
        at += used;
    }
    return len;
}
