// SPDX-License-Identifier: Apache-2.0
// ResourceClaimTemplate: what the API server checks when one is written.
#ifndef DRAWBRIDGE_SCHEMA_RESOURCE_CLAIM_TEMPLATE_H
#define DRAWBRIDGE_SCHEMA_RESOURCE_CLAIM_TEMPLATE_H

#include "validators/core/finding.h"
#include "validators/model/object.h"

// What it does: checks a template that is to be created. What is not told: see schema_resource_claim.
// Source: kubernetes v1.36.3 and v1.37.2 pkg/apis/resource/validation/validation.go,
// ValidateResourceClaimTemplate; pkg/registry/resource/resourceclaimtemplate/strategy.go.
void schema_resource_claim_template(const struct resource_claim_template *claim_template,
                                    enum resource_version version, int minor, struct finding_list *findings);

// What it does: checks an update. The spec cannot be changed.
// Source: as above, ValidateResourceClaimTemplateUpdate.
void schema_resource_claim_template_update(const struct resource_claim_template *claim_template,
                                           const struct resource_claim_template *old,
                                           enum resource_version version, int minor,
                                           struct finding_list *findings);

#endif
