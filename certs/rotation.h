// SPDX-License-Identifier: Apache-2.0
// When certificates that drawbridge makes for itself are renewed, and what the Secret that the replicas share
// holds then. A CA is replaced in two steps: the next one is stored beside the one that signs and goes into
// every caBundle; only when it was seen there for a while does it sign. The former stays trusted until it
// ends. Nothing here reads a clock or talks to anybody.
#ifndef DRAWBRIDGE_CERTS_ROTATION_H
#define DRAWBRIDGE_CERTS_ROTATION_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <openssl/x509.h>

#include "certs/authority.h"
#include "certs/base64.h"
#include "validators/core/fault.h"
#include "validators/core/text.h"

#define ROTATION_SETTLE_MOST_MS 30000

struct rotation_lives {
    int64_t ca_s;
    int64_t leaf_s;
    int64_t settle_ms; // how long a CA is seen in every caBundle before anything that it signed is served
};

// What it does: fills in the settling time: 30 s, less where lives are short.
struct rotation_lives rotation_lives_of(int64_t ca_s, int64_t leaf_s);

// When two thirds of a life are over.
time_t rotation_renewal(time_t begun, time_t ends);

// ---- what the Secret holds

enum ca_field {
    CA_FIELD_CERTIFICATE, // of the CA that signs
    CA_FIELD_KEY,
    CA_FIELD_TRUSTED, // all CAs that belong into a caBundle
    CA_FIELD_NEXT_CERTIFICATE,
    CA_FIELD_NEXT_KEY,
    CA_FIELD_COUNT,
};

const char *ca_field_name(enum ca_field field); // "tls.crt", … (static text)

struct ca_content {
    struct secret_bytes fields[CA_FIELD_COUNT]; // absent and empty are the same
    struct fault refused;                       // certificate or key are there and could not even be decoded
};

// Wipes and frees. Zeroed is allowed.
void ca_content_release(struct ca_content *content);

enum ca_state {
    CA_NONE,     // neither certificate nor key: free for whoever comes first
    CA_UNUSABLE, // something that does not sign; `why`
    CA_USABLE,
};

struct ca_set {
    enum ca_state state;
    struct authority *signer; // NULL unless usable
    struct authority *next;   // NULL: none that is usable
    STACK_OF(X509) * trusted; // of CA_FIELD_TRUSTED
    struct fault why;
};

// What it does: judges a Secret's content. Owner: the caller, ca_set_release. Errors: FAULT_MEMORY.
bool ca_set_read(const struct ca_content *content, time_t now, struct ca_set *ret_set, struct fault *fault)
    __attribute__((warn_unused_result));

// Wipes the keys. Zeroed is allowed.
void ca_set_release(struct ca_set *set);

// What it does: all that belongs into a caBundle now. Owner: the caller, pem_chain_free. Errors:
// FAULT_MEMORY.
bool ca_set_wanted(const struct ca_set *set, time_t now, STACK_OF(X509) * *ret_bundle, struct fault *fault)
    __attribute__((warn_unused_result));

// ---- decisions

enum rotation_step {
    ROTATION_KEEP,
    ROTATION_FILL,    // make a CA that signs; also where what is there cannot be used
    ROTATION_PREPARE, // store the next CA and have it trusted
    ROTATION_PROMOTE, // the next one signs from now on
    ROTATION_MEND,    // the list of trusted CAs lacks one, or has one that ended
};

// What it does: says what is to be done about the Secret. An empty one may be filled by any replica, because
// only one write of the same version succeeds; the rest is the leader's. next_trusted_ms: for how long the
// next CA was seen in every caBundle; -1: it is not.
enum rotation_step rotation_plan(const struct ca_set *set, bool leads, int64_t next_trusted_ms,
                                 const struct rotation_lives *lives, time_t now);

// What a step writes: fields that are set get the value, or go where it is NULL.
struct ca_change {
    bool set[CA_FIELD_COUNT];
    struct secret_bytes values[CA_FIELD_COUNT];
};

// What it does: makes what a step writes, new keys included. Owner: the caller, ca_change_release.
// Errors: FAULT_MEMORY, FAULT_STATE (OpenSSL), FAULT_USAGE (lives).
bool rotation_change(const struct ca_set *set, enum rotation_step step, const struct rotation_lives *lives,
                     time_t now, struct ca_change *ret_change, struct fault *fault)
    __attribute__((warn_unused_result));

void ca_change_release(struct ca_change *change);

// The serving certificate that a replica has.
struct leaf_facts {
    bool exists;
    time_t begun; // when it was issued
    time_t not_before;
    time_t not_after;
    bool of_signer; // issued by the CA that signs now
};

// What it does: says whether a new one is to be issued: there is none, it has ended, two thirds of its life
// are over, the clock was set back behind it, or another CA signs now and was seen in every caBundle for long
// enough (signer_trusted_ms; -1: it is not). While nothing better could be issued it is kept.
bool rotation_leaf_is_due(const struct leaf_facts *leaf, const struct ca_set *set, int64_t signer_trusted_ms,
                          const struct rotation_lives *lives, time_t now);

// What it does: the time at which to sign: a CA that was made by a clock ahead of ours is taken as it is.
time_t rotation_signing_time(const struct authority *authority, time_t now);

#endif
