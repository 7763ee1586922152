// SPDX-License-Identifier: Apache-2.0
// The NUMA node of a device: which attributes tell it, and what they say.
#ifndef DRAWBRIDGE_RULES_NUMA_H
#define DRAWBRIDGE_RULES_NUMA_H

#include "validators/rules/rule.h"

// What it does: true when this attribute of a device of this driver is one of the spellings that count: those
// of the policy, else the built-in list. A bare name and the same name in the driver's own domain are one.
bool numa_is_attribute(const struct rule_input *input, struct text key);

// What it does: the place of an attribute's spelling in that list, from 1; 0 when it is none of them. The
// lowest place counts where two disagree, so that the order in the object does not matter.
size_t numa_place(const struct rule_input *input, struct text key);

// What it does: the places of the attributes that are such, as attribute_bit has them; those behind the last
// bit have to be asked about one by one. before: what this told of the device before in the list, 0 for the
// first one.
uint64_t numa_places(const struct rule_input *input, const struct device_attribute_map *map, uint64_t before);

// What it does: the first NUMA node that an attribute names. Errors: false when it holds neither an integer
// nor a list of integers that is not empty.
bool numa_first_node(const struct device_attribute *attribute, int64_t *ret_node)
    __attribute__((warn_unused_result));

#endif
