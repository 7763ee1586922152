// SPDX-License-Identifier: Apache-2.0
// The file that tells scripts where a server listens, for ports that the system chose.
#ifndef DRAWBRIDGE_CLI_ADDRESS_FILE_H
#define DRAWBRIDGE_CLI_ADDRESS_FILE_H

#include <stdbool.h>

#include "validators/core/fault.h"

// What it does: writes two lines, `webhook HOST:PORT` and `status HOST:PORT` (left out when `status` is ""),
// so that a reader sees all of it or nothing. Errors: FAULT_IO.
bool address_file_write(const char *path, const char *webhook, const char *status, struct fault *fault)
    __attribute__((warn_unused_result));

#endif
