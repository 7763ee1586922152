// SPDX-License-Identifier: Apache-2.0
// Whether a serving certificate would be accepted by a client that trusts the given CAs.
#ifndef DRAWBRIDGE_CERTS_VERIFY_H
#define DRAWBRIDGE_CERTS_VERIFY_H

#include <stdbool.h>
#include <time.h>

#include <openssl/x509.h>

#include "validators/core/fault.h"

#define VERIFY_DEPTH_LIMIT 8

// What it does: a store that trusts exactly these certificates, intermediates included, as Go does.
// Owner: the caller, X509_STORE_free. Errors: FAULT_MEMORY, FAULT_STATE.
bool verify_store_new(STACK_OF(X509) * authorities, X509_STORE **ret_store, struct fault *fault)
    __attribute__((warn_unused_result));

// What it does: verifies a chain (leaf first) for one purpose (X509_PURPOSE_SSL_SERVER, …_CLIENT) at a time.
// Returns X509_V_OK or OpenSSL's reason.
int verify_chain(X509_STORE *store, STACK_OF(X509) * chain, int purpose, time_t now);

// What it does: verifies a server's chain, and that it holds for a host (DNS name or IP address; NULL or "":
// any). Only SANs count, as in Go. Errors: FAULT_STATE with what a client would object to.
bool verify_server(STACK_OF(X509) * authorities, STACK_OF(X509) * chain, const char *host, time_t now,
                   struct fault *fault) __attribute__((warn_unused_result));

#endif
