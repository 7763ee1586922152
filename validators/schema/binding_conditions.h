// SPDX-License-Identifier: Apache-2.0
// Binding conditions and binding failure conditions, of devices and of allocation results.
#ifndef DRAWBRIDGE_SCHEMA_BINDING_CONDITIONS_H
#define DRAWBRIDGE_SCHEMA_BINDING_CONDITIONS_H

#include "validators/core/finding.h"
#include "validators/model/meta.h"

#define BINDING_CONDITIONS_MAX_COUNT 4u

// What it does: sizes (at size_path, the same as path but where v1beta1 in v1.37 names another), names,
// duplicates, overlap, and that neither list comes without the other. path is that of the device or result.
// Source: k8s.io/kubernetes v1.36.3 pkg/apis/resource/validation/validation.go,
// validateDeviceBindingParameters.
void schema_binding_conditions(const struct text_list *conditions, const struct text_list *failures,
                               const struct path *path, const struct path *size_path,
                               struct finding_list *findings);

#endif
