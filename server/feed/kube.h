// SPDX-License-Identifier: Apache-2.0
// The Kubernetes feed: one thread that lists and watches every kind of feed_kinds at an API server and tells
// the store. HTTP/1.1, one connection per watch, no redirects, no proxies; credentials go to the API server
// alone. The server may be away at the start and at any time after it.
#ifndef DRAWBRIDGE_FEED_KUBE_H
#define DRAWBRIDGE_FEED_KUBE_H

#include "server/feed/feed_state.h"
#include "server/feed/kubeconfig.h"
#include "server/ledger/store.h"

#define KUBE_BODY_BYTES       ((size_t)64 * 1024 * 1024)  // longest page of a list
#define KUBE_REFUSAL_BYTES    ((size_t)64 * 1024)         // what is read of an answer that is a refusal
#define KUBE_OBJECT_BYTES     ((size_t)128 * 1024 * 1024) // memory to read one object with
#define KUBE_CONNECT_MS       10000
#define KUBE_USER_TIMEOUT_MS  25000 // sent bytes that are not confirmed for so long end a connection
#define KUBE_KEEPALIVE_S      10
#define KUBE_KEEPALIVE_STEP_S 5

struct kube_options {
    struct kubeconfig config; // taken over, also by a failure
    int minor;                // 0: what the server's /version says, now and after an upgrade
    // What it does: the minor of a version such as "v1.36.3"; 0 when it cannot be followed: the server is
    // asked again later. Called by the feed's thread, as the next one.
    int (*read_version)(void *context, struct text version);
    // What it does: empties the store, for this minor. Called before the first list when minor is 0, when the
    // cluster came to be of another minor, and when its state was put back to what it was before. False: not
    // now, it is asked again later.
    bool (*begin_anew)(void *context, int minor);
    void *context;
    uint64_t seed; // of the jitter
    struct store *store;
    struct feed_state *state;
};

struct kube;

// What it does: starts to follow, without waiting for the server. Owner: the caller, kube_free; store and
// state must outlive it. Errors: FAULT_IO, FAULT_MEMORY.
bool kube_new(struct kube_options *options, struct kube **ret_kube, struct fault *fault)
    __attribute__((warn_unused_result));

// What it does: asks for a new list of every kind, for somebody who has missed events. The store keeps what
// it has meanwhile. Thread: any.
void kube_list_again(struct kube *kube);

// Ends all connections and the thread. NULL is allowed.
void kube_free(struct kube *kube);

#endif
