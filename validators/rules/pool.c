// SPDX-License-Identifier: Apache-2.0
// Slices beside the live ones.
#include "validators/rules/pool.h"

#define CLAIMS_NAMED 3u

enum view_answer pool_of(const struct rule_input *input, struct pool_state *ret_state) {
    const struct resource_slice *slice = &input->object->slice;
    struct pool_key key = pool_key_of(slice);
    return VIEW_ASK(input->view, pool, &key, slice->metadata.name, ret_state);
}

bool mapping_present(const struct device *device, int minor) {
    return mapping_entries(device, minor)->count > 0;
}

static bool same_amount(struct quantity a, struct quantity b) {
    // What is absent takes nothing.
    bool a_none = !a.set || quantity_sign(a) == 0;
    bool b_none = !b.set || quantity_sign(b) == 0;
    if (a_none || b_none) return a_none && b_none;
    return quantity_compare(a, b) == 0;
}

static struct quantity multiplier_of(const struct node_allocatable *mapping, int minor) {
    if (minor >= MINOR_37)
        return mapping->capacity_key.set ? mapping->capacity_multiplier : mapping->device_multiplier;
    if (mapping->allocation_multiplier.set) return mapping->allocation_multiplier;
    return quantity_from_int64(1, QUANTITY_DECIMAL_SI);
}

static bool same_entry(const struct node_allocatable *mapping, const struct view_mapping *live, int minor) {
    bool mapped = minor < MINOR_37 || mapping->mapping_set;
    struct text key = mapping->capacity_key.set ? mapping->capacity_key.value : (struct text){NULL, 0};
    if (mapped != live->mapped || !text_equal(key, live->capacity_key)) return false;
    if (mapped && !same_amount(multiplier_of(mapping, minor), live->multiplier)) return false;
    if (minor < MINOR_37) return true;
    return same_amount(mapping->per_pod, live->per_pod) &&
           same_amount(mapping->per_container, live->per_container);
}

bool mapping_same(const struct device *device, const struct view_mapping_list *live, int minor) {
    const struct node_allocatable_map *entries = mapping_entries(device, minor);
    if (entries->count != live->count) return false;
    for (size_t i = 0; i < entries->count; i++) {
        size_t at = 0;
        while (at < live->count && !text_equal(live->items[at].resource, entries->items[i].key)) at++;
        if (at == live->count || !same_entry(&entries->items[i], &live->items[at], minor)) return false;
    }
    return true;
}

struct path pool_path(struct path_room *room, struct text field) {
    room->spec = path_field(NULL, TEXT("spec"));
    room->list = path_field(&room->spec, TEXT("pool"));
    return path_field(&room->list, field);
}

struct path device_path(struct path_room *room, size_t index) {
    room->spec = path_field(NULL, TEXT("spec"));
    room->list = path_field(&room->spec, TEXT("devices"));
    room->item = path_index(&room->list, index);
    return path_field(&room->item, TEXT("name"));
}

struct text bound_claims(const struct rule_input *input, const struct device_holder_list *holders,
                         size_t *ret_count) {
    struct text text = {NULL, 0};
    size_t count = 0;
    for (size_t i = 0; i < holders->count; i++) {
        if (!holders->items[i].bound) continue;
        if (++count <= CLAIMS_NAMED)
            text = text_format(input->arena, "%.*s%s%.*s", TEXT_ARG(text), count > 1 ? ", " : "",
                               TEXT_ARG(holders->items[i].claim_uid));
    }
    if (count > CLAIMS_NAMED)
        text = text_format(input->arena, "%.*s and %zu more", TEXT_ARG(text), count - CLAIMS_NAMED);
    *ret_count = count;
    return text;
}
