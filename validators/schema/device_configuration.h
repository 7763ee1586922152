// SPDX-License-Identifier: Apache-2.0
// Opaque parameters for drivers, as claims, classes and allocations carry them.
#ifndef DRAWBRIDGE_SCHEMA_DEVICE_CONFIGURATION_H
#define DRAWBRIDGE_SCHEMA_DEVICE_CONFIGURATION_H

#include <stdbool.h>

#include "validators/core/finding.h"
#include "validators/model/resource_claim.h"

#define OPAQUE_PARAMETERS_MAX_BYTES 10240u

// What it does: checks the part of one `config` entry that all kinds share: `opaque`, its driver and its
// parameters. path is that of the entry. stored: the entries are exactly those of the old object, then
// parameters that were once allowed to be longer stay allowed.
// Source: kubernetes v1.36.3 and v1.37.2 pkg/apis/resource/validation/validation.go,
// validateDeviceConfiguration; v1.37.2 pkg/apis/resource/v1/zz_generated.validations.go,
// Validate_OpaqueDeviceConfiguration.
void schema_device_configuration(const struct device_configuration *config, int minor, bool stored,
                                 const struct path *path, struct finding_list *findings);

// What it does: checks raw JSON that has to be an object of no more than max_bytes: Required, TooLong,
// Invalid. unlimited leaves the length unchecked. The text is well-formed JSON or empty.
// Source: as above, validateRawExtension.
void schema_raw_object(struct text raw, size_t max_bytes, bool unlimited, const struct path *path,
                       struct finding_list *findings);

#endif
