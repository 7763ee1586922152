// SPDX-License-Identifier: Apache-2.0
// What allocated devices take of their nodes.
#include "server/ledger/footprint.h"

void sums_add(struct quantity_map *sums, struct text resource, struct quantity quantity,
              struct arena *arena) {
    size_t at = sums->count;
    int order = 1;
    while (at > 0 && (order = text_compare(sums->items[at - 1].key, resource)) > 0) at--;
    if (at > 0 && order == 0) {
        sums->items[at - 1].value = quantity_add(sums->items[at - 1].value, quantity);
        return;
    }
    if (LIST_APPEND(arena, sums) == NULL) return;
    memmove(sums->items + at + 1, sums->items + at, (sums->count - 1 - at) * sizeof *sums->items);
    quantity.set = true;
    sums->items[at] = (struct quantity_entry){resource, quantity};
    sums->set = true;
}

void sums_add_all(struct quantity_map *sums, const struct quantity_map *more, struct arena *arena) {
    for (size_t i = 0; i < more->count; i++) sums_add(sums, more->items[i].key, more->items[i].value, arena);
}

bool sums_equal(const struct quantity_map *a, const struct quantity_map *b) {
    size_t i = 0;
    size_t k = 0;
    while (i < a->count || k < b->count) {
        int order = i == a->count ? 1 : k == b->count ? -1 : text_compare(a->items[i].key, b->items[k].key);
        if (order == 0) {
            if (quantity_compare(a->items[i++].value, b->items[k++].value) != 0) return false;
        } else if (quantity_sign(order < 0 ? a->items[i++].value : b->items[k++].value) != 0) {
            return false;
        }
    }
    return true;
}

bool sums_are_nothing(const struct quantity_map *sums) {
    for (size_t i = 0; i < sums->count; i++)
        if (quantity_sign(sums->items[i].value) != 0) return false;
    return true;
}

// What is nothing is not listed. A negative amount, which v1.36 lets into a claim's status, frees nothing.
static void add_amount(struct quantity_map *sums, const struct name *resource, struct quantity quantity,
                       struct arena *arena) {
    if (quantity_sign(quantity) > 0) sums_add(sums, resource->text, quantity, arena);
}

const struct quantity *row_consumed(const struct row *row, const struct name *key) {
    for (size_t i = 0; i < row->consumed_count; i++)
        if (row->consumed[i].key == key) return &row->consumed[i].quantity;
    return NULL;
}

void footprint_mapping(const struct row *row, const struct shape *shape, struct quantity_map *sums,
                       struct arena *arena) {
    if (shape == NULL && row->fixed != NULL) {
        const struct amounts *fixed = &row->fixed->amounts;
        for (size_t i = 0; i < fixed->count; i++)
            add_amount(sums, fixed->items[i].resource, fixed->items[i].quantity, arena);
        return;
    }
    if (shape == NULL) shape = row->shape;
    for (size_t i = 0; shape != NULL && i < shape->mapping_count; i++) {
        const struct shape_mapping *mapping = &shape->mappings[i];
        struct quantity quantity = mapping->multiplier;
        if (!mapping->mapped) continue;
        if (mapping->capacity_key != NULL) {
            // A capacity that was not consumed does not count for this result.
            const struct quantity *consumed = row_consumed(row, mapping->capacity_key);
            if (consumed == NULL) continue;
            quantity = quantity_multiply(*consumed, quantity);
        }
        add_amount(sums, mapping->resource, quantity, arena);
    }
}

static void add_fixed_overhead(const struct remembered_row *fixed, size_t reference_count,
                               struct quantity_map *sums, struct arena *arena) {
    struct quantity count = quantity_from_int64((int64_t)reference_count, QUANTITY_DECIMAL_SI);
    for (size_t i = 0; i < fixed->per_pod.count; i++)
        add_amount(sums, fixed->per_pod.items[i].resource, fixed->per_pod.items[i].quantity, arena);
    for (size_t i = 0; i < fixed->per_container.count && reference_count > 0; i++)
        add_amount(sums, fixed->per_container.items[i].resource,
                   quantity_multiply(fixed->per_container.items[i].quantity, count), arena);
}

void footprint_overhead(const struct row *row, const struct shape *shape, size_t reference_count,
                        struct quantity_map *sums, struct arena *arena) {
    if (shape == NULL && row->fixed != NULL) {
        add_fixed_overhead(row->fixed, reference_count, sums, arena);
        return;
    }
    if (shape == NULL) shape = row->shape;
    for (size_t i = 0; shape != NULL && i < shape->mapping_count; i++) {
        const struct shape_mapping *mapping = &shape->mappings[i];
        if (mapping->per_pod.set) add_amount(sums, mapping->resource, mapping->per_pod, arena);
        if (!mapping->per_container.set || reference_count == 0) continue;
        struct quantity count = quantity_from_int64((int64_t)reference_count, QUANTITY_DECIMAL_SI);
        add_amount(sums, mapping->resource, quantity_multiply(mapping->per_container, count), arena);
    }
}

size_t pod_references(const struct pod_entry *pod, const struct claim_entry *claim) {
    size_t count = 0;
    for (size_t i = 0; i < pod->claim_count; i++)
        if (pod->claims[i].claim == claim->name) count += pod->claims[i].reference_count;
    return count;
}

struct quantity_map footprint_claim(const struct claim_entry *claim, size_t reference_count,
                                    struct arena *arena) {
    struct quantity_map sums = {.set = true};
    for (size_t i = 0; i < claim->row_count; i++) {
        footprint_mapping(claim->rows[i], NULL, &sums, arena);
        footprint_overhead(claim->rows[i], NULL, reference_count, &sums, arena);
    }
    return sums;
}
