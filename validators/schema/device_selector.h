// SPDX-License-Identifier: Apache-2.0
// Device selectors and tolerations of claims, classes and allocations.
#ifndef DRAWBRIDGE_SCHEMA_DEVICE_SELECTOR_H
#define DRAWBRIDGE_SCHEMA_DEVICE_SELECTOR_H

#include <stdbool.h>

#include "validators/core/finding.h"
#include "validators/model/resource_claim.h"

#define DEVICE_SELECTORS_MAX_COUNT 32u
#define CEL_EXPRESSION_MAX_BYTES   10240u

// What it does: checks a list of selectors; path is that of the list. Of a CEL expression only what needs no
// compiler: that it is there and not too long. stored: the list is exactly that of the old object.
// Source: kubernetes v1.36.3 and v1.37.2 pkg/apis/resource/validation/validation.go, validateSelectorSlice.
void schema_device_selectors(const struct device_selector_list *selectors, int minor, bool stored,
                             const struct path *path, struct finding_list *findings);

#endif
