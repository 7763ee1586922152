// SPDX-License-Identifier: Apache-2.0
// A pull reader that decodes JSON straight into plain structs. Structure is strict, encoding is lenient, both
// as Go is.
//
// A decoder reads as
//
//     uint64_t seen = JSON_BEGIN;
//     unsigned field;
//     while (json_field(reader, &DEVICE, &seen, &field))
//         switch (field) {
//         case DEVICE_NAME: json_text(reader, &device->name); break;
//         …
//         }
//
// Structural errors are sticky: later calls return zero values and false, and json_finish, the one fallible
// call, tells. A value of the wrong type becomes a finding with its path, is skipped, and decoding goes on.
// null is absent. Thread: one thread per reader.
//
// jansson has a function and constants of the same names: a file includes this header or jansson.h, never
// both.
#ifndef DRAWBRIDGE_CORE_JSON_READER_H
#define DRAWBRIDGE_CORE_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "validators/core/arena.h"
#include "validators/core/fault.h"
#include "validators/core/finding.h"
#include "validators/core/json_scan.h"
#include "validators/core/quantity.h"
#include "validators/core/text.h"

#define JSON_TYPED_DEPTH_LIMIT   128u   // nesting of what decoders read
#define JSON_RAW_DEPTH_LIMIT     10000u // nesting in raw and skipped subtrees, as Go
#define JSON_KEYS_LIMIT          4096u  // keys of one map in any order; any number when they are sorted
#define JSON_KEYS_AT_HAND        64u    // keys remembered without memory of the arena
#define JSON_GUESSES             128u   // a power of two
#define JSON_UNKNOWN_NOTED_LIMIT 64u    // findings about unknown fields of one document

// WIRE: reviews and watches. Unknown fields are ignored and counted, duplicate keys of typed objects end the
// document. STRICT: check, fixtures, configuration. Both are findings (FINDING_STRICT_DECODING).
enum json_mode { JSON_WIRE, JSON_STRICT };

enum json_type { JSON_NONE, JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

// A known field. `when` is a mask of contexts (reader->when) in which the field exists; 0 means always. Its
// low and its high four bits are two questions (which minor, which apiVersion); each that has a bit set needs
// one that holds. A field outside its context is noted as unknown but still returned, so that a rule can
// speak about it; reader->foreign is then true until the next field.
struct json_name {
    const char *name;
    uint8_t len;
    uint8_t when;
};

struct json_fields {
    const struct json_name *names; // in the order in which Go writes them: the next one is tried first
    unsigned count;                // at most 62
};

#define JSON_NAME(literal)                                                                                   \
    { (literal), sizeof(literal) - 1, 0 }
#define JSON_NAME_WHEN(literal, mask)                                                                        \
    { (literal), sizeof(literal) - 1, (mask) }
#define JSON_FIELDS(table)                                                                                   \
    { (table), sizeof(table) / sizeof((table)[0]) }

// The state of an object that is being read: bit n is set once field n was seen. Starts as JSON_BEGIN.
#define JSON_BEGIN             ((uint64_t)1 << 63)
#define JSON_SEEN(seen, field) (((seen) >> (field)) & 1)

// The place in an array or a map that is being read. Starts zeroed.
struct json_iterator {
    size_t count; // items begun so far; the index of the present one is count - 1
    size_t base;  // maps: where this map's keys begin among the reader's
    bool open;
};

// The keys of the maps that are open, so that a repeated one is told: the innermost map's come last. `order`
// lists those of one map sorted, by their index in that map.
struct json_keys {
    struct text *items;
    uint16_t *order;
    size_t count;
    size_t capacity;
    struct text items_at_hand[JSON_KEYS_AT_HAND];
    uint16_t order_at_hand[JSON_KEYS_AT_HAND];
};

// A typed object, array or map that is open, and where the reading stands in it.
struct json_level {
    const char *name; // the key as read; NULL for an array element
    uint32_t len;
    uint32_t index;
    bool is_key;  // a map key, printed in brackets
    uint8_t next; // where the search for the next field begins
};

// Not to be copied: it points into itself.
struct json_reader {
    const char *begin;
    const char *at;
    const char *end;
    struct arena *arena;
    struct finding_list *findings;
    enum json_mode mode;
    uint8_t when; // contexts that hold, see struct json_name
    enum json_error error;
    size_t error_offset;
    size_t unknown_count;
    bool foreign;   // the field that json_field gave last does not exist in the contexts that hold
    unsigned depth; // typed nesting so far
    unsigned base;  // how many levels paths leave out: the levels of an envelope
    struct json_keys keys;
    // Which field came after which one the last time, plus one: objects of one kind are mostly alike. Only a
    // guess, checked before it is believed.
    uint8_t guesses[JSON_GUESSES];
    struct json_level *top;                              // the innermost level
    struct json_level stack[JSON_TYPED_DEPTH_LIMIT + 1]; // the first one is outside of the value
};

// What it does: starts to read one JSON value. The input must outlive what is decoded: texts without escapes
// are views of it; the others are unescaped into the arena.
void json_init(struct json_reader *reader, struct text input, struct arena *arena,
               struct finding_list *findings, enum json_mode mode);

// What it does: true when the whole input was one well-formed value and nothing follows but blanks.
// Errors: the first structural error, with its byte offset.
bool json_finish(struct json_reader *reader, struct fault *fault) __attribute__((warn_unused_result));

// The type of the next value, without reading it. JSON_NONE after an error or where none is.
enum json_type json_peek(struct json_reader *reader);

// Reads a null if one is next. Linked under a name of its own, because jansson exports a json_null too.
bool json_null(struct json_reader *reader) __asm__("json_reader_null");

// What it does: moves to the next known field of an object; the caller then reads its value with exactly one
// call. The first call opens the object. False at its end, for null, and for a value of another type (a
// finding, skipped). A repeated field: WIRE ends the document; STRICT notes it and passes over the later
// value.
bool json_field(struct json_reader *reader, const struct json_fields *fields, uint64_t *seen,
                unsigned *ret_field);

// What it does: moves to the next element of an array. False at its end, for null, for another type.
bool json_element(struct json_reader *reader, struct json_iterator *iterator);

// What it does: moves to the next member of a map and gives its key. Duplicate keys: as typed objects.
bool json_member(struct json_reader *reader, struct json_iterator *iterator, struct text *ret_key);

// What it does: moves to the next member of a map when it is written like an earlier one of this input, whose
// key and value these are; the value as json_skip_same takes it. LIKE_KEY: the value differs and is to be
// read now. LIKE_ALL: it was passed over. UNLIKE: nothing was read, json_member tells what is next. Only
// where the map is written without blanks.
enum json_likeness { JSON_UNLIKE, JSON_LIKE_KEY, JSON_LIKE_ALL };
enum json_likeness json_member_like(struct json_reader *reader, struct json_iterator *iterator,
                                    struct text key, struct text value, struct text *ret_key);

// What they do: read an object that has one field and is written without blanks and escapes: `head`, which
// ends where the value begins (behind its quote), then the value and the bracket. False otherwise, and then
// nothing was read: json_field reads every spelling.
bool json_single_text(struct json_reader *reader, struct text head, struct text *ret_text);
bool json_single_int64(struct json_reader *reader, struct text head, int64_t *ret_value);

// What they do: read one value. null leaves the target untouched; a wrong type is a finding and leaves it
// untouched. All return true when a value was stored. Integers as Go: no fraction, no exponent, within the
// type. Quantities as Go: a string or a number, blanks around it are cut, escapes in it are not undone.
bool json_text(struct json_reader *reader, struct text *ret_text);
bool json_bool(struct json_reader *reader, bool *ret_bool);
bool json_int64(struct json_reader *reader, int64_t *ret_value);
bool json_int32(struct json_reader *reader, int32_t *ret_value);
bool json_quantity(struct json_reader *reader, struct quantity *ret_quantity);

// What it does: takes the next value as it stands, unread but well-formed, as a view of the input. null is
// "null".
bool json_raw(struct json_reader *reader, struct text *ret_raw);

// What it does: passes over the next value; it must be well-formed.
void json_skip(struct json_reader *reader);

// Ends the reading because there was no memory.
void json_out_of_memory(struct json_reader *reader);

// What it does: arena_append for decoders. Errors: NULL ends the reading, so that no loop goes on without
// memory. Use through JSON_APPEND, with lists as LIST_APPEND takes them.
static inline void *json_append(struct json_reader *reader, void *items, size_t *count, size_t item_bytes) {
    void *item = arena_append(reader->arena, items, count, item_bytes);
    if (item == NULL) json_out_of_memory(reader);
    return item;
}
#define JSON_APPEND(reader, list) json_append((reader), &(list)->items, &(list)->count, sizeof *(list)->items)

// What it does: zeroed memory from the arena for one item of the model. Errors: as json_append.
void *json_new(struct json_reader *reader, size_t size_bytes);

// What it does: passes over the next value when it is written exactly as `same`, an object or array that this
// reader has read from its first to its last byte; its members need not be read again then. False otherwise.
bool json_skip_same(struct json_reader *reader, struct text same);

// What it does: moves past all that is left of the object at hand when it is written exactly as `rest`: what
// was left, and its bracket, behind a value of an object that this reader has read before and of which the
// same fields had been seen there. False otherwise, and then nothing was read.
bool json_skip_same_rest(struct json_reader *reader, struct text rest);

// How much was noted so far, in findings and as unknown fields: a value that adds nothing was clean.
static inline size_t json_noted(const struct json_reader *reader) {
    return reader->findings->count + reader->findings->dropped_count + reader->unknown_count;
}

// What it does: adds a finding at the place that is being read. NULL when the list is full or memory ran out.
struct finding *json_note(struct json_reader *reader, enum finding_type type, struct text value,
                          struct text detail);

// What it does: where a value began: the bytes from there on may be taken as a view once it was read.
static inline const char *json_place(const struct json_reader *reader) {
    return reader->at;
}

// The place that is being read, as upstream prints it. Owner: the arena.
struct text json_path(const struct json_reader *reader);

#endif
