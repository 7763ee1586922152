// SPDX-License-Identifier: Apache-2.0
// The configuration file: strict YAML, one flat map, every fault with its line.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/codec/yaml.h"
#include "server/config/bounds.h"
#include "server/config/settings_parts.h"
#include "validators/core/arena.h"
#include "validators/core/finding.h"
#include "validators/core/json_reader.h"

#define ARENA_BYTES      (8u << 20)
#define LIST_ITEMS_LIMIT 256
#define DISTANCE_LIMIT   3 // edits up to which another key is suggested

struct file {
    const char *name;
    struct yaml_json yaml;
    struct json_reader reader;
    struct arena arena;
    struct finding_list findings; // the reader wants one
    uint32_t line;                // of the key that is being read
    bool has_version;
    bool has_kind;
};

static uint32_t line_at(const struct file *file, size_t offset) {
    const struct yaml_place *place = yaml_find_place(&file->yaml, offset);
    return place == NULL ? 1 : place->line;
}

// Puts FILE:LINE before a fault. Always false.
static bool refuse(const struct file *file, struct fault *fault) {
    if (fault != NULL && fault->code != FAULT_MEMORY) fault->code = FAULT_USAGE;
    return fault_wrap(fault, "%s:%u", file->name, file->line);
}

static const struct setting_field *find_key(struct text key) {
    char name[OPTION_NAME_BYTES];
    for (size_t i = 0; i < setting_field_count; i++)
        if (text_equal(key, text_of(option_key(&option_rows[setting_fields[i].id], name, sizeof name))))
            return &setting_fields[i];
    return NULL;
}

static bool unknown_key(struct file *file, struct text key, struct fault *fault) {
    char name[OPTION_NAME_BYTES], best[OPTION_NAME_BYTES] = "";
    struct text shown = text_printable(&file->arena, key, 64);
    size_t best_distance = DISTANCE_LIMIT;
    for (size_t i = 0; i < setting_field_count; i++) {
        const struct option_row *row = &option_rows[setting_fields[i].id];
        if (row->id == OPTION_CONFIG) continue;
        size_t distance = text_distance(key, text_of(option_key(row, name, sizeof name)), best_distance);
        if (text_equal(key, text_of(row->name))) distance = 0; // the flag's spelling is a likely slip
        if (distance >= best_distance) continue;
        best_distance = distance;
        snprintf(best, sizeof best, "%s", name);
    }
    fault_set(fault, FAULT_USAGE, "there is no setting \"%.*s\"", TEXT_ARG(shown));
    if (best[0] != '\0')
        fault_set(fault, FAULT_USAGE, "there is no setting \"%.*s\"; did you mean \"%s\"?", TEXT_ARG(shown),
                  best);
    return refuse(file, fault);
}

static bool wrong_type(struct file *file, struct text key, const char *wanted, struct fault *fault) {
    fault_set(fault, FAULT_USAGE, "\"%.*s\" must be %s", TEXT_ARG(key), wanted);
    return refuse(file, fault);
}

// A string of the file as C text. Errors: NULL where memory ran out or a NUL byte is in it.
static const char *c_text(struct file *file, struct text text) {
    return memchr(text.len == 0 ? "" : text.ptr, '\0', text.len) != NULL ? NULL
                                                                         : text_copy(&file->arena, text).ptr;
}

static bool read_items(struct file *file, struct text key, const char **items, size_t *ret_count,
                       struct fault *fault) {
    struct json_iterator iterator = {0};
    size_t count = 0;
    if (json_peek(&file->reader) != JSON_ARRAY) return wrong_type(file, key, "a list of texts", fault);
    while (json_element(&file->reader, &iterator)) {
        struct text text = {0};
        if (json_peek(&file->reader) != JSON_STRING) return wrong_type(file, key, "a list of texts", fault);
        if (count == LIST_ITEMS_LIMIT) return wrong_type(file, key, "a list of at most 256 texts", fault);
        if (!json_text(&file->reader, &text) || (items[count++] = c_text(file, text)) == NULL)
            return wrong_type(file, key, "a list of texts without control bytes", fault);
    }
    *ret_count = count;
    return true;
}

// What the file must hold for this kind, and whether it does.
static bool type_fits(enum option_kind kind, enum json_type type, const char **ret_wanted) {
    switch (kind) {
    case OPTION_IS_SWITCH: *ret_wanted = "true or false"; return type == JSON_BOOL;
    case OPTION_IS_INT: *ret_wanted = "a whole number"; return type == JSON_NUMBER;
    case OPTION_IS_BYTES:
        *ret_wanted = "a number of bytes or a size such as 8Mi";
        return type == JSON_NUMBER || type == JSON_STRING;
    case OPTION_IS_DURATION: *ret_wanted = "a duration such as 10s"; return type == JSON_STRING;
    case OPTION_IS_TEXT:
    case OPTION_IS_FILE:
    case OPTION_IS_CHOICE: *ret_wanted = "a text; write it in quotes"; return type == JSON_STRING;
    case OPTION_IS_LIST:
    case OPTION_IS_FILES: break;
    }
    *ret_wanted = "a list of texts";
    return type == JSON_ARRAY;
}

static bool read_value(struct file *file, struct text key, const struct setting_field *field,
                       struct serve_settings *settings, struct fault *fault) {
    enum option_kind kind = option_rows[field->id].kind;
    enum json_type type = json_peek(&file->reader);
    const char *items[LIST_ITEMS_LIMIT];
    const char *wanted;
    size_t count = 1;
    if (!type_fits(kind, type, &wanted)) return wrong_type(file, key, wanted, fault);
    if (kind == OPTION_IS_LIST || kind == OPTION_IS_FILES) {
        if (!read_items(file, key, items, &count, fault)) return false;
    } else {
        struct text text = {0};
        bool read = type == JSON_STRING ? json_text(&file->reader, &text) : json_raw(&file->reader, &text);
        items[0] = read ? c_text(file, text) : NULL;
        if (items[0] == NULL) return wrong_type(file, key, "a value without control bytes", fault);
    }
    if (setting_set(settings, field, items, count, SETTING_FILE, fault)) return true;
    fault_wrap(fault, "\"%.*s\"", TEXT_ARG(key));
    return refuse(file, fault);
}

// apiVersion and kind: exactly one value is right.
static bool read_header(struct file *file, struct text key, const char *wanted, bool *seen,
                        struct fault *fault) {
    struct text text = {0};
    bool right = json_peek(&file->reader) == JSON_STRING && json_text(&file->reader, &text) &&
                 text_equal(text, text_of(wanted));
    *seen = true;
    if (right) return true;
    fault_set(fault, FAULT_USAGE, "\"%.*s\" must be %s", TEXT_ARG(key), wanted);
    return refuse(file, fault);
}

static bool read_member(struct file *file, struct text key, struct serve_settings *settings,
                        struct fault *fault) {
    if (text_equal(key, TEXT("apiVersion")))
        return read_header(file, key, CONFIG_API_VERSION, &file->has_version, fault);
    if (text_equal(key, TEXT("kind"))) return read_header(file, key, CONFIG_KIND, &file->has_kind, fault);
    const struct setting_field *field = find_key(key);
    if (field == NULL) return unknown_key(file, key, fault);
    if (field->id == OPTION_CONFIG) {
        fault_set(fault, FAULT_USAGE, "a configuration file cannot name another one; use --config");
        return refuse(file, fault);
    }
    if (!json_null(&file->reader)) return read_value(file, key, field, settings, fault);
    fault_set(fault, FAULT_USAGE, "\"%.*s\" has no value; give one or remove the line", TEXT_ARG(key));
    return refuse(file, fault);
}

static bool read_all(struct file *file, struct serve_settings *settings, struct fault *fault) {
    struct json_iterator iterator = {0};
    struct text key;
    file->line = 1;
    if (json_peek(&file->reader) != JSON_OBJECT) {
        fault_set(fault, FAULT_USAGE, "the file must be a map with apiVersion and kind");
        return refuse(file, fault);
    }
    while (json_member(&file->reader, &iterator, &key)) {
        // A key without escapes is a view of the JSON; its place is one byte before, at the quote.
        bool is_view = key.ptr > file->reader.begin && key.ptr < file->reader.end;
        size_t value = (size_t)(file->reader.at - file->reader.begin);
        file->line = line_at(file, is_view ? (size_t)(key.ptr - file->reader.begin) - 1 : value);
        if (!read_member(file, key, settings, fault)) return false;
    }
    if (!json_finish(&file->reader, fault)) {
        file->line = line_at(file, file->reader.error_offset);
        return refuse(file, fault);
    }
    file->line = 1;
    if (file->has_version && file->has_kind) return true;
    fault_set(fault, FAULT_USAGE, "the file needs apiVersion: %s and kind: %s", CONFIG_API_VERSION,
              CONFIG_KIND);
    return refuse(file, fault);
}

bool settings_read_text(struct text yaml, const char *name, struct serve_settings *settings,
                        struct fault *fault) {
    struct file file = {.name = name};
    struct yaml_place place = {0};
    arena_init(&file.arena, ARENA_BYTES);
    finding_list_init(&file.findings, &file.arena);
    bool read = yaml_to_json(&file.arena, yaml, 1, &file.yaml, &place, fault);
    if (!read) {
        file.line = place.line == 0 ? 1 : place.line;
        refuse(&file, fault);
    } else {
        // Of the reader's two modes this one ends at a repeated key, with its place.
        json_init(&file.reader, file.yaml.json, &file.arena, &file.findings, JSON_WIRE);
        read = read_all(&file, settings, fault);
    }
    arena_release(&file.arena);
    return read;
}

static bool read_bytes(int fd, char *bytes, size_t room, size_t *ret_len, struct fault *fault) {
    size_t len = 0;
    ssize_t got;
    struct stat status;
    if (fstat(fd, &status) != 0) return fault_set(fault, FAULT_IO, "%s", strerror(errno));
    if (!S_ISREG(status.st_mode)) return fault_set(fault, FAULT_IO, "not a regular file");
    do {
        got = read(fd, bytes + len, room - len);
        if (got > 0) len += (size_t)got;
    } while ((got > 0 && len < room) || (got < 0 && errno == EINTR));
    if (got < 0) return fault_set(fault, FAULT_IO, "%s", strerror(errno));
    if (len == room) return fault_set(fault, FAULT_LIMIT, "more than %lld bytes", BOUND_CONFIG_BYTES);
    *ret_len = len;
    return true;
}

bool settings_read_file(const char *path, struct serve_settings *settings, struct fault *fault) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return fault_set(fault, FAULT_IO, "configuration \"%s\": %s", path, strerror(errno));
    char *bytes = malloc((size_t)BOUND_CONFIG_BYTES + 1);
    size_t len = 0;
    bool read = bytes != NULL;
    if (!read) fault_set(fault, FAULT_MEMORY, "out of memory");
    if (read && !read_bytes(fd, bytes, (size_t)BOUND_CONFIG_BYTES + 1, &len, fault))
        read = fault_wrap(fault, "configuration \"%s\"", path);
    close(fd);
    read = read && settings_read_text((struct text){bytes, len}, path, settings, fault);
    free(bytes);
    return read;
}
