// SPDX-License-Identifier: Apache-2.0
// unit-range: a multiplier or a product is larger than the scheduler can hold.
//
// The scheduler keeps memory, hugepages and storage as a signed 64-bit number of bytes, and cpu as a signed
// 64-bit number of thousandths of a core. Quantities may be larger. What does not fit wraps around there: a
// device may then take nothing, or give back what it never had.
//
// Wrong:
//   capacity: {cpu: {value: 9E}}
//   nodeAllocatableResourceMappings:
//     memory: {capacityKey: cpu, allocationMultiplier: 9E}
// Right: numbers that a node can have.
//
// Reads: spec.devices[].nodeAllocatableResourceMappings (1.36), spec.devices[].nodeAllocatableResources
// (1.37: deviceMultiplier, capacityMultiplier, perPod, perContainer), spec.devices[].capacity.
//
// Default: deny. Policy cannot change it.
//
// Source: kubernetes v1.36.3 pkg/scheduler/framework/types.go, Resource.Add (Value and MilliValue);
// k8s.io/apimachinery v0.36.3 pkg/api/resource/quantity.go, ScaledValue.
#include "validators/rules/mapping.h"

static bool fits(struct quantity quantity, struct text resource) {
    int64_t value;
    return resource_is_cpu(resource) ? quantity_milli(quantity, &value) : quantity_value(quantity, &value);
}

// A binary quantity beyond int64 is read as the largest int64, by apimachinery and so by us.
static bool was_capped(struct quantity quantity) {
    return text_ends_with(quantity.source, TEXT("i")) && quantity.unscaled == INT64_MAX;
}

static struct text most(struct text resource) {
    return resource_is_cpu(resource)
               ? TEXT("the scheduler holds at most 9223372036854775807 thousandths of a core")
               : TEXT("the scheduler holds at most 9223372036854775807 bytes");
}

static void judge(const struct rule_input *input, const struct mapping_amount *amount,
                  struct finding_list *findings) {
    static const struct text hint = TEXT_INIT("give a number that a node can have");
    (void)input;
    if (!fits(amount->multiplier, amount->resource) || was_capped(amount->multiplier)) {
        finding_hint(
            finding_add(findings, FINDING_INVALID, amount->path, amount->value, most(amount->resource)),
            hint);
        return;
    }
    if (amount->capacity == NULL || quantity_sign(amount->capacity->value) <= 0) return;
    if (fits(quantity_multiply(amount->capacity->value, amount->multiplier), amount->resource)) return;
    struct text value = amount->capacity->value.source;
    finding_hint(finding_addf(findings, FINDING_INVALID, amount->path, amount->value,
                              "capacity %.*s of %.*s times this is too large: %.*s",
                              TEXT_ARG(amount->capacity->key), TEXT_ARG(value),
                              TEXT_ARG(most(amount->resource))),
                 hint);
}

void rule_unit_range(const struct rule_input *input, struct finding_list *findings) {
    mapping_for_each_amount(input, judge, findings);
}
