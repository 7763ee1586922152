// SPDX-License-Identifier: Apache-2.0
// `check -o text`: for people. Each finding with its line, a caret and what to do, as a good compiler prints
// it.
#ifndef DRAWBRIDGE_CLI_PRINT_TEXT_H
#define DRAWBRIDGE_CLI_PRINT_TEXT_H

#include "server/cli/check_result.h"

extern const struct print_form print_form_text;

#endif
