// SPDX-License-Identifier: Apache-2.0
// Which nodes a selector means.
#include "server/ledger/selector.h"

#include "server/ledger/state.h"

enum selector_operator { MEANS_IN, MEANS_NOT_IN, MEANS_EXISTS, MEANS_MISSING, MEANS_ABOVE, MEANS_BELOW };
static const struct text operator_names[] = {
    [MEANS_IN] = TEXT_INIT("In"),         [MEANS_NOT_IN] = TEXT_INIT("NotIn"),
    [MEANS_EXISTS] = TEXT_INIT("Exists"), [MEANS_MISSING] = TEXT_INIT("DoesNotExist"),
    [MEANS_ABOVE] = TEXT_INIT("Gt"),      [MEANS_BELOW] = TEXT_INIT("Lt"),
};
#define OPERATOR_COUNT (sizeof operator_names / sizeof operator_names[0])

void selector_free(struct name_table *names, struct selector *selector) {
    if (selector == NULL) return;
    struct heap *heap = names->index.heap;
    for (size_t i = 0; i < selector->term_count; i++) {
        struct selector_term *term = &selector->terms[i];
        for (size_t k = 0; k < term->requirement_count; k++) {
            struct selector_requirement *requirement = &term->requirements[k];
            name_drop(names, requirement->key);
            for (size_t v = 0; v < requirement->value_count; v++) name_drop(names, requirement->values[v]);
            heap_free(heap, requirement->values, requirement->value_count * sizeof *requirement->values);
        }
        heap_free(heap, term->requirements, term->requirement_count * sizeof *term->requirements);
    }
    heap_free(heap, selector->terms, selector->term_count * sizeof *selector->terms);
    heap_free(heap, selector, sizeof *selector);
}

// What is not understood makes the whole term match nothing.
static void read_operator(const struct node_selector_requirement *source, bool field,
                          struct selector_requirement *requirement, bool *never) {
    size_t means = 0;
    while (means < OPERATOR_COUNT && !text_equal(source->operator, operator_names[means])) means++;
    int64_t number;
    bool by_number = means == MEANS_ABOVE || means == MEANS_BELOW;
    if (means == OPERATOR_COUNT || (field && !text_equal(source->key, TEXT("metadata.name"))) ||
        (by_number && (source->values.count != 1 || !text_to_int64(source->values.items[0], &number))))
        *never = true;
    requirement->field = field;
    requirement->means = (uint8_t)means;
}

static bool copy_requirement(struct name_table *names, const struct node_selector_requirement *source,
                             bool field, struct selector_requirement *requirement, bool *never) {
    read_operator(source, field, requirement, never);
    requirement->key = name_take(names, source->key);
    if (requirement->key == NULL) return false;
    if (source->values.count == 0) return true;
    requirement->values = heap_alloc(names->index.heap, source->values.count * sizeof *requirement->values);
    if (requirement->values == NULL) return false;
    requirement->value_count = source->values.count;
    for (size_t i = 0; i < source->values.count; i++) {
        requirement->values[i] = name_take(names, source->values.items[i]);
        if (requirement->values[i] == NULL) return false;
    }
    return true;
}

static bool copy_term(struct name_table *names, const struct node_selector_term *source,
                      struct selector_term *term) {
    size_t labels = source->match_expressions.count;
    size_t count = labels + source->match_fields.count;
    term->never = count == 0;
    if (count == 0) return true;
    term->requirements = heap_alloc(names->index.heap, count * sizeof *term->requirements);
    if (term->requirements == NULL) return false;
    term->requirement_count = count;
    for (size_t i = 0; i < count; i++) {
        const struct node_selector_requirement *requirement =
            i < labels ? &source->match_expressions.items[i] : &source->match_fields.items[i - labels];
        if (!copy_requirement(names, requirement, i >= labels, &term->requirements[i], &term->never))
            return false;
    }
    return true;
}

struct selector *selector_new(struct name_table *names, const struct node_selector *source) {
    struct selector *selector = heap_alloc(names->index.heap, sizeof *selector);
    if (selector == NULL) return NULL;
    bool fine = true;
    if (source->terms.count > 0) {
        selector->terms = heap_alloc(names->index.heap, source->terms.count * sizeof *selector->terms);
        fine = selector->terms != NULL;
        if (fine) selector->term_count = source->terms.count;
    }
    for (size_t i = 0; i < selector->term_count && fine; i++)
        fine = copy_term(names, &source->terms.items[i], &selector->terms[i]);
    if (fine) return selector;
    selector_free(names, selector);
    return NULL;
}

// ---- for a moment

// A text that no name holds is a name of its own, which is no other's.
static const struct name *name_for_now(const struct name_table *names, struct text text,
                                       struct arena *arena) {
    const struct name *known = name_find(names, text);
    struct name *fresh = known != NULL ? NULL : arena_zalloc(arena, 1, sizeof *fresh);
    if (fresh != NULL) fresh->text = text;
    return known != NULL ? known : fresh;
}

static bool note_requirement(const struct name_table *names, const struct node_selector_requirement *source,
                             bool field, struct arena *arena, struct selector_requirement *requirement,
                             bool *never) {
    read_operator(source, field, requirement, never);
    requirement->key = name_for_now(names, source->key, arena);
    requirement->values = arena_zalloc(arena, source->values.count + 1, sizeof *requirement->values);
    if (requirement->key == NULL || requirement->values == NULL) return false;
    for (size_t i = 0; i < source->values.count; i++) {
        requirement->values[i] = name_for_now(names, source->values.items[i], arena);
        if (requirement->values[i] == NULL) return false;
    }
    requirement->value_count = source->values.count;
    return true;
}

const struct selector *selector_in_arena(const struct name_table *names, const struct node_selector *source,
                                         struct arena *arena) {
    struct selector *selector = arena_zalloc(arena, 1, sizeof *selector);
    if (selector == NULL) return NULL;
    selector->terms = arena_zalloc(arena, source->terms.count + 1, sizeof *selector->terms);
    if (selector->terms == NULL) return NULL;
    for (size_t i = 0; i < source->terms.count; i++) {
        const struct node_selector_term *term = &source->terms.items[i];
        struct selector_term *copy = &selector->terms[selector->term_count++];
        size_t labels = term->match_expressions.count;
        copy->requirement_count = labels + term->match_fields.count;
        copy->never = copy->requirement_count == 0;
        copy->requirements = arena_zalloc(arena, copy->requirement_count + 1, sizeof *copy->requirements);
        if (copy->requirements == NULL) return NULL;
        for (size_t k = 0; k < copy->requirement_count; k++) {
            const struct node_selector_requirement *requirement =
                k < labels ? &term->match_expressions.items[k] : &term->match_fields.items[k - labels];
            if (!note_requirement(names, requirement, k >= labels, arena, &copy->requirements[k],
                                  &copy->never))
                return NULL;
        }
    }
    return selector;
}

// ---- matching

static const struct name *label_of(const struct node_entry *node, const struct name *key) {
    size_t low = 0;
    size_t high = node->label_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (node->labels[middle].key == key) return node->labels[middle].value;
        if ((uintptr_t)node->labels[middle].key < (uintptr_t)key)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static bool has_value(const struct selector_requirement *requirement, const struct name *value) {
    for (size_t i = 0; i < requirement->value_count; i++)
        if (requirement->values[i] == value) return true;
    return false;
}

static bool requirement_matches(const struct selector_requirement *requirement,
                                const struct node_entry *node) {
    const struct name *value = requirement->field ? node->name : label_of(node, requirement->key);
    int64_t number;
    int64_t bound;
    switch ((enum selector_operator)requirement->means) {
    case MEANS_IN: return value != NULL && has_value(requirement, value);
    case MEANS_NOT_IN: return value == NULL || !has_value(requirement, value);
    case MEANS_EXISTS: return value != NULL;
    case MEANS_MISSING: return value == NULL;
    case MEANS_ABOVE:
    case MEANS_BELOW:
        if (value == NULL || !text_to_int64(value->text, &number) ||
            !text_to_int64(requirement->values[0]->text, &bound))
            return false;
        return requirement->means == MEANS_ABOVE ? number > bound : number < bound;
    }
    return false;
}

bool selector_matches(const struct selector *selector, const struct node_entry *node) {
    for (size_t i = 0; i < selector->term_count; i++) {
        const struct selector_term *term = &selector->terms[i];
        bool all = !term->never;
        for (size_t k = 0; k < term->requirement_count && all; k++)
            all = requirement_matches(&term->requirements[k], node);
        if (all) return true;
    }
    return false;
}

struct text selector_exact_node(const struct node_selector *source) {
    struct text none = {NULL, 0};
    if (source == NULL || source->terms.count != 1) return none;
    const struct node_selector_term *term = &source->terms.items[0];
    for (size_t i = 0; i < term->match_fields.count; i++) {
        const struct node_selector_requirement *requirement = &term->match_fields.items[i];
        if (text_equal(requirement->key, TEXT("metadata.name")) &&
            text_equal(requirement->operator, TEXT("In")) && requirement->values.count == 1)
            return requirement->values.items[0];
    }
    return none;
}
