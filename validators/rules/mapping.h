// SPDX-License-Identifier: Apache-2.0
// What the rules about mappings share: the numbers of a slice that become node resources, with the place
// where each stands. Both forms are folded into one: nodeAllocatableResourceMappings (v1.36) and
// nodeAllocatableResources (v1.37). Only the form that the chosen minor knows is walked.
#ifndef DRAWBRIDGE_RULES_MAPPING_H
#define DRAWBRIDGE_RULES_MAPPING_H

#include "validators/rules/rule.h"

// What a resource is, by its name.
bool resource_is_cpu(struct text resource);
bool resource_is_memory(struct text resource);
bool resource_is_hugepages(struct text resource); // hugepages-SIZE, whatever SIZE is
bool resource_is_bytes(struct text resource);     // memory, ephemeral-storage, hugepages-SIZE

// What it does: the page size of hugepages-SIZE. Units: bytes. Errors: false when SIZE is not a positive
// whole number of bytes that fits an int64.
bool resource_page_bytes(struct text resource, int64_t *ret_bytes) __attribute__((warn_unused_result));

// The entries of a device in the form of this minor, and the name of the field that holds them.
const struct node_allocatable_map *mapping_entries(const struct device *device, int minor);
struct text mapping_field(int minor);

// What it does: calls visit for each device of a slice, with the path of the device; but not for one whose
// capacity, mappings, sharing and node are like those of the device before it, when nothing was found there.
// So a visit must judge by those parts alone.
typedef void mapping_visit_device(const struct rule_input *input, const struct device *device,
                                  const struct path *path, const void *context,
                                  struct finding_list *findings);
void mapping_for_each_device(const struct rule_input *input, mapping_visit_device *visit, const void *context,
                             struct finding_list *findings);

struct mapping_entry {
    const struct device *device;
    const struct node_allocatable *mapping;
    const struct path *path; // …[resource]
};
typedef void mapping_visit_entry(const struct rule_input *input, const struct mapping_entry *entry,
                                 struct finding_list *findings);

// What it does: calls visit for each entry of each device of a slice; devices as mapping_for_each_device.
void mapping_for_each_entry(const struct rule_input *input, mapping_visit_entry *visit,
                            struct finding_list *findings);

// The path of an entry's capacityKey: below the entry in v1.36, below its `mapping` in v1.37. *room holds the
// element between and must outlive the path.
struct path mapping_capacity_key_path(const struct rule_input *input, const struct mapping_entry *entry,
                                      struct path *room);

// One number: how much of a resource one device takes, or takes for each unit of a capacity.
struct mapping_amount {
    const struct device *device;
    struct text resource;
    struct quantity multiplier;             // v1.36: 1 when it was absent
    struct text value;                      // the multiplier as written
    bool by_capacity;                       // a capacityKey stands beside it: the multiplier is a ratio
    const struct device_capacity *capacity; // NULL when fixed, or when the device has no such capacity
    const struct path *path;                // of the multiplier
};
typedef void mapping_visit_amount(const struct rule_input *input, const struct mapping_amount *amount,
                                  struct finding_list *findings);

// What it does: calls visit for each number, devices as mapping_for_each_device: allocationMultiplier
// (v1.36); deviceMultiplier, capacityMultiplier, perPod, perContainer (v1.37). Numbers that are absent, zero
// or negative are left out: they take nothing, or upstream refuses them.
void mapping_for_each_amount(const struct rule_input *input, mapping_visit_amount *visit,
                             struct finding_list *findings);

// What claims may consume of a capacity, as far as the slice tells: one of `values` where there are some;
// else `least` plus any number of steps where there is a step; else any amount up to the whole capacity.
// Source: k8s.io/dynamic-resource-allocation v0.36.3 structured/internal/incubating/consumable_capacity.go,
// calculateConsumedCapacity.
struct mapping_consumption {
    struct quantity whole; // all of the capacity
    struct quantity least; // set beside a step
    struct quantity step;  // v1.36 reads both as whole numbers, rounded up
    const struct quantity_list *values;
};
struct mapping_consumption mapping_consumption_of(const struct device_capacity *capacity, int minor);

// What it does: tells whether a footprint keeps to a form, such as a whole number of bytes. A fixed one is
// the multiplier. One by capacity is a product: of the whole capacity, or of one of the values that the
// request policy allows, or of the policy's smallest value and of its step. True when it cannot be told (no
// such capacity, a number out of range). *ret_product is the product that does not keep to it.
typedef bool mapping_form(struct quantity product);
bool mapping_keeps(const struct mapping_amount *amount, int minor, mapping_form *form,
                   struct quantity *ret_product);

#endif
