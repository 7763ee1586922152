// SPDX-License-Identifier: Apache-2.0
// When the API server is asked for its version, and when another answer counts. While a control plane is
// upgraded some of its API servers are of one minor and some of the other, so another minor counts only when
// it is said several times in a row. Pure: the time is told.
#ifndef DRAWBRIDGE_FEED_VERSION_WATCH_H
#define DRAWBRIDGE_FEED_VERSION_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#define VERSION_ASK_MS        300000 // when nothing happens
#define VERSION_SOON_MS       2000   // after a connection ended
#define VERSION_GAP_MS        10000  // between two questions for that reason
#define VERSION_CONFIRM_MS    5000   // between questions about another answer
#define VERSION_CONFIRM_COUNT 3u     // answers in a row

struct version_watch {
    int minor;       // that is judged by
    int other;       // that was answered last, when it is another one; else 0
    unsigned count;  // how often in a row
    int64_t next_ms; // when to ask
    int64_t asked_ms;
};

// Units: monotonic milliseconds, minors such as 36.
void version_watch_init(struct version_watch *watch, int minor, int64_t now_ms);

bool version_watch_is_due(const struct version_watch *watch, int64_t now_ms);

// What it does: a connection to the server ended: it may be another one now.
void version_watch_disturb(struct version_watch *watch, int64_t now_ms);

// What it does: takes an answer; 0: none came. True when another minor (watch->other) is to be judged by from
// now on.
bool version_watch_answer(struct version_watch *watch, int minor, int64_t now_ms);

#endif
