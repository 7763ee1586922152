// SPDX-License-Identifier: Apache-2.0
// The result of an allocation: a claim's `status.allocation`.
#ifndef DRAWBRIDGE_SCHEMA_ALLOCATION_H
#define DRAWBRIDGE_SCHEMA_ALLOCATION_H

#include "validators/core/finding.h"
#include "validators/model/resource_claim.h"
#include "validators/schema/request_names.h"

// What it does: checks an allocation that was not there before; path is that of the allocation.
// Source: kubernetes v1.36.3 and v1.37.2 pkg/apis/resource/validation/validation.go,
// validateAllocationResult; v1.37.2 pkg/apis/resource/v1/zz_generated.validations.go,
// Validate_AllocationResult.
void schema_allocation(const struct allocation *allocation, const struct request_names *names, int minor,
                       const struct path *path, struct finding_list *findings);

#endif
