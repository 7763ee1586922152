// SPDX-License-Identifier: Apache-2.0
// Walking JSON text along a path. The text was read before, so it is well-formed; every step is bounded all
// the same.
#include "server/codec/locate.h"

#include <stdlib.h>

#include "validators/core/arena.h"
#include "validators/core/json_reader.h"
#include "validators/core/json_scan.h"

#define LONG_ARRAY_ITEMS 8u // from here on it pays to note where the elements begin

struct element_list {
    uint32_t *items;
    size_t count;
};

void locator_init(struct locator *locator, struct text json, struct arena *arena) {
    *locator = (struct locator){.json = json, .arena = arena};
}

static const char *end_of(const struct locator *locator) {
    return locator->json.ptr + locator->json.len;
}

static size_t skip_blanks(const struct locator *locator, size_t at) {
    return (size_t)(json_scan_blanks(locator->json.ptr + at, end_of(locator)) - locator->json.ptr);
}

// One past the value at `at`; the end of the text when there is none.
static size_t skip_value(const struct locator *locator, size_t at) {
    const char *cursor = locator->json.ptr + at;
    if (json_scan_value(&cursor, end_of(locator), JSON_RAW_DEPTH_LIMIT) != JSON_FINE)
        return locator->json.len;
    return (size_t)(cursor - locator->json.ptr);
}

static char byte_at(const struct locator *locator, size_t at) {
    return at < locator->json.len ? locator->json.ptr[at] : '\0';
}

// Behind a member or an element: past the comma if there is one; 0 at the end.
static size_t next_item(const struct locator *locator, size_t at) {
    at = skip_blanks(locator, at);
    return byte_at(locator, at) == ',' ? skip_blanks(locator, at + 1) : 0;
}

// How many bytes of the path a key takes, with its dot or brackets; 0 when it is not the next step.
static size_t match_key(struct text path, struct text key) {
    if (path.len == 0) return 0;
    bool bracket = path.ptr[0] == '[';
    size_t begin = bracket || path.ptr[0] == '.' ? 1 : 0;
    if (path.len - begin < key.len || memcmp(path.ptr + begin, key.ptr, key.len) != 0) return 0;
    size_t end = begin + key.len;
    if (bracket) return end < path.len && path.ptr[end] == ']' ? end + 1 : 0;
    return end == path.len || path.ptr[end] == '.' || path.ptr[end] == '[' ? end : 0;
}

// The member of the object at `at` that is the next step of the path: of several the longest, of equals the
// last.
static size_t find_member(const struct locator *locator, size_t at, struct text path,
                          struct json_spot *spot) {
    size_t taken = 0;
    at = skip_blanks(locator, at + 1);
    while (at > 0 && byte_at(locator, at) == '"') {
        size_t key = at;
        size_t key_end = skip_value(locator, at);
        if (key_end < key + 2) return taken;
        size_t colon = skip_blanks(locator, key_end);
        if (byte_at(locator, colon) != ':') return taken;
        size_t value = skip_blanks(locator, colon + 1);
        size_t value_end = skip_value(locator, value);
        size_t match = match_key(path, text_slice(locator->json, key + 1, key_end - 1));
        if (match > 0 && match >= taken) {
            taken = match;
            *spot = (struct json_spot){key, value, value_end, true};
        }
        at = next_item(locator, value_end);
    }
    return taken;
}

// Notes where the elements of the array at `at` begin; the list that is noted already, when it is.
static struct located_array note_array(struct locator *locator, size_t at) {
    for (unsigned i = 0; i < locator->array_count; i++)
        if (locator->arrays[i].offset == at) return locator->arrays[i];
    struct element_list list = {0};
    size_t item = skip_blanks(locator, at + 1);
    while (item > 0 && item < locator->json.len && byte_at(locator, item) != ']') {
        uint32_t *slot = LIST_APPEND(locator->arena, &list);
        if (slot == NULL) return (struct located_array){0};
        *slot = (uint32_t)item;
        item = next_item(locator, skip_value(locator, item));
    }
    struct located_array array = {at, list.items, list.count};
    if (list.count >= LONG_ARRAY_ITEMS)
        locator->arrays[locator->array_count < LOCATE_ARRAYS ? locator->array_count++ : LOCATE_ARRAYS - 1] =
            array;
    return array;
}

static size_t find_element(struct locator *locator, size_t at, struct text path, struct json_spot *spot) {
    size_t end = text_find(path, ']', 0);
    int64_t index;
    if (path.len == 0 || path.ptr[0] != '[' || end == path.len) return 0;
    if (!text_to_int64(text_slice(path, 1, end), &index) || index < 0) return 0;
    struct located_array array = note_array(locator, at);
    if ((size_t)index >= array.count) return 0;
    size_t value = array.elements[index];
    *spot = (struct json_spot){value, value, skip_value(locator, value), true};
    return end + 1;
}

// A level that is in the JSON and not in the path, or the other way round.
static size_t find_other_level(const struct locator *locator, struct text path, struct json_spot *spot) {
    struct json_spot basic;
    if (find_member(locator, spot->value, TEXT("basic"), &basic) > 0 &&
        byte_at(locator, basic.value) == '{') {
        size_t taken = find_member(locator, basic.value, path, spot);
        if (taken > 0) return taken;
    }
    return match_key(path, TEXT("exactly"));
}

// Follows a path from a spot as far as it leads.
static struct json_spot walk(struct locator *locator, struct json_spot spot, struct text path) {
    while (path.len > 0) {
        size_t taken = 0;
        char first = byte_at(locator, spot.value);
        if (first == '[') taken = find_element(locator, spot.value, path, &spot);
        if (first == '{') taken = find_member(locator, spot.value, path, &spot);
        if (first == '{' && taken == 0) taken = find_other_level(locator, path, &spot);
        if (taken == 0) {
            spot.exact = false;
            return spot;
        }
        path = text_slice(path, taken, path.len);
    }
    return spot;
}

struct json_spot locator_find(struct locator *locator, struct text path) {
    size_t root = skip_blanks(locator, 0);
    struct json_spot spot = {root, root, locator->json.len, true};
    struct text prefix = text_slice(path, 0, text_find(path, '[', 0));
    if (prefix.len == 0) return walk(locator, spot, path);
    if (!text_equal(prefix, locator->prefix)) {
        locator->prefix_spot = walk(locator, spot, prefix);
        locator->prefix = prefix;
    }
    if (!locator->prefix_spot.exact) return locator->prefix_spot;
    return walk(locator, locator->prefix_spot, text_slice(path, prefix.len, path.len));
}

// --- Lines ---

static bool build(struct line_index *index) {
    if (index->starts != NULL) return true;
    struct text text = index->text;
    if (text.len >= UINT32_MAX) return false;
    size_t count = 1;
    for (size_t at = text_find(text, '\n', 0); at < text.len; at = text_find(text, '\n', at + 1)) count++;
    uint32_t *starts = malloc(count * sizeof *starts);
    if (starts == NULL) return false;
    size_t line = 0;
    starts[line++] = 0;
    for (size_t at = text_find(text, '\n', 0); at < text.len; at = text_find(text, '\n', at + 1))
        starts[line++] = (uint32_t)at + 1;
    index->starts = starts;
    index->count = count;
    return true;
}

void line_index_release(struct line_index *index) {
    if (index == NULL) return;
    free(index->starts);
    index->starts = NULL;
    index->count = 0;
}

void line_index_place(struct line_index *index, size_t offset, uint32_t *ret_line, uint32_t *ret_column) {
    *ret_line = 0;
    *ret_column = 0;
    if (!build(index)) return;
    if (offset > index->text.len) offset = index->text.len;
    size_t low = 0;
    size_t high = index->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (index->starts[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    *ret_line = (uint32_t)low + 1;
    size_t begin = index->starts[low];
    uint32_t column = 1;
    if (offset - begin > LINE_COUNTED_BYTES)
        column = (uint32_t)(offset - begin) + 1;
    else
        for (size_t i = begin; i < offset; i++) column += ((unsigned char)index->text.ptr[i] & 0xc0) != 0x80;
    *ret_column = column;
}

struct text line_index_line(struct line_index *index, uint32_t line) {
    if (!build(index) || line == 0 || line > index->count) return (struct text){0};
    size_t begin = index->starts[line - 1];
    size_t end = line < index->count ? index->starts[line] - 1 : index->text.len;
    if (end > begin && index->text.ptr[end - 1] == '\r') end--;
    return text_slice(index->text, begin, end);
}
