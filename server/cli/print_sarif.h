// SPDX-License-Identifier: Apache-2.0
// `check -o sarif`: SARIF 2.1.0, for code scanning. deny is an error, warn a warning, audit a note.
#ifndef DRAWBRIDGE_CLI_PRINT_SARIF_H
#define DRAWBRIDGE_CLI_PRINT_SARIF_H

#include "server/cli/check_result.h"

extern const struct print_form print_form_sarif;

#endif
