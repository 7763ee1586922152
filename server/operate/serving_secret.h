// SPDX-License-Identifier: Apache-2.0
// The Secret that holds the CA, as the API server writes and takes it.
#ifndef DRAWBRIDGE_OPERATE_SERVING_SECRET_H
#define DRAWBRIDGE_OPERATE_SERVING_SECRET_H

#include "certs/rotation.h"

#define SECRET_VERSION_BYTES 64u

struct serving_secret {
    bool exists;
    char version[SECRET_VERSION_BYTES]; // resourceVersion
    struct ca_content content;
};

// What it does: reads a Secret. Fields beyond the caps of certs/pem.h are not decoded. Owner: the caller,
// serving_secret_release. Errors: FAULT_INPUT when it is no object, FAULT_MEMORY.
bool serving_secret_read(struct text body, struct serving_secret *ret_secret, struct fault *fault)
    __attribute__((warn_unused_result));

// Wipes and frees. Zeroed is allowed.
void serving_secret_release(struct serving_secret *secret);

// What it does: the body that makes the Secret (secret->exists false), else a merge patch on the version that
// was read. Owner: the caller, secret_bytes_release. Errors: FAULT_MEMORY, FAULT_LIMIT.
bool serving_secret_write(const struct serving_secret *secret, const char *namespace, const char *name,
                          const struct ca_change *change, struct secret_bytes *ret_body, struct fault *fault)
    __attribute__((warn_unused_result));

#endif
