// SPDX-License-Identifier: Apache-2.0
// PEM files: read with a cap before anything is parsed, then taken apart by OpenSSL.
#ifndef DRAWBRIDGE_CERTS_PEM_H
#define DRAWBRIDGE_CERTS_PEM_H

#include <stdbool.h>
#include <stddef.h>

#include <openssl/evp.h>
#include <openssl/x509.h>

#include "validators/core/fault.h"
#include "validators/core/text.h"

// Real certificates stay far below these; the numbers are cert-manager's.
#define PEM_CERTIFICATE_BYTES_LIMIT 36500 // one certificate
#define PEM_KEY_BYTES_LIMIT         13000
#define PEM_CHAIN_BYTES_LIMIT       95000 // a whole file of certificates

// What it does: the bytes of a file, NUL-terminated behind the length. Only regular files are read (a FIFO
// would block). Owner: the caller, pem_bytes_release. Errors: FAULT_IO, FAULT_LIMIT beyond limit_bytes,
// FAULT_MEMORY; the fault names the file.
bool pem_read_file(const char *path, size_t limit_bytes, struct text *ret_bytes, struct fault *fault)
    __attribute__((warn_unused_result));

// Wipes and frees. An empty text is allowed.
void pem_bytes_release(struct text bytes);

// What it does: all certificates of a text, in order, at least one. Blocks of other kinds are passed over.
// Owner: the caller, sk_X509_pop_free(…, X509_free). Errors: FAULT_LIMIT beyond the caps, FAULT_INPUT.
bool pem_parse_chain(struct text pem, STACK_OF(X509) * *ret_chain, struct fault *fault)
    __attribute__((warn_unused_result));

// What it does: the private key of a text. Errors: as above; an encrypted key is FAULT_INPUT, never a prompt.
bool pem_parse_key(struct text pem, EVP_PKEY **ret_key, struct fault *fault)
    __attribute__((warn_unused_result));

// What it does: reads and takes apart a file. Errors: as above, the fault names the file.
bool pem_load_chain(const char *path, STACK_OF(X509) * *ret_chain, struct fault *fault)
    __attribute__((warn_unused_result));
bool pem_load_key(const char *path, EVP_PKEY **ret_key, struct fault *fault)
    __attribute__((warn_unused_result));

// Frees a chain. NULL is allowed.
void pem_chain_free(STACK_OF(X509) * chain);

// What it does: sets a fault with OpenSSL's own words behind ours and empties its queue. Always false.
bool openssl_fault(struct fault *fault, enum fault_code code, const char *what);

// What it does: an OpenSSL time as seconds since the epoch. Errors: false when it is no time.
bool asn1_time_seconds(const ASN1_TIME *time, time_t *ret_seconds) __attribute__((warn_unused_result));

#endif
