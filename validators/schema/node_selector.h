// SPDX-License-Identifier: Apache-2.0
// Node selectors, as slices, devices and allocations carry them.
#ifndef DRAWBRIDGE_SCHEMA_NODE_SELECTOR_H
#define DRAWBRIDGE_SCHEMA_NODE_SELECTOR_H

#include "validators/core/finding.h"
#include "validators/model/meta.h"

// What it does: checks a node selector that is there; path is the selector's.
// Source: kubernetes v1.36.3 pkg/apis/core/validation/validation.go, ValidateNodeSelector (without the
// relaxed label values).
void schema_node_selector(const struct node_selector *selector, const struct path *path,
                          struct finding_list *findings);

#endif
