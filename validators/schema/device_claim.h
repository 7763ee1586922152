// SPDX-License-Identifier: Apache-2.0
// The part that claims and claim templates share: `spec.devices`.
#ifndef DRAWBRIDGE_SCHEMA_DEVICE_CLAIM_H
#define DRAWBRIDGE_SCHEMA_DEVICE_CLAIM_H

#include "validators/core/finding.h"
#include "validators/model/object.h"
#include "validators/schema/request_names.h"

// How a claim is judged.
struct claim_scope {
    enum resource_version version; // as the object was written
    int minor;
    const struct request_names *names;
    struct finding_list *findings;
};

// What it does: checks what a claim asks for; path is that of `devices`.
// Source: kubernetes v1.36.3 and v1.37.2 pkg/apis/resource/validation/validation.go, validateDeviceClaim;
// v1.37.2 pkg/apis/resource/{v1,v1beta2,v1beta1}/zz_generated.validations.go, Validate_DeviceClaim.
void schema_device_claim(const struct device_claim *claim, enum resource_version version, int minor,
                         const struct path *path, struct finding_list *findings);

// What it does: checks one request; path is that of the request.
// Source: as above, validateDeviceRequest and Validate_DeviceRequest.
void schema_device_request(const struct device_request *request, const struct claim_scope *scope,
                           const struct path *path);

// What it does: checks one constraint. Source: as above, validateDeviceConstraint.
void schema_device_constraint(const struct device_constraint *constraint, const struct claim_scope *scope,
                              const struct path *path);

#endif
