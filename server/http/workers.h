// SPDX-License-Identifier: Apache-2.0
// The threads that serve HTTPS: one for each processor, each with a daemon of MHD's and a part of the
// connections.
#ifndef DRAWBRIDGE_HTTP_WORKERS_H
#define DRAWBRIDGE_HTTP_WORKERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <microhttpd.h>

#include "validators/core/fault.h"

struct worker {
    struct workers *all;
    struct MHD_Daemon *daemon;
    pthread_t thread;
    bool started;
};
struct workers {
    struct worker *items;
    unsigned count;
    _Atomic bool ending;
};

// What it does: starts `count` threads. open makes the daemon of one of them, for events from outside, or
// returns NULL. Errors: FAULT_MEMORY, FAULT_IO; call workers_stop in any case.
bool workers_start(struct workers *workers, unsigned count,
                   struct MHD_Daemon *(*open)(void *context, unsigned number), void *context,
                   struct fault *fault) __attribute__((warn_unused_result));

// What it does: ends the threads, then closes what is still open. It waits for handlers.
void workers_stop(struct workers *workers);

#endif
