// SPDX-License-Identifier: Apache-2.0
// A sorted index of texts.
#include "validators/schema/key_index.h"

void key_index_init(struct key_index *index, struct arena *arena, size_t capacity) {
    *index = (struct key_index){0};
    if (capacity == 0) return;
    index->entries = arena_zalloc(arena, capacity, sizeof *index->entries);
    if (index->entries != NULL) index->capacity = capacity;
}

struct text key_compose(struct arena *arena, const struct text *parts, size_t count) {
    size_t total = 0;
    for (size_t i = 0; i < count; i++) total += sizeof parts[i].len + parts[i].len;
    char *out = arena_alloc(arena, total + 1);
    if (out == NULL) return (struct text){"", 0};
    char *at = out;
    for (size_t i = 0; i < count; i++) {
        memcpy(at, &parts[i].len, sizeof parts[i].len);
        at += sizeof parts[i].len;
        if (parts[i].len > 0) memcpy(at, parts[i].ptr, parts[i].len);
        at += parts[i].len;
    }
    return (struct text){out, total};
}

void key_index_add(struct key_index *index, size_t group, struct text key, size_t position) {
    if (index->count == index->capacity) return;
    index->entries[index->count++] = (struct key_entry){.group = group, .key = key, .position = position};
}

static int compare_key(const struct key_entry *entry, size_t group, struct text key) {
    if (entry->group != group) return entry->group < group ? -1 : 1;
    return text_compare(entry->key, key);
}

static bool in_order(const struct key_entry *a, const struct key_entry *b) {
    int order = compare_key(a, b->group, b->key);
    return order < 0 || (order == 0 && a->position <= b->position);
}

// Merges from[start, middle) and from[middle, end) into to.
static void merge(const struct key_entry *from, struct key_entry *to, size_t start, size_t middle,
                  size_t end) {
    size_t left = start;
    size_t right = middle;
    for (size_t at = start; at < end; at++) {
        bool take_left = right == end || (left < middle && in_order(&from[left], &from[right]));
        to[at] = take_left ? from[left++] : from[right++];
    }
}

static bool is_sorted(const struct key_index *index) {
    for (size_t i = 1; i < index->count; i++)
        if (!in_order(&index->entries[i - 1], &index->entries[i])) return false;
    return true;
}

static bool has_repeats(const struct key_index *index) {
    for (size_t i = 1; i < index->count; i++)
        if (index->entries[i - 1].group == index->entries[i].group &&
            text_equal(index->entries[i - 1].key, index->entries[i].key))
            return true;
    return false;
}

static void merge_sort(struct key_index *index, struct arena *arena) {
    struct key_entry *from = index->entries;
    struct key_entry *to = arena_alloc(arena, index->count * sizeof *to);
    if (to == NULL) {
        index->count = 0;
        return;
    }
    for (size_t width = 1; width < index->count; width *= 2) {
        for (size_t start = 0; start < index->count; start += 2 * width) {
            size_t middle = start + width < index->count ? start + width : index->count;
            size_t end = middle + width < index->count ? middle + width : index->count;
            merge(from, to, start, middle, end);
        }
        struct key_entry *swap = from;
        from = to;
        to = swap;
    }
    index->entries = from;
}

void key_index_sort(struct key_index *index, struct arena *arena) {
    if (!is_sorted(index)) merge_sort(index, arena); // what Go wrote mostly is
    index->repeated = has_repeats(index);
}

// The first entry that does not come before the key.
static size_t lower_bound(const struct key_index *index, size_t group, struct text key) {
    size_t low = 0;
    size_t high = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_key(&index->entries[middle], group, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t key_index_first(const struct key_index *index, size_t group, struct text key) {
    size_t at = lower_bound(index, group, key);
    if (at == index->count || compare_key(&index->entries[at], group, key) != 0) return KEY_INDEX_NONE;
    return index->entries[at].position;
}

size_t key_index_last(const struct key_index *index, size_t group, struct text key) {
    size_t low = 0;
    size_t high = index->count;
    while (low < high) { // the first entry that comes after the key
        size_t middle = low + (high - low) / 2;
        if (compare_key(&index->entries[middle], group, key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || compare_key(&index->entries[low - 1], group, key) != 0) return KEY_INDEX_NONE;
    return index->entries[low - 1].position;
}
