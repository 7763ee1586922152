// SPDX-License-Identifier: Apache-2.0
// The rules about mappings as a judge of stored slices, for the ledger.
#ifndef DRAWBRIDGE_REGISTRY_DEVICE_JUDGE_H
#define DRAWBRIDGE_REGISTRY_DEVICE_JUDGE_H

#include "validators/model/device_judge.h"

// Owner: static.
const struct device_judge *registry_device_judge(void);

#endif
