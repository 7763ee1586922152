// SPDX-License-Identifier: Apache-2.0
// Equality of claims, part by part.
#include "validators/schema/claim_equal.h"

#include "validators/schema/key_index.h"

// True when two lists have as many items and each pair is equal.
#define LISTS_EQUAL(a, b, item_equal)                                                                        \
    ({                                                                                                       \
        bool same = (a)->count == (b)->count;                                                                \
        for (size_t i = 0; same && i < (a)->count; i++) same = item_equal(&(a)->items[i], &(b)->items[i]);   \
        same;                                                                                                \
    })

static bool text_item_equal(const struct text *a, const struct text *b) {
    return text_equal(*a, *b);
}

static bool texts_equal(const struct text_list *a, const struct text_list *b) {
    return LISTS_EQUAL(a, b, text_item_equal);
}

static bool opt_text_equal(struct opt_text a, struct opt_text b) {
    return a.set == b.set && (!a.set || text_equal(a.value, b.value));
}

static bool opt_bool_equal(struct opt_bool a, struct opt_bool b) {
    return a.set == b.set && (!a.set || a.value == b.value);
}

static bool opt_int64_equal(struct opt_int64 a, struct opt_int64 b) {
    return a.set == b.set && (!a.set || a.value == b.value);
}

static struct text text_or(struct text text, struct text otherwise) {
    return text.len > 0 ? text : otherwise;
}

static bool quantity_maps_equal(const struct quantity_map *map, const struct quantity_map *old,
                                struct arena *arena) {
    if (map->count != old->count) return false;
    struct key_index index;
    key_index_init(&index, arena, old->count);
    for (size_t i = 0; i < old->count; i++) key_index_add(&index, 0, old->items[i].key, i);
    key_index_sort(&index, arena);
    for (size_t i = 0; i < map->count; i++) {
        size_t at = key_index_first(&index, 0, map->items[i].key);
        if (at == KEY_INDEX_NONE || quantity_compare(map->items[i].value, old->items[at].value) != 0)
            return false;
    }
    return true;
}

static bool selector_equal(const struct device_selector *a, const struct device_selector *b) {
    return a->cel_set == b->cel_set && text_equal(a->expression, b->expression);
}

static bool toleration_equal(const struct device_toleration *a, const struct device_toleration *b) {
    return text_equal(a->key, b->key) &&
           text_equal(text_or(a->operator, TEXT("Equal")), text_or(b->operator, TEXT("Equal"))) &&
           text_equal(a->value, b->value) && text_equal(a->effect, b->effect) &&
           opt_int64_equal(a->toleration_seconds, b->toleration_seconds);
}

static bool derived_attribute_equal(const struct derived_attribute *a, const struct derived_attribute *b) {
    return text_equal(a->name, b->name) && text_equal(a->expression, b->expression);
}

static bool modes_equal(const struct exact_request *a, const struct exact_request *b) {
    struct text mode = text_or(a->allocation_mode, TEXT("ExactCount"));
    if (!text_equal(mode, text_or(b->allocation_mode, TEXT("ExactCount")))) return false;
    bool one = text_equal(mode, TEXT("ExactCount"));
    return (one && a->count == 0 ? 1 : a->count) == (one && b->count == 0 ? 1 : b->count);
}

static bool exact_request_equal(const struct exact_request *request, const struct exact_request *old,
                                struct arena *arena) {
    return text_equal(request->name, old->name) &&
           text_equal(request->device_class_name, old->device_class_name) && modes_equal(request, old) &&
           LISTS_EQUAL(&request->selectors, &old->selectors, selector_equal) &&
           opt_bool_equal(request->admin_access, old->admin_access) &&
           LISTS_EQUAL(&request->tolerations, &old->tolerations, toleration_equal) &&
           request->capacity_set == old->capacity_set &&
           quantity_maps_equal(&request->capacity_requests, &old->capacity_requests, arena) &&
           (old->derived_attributes.count == 0 ||
            LISTS_EQUAL(&request->derived_attributes, &old->derived_attributes, derived_attribute_equal));
}

static bool request_equal(const struct device_request *request, const struct device_request *old,
                          struct arena *arena) {
    if (!text_equal(request->name, old->name)) return false;
    if ((request->exactly == NULL) != (old->exactly == NULL)) return false;
    if (request->exactly != NULL && !exact_request_equal(request->exactly, old->exactly, arena)) return false;
    const struct exact_request_list *subrequests = &request->first_available;
    if (subrequests->count != old->first_available.count) return false;
    for (size_t i = 0; i < subrequests->count; i++)
        if (!exact_request_equal(&subrequests->items[i], &old->first_available.items[i], arena)) return false;
    return true;
}

static bool constraint_equal(const struct device_constraint *a, const struct device_constraint *b) {
    return texts_equal(&a->requests, &b->requests) &&
           opt_text_equal(a->match_attribute, b->match_attribute) &&
           opt_text_equal(a->distinct_attribute, b->distinct_attribute);
}

static bool configuration_equal(const struct device_configuration *a, const struct device_configuration *b) {
    return text_equal(a->source, b->source) && texts_equal(&a->requests, &b->requests) &&
           a->opaque_set == b->opaque_set && text_equal(a->driver, b->driver) &&
           text_equal(a->parameters, b->parameters);
}

bool device_claim_equal(const struct device_claim *claim, const struct device_claim *old,
                        struct arena *arena) {
    if (claim->requests.count != old->requests.count) return false;
    for (size_t i = 0; i < claim->requests.count; i++)
        if (!request_equal(&claim->requests.items[i], &old->requests.items[i], arena)) return false;
    return LISTS_EQUAL(&claim->constraints, &old->constraints, constraint_equal) &&
           LISTS_EQUAL(&claim->config, &old->config, configuration_equal);
}

static bool result_equal(const struct allocation_result *result, const struct allocation_result *old,
                         struct arena *arena) {
    return text_equal(result->request, old->request) && text_equal(result->driver, old->driver) &&
           text_equal(result->pool, old->pool) && text_equal(result->device, old->device) &&
           opt_bool_equal(result->admin_access, old->admin_access) &&
           LISTS_EQUAL(&result->tolerations, &old->tolerations, toleration_equal) &&
           texts_equal(&result->binding_conditions, &old->binding_conditions) &&
           texts_equal(&result->binding_failure_conditions, &old->binding_failure_conditions) &&
           opt_text_equal(result->share_id, old->share_id) &&
           quantity_maps_equal(&result->consumed_capacity, &old->consumed_capacity, arena) &&
           (old->skip_node_operations.count == 0 ||
            texts_equal(&result->skip_node_operations, &old->skip_node_operations));
}

static bool requirement_equal(const struct node_selector_requirement *a,
                              const struct node_selector_requirement *b) {
    return text_equal(a->key, b->key) && text_equal(a->operator, b->operator) &&
           texts_equal(&a->values, &b->values);
}

static bool term_equal(const struct node_selector_term *a, const struct node_selector_term *b) {
    return LISTS_EQUAL(&a->match_expressions, &b->match_expressions, requirement_equal) &&
           LISTS_EQUAL(&a->match_fields, &b->match_fields, requirement_equal);
}

bool allocation_equal(const struct allocation *allocation, const struct allocation *old,
                      struct arena *arena) {
    if (allocation->set != old->set) return false;
    if (allocation->results.count != old->results.count) return false;
    for (size_t i = 0; i < allocation->results.count; i++)
        if (!result_equal(&allocation->results.items[i], &old->results.items[i], arena)) return false;
    if (!LISTS_EQUAL(&allocation->config, &old->config, configuration_equal)) return false;
    const struct node_selector *nodes = allocation->node_selector;
    if ((nodes == NULL) != (old->node_selector == NULL)) return false;
    if (nodes != NULL && !LISTS_EQUAL(&nodes->terms, &old->node_selector->terms, term_equal)) return false;
    return text_equal(allocation->allocation_timestamp, old->allocation_timestamp);
}

bool text_maps_equal(const struct text_map *map, const struct text_map *old, struct arena *arena) {
    if (map->count != old->count) return false;
    struct key_index index;
    key_index_init(&index, arena, old->count);
    for (size_t i = 0; i < old->count; i++) key_index_add(&index, 0, old->items[i].key, i);
    key_index_sort(&index, arena);
    for (size_t i = 0; i < map->count; i++) {
        size_t at = key_index_first(&index, 0, map->items[i].key);
        if (at == KEY_INDEX_NONE || !text_equal(map->items[i].value, old->items[at].value)) return false;
    }
    return true;
}
