// SPDX-License-Identifier: Apache-2.0
// What the parts of the ResourceSlice check share. For validators/schema alone.
//
// v1.36 checks by hand only. v1.37 has declarative rules beside the hand-written ones. Where both find the
// same, one finding is made. Two things differ: declarative rules also look at what the hand-written ones
// skip once a list is too long, and they name v1beta1 paths (`devices[0].basic.…`).
#ifndef DRAWBRIDGE_SCHEMA_SLICE_CHECK_H
#define DRAWBRIDGE_SCHEMA_SLICE_CHECK_H

#include "validators/core/finding.h"
#include "validators/model/object.h"

#define COUNTER_SETS_MAX_COUNT          8u
#define COUNTERS_MAX_COUNT              32u // of a set, and of a consumption
#define COUNTER_CONSUMPTIONS_MAX_COUNT  2u
#define COMPATIBILITY_GROUPS_MAX_COUNT  2u
#define DEVICES_MAX_COUNT               128u
#define DEVICES_ADVANCED_MAX_COUNT      64u // with taints, consumed counters or lists as attributes
#define DEVICE_TAINTS_MAX_COUNT         16u
#define ATTRIBUTES_CAPACITIES_MAX_COUNT 32u
#define ATTRIBUTE_VALUES_MAX_COUNT      48u
#define ATTRIBUTE_VALUE_MAX_BYTES       64u
#define REQUEST_POLICY_VALUES_MAX_COUNT 10u
#define QUALIFIED_KEY_MAX_BYTES         96u // longer keys are cut in the middle in paths

struct slice_check {
    const struct resource_slice *slice;
    const struct resource_slice *old; // NULL when the slice is to be created
    int minor;
    bool v1beta1;
    bool declared; // the declarative rules of v1.37 speak too
    // Fields of features that are off. They are dropped, but for an update whose old slice already has them.
    bool list_attributes;
    bool partition_type;
    bool compatibility_groups;
    bool skip_operations;
    bool fractional_ranges; // capacities may be requested in fractions: what only whole numbers break passes
    bool frozen_partition_type; // kept from the old slice, and not to be changed
    struct finding_list *findings;
};

struct device_check {
    const struct slice_check *slice;
    const struct device *device;
    const struct device *old; // the device of this name in the old slice, or NULL
    const struct path *path;
    const struct path *declared_path; // of the declarative rules; the same but for v1beta1 in v1.37
    bool by_hand;                     // false: too many devices, only the declarative rules look
    uint64_t *clean_attributes;       // bit n: in the device before, nothing was found in attribute n
    // Its other parts, or all but its name and its attributes, are those of the device before, where nothing
    // was found.
    bool like_before;
    bool rest_before;
};

// Source: validateDevice.
void schema_device(const struct device_check *check);

// Source: validateDeviceAttribute.
void schema_device_attributes(const struct device_check *check);

// Source: validateMultiAllocatableDeviceCapacity, validateSingleAllocatableDeviceCapacity.
void schema_device_capacity(const struct device_check *check);

// Source: validateDeviceTaint.
void schema_device_taints(const struct device_check *check);

// Source: validateDeviceCounterConsumption.
void schema_counter_consumptions(const struct device_check *check);

// Source: validateCounterSet. path is that of the slice's spec.
void schema_counter_sets(const struct slice_check *check, const struct path *spec);

// Source: v1.36.3 validateNodeAllocatableResourceMappings; v1.37.2 validateNodeAllocatableResources.
void schema_node_allocatable(const struct device_check *check);

// What it does: cuts a key of more than QUALIFIED_KEY_MAX_BYTES in the middle. Owner: the arena. Source:
// truncateIfTooLong.
struct text schema_cut_key(struct text key, struct arena *arena);

// The path element of a map's key as validateMap prints it.
static inline struct text schema_shown_key(struct text key, struct arena *arena) {
    return key.len <= QUALIFIED_KEY_MAX_BYTES ? key : schema_cut_key(key, arena);
}

// What it does: a TooMany finding with the count as its value.
void schema_too_many(size_t count, unsigned max_count, const struct path *path,
                     struct finding_list *findings);

#endif
