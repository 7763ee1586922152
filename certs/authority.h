// SPDX-License-Identifier: Apache-2.0
// Our own certificate authority: it makes a CA, and leaves for a Service or for hosts, that the API server's
// verifier (Go) accepts. Private keys are wiped when they are no longer needed.
#ifndef DRAWBRIDGE_CERTS_AUTHORITY_H
#define DRAWBRIDGE_CERTS_AUTHORITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "validators/core/fault.h"
#include "validators/core/text.h"

enum key_algorithm {
    KEY_ECDSA_P256,
    KEY_ECDSA_P384,
    KEY_RSA_2048,
    KEY_RSA_3072,
    KEY_ED25519,
    KEY_ALGORITHMS
};

// "ecdsa-p256", … (static text), and back. Errors: false for another word.
const char *key_algorithm_name(enum key_algorithm algorithm);
bool key_algorithm_find(const char *name, enum key_algorithm *ret_algorithm);

// A certificate (or chain) and its private key, as PEM, NUL-terminated.
struct pem_pair {
    char *certificate;
    size_t certificate_bytes;
    char *key;
    size_t key_bytes;
};

// Wipes the key, frees both. A zeroed pair is allowed.
void pem_pair_release(struct pem_pair *pair);

#define AUTHORITY_BACKDATE_S   3600 // notBefore lies so far back, for clocks that are behind
#define AUTHORITY_SERIAL_BYTES 16   // 127 random bits
#define AUTHORITY_NAMES_LIMIT  64
#define AUTHORITY_DAY_S        86400
#define AUTHORITY_CA_DAYS      365
#define AUTHORITY_LEAF_DAYS    90
#define AUTHORITY_DAYS_LIMIT   3650

struct authority;

// What it does: makes a CA (path length 0) that holds from an hour ago, for clocks that are behind, until
// now + lifetime_s.
// Owner: the caller, authority_free. Errors: FAULT_USAGE (lifetime), FAULT_MEMORY, FAULT_STATE (OpenSSL).
// Thread: an authority is used by one thread at a time.
bool authority_new(enum key_algorithm algorithm, time_t now, int64_t lifetime_s,
                   struct authority **ret_authority, struct fault *fault) __attribute__((warn_unused_result));

// What it does: takes up a CA from PEM. Errors: FAULT_INPUT when the text is no certificate, the key does not
// match, or the certificate is not a CA that may sign; FAULT_LIMIT for texts beyond the caps (pem.h).
bool authority_load(struct text certificate_pem, struct text key_pem, struct authority **ret_authority,
                    struct fault *fault) __attribute__((warn_unused_result));

// Wipes the key. NULL is allowed.
void authority_free(struct authority *authority);

// What it does: the CA's certificate and key as PEM. Owner: the caller, pem_pair_release.
bool authority_export(const struct authority *authority, struct pem_pair *ret_pair, struct fault *fault)
    __attribute__((warn_unused_result));

// When the CA begins and ends, in seconds since the epoch.
time_t authority_not_before(const struct authority *authority);
time_t authority_not_after(const struct authority *authority);

// The CA's certificate (an X509). Owner: the authority.
struct x509_st *authority_certificate(const struct authority *authority);

struct leaf_request {
    enum key_algorithm algorithm;
    // A Service: names SERVICE, SERVICE.NS, SERVICE.NS.svc, SERVICE.NS.svc.cluster.local. NULL: none.
    const char *service;
    const char *namespace;
    // Further DNS names and IP addresses.
    const char *const *hosts;
    size_t host_count;
    int64_t lifetime_s; // cut so that the leaf ends no later than its CA
};

// What it does: a new key and a certificate for it (serverAuth, not a CA, names only as SANs), signed by the
// authority. Owner: the caller, pem_pair_release. Errors: FAULT_USAGE with the name that is no DNS name or
// IP address; FAULT_STATE when the CA has ended or is not valid yet.
bool authority_issue(const struct authority *authority, const struct leaf_request *request, time_t now,
                     struct pem_pair *ret_pair, struct fault *fault) __attribute__((warn_unused_result));

#endif
