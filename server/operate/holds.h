// SPDX-License-Identifier: Apache-2.0
// Which Pods are held, by which step and since when, and how long holds lasted. Pure: the time is told.
// Bounded: what has no room is counted as held and not timed. Thread: one at a time.
#ifndef DRAWBRIDGE_OPERATE_HOLDS_H
#define DRAWBRIDGE_OPERATE_HOLDS_H

#include <stddef.h>
#include <stdint.h>

#include "validators/core/text.h"

#define HOLDS_LIMIT        4096u
#define HOLD_BUCKET_COUNT  8u
#define HOLD_DENIED_FOR_MS 60000 // a Pod counts as held by denial so long after its last denial

enum hold_step { HOLD_TAINT, HOLD_GATE, HOLD_DENY, HOLD_STEP_COUNT };
const char *hold_step_name(enum hold_step step); // as in a metric

extern const double hold_bucket_s[HOLD_BUCKET_COUNT]; // upper bounds; the last one is without end

struct hold {
    uint64_t pod; // hash of its UID; 0: not in use
    int64_t since_ms;
    enum hold_step step;
    bool seen;
};

struct holds {
    struct hold items[HOLDS_LIMIT];
    size_t held[HOLD_STEP_COUNT]; // in the last whole look
    size_t looked[HOLD_STEP_COUNT];
    uint64_t buckets[HOLD_BUCKET_COUNT]; // ended holds, each in the first bucket that takes it
    uint64_t ended_count;
    double ended_sum_s;
};

// What they do: one look at all Pods that are held. What was held in the look before and is not in this one
// has ended. Units: monotonic milliseconds.
void holds_begin(struct holds *holds);
void holds_add(struct holds *holds, struct text pod_uid, enum hold_step step, int64_t now_ms);
void holds_end(struct holds *holds, int64_t now_ms);

// Pods whose claim write was denied lately. Thread: the caller serialises.
#define DENIALS_LIMIT 1024u
struct denials {
    struct {
        uint64_t pod;
        int64_t at_ms;
    } items[DENIALS_LIMIT];
};
void denials_note(struct denials *denials, struct text pod_uid, int64_t now_ms);
bool denials_has(const struct denials *denials, struct text pod_uid, int64_t now_ms);
// How many, whatever became of the Pods since.
size_t denials_count(const struct denials *denials, int64_t now_ms);

#endif
