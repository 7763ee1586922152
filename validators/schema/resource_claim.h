// SPDX-License-Identifier: Apache-2.0
// ResourceClaim: what the API server checks when one is written.
#ifndef DRAWBRIDGE_SCHEMA_RESOURCE_CLAIM_H
#define DRAWBRIDGE_SCHEMA_RESOURCE_CLAIM_H

#include "validators/core/finding.h"
#include "validators/model/object.h"

// What it does: checks a claim that is to be created. Its status is not looked at: the server drops it. Not
// told here: whether the namespace allows admin access, and whether CEL expressions compile. version: the one
// the object is written in; minor: of the cluster.
// Source: kubernetes v1.36.3 and v1.37.2 pkg/apis/resource/validation/validation.go, ValidateResourceClaim;
// pkg/registry/resource/resourceclaim/strategy.go; v1.37.2 pkg/apis/resource/v1/zz_generated.validations.go.
void schema_resource_claim(const struct resource_claim *claim, enum resource_version version, int minor,
                           struct finding_list *findings);

// What it does: checks an update of metadata and spec. The spec cannot be changed.
// Source: as above, ValidateResourceClaimUpdate.
void schema_resource_claim_update(const struct resource_claim *claim, const struct resource_claim *old,
                                  int minor, struct finding_list *findings);

#endif
