// SPDX-License-Identifier: Apache-2.0
// What a feed tells of itself: health and metrics read it, the feed's thread writes it. Thread: any.
#ifndef DRAWBRIDGE_FEED_FEED_STATE_H
#define DRAWBRIDGE_FEED_FEED_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "server/feed/listwatch.h"

// Every reason of drawbridge_feed_errors_total.
enum feed_error {
    FEED_ERROR_UNREADABLE, // a file or an answer that cannot be read
    FEED_ERROR_DECODE,     // an object that cannot be read
    FEED_ERROR_DUPLICATE,  // one object in two files
    FEED_ERROR_LIMIT,      // a bound was reached
    FEED_ERROR_MEMORY,
    FEED_ERROR_COUNT
};
const char *feed_error_name(enum feed_error error);

struct feed_kind_state {
    _Atomic bool synced;      // the first list is in
    _Atomic bool absent;      // the server does not serve it
    _Atomic int64_t objects;  // live ones
    _Atomic int64_t alive_ms; // monotonic: the last event, bookmark or look; 0 is never
    _Atomic uint64_t restarts[WATCH_END_COUNT];
    _Atomic uint64_t events;
};

// Why everything was forgotten and listed anew.
enum feed_anew {
    FEED_ANEW_VERSION,  // the cluster is of another version
    FEED_ANEW_RESTORED, // its state was put back
    FEED_ANEW_COUNT
};
const char *feed_anew_name(enum feed_anew why);

#define FEED_WHY_BYTES 224

struct feed_state {
    struct feed_kind_state kinds[FEED_KIND_COUNT]; // in the order of feed_kinds
    _Atomic uint64_t errors[FEED_ERROR_COUNT];
    _Atomic uint64_t memory_bytes; // buffers of the feed
    _Atomic uint64_t anew[FEED_ANEW_COUNT];
    _Atomic int server_minor; // that the cluster says; 0: not known
    _Atomic int64_t waiting;  // files or watches that are not followed at the moment
    pthread_mutex_t mutex;
    char why[FEED_WHY_BYTES]; // what is amiss now, one line; "" is nothing
};

void feed_state_init(struct feed_state *state);
void feed_state_release(struct feed_state *state);

void feed_count_error(struct feed_state *state, enum feed_error error);

// What is amiss, for people; "" ends it.
void feed_set_why(struct feed_state *state, const char *why);
void feed_get_why(struct feed_state *state, char *ret_why, size_t why_bytes);

// True when every kind that is served is synced; else says what is missing.
bool feed_is_synced(struct feed_state *state, char *ret_why, size_t why_bytes);

// A monotonic clock. Units: milliseconds.
int64_t feed_now_ms(void);

#endif
