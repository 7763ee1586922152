// SPDX-License-Identifier: Apache-2.0
// Cutting a file into objects. JSON is passed on as it stands; YAML becomes JSON first.
#include "server/codec/documents.h"

#include <stdlib.h>

#include "validators/core/arena.h"
#include "validators/core/json_reader.h"
#include "validators/core/json_scan.h"

struct walk {
    const char *file;
    const struct document_visitor *visitor;
    struct line_index lines;
    struct arena arena; // one document at a time
    size_t number;
    size_t item; // of the next object of a List
};

// The words of an object that tell what to do with it.
struct head {
    struct text api_version;
    struct text kind;
    struct text items;   // with its brackets; empty when absent
    size_t first_member; // offset behind the opening brace
    bool has_api_version;
    bool has_kind;
    bool has_items;
    bool empty;          // no members
    const char *doubled; // one of the three that is there twice, or NULL
};

static void tell_error(const struct walk *walk, uint32_t line, uint32_t column, const char *text) {
    struct document_error error = {walk->file, walk->number, line, column, (struct line_index *)&walk->lines,
                                   text};
    walk->visitor->on_error(walk->visitor->state, &error);
}

static void tell_error_at(struct walk *walk, const char *at, const char *text) {
    uint32_t line;
    uint32_t column;
    line_index_place(&walk->lines, (size_t)(at - walk->lines.text.ptr), &line, &column);
    tell_error(walk, line, column, text);
}

// The meaning of a string; empty for anything else.
static struct text string_inside(struct arena *arena, const char *begin, const char *end) {
    if (end - begin < 2 || *begin != '"') return (struct text){0};
    struct text raw = {begin + 1, (size_t)(end - begin) - 2};
    if (raw.len == 0 || memchr(raw.ptr, '\\', raw.len) == NULL) return raw;
    char *out = arena_alloc(arena, raw.len * 3);
    return out == NULL ? raw : (struct text){out, json_unescape(raw, out)};
}

// Takes what matters of one member. Of a key that is there twice the first counts, as in the decoder; that it
// is there twice is told.
static void take_member(struct arena *arena, struct head *head, struct text key, struct text value) {
    struct text name = string_inside(arena, key.ptr, key.ptr + key.len);
    bool is_version = text_equal(name, TEXT("apiVersion"));
    bool is_kind = text_equal(name, TEXT("kind"));
    bool is_items = text_equal(name, TEXT("items"));
    head->empty = false;
    if ((is_version && head->has_api_version) || (is_kind && head->has_kind) ||
        (is_items && head->has_items)) {
        head->doubled = is_version ? "apiVersion" : is_kind ? "kind" : "items";
        return;
    }
    if (is_version) {
        head->has_api_version = true;
        head->api_version = string_inside(arena, value.ptr, value.ptr + value.len);
    } else if (is_kind) {
        head->has_kind = true;
        head->kind = string_inside(arena, value.ptr, value.ptr + value.len);
    } else if (is_items) {
        head->has_items = true;
        if (value.ptr[0] == '[') head->items = value;
    }
}

static enum json_error stop_at(const char **ret_at, const char *at, const char *end) {
    *ret_at = at;
    return at < end ? JSON_SYNTAX : JSON_TRUNCATED;
}

// Moves *at past a value and reads its head when it is an object. Errors: as json_scan_value.
static enum json_error scan_document(struct arena *arena, const char **at, const char *end,
                                     struct head *head) {
    *head = (struct head){.first_member = 1, .empty = true};
    if (*at == end || **at != '{') return json_scan_value(at, end, JSON_RAW_DEPTH_LIMIT);
    const char *next = json_scan_blanks(*at + 1, end);
    for (bool first = true; first || *next == ','; first = false) {
        if (first && next < end && *next == '}') break;
        const char *key = first ? next : json_scan_blanks(next + 1, end);
        if (key == end || *key != '"') return stop_at(at, key, end);
        *at = key;
        enum json_error error = json_scan_value(at, end, JSON_RAW_DEPTH_LIMIT);
        if (error != JSON_FINE) return error;
        const char *key_end = *at;
        next = json_scan_blanks(key_end, end);
        if (next == end || *next != ':') return stop_at(at, next, end);
        const char *value = json_scan_blanks(next + 1, end);
        *at = value;
        error = json_scan_value(at, end, JSON_RAW_DEPTH_LIMIT - 1);
        if (error != JSON_FINE) return error;
        take_member(arena, head, (struct text){key, (size_t)(key_end - key)},
                    (struct text){value, (size_t)(*at - value)});
        next = json_scan_blanks(*at, end);
        if (next == end || (*next != ',' && *next != '}')) return stop_at(at, next, end);
    }
    *at = next + 1;
    return JSON_FINE;
}

// --- Lists ---

// An item of a typed List need not say what it is; the List does.
static bool name_item(struct walk *walk, struct document *document, const struct head *list,
                      const struct head *head) {
    struct text kind = text_slice(list->kind, 0, list->kind.len - 4);
    if (kind.len == 0) return true;
    const char *comma = head->empty ? "" : ",";
    struct text rest = text_slice(document->json, head->first_member, document->json.len);
    struct text added = {0};
    if (!head->has_kind && !head->has_api_version)
        added = text_format(&walk->arena, "{\"apiVersion\":\"%.*s\",\"kind\":\"%.*s\"%s",
                            TEXT_ARG(list->api_version), TEXT_ARG(kind), comma);
    else if (!head->has_kind)
        added = text_format(&walk->arena, "{\"kind\":\"%.*s\"%s", TEXT_ARG(kind), comma);
    else if (!head->has_api_version)
        added = text_format(&walk->arena, "{\"apiVersion\":\"%.*s\"%s", TEXT_ARG(list->api_version), comma);
    else
        return true;
    char *json = arena_alloc(&walk->arena, added.len + rest.len);
    if (json == NULL || added.ptr == NULL) return false;
    memcpy(json, added.ptr, added.len);
    memcpy(json + added.len, rest.ptr, rest.len);
    document->json = (struct text){json, added.len + rest.len};
    document->cut = head->first_member;
    document->added = added.len;
    if (!head->has_kind) document->kind = kind;
    if (!head->has_api_version) document->api_version = list->api_version;
    return true;
}

static void visit_object(struct walk *walk, struct document *document, const struct head *head,
                         const struct head *list, unsigned depth);

static void visit_items(struct walk *walk, const struct document *document, const struct head *list,
                        unsigned depth) {
    const char *end = list->items.ptr + list->items.len;
    const char *at = json_scan_blanks(list->items.ptr + 1, end);
    while (at < end && *at != ']') {
        const char *begin = at;
        struct head head;
        if (scan_document(&walk->arena, &at, end, &head) != JSON_FINE) return;
        struct document item = *document;
        item.json = (struct text){begin, (size_t)(at - begin)};
        item.base = document->base + (size_t)(begin - document->json.ptr);
        item.in_list = true;
        visit_object(walk, &item, &head, list, depth + 1);
        at = json_scan_blanks(at, end);
        if (at < end && *at == ',') at = json_scan_blanks(at + 1, end);
    }
}

static bool is_list(const struct head *head) {
    return head->items.ptr != NULL && text_ends_with(head->kind, TEXT("List"));
}

// Tells an error at the beginning of a document or an item.
static void tell_error_of(struct walk *walk, const struct document *document, const char *text) {
    struct locator locator;
    locator_init(&locator, document->json, &walk->arena);
    struct source_place place = document_place(document, &locator, (struct text){0}, false);
    tell_error(walk, place.line, place.column, text);
}

static void visit_object(struct walk *walk, struct document *document, const struct head *head,
                         const struct head *list, unsigned depth) {
    if (document->json.ptr[0] != '{') {
        tell_error_of(walk, document,
                      list == NULL ? "a document must be an object, with apiVersion and kind"
                                   : "an item of a List must be an object");
        return;
    }
    document->api_version = head->api_version;
    document->kind = head->kind;
    document->doubled = head->doubled;
    if (is_list(head)) {
        if (head->doubled != NULL)
            tell_error_of(walk, document, "the List has apiVersion, kind or items twice");
        else if (depth == DOCUMENTS_LIST_DEPTH)
            tell_error_of(walk, document, "Lists are nested too deeply");
        else
            visit_items(walk, document, head, depth);
        return;
    }
    if (list != NULL && !name_item(walk, document, list, head)) {
        tell_error_of(walk, document, "the item needs more memory than a document may take");
        return;
    }
    if (document->in_list) document->item = walk->item++;
    walk->visitor->on_document(walk->visitor->state, document);
}

static void visit_document(struct walk *walk, struct text json, const struct head *head,
                           const struct yaml_json *yaml, size_t base) {
    struct document document = {.file = walk->file,
                                .number = walk->number,
                                .json = json,
                                .lines = &walk->lines,
                                .yaml = yaml,
                                .base = base};
    walk->item = 0;
    visit_object(walk, &document, head, NULL, 0);
}

// --- Pieces ---

// What stopped JSON that YAML could not be read as either.
struct json_stop {
    const char *at; // NULL: it was not JSON in the first place
    const char *words;
};

static void visit_yaml(struct walk *walk, const struct yaml_piece *piece, const struct json_stop *stop) {
    struct yaml_json yaml;
    struct yaml_place place = {0};
    struct fault fault = {0};
    arena_clear(&walk->arena);
    if (!yaml_to_json(&walk->arena, piece->text, piece->line, &yaml, &place, &fault)) {
        walk->number++;
        if (stop->at != NULL)
            tell_error_at(walk, stop->at, stop->words);
        else
            tell_error(walk, place.line, place.column, fault.text);
        return;
    }
    if (yaml.empty || text_equal(yaml.json, TEXT("null"))) return;
    walk->number++;
    struct head head;
    const char *at = yaml.json.ptr;
    if (scan_document(&walk->arena, &at, yaml.json.ptr + yaml.json.len, &head) == JSON_FINE)
        visit_document(walk, yaml.json, &head, &yaml, 0);
    else
        tell_error(walk, piece->line, 1, "the document is nested too deeply");
}

static const char *json_words(enum json_error error) {
    if (error == JSON_TRUNCATED) return "the JSON ends too early";
    return error == JSON_DEPTH ? "the JSON is nested too deeply" : "this is no JSON";
}

// JSON objects one behind the other. False when not even the first is JSON: it may be YAML in braces.
static bool visit_json(struct walk *walk, struct text text, struct json_stop *ret_stop) {
    const char *end = text.ptr + text.len;
    const char *at = json_scan_blanks(text.ptr, end);
    for (bool first = true; at < end; first = false) {
        const char *begin = at;
        struct head head;
        arena_clear(&walk->arena);
        enum json_error error = scan_document(&walk->arena, &at, end, &head);
        if (error != JSON_FINE && first) {
            *ret_stop = (struct json_stop){at, json_words(error)};
            return false;
        }
        walk->number++;
        if (error != JSON_FINE) {
            tell_error_at(walk, at, json_words(error));
            return true;
        }
        visit_document(walk, (struct text){begin, (size_t)(at - begin)}, &head, NULL,
                       (size_t)(begin - walk->lines.text.ptr));
        at = json_scan_blanks(at, end);
    }
    return true;
}

static void visit_piece(struct walk *walk, const struct yaml_piece *piece) {
    struct json_stop stop = {0};
    if (piece->bad_separator) {
        walk->number++;
        tell_error(walk, piece->line, 1,
                   "text follows the --- that parts documents; put it on a line of its own");
        walk->number--;
        return;
    }
    const char *end = piece->text.ptr + piece->text.len;
    const char *at = json_scan_blanks(piece->text.ptr, end);
    if (at < end && *at == '{' && visit_json(walk, piece->text, &stop)) return;
    visit_yaml(walk, piece, &stop);
}

void documents_visit_text(const char *name, struct text text, const struct document_options *options,
                          const struct document_visitor *visitor) {
    if (text_starts_with(text, TEXT("\xef\xbb\xbf"))) text = text_slice(text, 3, text.len);
    size_t file_bytes = options->file_bytes == 0 ? DOCUMENTS_FILE_BYTES : options->file_bytes;
    struct walk walk = {.file = name, .visitor = visitor, .lines = {.text = text}};
    struct yaml_cutter cutter = {.file = text};
    struct yaml_piece piece;
    arena_init(&walk.arena, file_bytes * DOCUMENTS_MEMORY_FACTOR + DOCUMENTS_MEMORY_BYTES);
    while (yaml_next_piece(&cutter, &piece)) visit_piece(&walk, &piece);
    arena_release(&walk.arena);
    line_index_release(&walk.lines);
}

// --- Places ---

// How many characters a value takes on its line.
static uint32_t width_of(struct text value) {
    uint32_t width = 0;
    if (value.len == 0 || value.ptr[0] == '{' || value.ptr[0] == '[') return 1;
    for (size_t i = 0; i < value.len && i < LINE_COUNTED_BYTES; i++)
        width += ((unsigned char)value.ptr[i] & 0xc0) != 0x80;
    return width;
}

// Text in YAML mostly has no quotes, but its JSON has.
static bool is_quoted(const struct document *document, const struct source_place *place) {
    struct text line = line_index_line(document->lines, place->line);
    size_t at = 0;
    for (uint32_t column = 1; column < place->column && at < line.len; column++) do
            at++;
        while (at < line.len && ((unsigned char)line.ptr[at] & 0xc0) == 0x80);
    return at < line.len && (line.ptr[at] == '"' || line.ptr[at] == '\'');
}

struct source_place document_place(const struct document *document, struct locator *locator, struct text path,
                                   bool of_key) {
    struct json_spot spot = locator_find(locator, path);
    char first = spot.value < document->json.len ? document->json.ptr[spot.value] : '\0';
    // Of a mapping or a list the key is the better place: in YAML the value begins on another line.
    bool key = of_key || !spot.exact || first == '{' || first == '[';
    size_t offset = key ? spot.key : spot.value;
    struct source_place place = {.exact = spot.exact};
    struct text json = document->json;
    size_t end = spot.value_end;
    if (key && spot.key != spot.value) {
        const char *at = json.ptr + spot.key;
        end = json_scan_value(&at, json.ptr + json.len, 0) == JSON_FINE ? (size_t)(at - json.ptr) : spot.key;
    }
    place.width = width_of(text_slice(json, offset, end));
    // What was put in front is not in the file; the object itself is.
    if (offset < document->added) place.width = 1;
    offset = document->base + (offset < document->added ? 0 : offset - document->added + document->cut);
    if (document->yaml == NULL) {
        line_index_place(document->lines, offset, &place.line, &place.column);
        return place;
    }
    const struct yaml_place *found = yaml_find_place(document->yaml, offset);
    if (found == NULL) return place;
    place.line = found->line;
    place.column = found->column;
    if (place.width > 2 && json.ptr[key ? spot.key : spot.value] == '"' && !is_quoted(document, &place))
        place.width -= 2;
    return place;
}
