// SPDX-License-Identifier: Apache-2.0
// The list of connections and the thread that shuts the late ones down.
#include "server/http/sweeper.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

#define SWEEP_MS 100

const char *connection_phase_name(enum connection_phase phase) {
    static const char *const names[PHASE_COUNT] = {"tls_begin", "header", "request", "idle"};
    return names[phase];
}

int64_t sweeper_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t get(_Atomic int64_t *value) {
    return atomic_load_explicit(value, memory_order_relaxed);
}

static void set(_Atomic int64_t *value, int64_t new_value) {
    atomic_store_explicit(value, new_value, memory_order_relaxed);
}

void sweeper_set_deadlines(struct sweeper *sweeper, const struct deadlines *deadlines) {
    set(&sweeper->tls_begin_ms, deadlines->tls_begin_ms);
    set(&sweeper->header_ms, deadlines->header_ms);
    set(&sweeper->request_ms, deadlines->request_ms);
    set(&sweeper->request_most_ms, deadlines->request_most_ms);
    set(&sweeper->request_reserve_ms, deadlines->request_reserve_ms);
    set(&sweeper->idle_ms, deadlines->idle_ms);
}

void sweeper_get_deadlines(struct sweeper *sweeper, struct deadlines *ret_deadlines) {
    *ret_deadlines = (struct deadlines){
        .tls_begin_ms = get(&sweeper->tls_begin_ms),
        .header_ms = get(&sweeper->header_ms),
        .request_ms = get(&sweeper->request_ms),
        .request_most_ms = get(&sweeper->request_most_ms),
        .request_reserve_ms = get(&sweeper->request_reserve_ms),
        .idle_ms = get(&sweeper->idle_ms),
    };
}

static enum connection_phase phase_of(struct connection *connection) {
    return (enum connection_phase)atomic_load_explicit(&connection->phase, memory_order_relaxed);
}

// The drain shuts an idle connection only when nothing has arrived on it that MHD has not read yet.
static bool is_quiet(const struct connection *connection) {
    int waiting_bytes = 0;
    return ioctl(connection->fd, FIONREAD, &waiting_bytes) != 0 || waiting_bytes == 0;
}

// Under the mutex. Shuts a tick early rather than a tick late.
static void walk(struct sweeper *sweeper, int64_t now_ms) {
    int64_t stuck_ms = 0;
    for (struct connection *c = sweeper->first; c != NULL; c = c->next) {
        if (c->shut_ms != 0) {
            if (now_ms - c->shut_ms > stuck_ms) stuck_ms = now_ms - c->shut_ms;
            continue;
        }
        enum connection_phase phase = phase_of(c);
        bool late = get(&c->deadline_ms) - SWEEP_MS <= now_ms;
        bool unwanted = sweeper->close_idle && !c->plain && phase == PHASE_IDLE && is_quiet(c);
        if (!late && !unwanted) continue;
        c->shut_ms = now_ms;
        if (late) atomic_fetch_add_explicit(&sweeper->closed_counts[phase], 1, memory_order_relaxed);
        shutdown(c->fd, SHUT_RDWR);
    }
    set(&sweeper->stuck_ms, stuck_ms);
}

static void *run(void *argument) {
    struct sweeper *sweeper = argument;
    pthread_setname_np(pthread_self(), "sweeper");
    pthread_mutex_lock(&sweeper->mutex);
    while (!sweeper->ending) {
        int64_t now_ms = sweeper_now_ms();
        set(&sweeper->beat_ms, now_ms);
        walk(sweeper, now_ms);
        int64_t wake_ms = now_ms + SWEEP_MS;
        struct timespec wake = {.tv_sec = wake_ms / 1000, .tv_nsec = wake_ms % 1000 * 1000000};
        pthread_cond_timedwait(&sweeper->wake, &sweeper->mutex, &wake);
    }
    pthread_mutex_unlock(&sweeper->mutex);
    return NULL;
}

bool sweeper_start(struct sweeper *sweeper, const struct deadlines *deadlines, struct fault *fault) {
    *sweeper = (struct sweeper){.first = NULL};
    sweeper_set_deadlines(sweeper, deadlines);
    set(&sweeper->beat_ms, sweeper_now_ms());
    pthread_mutex_init(&sweeper->mutex, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&sweeper->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    int error = pthread_create(&sweeper->thread, NULL, run, sweeper);
    if (error != 0) {
        pthread_cond_destroy(&sweeper->wake);
        pthread_mutex_destroy(&sweeper->mutex);
        return fault_set(fault, FAULT_IO, "the thread for deadlines cannot start: %s", strerror(error));
    }
    sweeper->started = true;
    return true;
}

void sweeper_stop(struct sweeper *sweeper) {
    if (!sweeper->started) return;
    pthread_mutex_lock(&sweeper->mutex);
    sweeper->ending = true;
    pthread_cond_signal(&sweeper->wake);
    pthread_mutex_unlock(&sweeper->mutex);
    pthread_join(sweeper->thread, NULL);
    pthread_cond_destroy(&sweeper->wake);
    pthread_mutex_destroy(&sweeper->mutex);
    sweeper->started = false;
}

// Under the mutex.
static bool caller_has(const struct sweeper *sweeper, const struct connection *wanted, unsigned most) {
    unsigned count = 0;
    for (const struct connection *c = sweeper->first; c != NULL && count < most; c = c->next)
        count += c->plain == wanted->plain && c->caller.len == wanted->caller.len &&
                 memcmp(c->caller.bytes, wanted->caller.bytes, sizeof c->caller.bytes) == 0;
    return count >= most;
}

struct connection *sweeper_add(struct sweeper *sweeper, int fd, bool plain, void *owner,
                               const struct caller *caller, unsigned most_of_caller) {
    struct connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL) return NULL;
    connection->fd = fd;
    connection->plain = plain;
    connection->owner = owner;
    connection->caller = *caller;
    connection->start_ms = sweeper_now_ms();
    atomic_init(&connection->phase, plain ? PHASE_HEADER : PHASE_TLS_BEGIN);
    atomic_init(&connection->deadline_ms,
                connection->start_ms + get(plain ? &sweeper->header_ms : &sweeper->tls_begin_ms));
    pthread_mutex_lock(&sweeper->mutex);
    if (most_of_caller > 0 && caller_has(sweeper, connection, most_of_caller)) {
        pthread_mutex_unlock(&sweeper->mutex);
        free(connection);
        return NULL;
    }
    connection->next = sweeper->first;
    if (sweeper->first != NULL) sweeper->first->previous = connection;
    sweeper->first = connection;
    pthread_mutex_unlock(&sweeper->mutex);
    if (!plain) atomic_fetch_add_explicit(&sweeper->count, 1, memory_order_relaxed);
    return connection;
}

void sweeper_remove(struct sweeper *sweeper, struct connection *connection) {
    if (connection == NULL) return;
    pthread_mutex_lock(&sweeper->mutex);
    if (connection->previous != NULL)
        connection->previous->next = connection->next;
    else
        sweeper->first = connection->next;
    if (connection->next != NULL) connection->next->previous = connection->previous;
    pthread_mutex_unlock(&sweeper->mutex);
    if (!connection->plain) atomic_fetch_sub_explicit(&sweeper->count, 1, memory_order_relaxed);
    free(connection);
}

// The deadline is set before the phase, so that a walk in between sees the longer of the two.
static void enter(struct connection *connection, enum connection_phase phase, int64_t deadline_ms) {
    set(&connection->deadline_ms, deadline_ms);
    atomic_store_explicit(&connection->phase, (int)phase, memory_order_relaxed);
}

void sweeper_tls_began(struct sweeper *sweeper, struct connection *connection) {
    // A greeting may come in pieces, and again after a hello retry: only the first whole one counts.
    if (phase_of(connection) != PHASE_TLS_BEGIN) return;
    enter(connection, PHASE_HEADER, connection->start_ms + get(&sweeper->header_ms));
}

void sweeper_request_began(struct connection *connection, int64_t now_ms, int64_t allowed_ms) {
    enter(connection, PHASE_REQUEST, now_ms + allowed_ms);
}

void sweeper_request_ended(struct sweeper *sweeper, struct connection *connection, int64_t now_ms) {
    enter(connection, PHASE_IDLE, now_ms + get(&sweeper->idle_ms));
}

void sweeper_close_idle(struct sweeper *sweeper) {
    pthread_mutex_lock(&sweeper->mutex);
    sweeper->close_idle = true;
    pthread_cond_signal(&sweeper->wake);
    pthread_mutex_unlock(&sweeper->mutex);
}
