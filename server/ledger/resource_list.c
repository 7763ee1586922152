// SPDX-License-Identifier: Apache-2.0
// Lists of resources.
#include "server/ledger/resource_list.h"

static void merge(const struct text *names, const size_t *from, size_t *to, size_t start, size_t middle,
                  size_t end) {
    size_t left = start;
    size_t right = middle;
    for (size_t at = start; at < end; at++) {
        bool take_left =
            right == end || (left < middle && text_compare(names[from[left]], names[from[right]]) <= 0);
        to[at] = take_left ? from[left++] : from[right++];
    }
}

bool texts_order(const struct text *names, size_t count, struct arena *arena, size_t **ret_order) {
    size_t *from = arena_zalloc(arena, count + 1, sizeof *from);
    size_t *to = arena_zalloc(arena, count + 1, sizeof *to);
    if (from == NULL || to == NULL) return false;
    for (size_t i = 0; i < count; i++) from[i] = i;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t start = 0; start < count; start += 2 * width) {
            size_t middle = start + width < count ? start + width : count;
            size_t end = middle + width < count ? middle + width : count;
            merge(names, from, to, start, middle, end);
        }
        size_t *swap = from;
        from = to;
        to = swap;
    }
    *ret_order = from;
    return true;
}

struct quantity_map resources_sorted(const struct quantity_map *map, struct arena *arena) {
    struct quantity_map sorted = {.set = true};
    struct text *names = arena_zalloc(arena, map->count + 1, sizeof *names);
    struct quantity_entry *items = arena_zalloc(arena, map->count + 1, sizeof *items);
    size_t *order;
    if (names == NULL || items == NULL) return sorted;
    for (size_t i = 0; i < map->count; i++) names[i] = map->items[i].key;
    if (!texts_order(names, map->count, arena, &order)) return sorted;
    sorted.items = items;
    for (size_t i = 0; i < map->count; i++) {
        struct quantity_entry entry = map->items[order[i]];
        if (sorted.count > 0 && text_equal(items[sorted.count - 1].key, entry.key)) continue;
        items[sorted.count++] = entry;
    }
    return sorted;
}

typedef struct quantity join_function(struct quantity a, struct quantity b);

static struct quantity_map join(const struct quantity_map *a, const struct quantity_map *b,
                                struct arena *arena, join_function *both) {
    struct quantity_map joined = {.set = true};
    struct quantity_entry *items = arena_zalloc(arena, a->count + b->count + 1, sizeof *items);
    if (items == NULL) return joined;
    joined.items = items;
    size_t left = 0;
    size_t right = 0;
    while (left < a->count || right < b->count) {
        int order = left == a->count    ? 1
                    : right == b->count ? -1
                                        : text_compare(a->items[left].key, b->items[right].key);
        struct quantity_entry entry = order <= 0 ? a->items[left] : b->items[right];
        if (order == 0) entry.value = both(a->items[left].value, b->items[right].value);
        if (order <= 0) left++;
        if (order >= 0) right++;
        items[joined.count++] = entry;
    }
    return joined;
}

static struct quantity greater(struct quantity a, struct quantity b) {
    return quantity_compare(b, a) > 0 ? b : a;
}

static struct quantity second(struct quantity a, struct quantity b) {
    (void)a;
    return b;
}

struct quantity_map resources_add(const struct quantity_map *a, const struct quantity_map *b,
                                  struct arena *arena) {
    return join(a, b, arena, quantity_add);
}

struct quantity_map resources_max(const struct quantity_map *a, const struct quantity_map *b,
                                  struct arena *arena) {
    return join(a, b, arena, greater);
}

struct quantity_map resources_override(const struct quantity_map *a, const struct quantity_map *b,
                                       struct arena *arena) {
    return join(a, b, arena, second);
}

const struct quantity *resources_find(const struct quantity_map *map, struct text name) {
    size_t low = 0;
    size_t high = map->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = text_compare(map->items[middle].key, name);
        if (order == 0) return &map->items[middle].value;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
