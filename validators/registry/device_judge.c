// SPDX-License-Identifier: Apache-2.0
// A slice is judged as a whole first. Only where a rule speaks are its devices judged one by one, since a
// list of findings is bounded and does not tell devices apart.
#include "validators/registry/device_judge.h"

#include "validators/registry/registry.h"

static bool is_about_devices(const struct rule *rule) {
    return (rule->on & ON_SLICE) != 0 && !rule->needs_view && rule->group == RULE_MAPPING;
}

// These depend on the policy's spellings, which may change while slices stay as they are.
static bool is_about_numa(const struct rule *rule) {
    return strcmp(rule->id, "numa-attribute") == 0 || strcmp(rule->id, "numa-missing") == 0;
}

// One finding is enough: the first is kept, the others are counted.
static bool speaks(rule_function *run, const struct rule_input *input) {
    struct finding_list findings;
    finding_list_init(&findings, input->arena);
    findings.limit = 1;
    run(input, &findings);
    return findings.count + findings.dropped_count > 0;
}

static bool has_mappings(const struct device *device, int minor) {
    const struct node_allocatable_map *map =
        minor < MINOR_37 ? &device->mappings_v136 : &device->resources_v137;
    return map->count > 0;
}

static struct rule_input input_of(const struct object *object, int minor,
                                  const struct rule_settings *settings, struct arena *arena) {
    return (struct rule_input){.object = object,
                               .operation = OPERATION_CREATE,
                               .minor = minor,
                               .online = true,
                               .settings = settings,
                               .arena = arena};
}

static void judge_one_by_one(rule_function *run, uint64_t bit, const struct object *slice, int minor,
                             struct arena *arena, uint64_t *ret_faults) {
    static const struct rule_settings no_settings = {.numa_attributes = {.set = false}};
    struct object one = *slice;
    struct rule_input input = input_of(&one, minor, &no_settings, arena);
    const struct device_list *devices = &slice->slice.devices;
    for (size_t i = 0; i < devices->count && !arena->poisoned; i++) {
        struct device alone = devices->items[i];
        if (!has_mappings(&alone, minor)) continue;
        // There is none before it that it could be like.
        alone.like_before = false;
        alone.attributes.like_before = alone.attributes.key_before = 0;
        one.slice.devices = (struct device_list){.items = &alone, .count = 1, .set = true};
        if (speaks(run, &input)) ret_faults[i] |= bit;
    }
}

static bool judge(const struct object *slice, int minor, struct arena *arena, uint64_t *ret_faults) {
    static const struct rule_settings no_settings = {.numa_attributes = {.set = false}};
    struct rule_input input = input_of(slice, minor, &no_settings, arena);
    size_t count;
    const struct rule *rules = registry_rules(&count);
    memset(ret_faults, 0, slice->slice.devices.count * sizeof *ret_faults);
    for (size_t i = 0; i < count; i++) {
        rule_function *run = registry_revision(&rules[i], minor);
        if (run == NULL || !is_about_devices(&rules[i]) || is_about_numa(&rules[i])) continue;
        if (speaks(run, &input)) judge_one_by_one(run, UINT64_C(1) << i, slice, minor, arena, ret_faults);
    }
    return !arena->poisoned;
}

static bool judge_numa(struct text driver, const struct device_attribute_map *attributes,
                       const struct text_list *spellings, struct arena *arena, uint64_t *ret_faults) {
    struct node_allocatable entry = {.key = TEXT("cpu"), .mapping_set = true};
    struct node_allocatable_map map = {.items = &entry, .count = 1, .set = true};
    struct device device = {.attributes = *attributes, .resources_v137 = map};
    struct object slice = {.kind = KIND_RESOURCE_SLICE};
    const struct rule_settings settings = {.numa_attributes = *spellings};
    struct rule_input input = input_of(&slice, MINOR_NEWEST, &settings, arena);
    size_t count;
    const struct rule *rules = registry_rules(&count);
    slice.slice.driver = driver;
    slice.slice.devices = (struct device_list){.items = &device, .count = 1, .set = true};
    *ret_faults = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_about_numa(&rules[i])) continue;
        if (speaks(registry_revision(&rules[i], MINOR_NEWEST), &input)) *ret_faults |= UINT64_C(1) << i;
    }
    return !arena->poisoned;
}

static struct judge_rule rule_at(size_t index) {
    size_t count;
    const struct rule *rules = registry_rules(&count);
    if (index >= count) return (struct judge_rule){.id = NULL};
    return (struct judge_rule){
        .id = rules[index].id, .action = rules[index].action, .locked = rules[index].locked};
}

const struct device_judge *registry_device_judge(void) {
    static const struct device_judge table = {.rule = rule_at, .judge = judge, .judge_numa = judge_numa};
    return &table;
}
