// SPDX-License-Identifier: Apache-2.0
// `check -o junit`: a suite for each file, a case for each object. What denies is a failure.
#ifndef DRAWBRIDGE_CLI_PRINT_JUNIT_H
#define DRAWBRIDGE_CLI_PRINT_JUNIT_H

#include "server/cli/check_result.h"

extern const struct print_form print_form_junit;

#endif
