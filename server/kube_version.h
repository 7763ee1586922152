// SPDX-License-Identifier: Apache-2.0
// The Kubernetes version that a user or a server names.
#ifndef DRAWBRIDGE_KUBE_VERSION_H
#define DRAWBRIDGE_KUBE_VERSION_H

#include <stdbool.h>

#include "validators/core/fault.h"
#include "validators/core/text.h"
#include "validators/model/object.h"

// The minor to judge by when neither a user nor a server names one: the oldest, because what drivers publish
// must be right there as well.
#define KUBE_MINOR_DEFAULT MINOR_OLDEST

// What it does: reads `1.36`, `v1.36`, `1.36.3`, `v1.36.3-gke.100` or `1.36+` and gives the minor. A minor
// newer than any known is fine: the newest rules run. Errors: FAULT_USAGE for what is no version and for one
// that is too old.
bool kube_version_parse(struct text text, int *ret_minor, struct fault *fault)
    __attribute__((warn_unused_result));

#endif
