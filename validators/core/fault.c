// SPDX-License-Identifier: Apache-2.0
// Setting and prefixing faults.
#include "validators/core/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool fault_set(struct fault *fault, enum fault_code code, const char *format, ...) {
    if (fault == NULL) return false;
    va_list args;
    va_start(args, format);
    fault->code = code;
    vsnprintf(fault->text, sizeof fault->text, format, args);
    va_end(args);
    return false;
}

bool fault_wrap(struct fault *fault, const char *format, ...) {
    if (fault == NULL) return false;
    char inner[FAULT_TEXT_BYTES];
    memcpy(inner, fault->text, sizeof inner);
    va_list args;
    va_start(args, format);
    int prefix = vsnprintf(fault->text, sizeof fault->text, format, args);
    va_end(args);
    if (prefix < 0 || (size_t)prefix >= sizeof fault->text - 1) return false;
    snprintf(fault->text + prefix, sizeof fault->text - (size_t)prefix, ": %s", inner);
    return false;
}
