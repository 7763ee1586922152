// SPDX-License-Identifier: Apache-2.0
// `check -o json`: one object with an array of results, written as they come.
#ifndef DRAWBRIDGE_CLI_PRINT_JSON_H
#define DRAWBRIDGE_CLI_PRINT_JSON_H

#include "server/cli/check_result.h"

extern const struct print_form print_form_json;

#endif
