// SPDX-License-Identifier: Apache-2.0
// Fuzz target: any bytes as a file of `check`. What the YAML bridge accepts must be well-formed JSON with
// places that rise and lie inside; every document must have a place in the file.
#include <stdint.h>
#include <stdlib.h>

#include "server/codec/documents.h"
#include "validators/core/arena.h"
#include "validators/core/json_reader.h"
#include "validators/core/json_scan.h"

#define FILE_BYTES ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds) {
    if (!holds) abort();
}

static void demand_json(struct text json) {
    const char *at = json.ptr;
    demand(json_scan_value(&at, json.ptr + json.len, JSON_RAW_DEPTH_LIMIT) == JSON_FINE);
    demand(json_scan_blanks(at, json.ptr + json.len) == json.ptr + json.len);
}

static void on_document(void *state, const struct document *document) {
    struct locator locator;
    struct arena *arena = state;
    arena_clear(arena);
    locator_init(&locator, document->json, arena);
    demand_json(document->json);
    demand(document->json.ptr[0] == '{' && document->number > 0);
    static const struct text paths[] = {TEXT_INIT(""), TEXT_INIT("kind"), TEXT_INIT("metadata.name"),
                                        TEXT_INIT("spec.devices[1].capacity[a.b/c]"), TEXT_INIT("a[0][1]")};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        for (int of_key = 0; of_key < 2; of_key++) {
            struct source_place place = document_place(document, &locator, paths[i], of_key);
            demand(place.line > 0 && place.column > 0);
            (void)line_index_line(document->lines, place.line);
        }
}

static void on_error(void *state, const struct document_error *error) {
    (void)state;
    demand(error->text != NULL && error->text[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct text text = {(const char *)data, size};
    struct arena arena;
    struct yaml_json json;
    struct fault fault = {0};
    arena_init(&arena, 32 * FILE_BYTES);
    if (yaml_to_json(&arena, text, 1, &json, NULL, &fault)) {
        demand_json(json.json);
        for (size_t i = 0; i < json.place_count; i++) {
            demand(json.places[i].line > 0 && json.places[i].column > 0);
            demand(json.places[i].json_offset < json.json.len);
            demand(i == 0 || json.places[i - 1].json_offset < json.places[i].json_offset);
        }
    } else {
        demand(fault.code != FAULT_NONE && fault.text[0] != '\0');
    }
    struct document_options options = {.file_bytes = FILE_BYTES};
    struct document_visitor visitor = {on_document, on_error, &arena};
    documents_visit_text("input", text, &options, &visitor);
    arena_release(&arena);
    return 0;
}
