// SPDX-License-Identifier: Apache-2.0
// What can be told of a DeviceClass without evaluating its expressions.
#ifndef DRAWBRIDGE_MODEL_DEVICE_CLASS_H
#define DRAWBRIDGE_MODEL_DEVICE_CLASS_H

#include "validators/model/resource_claim.h"

#define CLASS_DRIVER_LABEL "drawbridge.dev/driver"

// What it does: the driver that a class is of: that of its label drawbridge.dev/driver, else that of a
// selector of the form `device.driver == "NAME"`, alone or with more conditions behind `&&`. Empty when it
// cannot be told; it is never guessed. Owner: a view of the class.
struct text device_class_driver(const struct device_class *device_class);

#endif
