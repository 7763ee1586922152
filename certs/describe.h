// SPDX-License-Identifier: Apache-2.0
// What a certificate says, as plain texts.
#ifndef DRAWBRIDGE_CERTS_DESCRIBE_H
#define DRAWBRIDGE_CERTS_DESCRIBE_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include <openssl/x509.h>

#include "validators/core/arena.h"
#include "validators/core/fault.h"
#include "validators/core/text.h"

#define DESCRIBE_NAMES_LIMIT 256 // SANs that are told; the rest is counted

struct certificate_facts {
    struct text subject; // RFC 2253; empty when there is none
    struct text issuer;
    struct text serial;    // hexadecimal
    struct text algorithm; // of the key: "ECDSA P-256"
    struct text signature; // "ecdsa-with-SHA256"
    struct text sha256;    // of the whole certificate, hexadecimal
    struct text *names;    // "dns:example.com", "ip:127.0.0.1", …
    size_t name_count;
    size_t names_left_out_count;
    time_t not_before;
    time_t not_after;
    bool is_ca;
    long path_length; // -1: none given
    bool server_auth; // usages that matter here
    bool client_auth;
};

// What it does: reads the facts of one certificate. Texts that others chose are made printable.
// Owner: the arena. Errors: FAULT_INPUT (no dates), FAULT_MEMORY.
bool certificate_describe(X509 *certificate, struct arena *arena, struct certificate_facts *ret_facts,
                          struct fault *fault) __attribute__((warn_unused_result));

#endif
