// SPDX-License-Identifier: Apache-2.0
// A bundle of CA certificates, as a webhook's caBundle holds it: what is in it, and what belongs into it.
#ifndef DRAWBRIDGE_CERTS_BUNDLE_H
#define DRAWBRIDGE_CERTS_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include <openssl/x509.h>

#include "validators/core/fault.h"
#include "validators/core/text.h"

#define BUNDLE_COUNT_LIMIT 16 // certificates of a merged bundle

// What it does: the certificates of a text; one without any, or that cannot be read, is an empty list.
// Owner: the caller, pem_chain_free. Errors: FAULT_MEMORY.
bool bundle_read(struct text pem, STACK_OF(X509) * *ret_bundle, struct fault *fault)
    __attribute__((warn_unused_result));

// Whether a certificate is among them, byte for byte.
bool bundle_has(const STACK_OF(X509) * bundle, const X509 *certificate);

// What it does: says what a bundle should be. What has not ended stays, in its order; what is wanted and
// missing comes behind it, in the order of `wanted`; what has ended and what is there twice goes. Beyond
// BUNDLE_COUNT_LIMIT the unwanted go that end first. Merging again changes nothing.
// Owner: the caller, pem_chain_free. *ret_changed: whether it differs from `present`. Errors: FAULT_MEMORY.
bool bundle_merge(const STACK_OF(X509) * present, const STACK_OF(X509) * wanted, time_t now,
                  STACK_OF(X509) * *ret_bundle, bool *ret_changed, struct fault *fault)
    __attribute__((warn_unused_result));

// What it does: writes the certificates as PEM. Owner: the caller, free. Errors: FAULT_MEMORY, FAULT_STATE.
bool bundle_write(const STACK_OF(X509) * bundle, char **ret_pem, size_t *ret_bytes, struct fault *fault)
    __attribute__((warn_unused_result));

#endif
