// SPDX-License-Identifier: Apache-2.0
// mapping-key-spelling: one capacity has two spellings.
//
// In a slice of the driver dra.example.com, the names "cpu" and "dra.example.com/cpu" mean the same
// capacity. A device that publishes both says two things at once, and readers pick one of them. A
// capacityKey must be spelled as the capacity is: the API server compares the text.
//
// Wrong:
//   driver: dra.example.com
//   devices:
//   - name: numa-0
//     capacity: {cpu: {value: "8"}, dra.example.com/cpu: {value: "16"}}
// Right: one of the two, and capacityKey with the same spelling.
//
// Only devices with mappings are judged.
//
// Reads: spec.driver, spec.devices[].capacity, spec.devices[].nodeAllocatableResourceMappings (1.36),
// spec.devices[].nodeAllocatableResources (1.37).
//
// Default: deny. Policy may set deny, warn, audit or off.
//
// Source: k8s.io/dynamic-resource-allocation v0.36.3 structured/internal/incubating/allocator_incubating.go,
// lookupAttribute (bare names belong to the driver's domain).
#include "validators/rules/mapping.h"

// The name without the driver's own domain; names of other domains stay as they are.
static struct text bare_name(struct text key, struct text driver) {
    size_t slash = text_find(key, '/', 0);
    if (slash == key.len || !text_equal(text_slice(key, 0, slash), driver)) return key;
    return text_slice(key, slash + 1, key.len);
}

static void judge_published(const struct device *device, struct text driver, const struct path *path,
                            struct finding_list *findings) {
    struct path field = path_field(path, TEXT("capacity"));
    for (size_t i = 0; i < device->capacity.count; i++) {
        struct text key = device->capacity.items[i].key;
        struct text bare = bare_name(key, driver);
        if (bare.len == key.len) continue;
        for (size_t j = 0; j < device->capacity.count; j++) {
            if (!text_equal(device->capacity.items[j].key, bare)) continue;
            struct path at = path_key(&field, key);
            struct finding *finding = finding_addf(findings, FINDING_DUPLICATE, &at, key,
                                                   "%.*s and %.*s are the same capacity of this driver",
                                                   TEXT_ARG(bare), TEXT_ARG(key));
            finding_hint(finding, TEXT("publish one of the two, and use its spelling in capacityKey"));
        }
    }
}

static void judge_key(const struct rule_input *input, const struct mapping_entry *entry,
                      struct finding_list *findings) {
    struct text driver = input->object->slice.driver;
    struct text key = entry->mapping->capacity_key.value;
    const struct device_capacity_map *capacity = &entry->device->capacity;
    if (!entry->mapping->capacity_key.set) return;
    for (size_t i = 0; i < capacity->count; i++)
        if (text_equal(capacity->items[i].key, key)) return;
    for (size_t i = 0; i < capacity->count; i++) {
        struct text published = capacity->items[i].key;
        if (!text_equal(bare_name(published, driver), bare_name(key, driver))) continue;
        struct path room;
        struct path path = mapping_capacity_key_path(input, entry, &room);
        struct finding *finding = finding_add(findings, FINDING_INVALID, &path, key,
                                              TEXT("the capacity is published under its other spelling"));
        finding_hint(finding, text_format(input->arena, "did you mean %.*s?", TEXT_ARG(published)));
        return;
    }
}

static void judge_device(const struct rule_input *input, const struct device *device, const struct path *path,
                         const void *context, struct finding_list *findings) {
    (void)context;
    if (mapping_entries(device, input->minor)->count == 0) return;
    judge_published(device, input->object->slice.driver, path, findings);
}

void rule_mapping_key_spelling(const struct rule_input *input, struct finding_list *findings) {
    mapping_for_each_device(input, judge_device, NULL, findings);
    mapping_for_each_entry(input, judge_key, findings);
}
