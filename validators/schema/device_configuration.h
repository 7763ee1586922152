// SPDX-License-Identifier: Apache-2.0
// Opaque configuration for drivers, as classes, claims and allocations carry it.
#ifndef DRAWBRIDGE_SCHEMA_DEVICE_CONFIGURATION_H
#define DRAWBRIDGE_SCHEMA_DEVICE_CONFIGURATION_H

#include <stdbool.h>

#include "validators/core/finding.h"
#include "validators/model/resource_claim.h"

// What it does: checks `opaque` below path: Required; driver; parameters. `stored`: unchanged ones of an
// update. Source: k8s.io/kubernetes v1.36.3 pkg/apis/resource/validation/validation.go,
// validateDeviceConfiguration.
void schema_device_configuration(const struct device_configuration *configuration, bool stored, int minor,
                                 const struct path *path, struct finding_list *findings);

#endif
