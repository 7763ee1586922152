// SPDX-License-Identifier: Apache-2.0
// What an allocated device takes of its node's allocatable resources: the form of v1.36 and that of v1.37.
#include "validators/schema/key_index.h"
#include "validators/schema/names.h"
#include "validators/schema/slice_check.h"

static const struct text NO_VALUE = {"", 0};

// The capacity of a device, and its names in order.
struct capacity_names {
    const struct device_capacity_map *map;
    struct key_index index;
};

static void index_capacity(const struct device *device, struct capacity_names *names, struct arena *arena) {
    names->map = &device->capacity;
    key_index_init(&names->index, arena, device->capacity.count);
    for (size_t i = 0; i < device->capacity.count; i++)
        key_index_add(&names->index, 0, device->capacity.items[i].key, i);
    key_index_sort(&names->index, arena);
}

// What to do about a key that is not there: a name that is almost the same, or how to find one.
static struct text hint_for(struct text key, const struct device_capacity_map *map, struct arena *arena) {
    size_t looked_at =
        map->count < ATTRIBUTES_CAPACITIES_MAX_COUNT ? map->count : ATTRIBUTES_CAPACITIES_MAX_COUNT;
    for (size_t distance = 1; distance <= 2; distance++)
        for (size_t i = 0; i < looked_at; i++)
            if (text_distance(key, map->items[i].key, distance) <= distance)
                return text_format(arena, "did you mean %.*s?", TEXT_ARG(map->items[i].key));
    return TEXT("name a key of the device's `capacity`, spelled as it is there");
}

static void check_capacity_key(struct opt_text key, const struct capacity_names *capacity,
                               const struct path *path, struct finding_list *findings) {
    if (!key.set) return;
    struct path key_path = path_field(path, TEXT("capacityKey"));
    if (key.value.len == 0) {
        finding_add(findings, FINDING_INVALID, &key_path, key.value,
                    TEXT("capacityKey must not be an empty string"));
    } else if (key_index_first(&capacity->index, 0, key.value) == KEY_INDEX_NONE) {
        struct finding *finding = finding_add(findings, FINDING_NOT_FOUND, &key_path, key.value,
                                              TEXT("the device has no capacity of this name"));
        finding_hint(finding, hint_for(key.value, capacity->map, findings->arena));
    }
}

static void check_sign(struct quantity quantity, bool zero_allowed, struct text field,
                       const struct path *path, struct finding_list *findings) {
    if (!quantity.set || quantity_sign(quantity) > 0) return;
    if (zero_allowed && quantity_sign(quantity) == 0) return;
    struct path field_path = path_field(path, field);
    finding_add(findings, FINDING_INVALID, &field_path, quantity_text(findings->arena, quantity),
                zero_allowed ? TEXT("must be non-negative") : TEXT("must be positive"));
}

static void check_v136(const struct device_check *check) {
    const struct node_allocatable_map *map = &check->device->mappings_v136;
    struct finding_list *findings = check->slice->findings;
    if (map->count == 0) return;
    struct capacity_names capacity;
    index_capacity(check->device, &capacity, findings->arena);
    struct path mappings = path_field(check->path, TEXT("nodeAllocatableResourceMappings"));
    for (size_t i = 0; i < map->count; i++) {
        const struct node_allocatable *mapping = &map->items[i];
        struct path path = path_key(&mappings, mapping->key);
        if (!name_is_native_resource(mapping->key))
            finding_add(findings, FINDING_INVALID, &path, mapping->key,
                        TEXT("must be a node allocatable resource name"));
        // An absent multiplier is 1 by default.
        check_sign(mapping->allocation_multiplier, false, TEXT("allocationMultiplier"), &path, findings);
        check_capacity_key(mapping->capacity_key, &capacity, &path, findings);
    }
}

static void require_other(bool one_set, bool other_set, struct text other, const struct path *path,
                          struct finding_list *findings) {
    if (!one_set || other_set) return;
    struct path other_path = path_field(path, other);
    finding_add(findings, FINDING_REQUIRED, &other_path, NO_VALUE,
                TEXT("capacityKey and capacityMultiplier come together"));
}

static void check_mapping(const struct node_allocatable *resource, const struct capacity_names *capacity,
                          const struct path *path, struct finding_list *findings) {
    bool key = resource->capacity_key.set;
    bool multiplier = resource->capacity_multiplier.set;
    check_capacity_key(resource->capacity_key, capacity, path, findings);
    require_other(key, multiplier, TEXT("capacityMultiplier"), path, findings);
    require_other(multiplier, key, TEXT("capacityKey"), path, findings);
    if (key) check_sign(resource->capacity_multiplier, false, TEXT("capacityMultiplier"), path, findings);
    check_sign(resource->device_multiplier, false, TEXT("deviceMultiplier"), path, findings);
}

static void check_overhead(const struct node_allocatable *resource, const struct path *path,
                           struct finding_list *findings) {
    if (!resource->per_pod.set && !resource->per_container.set) {
        finding_add(findings, FINDING_INVALID, path, NO_VALUE,
                    TEXT("at least one of perPod or perContainer must be set"));
        return;
    }
    check_sign(resource->per_pod, true, TEXT("perPod"), path, findings);
    check_sign(resource->per_container, true, TEXT("perContainer"), path, findings);
}

static void check_resource(const struct node_allocatable *resource, const struct capacity_names *capacity,
                           const struct path *path, struct finding_list *findings) {
    bool known = text_equal(resource->key, TEXT("cpu")) || text_equal(resource->key, TEXT("memory")) ||
                 text_starts_with(resource->key, TEXT("hugepages-"));
    if (!known)
        finding_add(findings, FINDING_INVALID, path, resource->key,
                    TEXT("must be a node allocatable resource name: cpu, memory or hugepages-SIZE"));
    if (!resource->mapping_set && !resource->overhead_set)
        finding_add(findings, FINDING_REQUIRED, path, NO_VALUE,
                    TEXT("at least one of mapping or overhead must be set"));
    struct path mapping = path_field(path, TEXT("mapping"));
    if (resource->mapping_set) check_mapping(resource, capacity, &mapping, findings);
    struct path overhead = path_field(path, TEXT("overhead"));
    if (resource->overhead_set) check_overhead(resource, &overhead, findings);
}

// Only declared: exactly one of capacityKey and deviceMultiplier.
static void check_union(const struct node_allocatable *resource, const struct path *path,
                        struct finding_list *findings) {
    if (!resource->mapping_set || resource->capacity_key.set != resource->device_multiplier.set) return;
    struct path mapping = path_field(path, TEXT("mapping"));
    finding_add(findings, FINDING_INVALID, &mapping, NO_VALUE,
                TEXT("must specify exactly one of: `capacityKey`, `deviceMultiplier`"));
}

static void check_v137(const struct device_check *check) {
    const struct node_allocatable_map *map = &check->device->resources_v137;
    struct finding_list *findings = check->slice->findings;
    if (map->count == 0) return;
    struct capacity_names capacity;
    index_capacity(check->device, &capacity, findings->arena);
    struct path resources = path_field(check->path, TEXT("nodeAllocatableResources"));
    struct path declared = path_field(check->declared_path, TEXT("nodeAllocatableResources"));
    for (size_t i = 0; i < map->count; i++) {
        struct path path = path_key(&resources, map->items[i].key);
        struct path declared_path = path_key(&declared, map->items[i].key);
        if (check->slice->declared) check_union(&map->items[i], &declared_path, findings);
        if (check->by_hand) check_resource(&map->items[i], &capacity, &path, findings);
    }
}

void schema_node_allocatable(const struct device_check *check) {
    if (check->slice->minor >= MINOR_37)
        check_v137(check);
    else
        check_v136(check);
}
