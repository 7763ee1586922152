// SPDX-License-Identifier: Apache-2.0
// unit-bytes-fraction: a footprint in memory, hugepages or storage is not a whole number of bytes.
//
// These resources are counted in whole bytes. "500m" of memory is half a byte: the suffix m means a
// thousandth, and 500Mi was most likely meant. 1.1Gi is 1181116006.4 bytes; a server that is asked to store
// it writes 1181116006400m. Both are legal quantities and the API server takes them.
//
// Wrong:
//   nodeAllocatableResourceMappings:
//     memory: {allocationMultiplier: 500m}
// Right:
//   nodeAllocatableResourceMappings:
//     memory: {allocationMultiplier: 500Mi}
//
// With a capacityKey the multiplier is a ratio, and a ratio may be a fraction: only the product counts. Half
// of a capacity of 64Gi (multiplier 500m) is fine; half of a capacity of 3 is not. Where the capacity's
// request policy has a step, the product of the step must be whole; where it has a list of values, one of
// their products must be.
//
// Reads: spec.devices[].nodeAllocatableResourceMappings (1.36), spec.devices[].nodeAllocatableResources
// (1.37: deviceMultiplier, capacityMultiplier, perPod, perContainer), spec.devices[].capacity.
//
// Default: deny. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.36.3 pkg/scheduler/framework/plugins/dynamicresources/
// nodeallocatabledynamicresources.go, buildNodeAllocatableDRAInfo; pkg/scheduler/framework/types.go,
// Resource.Add.
#include "validators/rules/mapping.h"

#define MEBIBYTE             1048576
#define MEBIBYTE_MEANT_BELOW 1000000 // nobody means a footprint of a million MiB

// "500m" → 500Mi. Empty when the suffix was not a slip.
static struct text mebibytes_meant(struct arena *arena, struct text value) {
    int64_t number;
    if (!text_ends_with(value, TEXT("m"))) return (struct text){NULL, 0};
    if (!text_to_int64(text_slice(value, 0, value.len - 1), &number)) return (struct text){NULL, 0};
    if (number >= MEBIBYTE_MEANT_BELOW) return (struct text){NULL, 0};
    return text_format(arena, "%lldMi", (long long)number);
}

static void judge(const struct rule_input *input, const struct mapping_amount *amount,
                  struct finding_list *findings) {
    struct quantity product;
    if (!resource_is_bytes(amount->resource)) return;
    if (mapping_keeps(amount, input->minor, quantity_is_whole, &product)) return;
    struct arena *arena = input->arena;
    struct text resource = amount->resource;
    if (amount->by_capacity) {
        struct finding *finding = finding_addf(
            findings, FINDING_INVALID, amount->path, amount->value,
            "%.*s is counted in whole bytes, and this times an amount of capacity %.*s makes %.*s",
            TEXT_ARG(resource), TEXT_ARG(amount->capacity->key),
            TEXT_ARG(quantity_canonical(arena, product)));
        finding_hint(finding, TEXT("choose a multiplier, or a step of the capacity's request policy, whose "
                                   "product is whole"));
        return;
    }
    struct finding *finding = finding_addf(findings, FINDING_INVALID, amount->path, amount->value,
                                           "%.*s is counted in whole bytes", TEXT_ARG(resource));
    struct text meant = mebibytes_meant(arena, amount->value);
    int64_t rounded;
    if (meant.len > 0)
        finding_hint(finding, text_format(arena, "did you mean %.*s?", TEXT_ARG(meant)));
    else if (quantity_value(product, &rounded) && rounded >= MEBIBYTE)
        finding_hint(finding,
                     text_format(arena, "the next whole number of bytes is %lld", (long long)rounded));
    else
        finding_hint(finding, TEXT("write bytes, such as 512Mi"));
}

void rule_unit_bytes_fraction(const struct rule_input *input, struct finding_list *findings) {
    mapping_for_each_amount(input, judge, findings);
}
