// SPDX-License-Identifier: Apache-2.0
// What a driver reports about an allocated device: one entry of a claim's `status.devices`.
#ifndef DRAWBRIDGE_SCHEMA_DEVICE_STATUS_H
#define DRAWBRIDGE_SCHEMA_DEVICE_STATUS_H

#include "validators/core/finding.h"
#include "validators/model/resource_claim.h"

// What it does: checks one entry, apart from whether its device is allocated; path is that of the entry.
// Source: kubernetes v1.36.3 and v1.37.2 pkg/apis/resource/validation/validation.go, validateDeviceStatus;
// k8s.io/apimachinery v0.36.3 and v0.37.2 pkg/apis/meta/v1/validation/validation.go, ValidateConditions.
void schema_device_status(const struct allocated_device_status *status, int minor, const struct path *path,
                          struct finding_list *findings);

#endif
