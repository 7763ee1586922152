// SPDX-License-Identifier: Apache-2.0
// Binding conditions: names, sizes, duplicates, overlap.
#include "validators/schema/binding_conditions.h"

#include "validators/schema/key_index.h"
#include "validators/schema/names.h"

static void check_names(const struct text_list *list, struct text field, const struct path *path,
                        const struct path *size_path, struct finding_list *findings) {
    if (list->count > BINDING_CONDITIONS_MAX_COUNT) {
        struct path size = path_field(size_path, field);
        finding_addf(findings, FINDING_TOO_MANY, &size, text_format(findings->arena, "%zu", list->count),
                     "must have at most %u items", BINDING_CONDITIONS_MAX_COUNT);
        return;
    }
    struct path items = path_field(path, field);
    for (size_t i = 0; i < list->count; i++) {
        struct path item = path_index(&items, i);
        schema_form(why_not_label_key(list->items[i]), list->items[i], &item, findings);
    }
}

// Indexes the names and reports those that come again.
static void gather(const struct text_list *list, struct key_index *index, const struct path *items,
                   struct finding_list *findings) {
    key_index_init(index, findings->arena, list->count);
    for (size_t i = 0; i < list->count; i++) key_index_add(index, 0, list->items[i], i);
    key_index_sort(index, findings->arena);
    for (size_t i = 0; i < list->count; i++) {
        size_t first = key_index_first(index, 0, list->items[i]);
        if (first >= i) continue;
        struct path item = path_index(items, i);
        finding_add(findings, FINDING_DUPLICATE, &item, list->items[i], TEXT("is already in the list"));
    }
}

void schema_binding_conditions(const struct text_list *conditions, const struct text_list *failures,
                               const struct path *path, const struct path *size_path,
                               struct finding_list *findings) {
    if (conditions->count == 0 && failures->count == 0) return;
    check_names(conditions, TEXT("bindingConditions"), path, size_path, findings);
    check_names(failures, TEXT("bindingFailureConditions"), path, size_path, findings);
    struct path condition_path = path_field(path, TEXT("bindingConditions"));
    struct path failure_path = path_field(path, TEXT("bindingFailureConditions"));
    struct key_index condition_index;
    struct key_index failure_index;
    gather(conditions, &condition_index, &condition_path, findings);
    gather(failures, &failure_index, &failure_path, findings);
    for (size_t i = 0; i < failures->count; i++) {
        if (key_index_first(&condition_index, 0, failures->items[i]) == KEY_INDEX_NONE) continue;
        struct path item = path_index(&failure_path, i);
        finding_add(findings, FINDING_INVALID, &item, failures->items[i],
                    TEXT("bindingFailureConditions must not overlap with bindingConditions"));
    }
    if (conditions->count == 0)
        finding_add(findings, FINDING_INVALID, &condition_path, (struct text){"", 0},
                    TEXT("bindingConditions are required to use bindingFailureConditions"));
    if (failures->count == 0)
        finding_add(findings, FINDING_INVALID, &failure_path, (struct text){"", 0},
                    TEXT("bindingFailureConditions are required to use bindingConditions"));
}
