// SPDX-License-Identifier: Apache-2.0
// What the files of the certificate's thread share. Internal to them.
#ifndef DRAWBRIDGE_OPERATE_SERVING_STATE_H
#define DRAWBRIDGE_OPERATE_SERVING_STATE_H

#include <pthread.h>

#include "server/operate/serving.h"
#include "server/operate/serving_hooks.h"
#include "server/operate/serving_secret.h"
#include "server/operate/writer.h"

#define DIGEST_BYTES 32u

// A configuration that is named.
struct serving_hook {
    enum write_kind kind;
    char *name;
    struct hooks hooks;
    bool is_current; // read in this round
};

// For how long one CA has been in every caBundle.
struct serving_trust {
    bool holds;
    unsigned char digest[DIGEST_BYTES];
    int64_t since_ms; // monotonic
};

struct serving {
    struct source *source;
    bool (*leads)(void *context);
    void *context;
    struct rotation_lives lives;
    char *namespace;
    char *secret_name;
    char *names[SERVING_NAMES_LIMIT];
    size_t name_count;
    struct serving_hook hooks[SERVING_HOOKS_LIMIT];
    size_t hook_count;
    struct writer writer;

    // Of the thread.
    bool read_failed[WRITE_KIND_COUNT];
    int64_t read_next_ms[WRITE_KIND_COUNT]; // not before, because the server asked for it
    struct serving_trust signer_trust, next_trust;
    X509 *leaf; // in force
    struct leaf_facts leaf_facts;
    unsigned char leaf_issuer[DIGEST_BYTES];
    char told_unusable[FAULT_TEXT_BYTES]; // why the log says that the Secret cannot be used
    bool again;                           // something was written: look at once

    pthread_t thread;
    bool thread_runs;
    pthread_mutex_t mutex; // guards what follows
    pthread_cond_t wake;
    bool stop;
    struct serving_facts facts;
    bool was_accepted; // at least once
    int64_t lost_ms;   // monotonic; since when not; 0: it is
    char why[FAULT_TEXT_BYTES];
};

// What it does: looks at everything once, and writes what is due. Thread: the thread's own.
void serving_round(struct serving *serving);

#endif
