// SPDX-License-Identifier: Apache-2.0
// Findings and the paths they name.
#include "validators/core/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct type_row {
    const char *reason;
    const char *words;
};

static const struct type_row type_rows[] = {
    [FINDING_NOT_FOUND] = {"FieldValueNotFound", "Not found"},
    [FINDING_REQUIRED] = {"FieldValueRequired", "Required value"},
    [FINDING_DUPLICATE] = {"FieldValueDuplicate", "Duplicate value"},
    [FINDING_INVALID] = {"FieldValueInvalid", "Invalid value"},
    [FINDING_NOT_SUPPORTED] = {"FieldValueNotSupported", "Unsupported value"},
    [FINDING_FORBIDDEN] = {"FieldValueForbidden", "Forbidden"},
    [FINDING_TOO_LONG] = {"FieldValueTooLong", "Too long"},
    [FINDING_TOO_MANY] = {"FieldValueTooMany", "Too many"},
    [FINDING_TYPE_INVALID] = {"FieldValueTypeInvalid", "Invalid value"},
    [FINDING_INTERNAL] = {"InternalError", "Internal error"},
    [FINDING_STRICT_DECODING] = {"StrictDecoding", "Strict decoding error"},
    [FINDING_DECODING] = {"Decoding", "Cannot be decoded"},
};

const char *finding_type_reason(enum finding_type type) {
    return type_rows[type].reason;
}

const char *finding_type_words(enum finding_type type) {
    return type_rows[type].words;
}

const char *severity_name(enum severity severity) {
    static const char *const names[] = {"off", "audit", "warn", "deny"};
    return names[severity];
}

static size_t element_len(const struct path *path) {
    char digits[24];
    switch (path->kind) {
    case PATH_INDEX: return (size_t)snprintf(digits, sizeof digits, "[%zu]", path->index);
    case PATH_KEY: return path->name.len + 2;
    case PATH_FIELD: break;
    }
    return path->name.len + (path->parent == NULL ? 0 : 1);
}

static void write_element(const struct path *path, char *out) {
    switch (path->kind) {
    case PATH_INDEX: {
        char digits[24];
        int len = snprintf(digits, sizeof digits, "[%zu]", path->index);
        memcpy(out, digits, (size_t)len);
        return;
    }
    case PATH_KEY:
        *out++ = '[';
        if (path->name.len > 0) memcpy(out, path->name.ptr, path->name.len);
        out[path->name.len] = ']';
        return;
    case PATH_FIELD:
        if (path->parent != NULL) *out++ = '.';
        if (path->name.len > 0) memcpy(out, path->name.ptr, path->name.len);
        return;
    }
}

struct text path_render(struct arena *arena, const struct path *path) {
    size_t total = 0;
    for (const struct path *p = path; p != NULL; p = p->parent) total += element_len(p);
    char *out = arena_alloc(arena, total + 1);
    if (out == NULL) return (struct text){"", 0};
    out[total] = '\0';
    size_t end = total;
    for (const struct path *p = path; p != NULL; p = p->parent) {
        end -= element_len(p);
        write_element(p, out + end);
    }
    return (struct text){out, total};
}

void finding_list_init(struct finding_list *list, struct arena *arena) {
    *list = (struct finding_list){
        .arena = arena, .rule = SCHEMA_RULE_ID, .severity = SEVERITY_DENY, .limit = FINDING_LIST_LIMIT};
}

bool finding_list_is_sound(const struct finding_list *list) {
    return !list->poisoned && !list->arena->poisoned;
}

bool finding_list_denies(const struct finding_list *list) {
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].severity == SEVERITY_DENY) return true;
    return false;
}

// A full list must still be able to deny: the last place is given to the first denial that arrives after it
// is full.
static struct finding *place_for(struct finding_list *list) {
    if (list->count < list->limit) {
        struct finding *place = LIST_APPEND(list->arena, list);
        if (place == NULL) list->poisoned = true;
        return place;
    }
    list->dropped_count++;
    if (list->severity == SEVERITY_DENY && list->count > 0 && !finding_list_denies(list))
        return &list->items[list->count - 1];
    return NULL;
}

struct finding *finding_add(struct finding_list *list, enum finding_type type, const struct path *path,
                            struct text value, struct text detail) {
    struct finding *finding = place_for(list);
    if (finding == NULL) return NULL;
    *finding = (struct finding){.type = type,
                                .severity = list->severity,
                                .rule = list->rule,
                                .path = path_render(list->arena, path),
                                .value = value,
                                .detail = detail};
    return finding;
}

struct finding *finding_addf(struct finding_list *list, enum finding_type type, const struct path *path,
                             struct text value, const char *format, ...) {
    struct finding *finding = finding_add(list, type, path, value, (struct text){"", 0});
    if (finding == NULL) return NULL;
    va_list args;
    va_start(args, format);
    char line[1024];
    int len = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    size_t kept = len < 0 ? 0 : (size_t)len < sizeof line ? (size_t)len : sizeof line - 1;
    finding->detail = text_copy(list->arena, (struct text){line, kept});
    return finding;
}

void finding_hint(struct finding *finding, struct text hint) {
    if (finding != NULL) finding->hint = hint;
}

static int finding_order(const struct finding *a, const struct finding *b) {
    int order = text_compare(a->path, b->path);
    if (order == 0) order = strcmp(a->rule, b->rule);
    if (order == 0) order = (int)a->type - (int)b->type;
    return order;
}

void finding_list_sort(struct finding_list *list) {
    // Insertion sort: lists are short and mostly in order already, and it keeps equal ones as they came.
    for (size_t i = 1; i < list->count; i++) {
        struct finding moving = list->items[i];
        size_t at = i;
        while (at > 0 && finding_order(&list->items[at - 1], &moving) > 0) {
            list->items[at] = list->items[at - 1];
            at--;
        }
        list->items[at] = moving;
    }
}

bool finding_is_repeated(const struct finding_list *list, size_t index) {
    for (size_t i = 0; i < index; i++)
        if (list->items[i].severity == list->items[index].severity &&
            strcmp(list->items[i].rule, list->items[index].rule) == 0)
            return true;
    return false;
}
