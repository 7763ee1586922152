// SPDX-License-Identifier: Apache-2.0
// A failure of ours, never of the tenant: it lives on the caller's stack, so that even "out of memory" can be
// told. The tenant's errors are findings (finding.h). The two never share a path.
#ifndef DRAWBRIDGE_CORE_FAULT_H
#define DRAWBRIDGE_CORE_FAULT_H

#include <stdbool.h>

#define FAULT_TEXT_BYTES 256

enum fault_code {
    FAULT_NONE,
    FAULT_MEMORY,      // an allocation failed or a cap was reached
    FAULT_INPUT,       // bytes that cannot be read as what they should be
    FAULT_LIMIT,       // a declared bound was exceeded
    FAULT_IO,          // the operating system refused
    FAULT_USAGE,       // the caller's words are off
    FAULT_UNREACHABLE, // the other side of a connection does not answer
    FAULT_STATE,       // not possible in the present state
};

struct fault {
    enum fault_code code;
    char text[FAULT_TEXT_BYTES]; // one line, NUL-terminated, no full stop, the subject in quotes
};

// What it does: sets code and text. Always returns false, so that a caller can write `return fault_set(…)`.
// Errors: a text that does not fit is cut. A NULL fault is allowed and ignored.
bool fault_set(struct fault *fault, enum fault_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// What it does: puts "prefix: " before the text and keeps the code. Always returns false.
bool fault_wrap(struct fault *fault, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
