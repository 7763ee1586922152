// SPDX-License-Identifier: Apache-2.0
// The kinds of keys that we make, and those that we serve with.
#ifndef DRAWBRIDGE_CERTS_KEY_H
#define DRAWBRIDGE_CERTS_KEY_H

#include <openssl/evp.h>

#include "certs/authority.h"
#include "validators/core/fault.h"

// What it does: a new key. Owner: the caller, EVP_PKEY_free (which wipes it). Errors: FAULT_STATE (OpenSSL).
bool key_new(enum key_algorithm algorithm, EVP_PKEY **ret_key, struct fault *fault)
    __attribute__((warn_unused_result));

// The digest to sign with under this key; NULL where the key brings its own (Ed25519).
const EVP_MD *key_digest(const EVP_PKEY *key);

// What it does: names a key for people: "ECDSA P-256", "RSA 2048", "Ed25519", else OpenSSL's name and the
// bits.
const char *key_describe(const EVP_PKEY *key, char *buffer, size_t size);

// What it does: says whether GnuTLS and the API server's verifier both work with this key: RSA from 2,048 to
// 8,192 bits, ECDSA on P-256, P-384 or P-521, Ed25519. Errors: FAULT_INPUT with the key's name.
bool key_is_servable(const EVP_PKEY *key, struct fault *fault) __attribute__((warn_unused_result));

#endif
