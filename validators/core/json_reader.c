// SPDX-License-Identifier: Apache-2.0
// The pull reader. A failure moves `at` to the end, so that every later call fails by itself.
// Source of the semantics: Go encoding/json decode.go and sigs.k8s.io/json as the API server uses them.
#include "validators/core/json_reader.h"

// Kept out of the way of what runs for every field.
#define RARE __attribute__((cold, noinline))

#define PLAIN_DIGITS 18 // as many as always fit an int64

RARE static void fail_at(struct json_reader *reader, enum json_error error, const char *at) {
    if (reader->error == JSON_FINE) {
        reader->error = error;
        reader->error_offset = (size_t)(at - reader->begin);
    }
    reader->at = reader->end;
}

// What stands at `at` cannot be there; or nothing does.
RARE static bool fail_here(struct json_reader *reader) {
    fail_at(reader, reader->at >= reader->end ? JSON_TRUNCATED : JSON_SYNTAX, reader->at);
    return false;
}

// The byte that is next; 0 at the end, which no value begins with.
static inline char next_byte(const struct json_reader *reader) {
    return reader->at < reader->end ? *reader->at : '\0';
}

// Passes over blanks and tells the byte that is next, as next_byte.
static inline char skip_blanks(struct json_reader *reader) {
    char byte = next_byte(reader);
    if (byte > ' ') return byte;
    reader->at = json_scan_blanks(reader->at, reader->end);
    return next_byte(reader);
}

void json_init(struct json_reader *reader, struct text input, struct arena *arena,
               struct finding_list *findings, enum json_mode mode) {
    const char *begin = input.ptr == NULL ? "" : input.ptr;
    reader->begin = begin;
    reader->at = begin;
    reader->end = begin + input.len;
    reader->arena = arena;
    reader->findings = findings;
    reader->mode = mode;
    reader->when = 0;
    reader->error = JSON_FINE;
    reader->error_offset = 0;
    reader->unknown_count = 0;
    reader->foreign = false;
    reader->depth = 0;
    reader->base = 0;
    reader->top = reader->stack;
    reader->keys.items = reader->keys.items_at_hand;
    reader->keys.order = reader->keys.order_at_hand;
    reader->keys.count = 0;
    reader->keys.capacity = JSON_KEYS_AT_HAND;
    memset(reader->guesses, 0, sizeof reader->guesses);
    skip_blanks(reader);
}

static bool explain_error(struct json_reader *reader, struct fault *fault) {
    struct text place = text_printable(reader->arena, json_path(reader), 128);
    size_t offset = reader->error_offset;
    switch (reader->error) {
    case JSON_TRUNCATED: return fault_set(fault, FAULT_INPUT, "JSON ends too early, after byte %zu", offset);
    case JSON_DEPTH: return fault_set(fault, FAULT_LIMIT, "JSON is nested too deeply at byte %zu", offset);
    case JSON_DUPLICATE_KEY:
        return fault_set(fault, FAULT_INPUT, "duplicate key \"%.*s\" at byte %zu", TEXT_ARG(place), offset);
    case JSON_KEYS:
        return fault_set(fault, FAULT_LIMIT, "more than %u unsorted keys in one map at byte %zu",
                         JSON_KEYS_LIMIT, offset);
    case JSON_MEMORY: return fault_set(fault, FAULT_MEMORY, "out of memory while reading JSON");
    case JSON_FINE:
    case JSON_SYNTAX: break;
    }
    return fault_set(fault, FAULT_INPUT, "JSON syntax error at byte %zu", offset);
}

bool json_finish(struct json_reader *reader, struct fault *fault) {
    if (reader->error == JSON_FINE) {
        reader->at = json_scan_blanks(reader->at, reader->end);
        if (reader->depth > 0 || reader->at < reader->end) fail_here(reader);
    }
    if (reader->arena->poisoned || reader->findings->poisoned) {
        reader->error = JSON_MEMORY;
        reader->at = reader->end;
    }
    return reader->error == JSON_FINE || explain_error(reader, fault);
}

enum json_type json_peek(struct json_reader *reader) {
    switch (next_byte(reader)) {
    case '{': return JSON_OBJECT;
    case '[': return JSON_ARRAY;
    case '"': return JSON_STRING;
    case 't':
    case 'f': return JSON_BOOL;
    case 'n': return JSON_NULL;
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9': return JSON_NUMBER;
    default: return JSON_NONE;
    }
}

// Moves past a word that begins with the byte at hand.
static bool take_word(struct json_reader *reader, const char *word, size_t len) {
    size_t left = (size_t)(reader->end - reader->at);
    for (size_t i = 0; i < len; i++) {
        if (i < left && reader->at[i] == word[i]) continue;
        reader->at += i;
        return fail_here(reader);
    }
    reader->at += len;
    return true;
}

bool json_null(struct json_reader *reader) {
    return next_byte(reader) == 'n' && take_word(reader, "null", 4);
}

void json_skip(struct json_reader *reader) {
    const char *at = reader->at;
    enum json_error error = json_scan_value(&at, reader->end, JSON_RAW_DEPTH_LIMIT - reader->depth);
    if (error != JSON_FINE)
        fail_at(reader, error, at);
    else
        reader->at = at;
}

bool json_skip_same(struct json_reader *reader, struct text same) {
    // It ends with its own bracket, so nothing that goes on behind it can be another value.
    if (same.len == 0 || (size_t)(reader->end - reader->at) < same.len) return false;
    if (memcmp(reader->at, same.ptr, same.len) != 0) return false;
    reader->at += same.len;
    return true;
}

bool json_skip_same_rest(struct json_reader *reader, struct text rest) {
    if (!json_skip_same(reader, rest)) return false;
    reader->depth--;
    reader->top--;
    return true;
}

bool json_raw(struct json_reader *reader, struct text *ret_raw) {
    const char *begin = reader->at;
    json_skip(reader);
    if (reader->error != JSON_FINE) return false;
    *ret_raw = (struct text){begin, (size_t)(reader->at - begin)};
    return true;
}

// The path of a reader as finding.h has it. Strict errors name map keys behind a dot, as the server does.
struct path_chain {
    struct path links[JSON_TYPED_DEPTH_LIMIT];
};

static const struct path *path_chain(const struct json_reader *reader, bool dotted,
                                     struct path_chain *chain) {
    const struct path *parent = NULL;
    for (unsigned i = reader->base; i < reader->depth; i++) {
        struct path *link = &chain->links[i];
        const struct json_level *level = &reader->stack[i + 1];
        struct text name = {level->name, level->len};
        if (name.ptr == NULL)
            *link = path_index(parent, level->index);
        else if (level->is_key && !dotted)
            *link = path_key(parent, name);
        else
            *link = path_field(parent, name);
        parent = link;
    }
    return parent;
}

struct text json_path(const struct json_reader *reader) {
    struct path_chain chain;
    return path_render(reader->arena, path_chain(reader, false, &chain));
}

struct finding *json_note(struct json_reader *reader, enum finding_type type, struct text value,
                          struct text detail) {
    struct path_chain chain;
    const struct path *path = path_chain(reader, type == FINDING_STRICT_DECODING, &chain);
    return finding_add(reader->findings, type, path, value, detail);
}

void json_out_of_memory(struct json_reader *reader) {
    fail_at(reader, JSON_MEMORY, reader->at);
}

void *json_new(struct json_reader *reader, size_t size_bytes) {
    void *item = arena_zalloc(reader->arena, 1, size_bytes);
    if (item == NULL) fail_at(reader, JSON_MEMORY, reader->at);
    return item;
}

static const char *const type_words[] = {
    [JSON_NONE] = "nothing",  [JSON_NULL] = "null",   [JSON_BOOL] = "bool",     [JSON_NUMBER] = "number",
    [JSON_STRING] = "string", [JSON_ARRAY] = "array", [JSON_OBJECT] = "object",
};

// Passes over a value that is of another type than wanted, and notes it. Always false.
RARE static bool refuse_value(struct json_reader *reader, const char *wanted) {
    enum json_type type = json_peek(reader);
    struct text raw;
    if (!json_raw(reader, &raw)) return false;
    // A full list takes no text either: wrong values by the thousand must not fill the arena.
    if (reader->findings->count >= reader->findings->limit) {
        json_note(reader, FINDING_DECODING, raw, TEXT("wrong type"));
        return false;
    }
    // Upstream's words tell the number too.
    struct text number = type == JSON_NUMBER ? text_slice(raw, 0, 64) : (struct text){"", 0};
    struct text detail = text_format(reader->arena, "cannot unmarshal %s%s%.*s into a field of type %s",
                                     type_words[type], number.len > 0 ? " " : "", TEXT_ARG(number), wanted);
    if (type == JSON_STRING) raw = text_slice(raw, 1, raw.len - 1);
    json_note(reader, FINDING_DECODING, raw, detail);
    return false;
}

// The text between two quotes; in the arena when there was something to undo.
static bool spell_out(struct json_reader *reader, struct text raw, enum json_spelling spelling,
                      struct text *ret_text) {
    if (spelling == JSON_PLAIN) {
        *ret_text = raw;
        return true;
    }
    char *copy = arena_alloc(reader->arena, json_unescape(raw, NULL) + 1);
    if (copy == NULL) {
        fail_at(reader, JSON_MEMORY, raw.ptr);
        return false;
    }
    size_t len = json_unescape(raw, copy);
    copy[len] = '\0';
    *ret_text = (struct text){copy, len};
    return true;
}

// Reads a string; its opening quote is next.
static inline bool read_string(struct json_reader *reader, struct text *ret_text) {
    const char *begin = reader->at + 1;
    const char *close = json_scan_plain(begin, reader->end);
    enum json_spelling spelling = JSON_PLAIN;
    if (close >= reader->end || *close != '"') {
        enum json_error error = json_scan_string(&close, reader->end, &spelling);
        if (error != JSON_FINE) {
            fail_at(reader, error, close);
            return false;
        }
    }
    reader->at = close + 1;
    return spell_out(reader, (struct text){begin, (size_t)(close - begin)}, spelling, ret_text);
}

// Moves past the colon behind a key.
static inline bool take_colon(struct json_reader *reader) {
    if (skip_blanks(reader) != ':') return fail_here(reader);
    reader->at++;
    skip_blanks(reader);
    return true;
}

// Opens an object or an array. False, with nothing opened, for an empty one too.
static inline bool open_level(struct json_reader *reader, char close) {
    if (reader->depth >= JSON_TYPED_DEPTH_LIMIT) {
        fail_at(reader, JSON_DEPTH, reader->at);
        return false;
    }
    reader->at++;
    if (skip_blanks(reader) == close) {
        reader->at++;
        return false;
    }
    reader->depth++;
    reader->top++;
    return true;
}

// Moves to the next item of the level at hand, or closes the level and returns false.
static inline bool next_item(struct json_reader *reader, char close) {
    char byte = skip_blanks(reader);
    if (byte == ',') {
        reader->at++;
        skip_blanks(reader);
        return true;
    }
    if (byte != close) return fail_here(reader);
    reader->at++;
    reader->depth--;
    reader->top--;
    return false;
}

// Equality of texts of one length, without a call. The last words may overlap the ones before.
static inline bool same_bytes(const char *a, const char *b, size_t len) {
    if (len >= 8) {
        uint64_t x;
        uint64_t y;
        for (size_t at = 0; at < len - 8; at += 8) {
            memcpy(&x, a + at, 8);
            memcpy(&y, b + at, 8);
            if (x != y) return false;
        }
        memcpy(&x, a + len - 8, 8);
        memcpy(&y, b + len - 8, 8);
        return x == y;
    }
    if (len >= 4) {
        uint32_t words[4];
        memcpy(&words[0], a, 4);
        memcpy(&words[1], b, 4);
        memcpy(&words[2], a + len - 4, 4);
        memcpy(&words[3], b + len - 4, 4);
        return ((words[0] ^ words[1]) | (words[2] ^ words[3])) == 0;
    }
    return len == 0 || (a[0] == b[0] && a[len / 2] == b[len / 2] && a[len - 1] == b[len - 1]);
}

// True when this name stands behind the opening quote at hand: found letter by letter, without looking for
// the end of the key first.
static inline bool stands_here(const struct json_reader *reader, const struct json_name *name) {
    const char *key = reader->at + 1;
    return (size_t)(reader->end - key) > name->len && key[name->len] == '"' &&
           same_bytes(name->name, key, name->len);
}

// Finds the known name that stands at the opening quote at hand; count when there is none. What came after
// the same field the last time is tried first, then the names behind it, because Go writes fields in order.
static inline unsigned find_written_field(struct json_reader *reader, const struct json_fields *fields,
                                          unsigned next) {
    uint8_t *guess = &reader->guesses[((uintptr_t)fields / sizeof *fields * 5 + next) % JSON_GUESSES];
    unsigned at = *guess == 0 ? next : *guess - 1u;
    if (at < fields->count && stands_here(reader, &fields->names[at])) return at;
    at = next;
    for (unsigned step = 0; step < fields->count; step++, at++) {
        if (at >= fields->count) at = 0;
        if (!stands_here(reader, &fields->names[at])) continue;
        *guess = (uint8_t)(at + 1);
        return at;
    }
    return fields->count;
}

// As find_written_field, for a key that was read.
static unsigned find_field(const struct json_fields *fields, struct text key) {
    for (unsigned at = 0; at < fields->count; at++) {
        const struct json_name *name = &fields->names[at];
        if (name->len == key.len && same_bytes(name->name, key.ptr, key.len)) return at;
    }
    return fields->count;
}

// Reads a key and moves to its value.
static bool read_field_name(struct json_reader *reader, const struct json_fields *fields,
                            unsigned *ret_field) {
    struct json_level *level = reader->top;
    if (next_byte(reader) != '"') return fail_here(reader);
    unsigned field = find_written_field(reader, fields, level->next);
    struct text key;
    if (field < fields->count) {
        key = (struct text){reader->at + 1, fields->names[field].len};
        reader->at = key.ptr + key.len + 1;
    } else {
        if (!read_string(reader, &key)) return false;
        field = find_field(fields, key);
    }
    level->name = key.ptr;
    level->len = (uint32_t)key.len;
    if (field < fields->count) level->next = (uint8_t)(field + 1);
    *ret_field = field;
    return take_colon(reader);
}

// Whether a field exists in the contexts that hold.
static bool is_in_context(uint8_t name_when, uint8_t when) {
    uint8_t low = name_when & 0x0Fu;
    uint8_t high = name_when & 0xF0u;
    return (low == 0 || (low & when) != 0) && (high == 0 || (high & when) != 0);
}

RARE static void note_unknown(struct json_reader *reader) {
    reader->unknown_count++;
    if (reader->mode == JSON_STRICT && reader->unknown_count <= JSON_UNKNOWN_NOTED_LIMIT)
        json_note(reader, FINDING_STRICT_DECODING, (struct text){"", 0}, TEXT("unknown field"));
}

// A key that was there before: WIRE ends the document, STRICT notes it and passes over its value.
RARE static bool refuse_duplicate(struct json_reader *reader, const char *key) {
    if (reader->mode == JSON_WIRE) {
        fail_at(reader, JSON_DUPLICATE_KEY, key);
        return false;
    }
    json_note(reader, FINDING_STRICT_DECODING, (struct text){"", 0}, TEXT("duplicate field"));
    json_skip(reader);
    return reader->error == JSON_FINE;
}

bool json_field(struct json_reader *reader, const struct json_fields *fields, uint64_t *seen,
                unsigned *ret_field) {
    if (*seen & JSON_BEGIN) {
        *seen &= ~JSON_BEGIN;
        if (next_byte(reader) != '{') return !json_null(reader) && refuse_value(reader, "object");
        if (!open_level(reader, '}')) return false;
        reader->top->is_key = false;
        reader->top->next = 0;
        reader->top->name = "";
        reader->top->len = 0;
    } else if (!next_item(reader, '}')) {
        return false;
    }
    for (;;) {
        const char *key = reader->at;
        unsigned field = fields->count;
        if (!read_field_name(reader, fields, &field)) return false;
        if (field < fields->count) {
            uint64_t bit = (uint64_t)1 << field;
            if (!(*seen & bit)) {
                *seen |= bit;
                uint8_t when = fields->names[field].when;
                reader->foreign = when != 0 && !is_in_context(when, reader->when);
                if (reader->foreign) note_unknown(reader);
                *ret_field = field;
                return true;
            }
            if (!refuse_duplicate(reader, key)) return false;
        } else {
            note_unknown(reader);
            json_skip(reader);
        }
        if (!next_item(reader, '}')) return false;
    }
}

bool json_element(struct json_reader *reader, struct json_iterator *iterator) {
    if (!iterator->open) {
        if (next_byte(reader) != '[') return !json_null(reader) && refuse_value(reader, "list");
        if (!open_level(reader, ']')) return false;
        iterator->open = true;
        reader->top->name = NULL;
        reader->top->len = 0;
    } else if (!next_item(reader, ']')) {
        return false;
    }
    reader->top->index = (uint32_t)iterator->count;
    iterator->count++;
    return true;
}

// Makes room for one more key.
RARE static bool grow_keys(struct json_reader *reader) {
    struct json_keys *keys = &reader->keys;
    size_t capacity = keys->capacity * 2;
    struct text *items = arena_alloc(reader->arena, capacity * sizeof *items);
    uint16_t *order = arena_alloc(reader->arena, capacity * sizeof *order);
    if (items == NULL || order == NULL) {
        fail_at(reader, JSON_MEMORY, reader->at);
        return false;
    }
    memcpy(items, keys->items, keys->count * sizeof *items);
    memcpy(order, keys->order, keys->count * sizeof *order);
    keys->items = items;
    keys->order = order;
    keys->capacity = capacity;
    return true;
}

// As text_compare; most keys differ in their first byte.
static inline int key_order(struct text a, struct text b) {
    if (a.len > 0 && b.len > 0 && a.ptr[0] != b.ptr[0])
        return (unsigned char)a.ptr[0] < (unsigned char)b.ptr[0] ? -1 : 1;
    return text_compare(a, b);
}

// A map with more keys than are compared one by one: only the last of them is kept, in the place of the one
// that sorts last, and each further key must sort behind it. An object that the API server stores may have so
// many labels, and Go writes them so.
RARE static bool remember_last_key(struct json_reader *reader, const struct json_iterator *iterator,
                                   struct text key, bool *ret_repeated) {
    const struct json_keys *keys = &reader->keys;
    const uint16_t *order = keys->order + iterator->base;
    struct text *last = keys->items + iterator->base + order[JSON_KEYS_LIMIT - 1];
    int side = text_compare(key, *last);
    *ret_repeated = side == 0;
    if (side < 0) fail_at(reader, JSON_KEYS, reader->at);
    if (side <= 0) return false;
    *last = key;
    return true;
}

// Puts a key into its place in the order, by binary search. False with *ret_repeated when it was there
// before.
__attribute__((noinline)) static bool insert_key(struct json_reader *reader, struct json_iterator *iterator,
                                                 struct text key, bool *ret_repeated) {
    struct json_keys *keys = &reader->keys;
    size_t count = iterator->count;
    if (count >= JSON_KEYS_LIMIT) return remember_last_key(reader, iterator, key, ret_repeated);
    if (keys->count == keys->capacity && !grow_keys(reader)) return false;
    const struct text *items = keys->items + iterator->base;
    uint16_t *order = keys->order + iterator->base;
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t probe = low + (high - low) / 2;
        int side = key_order(key, items[order[probe]]);
        if (side == 0) {
            *ret_repeated = true;
            return false;
        }
        if (side > 0)
            low = probe + 1;
        else
            high = probe;
    }
    if (low < count) memmove(order + low + 1, order + low, (count - low) * sizeof *order);
    order[low] = (uint16_t)count;
    keys->items[keys->count++] = key;
    return true;
}

// Remembers a key of the innermost map. False with *ret_repeated when it was there before. Go writes maps
// sorted, so the usual key goes to the end after one comparison.
static inline bool remember_key(struct json_reader *reader, struct json_iterator *iterator, struct text key,
                                bool *ret_repeated) {
    struct json_keys *keys = &reader->keys;
    size_t count = iterator->count;
    *ret_repeated = false;
    if (count >= JSON_KEYS_LIMIT || keys->count == keys->capacity)
        return insert_key(reader, iterator, key, ret_repeated);
    const struct text *items = keys->items + iterator->base;
    uint16_t *order = keys->order + iterator->base;
    if (count > 0 && key_order(key, items[order[count - 1]]) <= 0)
        return insert_key(reader, iterator, key, ret_repeated);
    order[count] = (uint16_t)count;
    keys->items[keys->count++] = key;
    return true;
}

static bool open_map(struct json_reader *reader, struct json_iterator *iterator) {
    if (next_byte(reader) != '{') return !json_null(reader) && refuse_value(reader, "map");
    if (!open_level(reader, '}')) return false;
    iterator->open = true;
    iterator->base = reader->keys.count;
    reader->top->is_key = true;
    reader->top->name = "";
    reader->top->len = 0;
    return true;
}

bool json_member(struct json_reader *reader, struct json_iterator *iterator, struct text *ret_key) {
    if (!iterator->open) {
        if (!open_map(reader, iterator)) return false;
    } else if (!next_item(reader, '}')) {
        reader->keys.count = iterator->base;
        return false;
    }
    for (;;) {
        const char *at = reader->at;
        if (next_byte(reader) != '"') return fail_here(reader);
        struct text key;
        if (!read_string(reader, &key)) return false;
        reader->top->name = key.ptr;
        reader->top->len = (uint32_t)key.len;
        if (!take_colon(reader)) return false;
        bool repeated;
        if (remember_key(reader, iterator, key, &repeated)) {
            iterator->count++;
            *ret_key = key;
            return true;
        }
        if (!repeated || !refuse_duplicate(reader, at)) return false;
        if (!next_item(reader, '}')) {
            reader->keys.count = iterator->base;
            return false;
        }
    }
}

// Whether the input goes on so, and further.
static inline bool goes_on(const struct json_reader *reader, const char *at, struct text text) {
    return (size_t)(reader->end - at) > text.len && same_bytes(at, text.ptr, text.len);
}

enum json_likeness json_member_like(struct json_reader *reader, struct json_iterator *iterator,
                                    struct text key, struct text value, struct text *ret_key) {
    // One view of both: a key that was unescaped, or blanks between them, make that impossible.
    if (value.len == 0 || value.ptr != key.ptr + key.len + 2) return JSON_UNLIKE;
    struct text written = {key.ptr - 1, key.len + 3};
    char before = iterator->open ? ',' : '{';
    if (next_byte(reader) != before || !goes_on(reader, reader->at + 1, written)) return JSON_UNLIKE;
    if (!iterator->open && !open_map(reader, iterator)) return JSON_UNLIKE;
    const char *quote = before == ',' ? reader->at + 1 : reader->at;
    struct text here = {quote + 1, key.len};
    bool repeated;
    if (!remember_key(reader, iterator, here, &repeated)) return JSON_UNLIKE;
    reader->top->name = here.ptr;
    reader->top->len = (uint32_t)here.len;
    reader->at = quote + written.len;
    iterator->count++;
    *ret_key = here;
    if (json_skip_same(reader, value)) return JSON_LIKE_ALL;
    skip_blanks(reader);
    return JSON_LIKE_KEY;
}

bool json_single_text(struct json_reader *reader, struct text head, struct text *ret_text) {
    if (!goes_on(reader, reader->at, head)) return false;
    const char *begin = reader->at + head.len;
    const char *close = json_scan_plain(begin, reader->end);
    if (reader->end - close < 2 || close[0] != '"' || close[1] != '}') return false;
    *ret_text = (struct text){begin, (size_t)(close - begin)};
    reader->at = close + 2;
    return true;
}

// Reads digits that always fit and do not begin with zero, or one zero; stops at the first other byte.
static inline const char *read_plain_digits(const char *at, const char *end, int64_t *ret_value) {
    const char *begin = at;
    int64_t plain = 0;
    while (at < end && *at >= '0' && *at <= '9' && at - begin < PLAIN_DIGITS)
        plain = plain * 10 + (*at++ - '0');
    *ret_value = plain;
    return at == begin || (*begin == '0' && at - begin > 1) ? NULL : at;
}

bool json_single_int64(struct json_reader *reader, struct text head, int64_t *ret_value) {
    if (!goes_on(reader, reader->at, head)) return false;
    int64_t value;
    const char *at = read_plain_digits(reader->at + head.len, reader->end, &value);
    if (at == NULL || at >= reader->end || *at != '}') return false;
    *ret_value = value;
    reader->at = at + 1;
    return true;
}

bool json_text(struct json_reader *reader, struct text *ret_text) {
    if (next_byte(reader) == '"') return read_string(reader, ret_text);
    return !json_null(reader) && refuse_value(reader, "string");
}

bool json_bool(struct json_reader *reader, bool *ret_bool) {
    char byte = next_byte(reader);
    if (byte != 't' && byte != 'f') return !json_null(reader) && refuse_value(reader, "bool");
    if (!(byte == 't' ? take_word(reader, "true", 4) : take_word(reader, "false", 5))) return false;
    *ret_bool = byte == 't';
    return true;
}

// Reads a whole number within bounds; type is what a refusal calls it.
static bool read_integer(struct json_reader *reader, int64_t low, int64_t high, const char *type,
                         int64_t *ret_value) {
    if (json_peek(reader) != JSON_NUMBER) return !json_null(reader) && refuse_value(reader, type);
    int64_t plain;
    const char *at = read_plain_digits(reader->at, reader->end, &plain);
    // Nothing of a fraction behind them.
    if (at != NULL && at < reader->end && (*at == ',' || *at == '}') && plain >= low && plain <= high) {
        reader->at = at;
        *ret_value = plain;
        return true;
    }
    at = reader->at;
    enum json_error error = json_scan_number(&at, reader->end);
    if (error != JSON_FINE) {
        fail_at(reader, error, at);
        return false;
    }
    struct text digits = {reader->at, (size_t)(at - reader->at)};
    int64_t value;
    if (!text_to_int64(digits, &value) || value < low || value > high) return refuse_value(reader, type);
    reader->at = at;
    *ret_value = value;
    return true;
}

bool json_int64(struct json_reader *reader, int64_t *ret_value) {
    return read_integer(reader, INT64_MIN, INT64_MAX, "int64", ret_value);
}

bool json_int32(struct json_reader *reader, int32_t *ret_value) {
    int64_t value;
    if (!read_integer(reader, INT32_MIN, INT32_MAX, "int32", &value)) return false;
    *ret_value = (int32_t)value;
    return true;
}

// The bytes of the blank that text begins with, 0 when it does not. Source: Go unicode.IsSpace.
static size_t leading_blank(struct text text) {
    static const struct text wide[] = {
        TEXT_INIT("\xC2\x85"),     TEXT_INIT("\xC2\xA0"),     TEXT_INIT("\xE1\x9A\x80"),
        TEXT_INIT("\xE2\x80\xA8"), TEXT_INIT("\xE2\x80\xA9"), TEXT_INIT("\xE2\x80\xAF"),
        TEXT_INIT("\xE2\x81\x9F"), TEXT_INIT("\xE3\x80\x80"),
    };
    if (text.len == 0) return 0;
    unsigned char byte = (unsigned char)text.ptr[0];
    if (byte == ' ' || (byte >= '\t' && byte <= '\r')) return 1;
    if (byte < 0x80) return 0;
    if (text.len >= 3 && memcmp(text.ptr, "\xE2\x80", 2) == 0 && (unsigned char)text.ptr[2] >= 0x80 &&
        (unsigned char)text.ptr[2] <= 0x8A)
        return 3;
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
        if (text_starts_with(text, wide[i])) return wide[i].len;
    return 0;
}

// As Go's strings.TrimSpace.
static struct text trim_blanks(struct text text) {
    bool is_graphic = text.len > 0 && text.ptr[0] > ' ' && text.ptr[text.len - 1] > ' ';
    if (is_graphic) return text;
    for (size_t width; (width = leading_blank(text)) > 0;) text = text_slice(text, width, text.len);
    while (text.len > 0) {
        size_t width = 0;
        for (size_t back = 1; back <= 3 && back <= text.len && width == 0; back++)
            if (leading_blank(text_slice(text, text.len - back, text.len)) == back) width = back;
        if (width == 0) break;
        text.len -= width;
    }
    return text;
}

bool json_quantity(struct json_reader *reader, struct quantity *ret_quantity) {
    struct text raw;
    bool is_string = next_byte(reader) == '"';
    const char *close = is_string ? json_scan_plain(reader->at + 1, reader->end) : reader->end;
    if (close < reader->end && *close == '"') {
        raw = (struct text){reader->at + 1, (size_t)(close - reader->at - 1)};
        reader->at = close + 1;
    } else {
        if (json_null(reader) || !json_raw(reader, &raw)) return false;
        if (is_string) raw = text_slice(raw, 1, raw.len - 1);
    }
    const char *why = NULL;
    if (quantity_parse(trim_blanks(raw), ret_quantity, &why)) return true;
    json_note(reader, FINDING_DECODING, raw, text_of(why));
    return false;
}
