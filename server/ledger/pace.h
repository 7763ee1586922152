// SPDX-License-Identifier: Apache-2.0
// How fast a pool's generations rise: faster than one a second for ten seconds is a driver that loops.
#ifndef DRAWBRIDGE_LEDGER_PACE_H
#define DRAWBRIDGE_LEDGER_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define PACE_WINDOW_MS     INT64_C(10000)
#define PACE_REST_MS       INT64_C(3000) // so long without a rise, and the count starts anew
#define PACE_MS_PER_CHANGE INT64_C(1000)

struct pace {
    int64_t start_ms; // of the rises in a row
    int64_t start_generation;
    int64_t last_ms;
    int64_t generation; // the highest one
};

// What it does: notes a live generation. Lower ones and the same one change nothing.
static inline void pace_note(struct pace *pace, int64_t generation, int64_t now_ms) {
    if (pace->last_ms != 0 && generation <= pace->generation) return;
    if (pace->last_ms == 0 || now_ms - pace->last_ms > PACE_REST_MS) {
        pace->start_ms = now_ms;
        pace->start_generation = generation;
    }
    pace->last_ms = now_ms;
    pace->generation = generation;
}

static inline bool pace_runs_away(const struct pace *pace, int64_t now_ms) {
    int64_t span_ms = pace->last_ms - pace->start_ms;
    return pace->last_ms != 0 && now_ms - pace->last_ms <= PACE_REST_MS &&
           now_ms - pace->start_ms >= PACE_WINDOW_MS &&
           (pace->generation - pace->start_generation) * PACE_MS_PER_CHANGE > span_ms;
}

#endif
