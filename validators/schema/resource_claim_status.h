// SPDX-License-Identifier: Apache-2.0
// ResourceClaim status: allocation, reservations, and what drivers report about devices.
#ifndef DRAWBRIDGE_SCHEMA_RESOURCE_CLAIM_STATUS_H
#define DRAWBRIDGE_SCHEMA_RESOURCE_CLAIM_STATUS_H

#include "validators/core/finding.h"
#include "validators/model/resource_claim.h"

// What it does: checks a write of a claim's status. Metadata and spec are those of the old claim, whatever
// the new one says, and entries about devices that the write deallocates are passed over: the server drops
// them. Not told here: who may write, and whether the namespace allows admin access. Source: kubernetes
// v1.36.3 and v1.37.2 pkg/apis/resource/validation/validation.go, ValidateResourceClaimStatusUpdate;
// pkg/registry/resource/resourceclaim/strategy.go.
void schema_resource_claim_status(const struct resource_claim *claim, const struct resource_claim *old,
                                  int minor, struct finding_list *findings);

#endif
