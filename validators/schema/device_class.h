// SPDX-License-Identifier: Apache-2.0
// DeviceClass as the API server of one minor checks it. CEL expressions are checked for length only.
#ifndef DRAWBRIDGE_SCHEMA_DEVICE_CLASS_H
#define DRAWBRIDGE_SCHEMA_DEVICE_CLASS_H

#include "validators/core/finding.h"
#include "validators/model/object.h"

// What it does: checks a class that is to be created. All apiVersions have the same paths.
// Source: k8s.io/kubernetes v1.36.3 and v1.37.2 pkg/apis/resource/validation/validation.go,
// ValidateDeviceClass; v1.37.2 pkg/apis/resource/v1/zz_generated.validations.go, Validate_DeviceClass.
void schema_device_class(const struct device_class *device_class, enum resource_version version, int minor,
                         struct finding_list *findings);

// What it does: checks a class that replaces an old one. Selectors and configuration that are exactly those
// of the old one are treated as stored. Source: as above, ValidateDeviceClassUpdate.
void schema_device_class_update(const struct device_class *device_class, const struct device_class *old,
                                enum resource_version version, int minor, struct finding_list *findings);

#endif
