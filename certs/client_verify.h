// SPDX-License-Identifier: Apache-2.0
// Whether a caller's certificate chain, as it came through the handshake, is one that we trust: signed by a
// CA of the file, for client authentication, valid now, under one of the allowed names.
#ifndef DRAWBRIDGE_CERTS_CLIENT_VERIFY_H
#define DRAWBRIDGE_CERTS_CLIENT_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <gnutls/gnutls.h>

#include "validators/core/fault.h"

#define CLIENT_CHAIN_LIMIT       8     // certificates of one chain
#define CLIENT_CHAIN_BYTES_LIMIT 65536 // DER bytes of one chain

enum client_verdict {
    CLIENT_TRUSTED,
    CLIENT_NO_CERTIFICATE,
    CLIENT_TOO_LONG, // more certificates or bytes than the limits
    CLIENT_MALFORMED,
    CLIENT_UNTRUSTED,
    CLIENT_EXPIRED,
    CLIENT_NOT_YET_VALID,
    CLIENT_WRONG_USAGE,
    CLIENT_WRONG_NAME,
    CLIENT_UNAVAILABLE, // our own failure: no CA file could be read yet, or memory ran out
    CLIENT_VERDICTS,
};

// "trusted", "no_certificate", … : the value of a metric's label (static text).
const char *client_verdict_name(enum client_verdict verdict);

struct client_verifier;

struct client_verifier_files {
    const char *ca_file;              // PEM, one or more CAs
    const char *const *subject_names; // common name or DNS name of the leaf; none: any
    size_t subject_name_count;
    int64_t poll_ms; // 0: FILE_WATCH_POLL_MS
    // Told from the verifier's own thread: NULL fault: a new CA file is in force. May be NULL.
    void (*told)(void *context, const struct fault *fault);
    void *context;
};

// What it does: reads the CA file and follows it in a thread of its own. A changed file that cannot be read
// leaves the old CAs in force. Owner: the caller, client_verifier_free.
// Errors: FAULT_IO, FAULT_INPUT, FAULT_LIMIT when the first read fails.
bool client_verifier_new(const struct client_verifier_files *files, struct client_verifier **ret_verifier,
                         struct fault *fault) __attribute__((warn_unused_result));

void client_verifier_free(struct client_verifier *verifier);

// What it does: judges a chain of DER certificates, leaf first, as gnutls_certificate_get_peers gives it.
// Thread: any. Units: now in seconds since the epoch.
enum client_verdict client_verify(struct client_verifier *verifier, const gnutls_datum_t *chain,
                                  unsigned chain_count, time_t now);

// Rises with each CA file taken: a verdict that was kept for a connection is void when it differs.
uint64_t client_verifier_generation(struct client_verifier *verifier);

// What it does: replaces the allowed names (a re-read of the settings). Errors: FAULT_MEMORY, the old stay.
bool client_verifier_names(struct client_verifier *verifier, const char *const *names, size_t count,
                           struct fault *fault) __attribute__((warn_unused_result));

#endif
