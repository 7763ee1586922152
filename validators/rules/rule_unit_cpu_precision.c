// SPDX-License-Identifier: Apache-2.0
// unit-cpu-precision: a cpu footprint is finer than a thousandth of a core.
//
// The scheduler counts cpu in thousandths of a core and rounds up, once per node and Pod. What a driver says
// with more digits is not what Pods are charged, and sums differ by a thousandth here and there.
//
// Unclear:
//   nodeAllocatableResourceMappings:
//     cpu: {allocationMultiplier: 100500u}
// Clear:
//   nodeAllocatableResourceMappings:
//     cpu: {allocationMultiplier: 101m}
//
// With a capacityKey the product counts, not the multiplier: of the whole capacity, or of the step or the
// values of its request policy.
//
// Reads: spec.devices[].nodeAllocatableResourceMappings (1.36), spec.devices[].nodeAllocatableResources
// (1.37: deviceMultiplier, capacityMultiplier, perPod, perContainer), spec.devices[].capacity.
//
// Default: warn. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.36.3 pkg/scheduler/framework/types.go, Resource.Add (MilliValue rounds up).
#include "validators/rules/mapping.h"

static void judge(const struct rule_input *input, const struct mapping_amount *amount,
                  struct finding_list *findings) {
    struct quantity product;
    if (!resource_is_cpu(amount->resource)) return;
    if (mapping_keeps(amount, input->minor, quantity_is_whole_milli, &product)) return;
    int64_t milli;
    if (!quantity_milli(product, &milli)) return;
    struct text exact = quantity_canonical(input->arena, product);
    struct finding *finding =
        amount->by_capacity
            ? finding_addf(findings, FINDING_INVALID, amount->path, amount->value,
                           "cpu is counted in thousandths of a core, and capacity %.*s times this makes %.*s",
                           TEXT_ARG(amount->capacity->key), TEXT_ARG(exact))
            : finding_add(findings, FINDING_INVALID, amount->path, amount->value,
                          TEXT("cpu is counted in thousandths of a core"));
    finding_hint(finding, text_format(input->arena, "the scheduler rounds it up to %lldm", (long long)milli));
}

void rule_unit_cpu_precision(const struct rule_input *input, struct finding_list *findings) {
    mapping_for_each_amount(input, judge, findings);
}
