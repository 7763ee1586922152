// SPDX-License-Identifier: Apache-2.0
// Threads of our own around MHD's event loop.
//
// MHD's own pool waits without an end, and its epoll loop (daemon.c, MHD_epoll) asks for up to 128 events
// and, when it gets exactly so many, waits once more before it looks at the first ones: callers that all stir
// at once would stop a thread until the next event, which may never come. Here each wait has an end, so that
// such a moment costs no more than that. With 125 connections a thread it could not happen either, but that
// takes more threads than processors, and those hold each other up for whole time slices.
#include "server/http/workers.h"

#include <stdlib.h>
#include <string.h>

// The longest wait for an event. It also bounds how long the end takes.
#define WORKER_WAIT_MS 50

static void *run(void *argument) {
    struct worker *worker = argument;
    pthread_setname_np(pthread_self(), "https");
    while (!atomic_load_explicit(&worker->all->ending, memory_order_relaxed))
        (void)MHD_run_wait(worker->daemon, WORKER_WAIT_MS);
    return NULL;
}

bool workers_start(struct workers *workers, unsigned count,
                   struct MHD_Daemon *(*open)(void *context, unsigned number), void *context,
                   struct fault *fault) {
    *workers = (struct workers){.items = calloc(count, sizeof *workers->items)};
    if (workers->items == NULL) return fault_set(fault, FAULT_MEMORY, "no memory for threads");
    // All daemons first: a thread that runs could take callers of a server that then does not start.
    for (; workers->count < count; workers->count++) {
        struct worker *worker = &workers->items[workers->count];
        worker->all = workers;
        worker->daemon = open(context, workers->count);
        if (worker->daemon == NULL) return fault_set(fault, FAULT_IO, "the HTTPS server cannot start");
    }
    for (unsigned i = 0; i < count; i++) {
        struct worker *worker = &workers->items[i];
        int error = pthread_create(&worker->thread, NULL, run, worker);
        if (error != 0)
            return fault_set(fault, FAULT_IO, "a thread of the HTTPS server cannot start: %s",
                             strerror(error));
        worker->started = true;
    }
    return true;
}

void workers_stop(struct workers *workers) {
    atomic_store_explicit(&workers->ending, true, memory_order_relaxed);
    for (unsigned i = 0; i < workers->count; i++)
        if (workers->items[i].started) pthread_join(workers->items[i].thread, NULL);
    for (unsigned i = 0; i < workers->count; i++) MHD_stop_daemon(workers->items[i].daemon);
    free(workers->items);
    *workers = (struct workers){.items = NULL};
}
