// SPDX-License-Identifier: Apache-2.0
// Raw JSON that must be an object: opaque parameters of drivers, data of allocated devices.
#ifndef DRAWBRIDGE_SCHEMA_RAW_OBJECT_H
#define DRAWBRIDGE_SCHEMA_RAW_OBJECT_H

#include <stdbool.h>

#include "validators/core/finding.h"
#include "validators/core/text.h"

#define OPAQUE_PARAMETERS_MAX_BYTES (10u * 1024)

// What it does: Required, TooLong or Invalid. raw is well-formed JSON as the reader took it, or empty when
// absent. With `stored` set the length is not looked at: the limit came later than some objects.
// Source: k8s.io/kubernetes v1.36.3 pkg/apis/resource/validation/validation.go, validateRawExtension.
void schema_raw_object(struct text raw, bool stored, size_t max_bytes, const struct path *path,
                       struct finding_list *findings);

#endif
