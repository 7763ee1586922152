// SPDX-License-Identifier: Apache-2.0
// What the files of the Kubernetes feed share. Internal to them.
#ifndef DRAWBRIDGE_FEED_KUBE_STATE_H
#define DRAWBRIDGE_FEED_KUBE_STATE_H

#include "server/feed/kube.h"
#include "server/feed/kube_call.h"
#include "server/feed/present.h"
#include "server/feed/version_watch.h"

// One kind.
struct follower {
    _Atomic bool list_again; // somebody missed events
    struct kube *kube;
    struct kube_call call;
    struct listwatch listwatch;
    struct frames frames;
    struct arena arena; // of one frame
    struct present present;
    bool troubled; // the log has a line about what is amiss
    char why[FEED_WHY_BYTES];
};

struct kube {
    struct kubeconfig config;
    int minor;  // 0: not known yet
    bool fixed; // a user named the minor
    int (*read_version)(void *context, struct text version);
    bool (*begin_anew)(void *context, int minor);
    void *context;
    struct store *store;
    struct feed_state *state;
    struct heap heap;
    CURLM *multi;
    struct kube_call version_call;
    struct version_watch version;
    int64_t version_next_ms; // while the minor is not known
    bool version_troubled;
    int told_minor; // another one that the log has a line about
    bool restored;  // the cluster's state was put back: begin anew
    struct follower followers[FEED_KIND_COUNT];
    _Atomic bool stop;
    bool started;
    pthread_t thread;
};

// What it does: asks for the server's token again when its file changed.
void kube_renew_token(struct kube *kube);

// ---- kube.c

// What it does: forgets everything that was listed, and what is on its way. The store is empty already.
void kube_forget(struct kube *kube);

// ---- kube_version.c

// What it does: asks for the version when that is due.
void kube_ask_version(struct kube *kube);
// What it does: takes the end of that request.
void kube_version_is_done(struct kube *kube, CURLcode result);
// What it does: begins anew when the cluster's state was put back.
void kube_check_restored(struct kube *kube);

#endif
