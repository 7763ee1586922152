// SPDX-License-Identifier: Apache-2.0
// unit-dimension: a capacity in bytes is mapped to cpu, or one in cores to memory, without converting.
//
// A capacity in bytes that is mapped to cpu with the multiplier 1 makes billions of cores; a capacity in
// cores that is mapped to memory with the multiplier 1 makes a handful of bytes. A mapping across kinds needs
// a multiplier that converts: bytes of memory for each core, or a tiny part of a core for each byte.
//
// Wrong:
//   capacity: {cpu: {value: "16"}}
//   nodeAllocatableResourceMappings:
//     memory: {capacityKey: cpu}
// Right:
//   capacity: {cpu: {value: "16"}}
//   nodeAllocatableResourceMappings:
//     memory: {capacityKey: cpu, allocationMultiplier: 2Gi}
//
// A capacity is taken to be in bytes when its value has a binary suffix, or when its name ends in memory,
// mem, bytes or storage and its value is 1Mi or more; in cores when its name ends in cpu, cpus, core or
// cores.
//
// Reads: spec.devices[].capacity, spec.devices[].nodeAllocatableResourceMappings (1.36),
// spec.devices[].nodeAllocatableResources (1.37: capacityMultiplier).
//
// Default: warn. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.36.3 pkg/scheduler/framework/plugins/dynamicresources/
// nodeallocatabledynamicresources.go, buildNodeAllocatableDRAInfo (the product is taken as it is).
#include "validators/rules/mapping.h"

#define MEBIBYTE 1048576

static bool ends_with_one_of(struct text key, const struct text *ends, size_t count) {
    char lower[32];
    struct text tail = text_slice(key, key.len > sizeof lower ? key.len - sizeof lower : 0, key.len);
    for (size_t i = 0; i < tail.len; i++)
        lower[i] = (char)(tail.ptr[i] >= 'A' && tail.ptr[i] <= 'Z' ? tail.ptr[i] - 'A' + 'a' : tail.ptr[i]);
    for (size_t i = 0; i < count; i++)
        if (text_ends_with((struct text){lower, tail.len}, ends[i])) return true;
    return false;
}

static bool is_in_bytes(const struct device_capacity *capacity) {
    static const struct text ends[] = {TEXT_INIT("memory"), TEXT_INIT("mem"), TEXT_INIT("bytes"),
                                       TEXT_INIT("storage")};
    if (capacity->value.format == QUANTITY_BINARY_SI) return true;
    return ends_with_one_of(capacity->key, ends, sizeof ends / sizeof ends[0]) &&
           quantity_compare(capacity->value, quantity_from_int64(MEBIBYTE, QUANTITY_DECIMAL_SI)) >= 0;
}

static bool is_in_cores(const struct device_capacity *capacity) {
    static const struct text ends[] = {TEXT_INIT("cpu"), TEXT_INIT("cpus"), TEXT_INIT("core"),
                                       TEXT_INIT("cores")};
    return capacity->value.format != QUANTITY_BINARY_SI &&
           ends_with_one_of(capacity->key, ends, sizeof ends / sizeof ends[0]);
}

static void judge(const struct rule_input *input, const struct mapping_amount *amount,
                  struct finding_list *findings) {
    const struct device_capacity *capacity = amount->capacity;
    (void)input;
    if (capacity == NULL || !capacity->value.set) return;
    // A core for each megabyte is already more than any machine has.
    struct quantity most = {.unscaled = 1, .scale = -6, .set = true};
    struct quantity least = quantity_from_int64(MEBIBYTE, QUANTITY_BINARY_SI);
    if (resource_is_cpu(amount->resource) && is_in_bytes(capacity) &&
        quantity_compare(amount->multiplier, most) > 0) {
        struct finding *finding =
            finding_addf(findings, FINDING_INVALID, amount->path, amount->value,
                         "capacity %.*s is measured in bytes and cpu in cores", TEXT_ARG(capacity->key));
        finding_hint(finding, TEXT("map a capacity in cores, or give the part of a core for each byte"));
        return;
    }
    bool memory = resource_is_bytes(amount->resource) && !resource_is_hugepages(amount->resource);
    if (memory && is_in_cores(capacity) && quantity_compare(amount->multiplier, least) < 0) {
        struct finding *finding = finding_addf(findings, FINDING_INVALID, amount->path, amount->value,
                                               "capacity %.*s is measured in cores and %.*s in bytes",
                                               TEXT_ARG(capacity->key), TEXT_ARG(amount->resource));
        finding_hint(finding, TEXT("map a capacity in bytes, or give the bytes for each core, such as 2Gi"));
    }
}

void rule_unit_dimension(const struct rule_input *input, struct finding_list *findings) {
    mapping_for_each_amount(input, judge, findings);
}
