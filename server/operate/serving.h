// SPDX-License-Identifier: Apache-2.0
// The thread that keeps the server's own certificate: the replicas share a CA in a Secret, each issues its
// own short-lived certificate from it in memory, and the leader puts the CA into the caBundle of the webhook
// configurations. See certs/rotation.h for when what happens.
//
// It looks every few seconds, by the wall clock: a machine that slept is put right when it wakes. What cannot
// be read or written leaves the last good certificate in force and is tried again.
#ifndef DRAWBRIDGE_OPERATE_SERVING_H
#define DRAWBRIDGE_OPERATE_SERVING_H

#include "certs/rotation.h"
#include "certs/source.h"
#include "server/feed/kubeconfig.h"
#include "server/operate/write_kinds.h"

#define SERVING_HOOKS_LIMIT  8u // configurations that are named
#define SERVING_NAMES_LIMIT  32u
#define SERVING_POLL_MOST_MS 5000
#define SERVING_GRACE_MS     30000 // a caBundle that lost us makes this replica unready after so long

struct serving_list {
    const char *const *items;
    size_t count;
};

struct serving_options {
    struct kubeconfig config; // taken over, also by a failure
    struct source *source;    // where certificates are put in force; must outlive
    const char *namespace;    // of the Secret
    const char *secret;
    struct serving_list names;      // that the certificate holds for
    struct serving_list validating; // configurations, by name
    struct serving_list mutating;
    struct rotation_lives lives;
    bool (*leads)(void *context); // whether this replica may write now
    void *context;
};

enum { SERVING_MADE, SERVING_PREPARED, SERVING_PROMOTED, SERVING_MENDED, SERVING_CHANGES };

// What the metrics show.
struct serving_facts {
    time_t signer_not_after, next_not_after; // of the CAs; 0: none
    bool accepted[2];                  // every webhook vouches for our certificate: validating, mutating
    time_t accepted_at;                // when all of them were last seen to; 0: never
    uint64_t changes[SERVING_CHANGES]; // of the Secret, by this replica
    uint64_t written[WRITE_KIND_COUNT];
    uint64_t failed[WRITE_KIND_COUNT];
};

struct serving;

// What it does: copies the options and starts the thread. Owner: the caller, serving_free.
// Errors: FAULT_LIMIT, FAULT_IO, FAULT_MEMORY.
bool serving_new(struct serving_options *options, struct serving **ret_serving, struct fault *fault)
    __attribute__((warn_unused_result));

// Ends the thread. NULL is allowed.
void serving_free(struct serving *serving);

// What it does: says whether callers can have been told to trust our certificate: every caBundle was seen to
// vouch for it once, and was not seen without it for SERVING_GRACE_MS since. ret_why is set where something
// is amiss, also beside true. Thread: any.
bool serving_is_ready(struct serving *serving, char *ret_why, size_t why_bytes);

// Thread: any.
void serving_facts(struct serving *serving, struct serving_facts *ret_facts);

#endif
