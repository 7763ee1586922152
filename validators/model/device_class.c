// SPDX-License-Identifier: Apache-2.0
// The driver of a class.
#include "validators/model/device_class.h"

static struct text skip_blanks(struct text text) {
    size_t at = 0;
    while (at < text.len &&
           (text.ptr[at] == ' ' || text.ptr[at] == '\t' || text.ptr[at] == '\n' || text.ptr[at] == '\r'))
        at++;
    return text_slice(text, at, text.len);
}

static bool take(struct text *text, struct text word) {
    *text = skip_blanks(*text);
    if (!text_starts_with(*text, word)) return false;
    *text = text_slice(*text, word.len, text->len);
    return true;
}

static bool has_or(struct text text) {
    for (size_t at = text_find(text, '|', 0); at < text.len; at = text_find(text, '|', at + 1))
        if (at + 1 < text.len && text.ptr[at + 1] == '|') return true;
    return false;
}

// `device.driver == "NAME"` at the front; what follows may only narrow it down.
static struct text driver_of(struct text expression) {
    const struct text none = {NULL, 0};
    struct text rest = expression;
    if (!take(&rest, TEXT("device.driver")) || !take(&rest, TEXT("=="))) return none;
    rest = skip_blanks(rest);
    if (rest.len < 2 || (rest.ptr[0] != '"' && rest.ptr[0] != '\'')) return none;
    size_t end = text_find(rest, rest.ptr[0], 1);
    if (end == rest.len || text_find(text_slice(rest, 1, end), '\\', 0) < end - 1) return none;
    struct text name = text_slice(rest, 1, end);
    struct text behind = skip_blanks(text_slice(rest, end + 1, rest.len));
    if (behind.len > 0 && (!text_starts_with(behind, TEXT("&&")) || has_or(behind))) return none;
    return name;
}

struct text device_class_driver(const struct device_class *device_class) {
    const struct text_map *labels = &device_class->metadata.labels;
    for (size_t i = 0; i < labels->count; i++)
        if (text_equal(labels->items[i].key, TEXT(CLASS_DRIVER_LABEL)) && labels->items[i].value.len > 0)
            return labels->items[i].value;
    for (size_t i = 0; i < device_class->selectors.count; i++) {
        struct text name = driver_of(device_class->selectors.items[i].expression);
        if (name.len > 0) return name;
    }
    return (struct text){NULL, 0};
}
