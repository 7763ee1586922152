// SPDX-License-Identifier: Apache-2.0
// Absolute deadlines of connections. MHD's own timeout is for inactivity only, so a caller that sends a byte
// a second would hold a connection for ever. Each connection is in a list from its accept to its close; a
// thread walks the list and shuts the sockets down that are late. MHD then sees the end and closes.
#ifndef DRAWBRIDGE_HTTP_SWEEPER_H
#define DRAWBRIDGE_HTTP_SWEEPER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "server/http/deadline.h"
#include "validators/core/fault.h"

enum connection_phase {
    PHASE_TLS_BEGIN, // accepted, no whole TLS greeting yet
    PHASE_HEADER,    // … → handler
    PHASE_REQUEST,   // handler → completed
    PHASE_IDLE,      // completed → next handler
    PHASE_COUNT
};

// "tls_begin", "header", "request", "idle" (static text).
const char *connection_phase_name(enum connection_phase phase);

// Where a caller comes from: its IP address without the port.
struct caller {
    unsigned char bytes[16];
    unsigned char len; // 0: not known
};

// One accepted connection. Owner: the sweeper's list; handed to MHD as the socket's context.
struct connection {
    struct connection *previous; // under the sweeper's mutex
    struct connection *next;
    int fd;
    struct caller caller;
    bool plain;      // of the status port: not closed by the drain
    int64_t shut_ms; // under the mutex: when it was shut down, 0 before
    int64_t start_ms;
    _Atomic int phase;
    _Atomic int64_t deadline_ms; // monotonic
    void *owner;                 // who added it
    // When the caller's certificate was last found good, kept by the connection's own worker; 0: never.
    int64_t client_trusted_ms;
    uint64_t client_generation;
};

struct sweeper {
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    pthread_t thread;
    bool started;
    bool ending;     // under the mutex
    bool close_idle; // under the mutex: the drain; connections without a request are shut at the next walk
    struct connection *first;
    // The deadlines; live settings may replace them at any time.
    _Atomic int64_t tls_begin_ms;
    _Atomic int64_t header_ms;
    _Atomic int64_t request_ms;
    _Atomic int64_t request_most_ms;
    _Atomic int64_t request_reserve_ms;
    _Atomic int64_t idle_ms;
    _Atomic int64_t beat_ms;  // when the walk last began, for the watchdog
    _Atomic int64_t stuck_ms; // how long the oldest socket has been shut that MHD has not closed
    _Atomic uint64_t count;   // connections with TLS now
    _Atomic uint64_t closed_counts[PHASE_COUNT]; // shut down because they were late
};

// Monotonic time in milliseconds.
int64_t sweeper_now_ms(void);

// What it does: starts the thread. Errors: FAULT_IO when there is no thread.
bool sweeper_start(struct sweeper *sweeper, const struct deadlines *deadlines, struct fault *fault)
    __attribute__((warn_unused_result));

// Ends the thread. Call it after the last connection was removed.
void sweeper_stop(struct sweeper *sweeper);

// What it does: lists a new connection. plain: one without TLS, which begins with the header. caller: for
// most_of_caller, so many connections of its kind one caller may have; 0: no limit. Errors: NULL when memory
// ran out or the caller has as many; the socket must then be shut down by who called.
struct connection *sweeper_add(struct sweeper *sweeper, int fd, bool plain, void *owner,
                               const struct caller *caller, unsigned most_of_caller);

// Unlists and frees it; called before the socket is closed, so that its number is never shut for another.
void sweeper_remove(struct sweeper *sweeper, struct connection *connection);

// The TLS greeting has come.
void sweeper_tls_began(struct sweeper *sweeper, struct connection *connection);

// The handler was called: the request may take so long.
void sweeper_request_began(struct connection *connection, int64_t now_ms, int64_t allowed_ms);

// The answer is out, or the request was given up.
void sweeper_request_ended(struct sweeper *sweeper, struct connection *connection, int64_t now_ms);

// From now on connections with TLS and without a request are shut down, at once and as they become idle.
void sweeper_close_idle(struct sweeper *sweeper);

// Replaces the deadlines for what begins from now on.
void sweeper_set_deadlines(struct sweeper *sweeper, const struct deadlines *deadlines);
void sweeper_get_deadlines(struct sweeper *sweeper, struct deadlines *ret_deadlines);

#endif
