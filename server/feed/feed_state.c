// SPDX-License-Identifier: Apache-2.0
// Counters and words of a feed.
#include <time.h>

#include "server/feed/feed_state.h"

const char *feed_error_name(enum feed_error error) {
    static const char *const names[FEED_ERROR_COUNT] = {
        [FEED_ERROR_UNREADABLE] = "unreadable", [FEED_ERROR_DECODE] = "decode",
        [FEED_ERROR_DUPLICATE] = "duplicate",   [FEED_ERROR_LIMIT] = "limit",
        [FEED_ERROR_MEMORY] = "memory",
    };
    return names[error];
}

const char *feed_anew_name(enum feed_anew why) {
    return why == FEED_ANEW_VERSION ? "version" : "restored";
}

void feed_state_init(struct feed_state *state) {
    *state = (struct feed_state){.waiting = 0};
    pthread_mutex_init(&state->mutex, NULL);
}

void feed_state_release(struct feed_state *state) {
    if (state != NULL) pthread_mutex_destroy(&state->mutex);
}

void feed_count_error(struct feed_state *state, enum feed_error error) {
    atomic_fetch_add_explicit(&state->errors[error], 1, memory_order_relaxed);
}

void feed_set_why(struct feed_state *state, const char *why) {
    pthread_mutex_lock(&state->mutex);
    snprintf(state->why, sizeof state->why, "%s", why);
    pthread_mutex_unlock(&state->mutex);
}

void feed_get_why(struct feed_state *state, char *ret_why, size_t why_bytes) {
    pthread_mutex_lock(&state->mutex);
    snprintf(ret_why, why_bytes, "%s", state->why);
    pthread_mutex_unlock(&state->mutex);
}

bool feed_is_synced(struct feed_state *state, char *ret_why, size_t why_bytes) {
    const char *missing = NULL;
    size_t more = 0;
    for (size_t i = 0; i < FEED_KIND_COUNT; i++) {
        const struct feed_kind_state *kind = &state->kinds[i];
        if (atomic_load_explicit(&kind->synced, memory_order_relaxed) ||
            atomic_load_explicit(&kind->absent, memory_order_relaxed))
            continue;
        if (missing == NULL)
            missing = feed_kinds[i].resource;
        else
            more++;
    }
    if (missing == NULL) return true;
    char others[32] = "";
    if (more > 0) snprintf(others, sizeof others, " and %zu more", more);
    pthread_mutex_lock(&state->mutex);
    snprintf(ret_why, why_bytes, "not listed yet: %s%s%s%s", missing, others,
             state->why[0] == '\0' ? "" : "; ", state->why);
    pthread_mutex_unlock(&state->mutex);
    return false;
}

int64_t feed_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
