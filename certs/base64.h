// SPDX-License-Identifier: Apache-2.0
// Base64 as JSON carries bytes: the standard alphabet, padded, nothing else in it.
#ifndef DRAWBRIDGE_CERTS_BASE64_H
#define DRAWBRIDGE_CERTS_BASE64_H

#include <stdbool.h>
#include <stddef.h>

#include "validators/core/fault.h"
#include "validators/core/text.h"

// Bytes that may be a key: own memory, NUL-terminated behind the length.
struct secret_bytes {
    char *ptr; // NULL: none
    size_t len;
};

// Wipes and frees. Zeroed is allowed.
void secret_bytes_release(struct secret_bytes *bytes);

static inline struct text secret_bytes_text(const struct secret_bytes *bytes) {
    return (struct text){bytes->ptr == NULL ? "" : bytes->ptr, bytes->len};
}

// What it does: takes a text of base64 apart. Owner: the caller, secret_bytes_release. Errors: FAULT_INPUT,
// FAULT_LIMIT before anything is decoded when more than limit_bytes would come out, FAULT_MEMORY.
bool base64_decode(struct text text, size_t limit_bytes, struct secret_bytes *ret_bytes, struct fault *fault)
    __attribute__((warn_unused_result));

// What it does: writes bytes as base64. Owner: the caller, secret_bytes_release. Errors: FAULT_MEMORY,
// FAULT_LIMIT.
bool base64_encode(struct text bytes, struct secret_bytes *ret_text, struct fault *fault)
    __attribute__((warn_unused_result));

#endif
