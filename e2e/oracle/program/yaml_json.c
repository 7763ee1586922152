// SPDX-License-Identifier: Apache-2.0
// Turns YAML documents into JSON for yaml_test.go, which compares them with what kubectl's own libraries make
// of the same bytes. Each document comes as a length of four bytes (little-endian) and its bytes; each answer
// goes out as one byte (1: JSON follows, 0: a fault's text follows), a length and the bytes.
#include <stdio.h>
#include <stdlib.h>

#include "server/codec/yaml.h"

#define DOCUMENT_BYTES_LIMIT ((size_t)64 * 1024 * 1024)

static size_t read_length(const unsigned char bytes[4]) {
    return (size_t)bytes[0] | (size_t)bytes[1] << 8 | (size_t)bytes[2] << 16 | (size_t)bytes[3] << 24;
}

static void write_answer(bool fine, struct text text) {
    unsigned char head[5] = {fine, (unsigned char)text.len, (unsigned char)(text.len >> 8),
                             (unsigned char)(text.len >> 16), (unsigned char)(text.len >> 24)};
    fwrite(head, 1, sizeof head, stdout);
    fwrite(text.ptr, 1, text.len, stdout);
    fflush(stdout);
}

int main(void) {
    struct arena arena;
    unsigned char head[4];
    arena_init(&arena, 16 * DOCUMENT_BYTES_LIMIT);
    while (fread(head, 1, sizeof head, stdin) == sizeof head) {
        size_t len = read_length(head);
        char *bytes = len > DOCUMENT_BYTES_LIMIT ? NULL : malloc(len + 1);
        if (bytes == NULL || fread(bytes, 1, len, stdin) != len) return 1;
        struct yaml_json json;
        struct fault fault = {0};
        if (yaml_to_json(&arena, (struct text){bytes, len}, 1, &json, NULL, &fault))
            write_answer(true, json.json);
        else
            write_answer(false, text_of(fault.text));
        free(bytes);
        arena_clear(&arena);
    }
    arena_release(&arena);
    return 0;
}
