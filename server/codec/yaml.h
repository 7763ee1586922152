// SPDX-License-Identifier: Apache-2.0
// YAML becomes JSON text, read as kubectl reads it, with a map from the JSON back to the lines of the YAML.
//
// What counts is what sigs.k8s.io/yaml does over go-yaml v2: YAML 1.1 booleans (yes, no, on, off, y, n),
// octal 0777 and 0o777, 1_000, hexadecimal and binary numbers, merge keys in the order as written, anchors,
// keys of any scalar type as text, timestamps as text, .inf and .nan refused. Two differences, both on
// purpose: a key that appears twice is written twice, so that the reader behind can say where (kubectl keeps
// the last one), and the tag !!binary is refused.
#ifndef DRAWBRIDGE_CODEC_YAML_H
#define DRAWBRIDGE_CODEC_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "validators/core/arena.h"
#include "validators/core/fault.h"
#include "validators/core/text.h"

// Bounds, checked at each event: libyaml takes time that is quadratic in the nesting.
#define YAML_DEPTH_LIMIT       128u                       // nesting, aliases followed
#define YAML_NODES_LIMIT       20000000u                  // scalars, sequences and mappings, aliases followed
#define YAML_ANCHORS_LIMIT     4096u                      // of one document
#define YAML_ALIASES_LIMIT     65536u                     // of one document
#define YAML_ALIAS_BYTES_LIMIT ((size_t)16 * 1024 * 1024) // of JSON that aliases and merge keys add

// Where a key or a value stands. Lines and columns count from 1, columns in characters.
struct yaml_place {
    uint32_t json_offset;
    uint32_t line;
    uint32_t column;
};

struct yaml_json {
    struct text json;                // one JSON value; "null" for an empty document
    const struct yaml_place *places; // one per key and per value, rising by json_offset
    size_t place_count;
    bool empty; // the text holds nothing but blanks and comments
};

// What it does: reads one YAML document, which must be all of the text, into JSON text. first_line is the
// line of the text's first byte in its file (1 for a whole file). Owner: the arena. Errors: false;
// FAULT_INPUT for what is no YAML or has no JSON form, FAULT_LIMIT for a bound, FAULT_MEMORY when the arena
// is full. The fault's text does not hold the place; *ret_error (may be NULL) does, with line 0 where none is
// known. Thread: any. Source: sigs.k8s.io/yaml v1.6.0 yaml.go, YAMLToJSON; go.yaml.in/yaml/v2 v2.4.4
// resolve.go, decode.go.
bool yaml_to_json(struct arena *arena, struct text yaml, uint32_t first_line, struct yaml_json *ret_json,
                  struct yaml_place *ret_error, struct fault *fault) __attribute__((warn_unused_result));

// What it does: finds the place of the key or value that begins at json_offset, else of the last one before
// it. NULL when there is none.
const struct yaml_place *yaml_find_place(const struct yaml_json *json, size_t json_offset);

// A piece of a file between two `---` lines.
struct yaml_piece {
    struct text text;
    uint32_t line;      // of its first byte, from 1
    bool bad_separator; // text that is no comment follows the dashes, which kubectl refuses; `text` is that
                        // line
};

// Where the cutting stands. Starts zeroed but for `file`.
struct yaml_cutter {
    struct text file;
    size_t at;
    uint32_t line; // lines passed so far
};

// What it does: cuts a file at its `---` lines, as kubectl does; pieces may hold nothing but blanks. False at
// the end. Source: k8s.io/apimachinery v0.36.3 pkg/util/yaml/decoder.go, YAMLReader.
bool yaml_next_piece(struct yaml_cutter *cutter, struct yaml_piece *ret_piece);

#endif
