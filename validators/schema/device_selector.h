// SPDX-License-Identifier: Apache-2.0
// Device selectors and tolerations of claims, classes and allocations.
//
// Since v1.37 some checks are declared in the API types. Those speak in the terms of the version that was
// asked for (flat requests in v1beta1), and also where the handwritten ones have stopped. So each kind of
// check has a function of its own.
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

// What it does: one finding at path when a list has more than limit items. Returns true when it has not.
bool schema_count_fits(size_t count, size_t limit, const struct path *path, struct finding_list *findings);

// What it does: the items of a list of selectors whose length fits.
void schema_device_selector_items(const struct device_selector_list *selectors, int minor, bool stored,
                                  const struct path *path, struct finding_list *findings);

// What it does: the declared checks of a toleration: key, operator, effect. An absent operator is Equal.
// Source: v1.37.2 pkg/apis/resource/v1/zz_generated.validations.go, Validate_DeviceToleration.
void schema_toleration_declared(const struct device_toleration *toleration, const struct path *path,
                                struct finding_list *findings);

// What it does: the handwritten check of a toleration: its value.
// Source: v1.37.2 pkg/apis/resource/validation/validation.go, validateDeviceToleration.
void schema_toleration_value(const struct device_toleration *toleration, const struct path *path,
                             struct finding_list *findings);

#endif
