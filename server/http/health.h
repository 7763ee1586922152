// SPDX-License-Identifier: Apache-2.0
// Health: what must hold for the process to go on (livez) and to be sent reviews (readyz). Modules add checks
// at their start. Liveness never depends on the API server.
#ifndef DRAWBRIDGE_HTTP_HEALTH_H
#define DRAWBRIDGE_HTTP_HEALTH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "server/out.h"

#define HEALTH_CHECKS_LIMIT 24
#define HEALTH_WHY_BYTES    256
#define HEALTH_PAGE_BYTES   8192

enum health_kind { HEALTH_LIVE = 1, HEALTH_READY = 2 };

// True when all is well; else says why in one line. A line beside true is shown too, for what is amiss but
// does not count. Called by the thread of the status port; short, and without waiting.
typedef bool health_check(void *state, char ret_why[HEALTH_WHY_BYTES]);

struct health {
    pthread_mutex_t mutex;
    struct {
        const char *name; // static text
        unsigned kinds;   // HEALTH_LIVE | HEALTH_READY
        health_check *check;
        void *state;
    } items[HEALTH_CHECKS_LIMIT];
    size_t count;
    _Atomic bool draining; // a readiness check of its own, "shutdown"
};

void health_init(struct health *health);
void health_release(struct health *health);

// Errors: false when the list is full.
bool health_add(struct health *health, const char *name, unsigned kinds, health_check *check, void *state)
    __attribute__((warn_unused_result));

// Forgets the checks of a state that is about to end.
void health_remove(struct health *health, const void *state);

// What it does: runs the checks of a kind and writes the page: one word when all is well and not verbose,
// else one line per check, as the API server's own pages look. Returns whether all is well.
bool health_page(struct health *health, enum health_kind kind, bool verbose, struct out *out);

#endif
