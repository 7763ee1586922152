// SPDX-License-Identifier: Apache-2.0
// unit-suspicious: a footprint is legal and most likely in the wrong unit.
//
// Three slips look like this:
//   - memory below 1Mi: "4" is four bytes, and so is the 1 that an empty mapping gets by default;
//   - cpu above 10,000 cores: "20000" was meant as thousandths, or bytes went under the wrong name;
//   - hugepages below one page: "256" was meant as pages, and the unit is bytes.
//
// Suspicious:
//   nodeAllocatableResourceMappings:
//     memory: {allocationMultiplier: "4"}
// Clear:
//   nodeAllocatableResourceMappings:
//     memory: {allocationMultiplier: 4Gi}
//
// Memory and hugepages with a capacityKey are left alone: there the multiplier is a ratio. For cpu with a
// capacityKey the product with the whole capacity counts.
//
// Reads: spec.devices[].nodeAllocatableResourceMappings (1.36), spec.devices[].nodeAllocatableResources
// (1.37: deviceMultiplier, capacityMultiplier, perPod, perContainer), spec.devices[].capacity.
//
// Default: warn. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.36.3 pkg/apis/resource/v1/defaults.go, SetDefaults_Device (multiplier 1).
#include "validators/rules/mapping.h"

#define MEBIBYTE        1048576
#define CPU_CORES_LIMIT 10000

static bool is_below(struct quantity quantity, int64_t bound) {
    return quantity_compare(quantity, quantity_from_int64(bound, QUANTITY_DECIMAL_SI)) < 0;
}

static bool is_above(struct quantity quantity, int64_t bound) {
    return quantity_compare(quantity, quantity_from_int64(bound, QUANTITY_DECIMAL_SI)) > 0;
}

static void judge_cpu(const struct mapping_amount *amount, struct finding_list *findings) {
    struct quantity cores = amount->multiplier;
    if (amount->by_capacity) {
        if (amount->capacity == NULL || !amount->capacity->value.set) return;
        cores = quantity_multiply(amount->capacity->value, amount->multiplier);
    }
    if (!is_above(cores, CPU_CORES_LIMIT)) return;
    struct finding *finding = finding_add(findings, FINDING_INVALID, amount->path, amount->value,
                                          TEXT("more than 10000 cores are unlikely on one node"));
    finding_hint(finding, TEXT("cpu is counted in cores: write 2 for two cores, 500m for half a core"));
}

static void judge_memory(const struct mapping_amount *amount, struct finding_list *findings) {
    if (amount->by_capacity || !is_below(amount->multiplier, MEBIBYTE)) return;
    struct finding *finding = finding_add(findings, FINDING_INVALID, amount->path, amount->value,
                                          TEXT("less than 1Mi of memory is unlikely"));
    finding_hint(finding, TEXT("memory is counted in bytes: write 4Gi for four gibibytes"));
}

static void judge_hugepages(const struct rule_input *input, const struct mapping_amount *amount,
                            struct finding_list *findings) {
    int64_t page_bytes;
    int64_t pages;
    if (amount->by_capacity || !resource_page_bytes(amount->resource, &page_bytes)) return;
    if (!is_below(amount->multiplier, page_bytes) || !quantity_value(amount->multiplier, &pages)) return;
    struct finding *finding = finding_add(findings, FINDING_INVALID, amount->path, amount->value,
                                          TEXT("less than one page: this looks like a number of pages"));
    struct quantity bytes = quantity_multiply(quantity_from_int64(page_bytes, QUANTITY_BINARY_SI),
                                              quantity_from_int64(pages, QUANTITY_DECIMAL_SI));
    if (bytes.out_of_range) return;
    finding_hint(finding, text_format(input->arena, "hugepages are counted in bytes: %lld pages are %.*s",
                                      (long long)pages, TEXT_ARG(quantity_canonical(input->arena, bytes))));
}

static void judge(const struct rule_input *input, const struct mapping_amount *amount,
                  struct finding_list *findings) {
    // Fractions of a byte have a rule of their own, with a better guess of what was meant.
    if (resource_is_cpu(amount->resource))
        judge_cpu(amount, findings);
    else if (!quantity_is_whole(amount->multiplier))
        return;
    else if (resource_is_memory(amount->resource))
        judge_memory(amount, findings);
    else if (resource_is_hugepages(amount->resource))
        judge_hugepages(input, amount, findings);
}

void rule_unit_suspicious(const struct rule_input *input, struct finding_list *findings) {
    mapping_for_each_amount(input, judge, findings);
}
