// SPDX-License-Identifier: Apache-2.0
// unit-cpu-binary: a cpu footprint is written with a suffix for bytes.
//
// cpu is counted in cores. "1Gi" is a legal quantity and the API server takes it as 1,073,741,824 cores: no
// node has them, and every Pod that is given the device stays Pending. A memory footprint most likely went
// under the wrong name.
//
// Wrong:
//   nodeAllocatableResourceMappings:
//     cpu: {allocationMultiplier: 1Gi}
// Right:
//   nodeAllocatableResourceMappings:
//     cpu: {allocationMultiplier: "2"}
//     memory: {allocationMultiplier: 1Gi}
//
// With a capacityKey the multiplier is a ratio and may have any suffix.
//
// Reads: spec.devices[].nodeAllocatableResourceMappings (1.36), spec.devices[].nodeAllocatableResources
// (1.37: deviceMultiplier, perPod, perContainer).
//
// Default: deny. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.36.3 pkg/apis/resource/validation/validation.go,
// validateNodeAllocatableResourceMappings (any positive quantity passes).
#include "validators/rules/mapping.h"

static void judge(const struct rule_input *input, const struct mapping_amount *amount,
                  struct finding_list *findings) {
    (void)input;
    if (!resource_is_cpu(amount->resource) || amount->by_capacity) return;
    if (amount->multiplier.format != QUANTITY_BINARY_SI) return;
    struct finding *finding = finding_add(findings, FINDING_INVALID, amount->path, amount->value,
                                          TEXT("cpu is counted in cores, and this suffix is for bytes"));
    finding_hint(finding, TEXT("write cores such as 2 or 500m, or name memory instead"));
}

void rule_unit_cpu_binary(const struct rule_input *input, struct finding_list *findings) {
    mapping_for_each_amount(input, judge, findings);
}
