// SPDX-License-Identifier: Apache-2.0
// Attributes that name a device's NUMA node.
// Source: k8s.io/dynamic-resource-allocation v0.37.2 deviceattribute (the standard attribute's name).
#include "validators/rules/numa.h"

static const struct text built_in[] = {
    TEXT_INIT("resource.kubernetes.io/numaNode"),
    TEXT_INIT("numaNodeID"),
    TEXT_INIT("numaNode"),
    TEXT_INIT("dra.cpu/numaNodeID"),
};

static struct text without_domain(struct text key, struct text domain) {
    if (key.len <= domain.len || key.ptr[domain.len] != '/' || !text_starts_with(key, domain)) return key;
    return text_slice(key, domain.len + 1, key.len);
}

size_t numa_place(const struct rule_input *input, struct text key) {
    const struct text *spellings = built_in;
    size_t count = sizeof built_in / sizeof built_in[0];
    if (input->settings != NULL && input->settings->numa_attributes.count > 0) {
        spellings = input->settings->numa_attributes.items;
        count = input->settings->numa_attributes.count;
    }
    struct text driver = input->object->slice.driver;
    if (key.len == 0) return 0;
    for (size_t i = 0; i < count; i++) {
        struct text spelling = spellings[i];
        // Mostly the last letters differ already.
        if (spelling.len == 0 || spelling.ptr[spelling.len - 1] != key.ptr[key.len - 1]) continue;
        struct text bare = without_domain(key, driver);
        if (bare.len > 0 && text_equal(without_domain(spelling, driver), bare)) return i + 1;
    }
    return 0;
}

bool numa_is_attribute(const struct rule_input *input, struct text key) {
    return numa_place(input, key) > 0;
}

uint64_t numa_places(const struct rule_input *input, const struct device_attribute_map *map,
                     uint64_t before) {
    uint64_t known = map->key_before;
    uint64_t places = before & known;
    size_t end = map->count < 64 ? map->count : 64;
    for (size_t i = attribute_without(known, 0); i < end; i = attribute_without(known, i + 1))
        if (numa_is_attribute(input, map->items[i].key)) places |= attribute_bit(i);
    return places;
}

bool numa_first_node(const struct device_attribute *attribute, int64_t *ret_node) {
    if (attribute->int_value.set)
        *ret_node = attribute->int_value.value;
    else if (attribute_lists(attribute)->ints.count > 0)
        *ret_node = attribute->lists->ints.items[0];
    else
        return false;
    return true;
}
