// SPDX-License-Identifier: Apache-2.0
// One walk over well-formed characters, three ways to write what is special.
#include "server/cli/print_string.h"

#define REPLACEMENT "\xef\xbf\xbd"

static void put(FILE *out, const char *bytes, size_t count) {
    fwrite(bytes, 1, count, out);
}

// The number of a well-formed sequence of len bytes.
static unsigned code_point(const unsigned char *bytes, size_t len) {
    if (len == 1) return bytes[0];
    unsigned code = bytes[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) code = code << 6 | (bytes[i] & 0x3fu);
    return code;
}

static void put_json_special(FILE *out, unsigned char byte) {
    if (byte == '"' || byte == '\\')
        fprintf(out, "\\%c", byte);
    else if (byte == '\n')
        put(out, "\\n", 2);
    else if (byte == '\t')
        put(out, "\\t", 2);
    else
        fprintf(out, "\\u%04x", byte);
}

void print_json_string(FILE *out, struct text text) {
    size_t begin = 0;
    putc('"', out);
    for (size_t at = 0; at < text.len;) {
        unsigned char byte = (unsigned char)text.ptr[at];
        size_t len = byte < 0x80 ? 1 : text_utf8_len(text_slice(text, at, text.len));
        bool special = byte < 0x20 || byte == '"' || byte == '\\' || byte == 0x7f;
        if (!special && len > 0) {
            at += len;
            continue;
        }
        put(out, text.ptr + begin, at - begin);
        if (len == 0)
            put(out, REPLACEMENT, 3);
        else
            put_json_special(out, byte);
        begin = ++at;
    }
    if (text.len > begin) put(out, text.ptr + begin, text.len - begin);
    putc('"', out);
}

void print_xml_text(FILE *out, struct text text) {
    for (size_t at = 0; at < text.len;) {
        size_t len = text_utf8_len(text_slice(text, at, text.len));
        unsigned code = len == 0 ? 0 : code_point((const unsigned char *)text.ptr + at, len);
        // XML 1.0, production 2: no controls but tab and line ends, and two code points less.
        bool legal = code >= 0x20 ? code != 0xfffe && code != 0xffff : code == '\t' || code == '\n';
        if (!legal)
            put(out, REPLACEMENT, 3);
        else if (code == '&')
            put(out, "&amp;", 5);
        else if (code == '<')
            put(out, "&lt;", 4);
        else if (code == '>')
            put(out, "&gt;", 4);
        else if (code == '"')
            put(out, "&quot;", 6);
        else
            put(out, text.ptr + at, len);
        at += len == 0 ? 1 : len;
    }
}

// Characters that would move the cursor or turn the direction of the text around them.
static bool is_unsafe(unsigned code) {
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x200b && code <= 0x200f) ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) || code == 0xfeff ||
           code == 0x061c;
}

size_t print_plain_text(FILE *out, struct text text) {
    size_t columns = 0;
    for (size_t at = 0; at < text.len;) {
        size_t len = text_utf8_len(text_slice(text, at, text.len));
        unsigned code = len == 0 ? 0 : code_point((const unsigned char *)text.ptr + at, len);
        int written = 1;
        if (len == 0)
            written = fprintf(out, "\\x%02x", (unsigned char)text.ptr[at]);
        else if (is_unsafe(code))
            written = fprintf(out, code < 0x80 ? "\\x%02x" : "\\u%04x", code);
        else
            put(out, text.ptr + at, len);
        columns += written < 0 ? 0 : (size_t)written;
        at += len == 0 ? 1 : len;
    }
    return columns;
}
