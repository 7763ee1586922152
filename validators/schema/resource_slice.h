// SPDX-License-Identifier: Apache-2.0
// ResourceSlice as the API server of one minor checks it, after defaulting and after fields of features that
// are off (but for DRANodeAllocatableResources) were dropped.
#ifndef DRAWBRIDGE_SCHEMA_RESOURCE_SLICE_H
#define DRAWBRIDGE_SCHEMA_RESOURCE_SLICE_H

#include "validators/core/finding.h"
#include "validators/model/object.h"

// Which features that are off by default the server is taken to have on: none; or every one that the slice
// uses, because the slice comes from a server, which has dropped what is off there.
enum slice_features { FEATURES_BY_DEFAULT, FEATURES_IN_USE };

// What it does: checks a slice that is to be created. version is the apiVersion in which it was written: in
// v1.37 some paths of v1beta1 differ.
// Source: k8s.io/kubernetes v1.36.3 and v1.37.2 pkg/apis/resource/validation/validation.go,
// ValidateResourceSlice; pkg/registry/resource/resourceslice/strategy.go;
// v1.37.2 pkg/apis/resource/{v1,v1beta1,v1beta2}/zz_generated.validations.go, Validate_ResourceSlice.
void schema_resource_slice(const struct resource_slice *slice, enum resource_version version, int minor,
                           enum slice_features features, struct finding_list *findings);

// What it does: checks a slice that replaces an old one. Unchanged taints, and in v1.37 unchanged capacity,
// are not looked at again. Source: as above, ValidateResourceSliceUpdate.
void schema_resource_slice_update(const struct resource_slice *slice, const struct resource_slice *old,
                                  enum resource_version version, int minor, enum slice_features features,
                                  struct finding_list *findings);

#endif
