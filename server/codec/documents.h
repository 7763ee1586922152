// SPDX-License-Identifier: Apache-2.0
// From names on a command line to single objects: files, folders and standard input, YAML and JSON, many
// documents in a file, Lists of objects. One object is in memory at a time, beside the file that it came
// from.
#ifndef DRAWBRIDGE_CODEC_DOCUMENTS_H
#define DRAWBRIDGE_CODEC_DOCUMENTS_H

#include "server/codec/locate.h"
#include "server/codec/yaml.h"
#include "validators/core/fault.h"

#define DOCUMENTS_FILE_BYTES ((size_t)256 * 1024 * 1024) // longest file, when no other bound is given
// What one YAML document may take: so many times the longest file, and so many bytes beside it.
#define DOCUMENTS_MEMORY_FACTOR  6u
#define DOCUMENTS_MEMORY_BYTES   ((size_t)4 * 1024 * 1024)
#define DOCUMENTS_FOLDER_DEPTH   64u      // folders in folders
#define DOCUMENTS_FOLDER_ENTRIES 1000000u // names in one folder
#define DOCUMENTS_LIST_DEPTH     4u       // Lists in Lists

// One object. Texts live until the next one is asked for.
struct document {
    const char *file;        // as given or found; "-" is standard input
    size_t number;           // of the document in its file, from 1
    bool in_list;            // an item of a List
    size_t item;             // its number there, from 0
    struct text json;        // one well-formed JSON object
    struct text api_version; // as the object says; an item of a typed List has its list's
    struct text kind;
    const char *doubled; // "apiVersion", "kind" or "items" when the object has it twice; the first counts
    struct line_index *lines;     // of the file
    const struct yaml_json *yaml; // NULL when the file holds JSON
    size_t base;                  // offset of the object in the YAML's JSON, or in the file
    size_t cut;                   // bytes of the object that were replaced by what was put in front
    size_t added;                 // bytes that were put in front of the object's first member
};

// Something that could not be read. document is 0 when it is the whole file.
struct document_error {
    const char *file;
    size_t document;
    uint32_t line, column;    // 0: not known
    struct line_index *lines; // NULL when there is no text
    const char *text;
};

struct document_visitor {
    void (*on_document)(void *state, const struct document *document);
    void (*on_error)(void *state, const struct document_error *error);
    void *state;
};

struct document_options {
    bool recursive;    // go into folders of folders
    size_t file_bytes; // longest file; 0: DOCUMENTS_FILE_BYTES
};

// What it does: visits each object behind a name: a file, a folder (its .yaml, .yml and .json files in byte
// order) or "-". Whatever cannot be read is an error of the visitor's, and the rest is still visited. Never
// waits for a FIFO or a device. Thread: any; one at a time for "-".
void documents_visit(const char *name, const struct document_options *options,
                     const struct document_visitor *visitor);

// What it does: as documents_visit, for bytes in memory.
void documents_visit_text(const char *name, struct text text, const struct document_options *options,
                          const struct document_visitor *visitor);

// Where something stands in the file.
struct source_place {
    uint32_t line, column; // 0: not known
    uint32_t width;        // in characters, 0: not known
    bool exact;            // false: what the path names is not there; this is what should hold it
};

// What it does: the place of a path in the file, of its value, or of its key when `of_key`. The locator is
// for document->json.
struct source_place document_place(const struct document *document, struct locator *locator, struct text path,
                                   bool of_key);

#endif
