// SPDX-License-Identifier: Apache-2.0
// Shared counters of a slice and what its devices consume of them.
#include "validators/schema/names.h"
#include "validators/schema/slice_check.h"

static const struct text NO_VALUE = {"", 0};

static void check_name(struct text name, const struct path *path, struct finding_list *findings) {
    if (name.len == 0)
        finding_add(findings, FINDING_REQUIRED, path, name, TEXT("a counter set's name is required"));
    else
        schema_form(why_not_dns1123_label(name), name, path, findings);
}

// Counters of a set or a consumption. Too many: told by hand; the declarative rules still look at the keys.
static void check_counters(const struct counter_map *map, const struct slice_check *check, bool by_hand,
                           const struct path *path, const struct path *declared) {
    if (map->count == 0) {
        finding_add(check->findings, FINDING_REQUIRED, declared, NO_VALUE,
                    TEXT("at least one counter is required"));
        return;
    }
    if (map->count > COUNTERS_MAX_COUNT) {
        if (by_hand) schema_too_many(map->count, COUNTERS_MAX_COUNT, path, check->findings);
        if (!check->declared) return;
    }
    for (size_t i = 0; i < map->count; i++)
        schema_form(why_not_dns1123_label(map->items[i].key), map->items[i].key, declared, check->findings);
}

void schema_counter_sets(const struct slice_check *check, const struct path *spec) {
    const struct counter_set_list *list = &check->slice->shared_counters;
    struct path path = path_field(spec, TEXT("sharedCounters"));
    if (list->count > COUNTER_SETS_MAX_COUNT) {
        schema_too_many(list->count, COUNTER_SETS_MAX_COUNT, &path, check->findings);
        return;
    }
    for (size_t i = 0; i < list->count; i++) {
        const struct counter_set *set = &list->items[i];
        struct path item = path_index(&path, i);
        struct path name = path_field(&item, TEXT("name"));
        struct path counters = path_field(&item, TEXT("counters"));
        check_name(set->name, &name, check->findings);
        check_counters(&set->counters, check, true, &counters, &counters);
        for (size_t j = 0; j < i; j++) {
            if (!text_equal(list->items[j].name, set->name)) continue;
            finding_add(check->findings, FINDING_DUPLICATE, &item, set->name,
                        TEXT("another counter set has the same name"));
            break;
        }
    }
}

// Source: v1.37.2 Validate_DeviceCounterConsumption.
static void check_groups(const struct text_list *groups, const struct path *consumption,
                         struct finding_list *findings) {
    struct path path = path_field(consumption, TEXT("compatibilityGroups"));
    if (groups->count > COMPATIBILITY_GROUPS_MAX_COUNT) {
        schema_too_many(groups->count, COMPATIBILITY_GROUPS_MAX_COUNT, &path, findings);
        return;
    }
    for (size_t i = 0; i < groups->count; i++) {
        struct path item = path_index(&path, i);
        schema_form(why_not_dns1123_label(groups->items[i]), groups->items[i], &item, findings);
        if (i > 0 && text_equal(groups->items[i], groups->items[0]))
            finding_add(findings, FINDING_DUPLICATE, &item, groups->items[i], TEXT("is already in the list"));
    }
}

void schema_counter_consumptions(const struct device_check *check) {
    const struct device_counter_consumption_list *list = &check->device->consumes_counters;
    struct finding_list *findings = check->slice->findings;
    if (list->count == 0) return;
    struct path path = path_field(check->path, TEXT("consumesCounters"));
    struct path declared = path_field(check->declared_path, TEXT("consumesCounters"));
    if (list->count > COUNTER_CONSUMPTIONS_MAX_COUNT) {
        schema_too_many(list->count, COUNTER_CONSUMPTIONS_MAX_COUNT, &declared, findings);
        return;
    }
    for (size_t i = 0; i < list->count; i++) {
        const struct device_counter_consumption *consumption = &list->items[i];
        struct path item = path_index(&path, i);
        struct path declared_item = path_index(&declared, i);
        struct path set = path_field(&declared_item, TEXT("counterSet"));
        struct path counters = path_field(&item, TEXT("counters"));
        struct path declared_counters = path_field(&declared_item, TEXT("counters"));
        check_name(consumption->counter_set, &set, findings);
        check_counters(&consumption->counters, check->slice, check->by_hand, &counters, &declared_counters);
        if (check->slice->compatibility_groups && check->slice->declared)
            check_groups(&consumption->compatibility_groups, &declared_item, findings);
        if (i > 0 && text_equal(consumption->counter_set, list->items[0].counter_set))
            finding_add(findings, FINDING_DUPLICATE, &declared_item, consumption->counter_set,
                        TEXT("the device already consumes counters of this set"));
    }
}
