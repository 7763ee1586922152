// SPDX-License-Identifier: Apache-2.0
// How many audit records one caller may cause: a burst, then a steady few. What is beyond is counted, and a
// gap record tells how many there were, of whom and when, so that nothing is missing without a word. Pure:
// the time is told. Thread: one at a time.
#ifndef DRAWBRIDGE_OPERATE_AUDIT_PACE_H
#define DRAWBRIDGE_OPERATE_AUDIT_PACE_H

#include <stddef.h>
#include <stdint.h>

#include "validators/core/text.h"

#define AUDIT_PACE_SLOTS   1024u
#define AUDIT_PACE_BURST   100
#define AUDIT_PACE_EACH_MS 100   // then one in so long
#define AUDIT_PACE_GAP_MS  10000 // a gap is told at the latest after so long
#define AUDIT_PACE_BYTES   128u

// Records of one user in one namespace with one decision share their burst.
struct audit_source {
    struct text user;
    struct text namespace; // may be empty
    const char *decision;  // static text
};

struct audit_gap {
    uint64_t count; // records that are missing; 0: nothing is to be told
    int64_t from_ms, until_ms;
    const char *decision;
    char user[AUDIT_PACE_BYTES]; // cut
    char namespace[AUDIT_PACE_BYTES];
};

struct audit_pace {
    struct {
        uint64_t source; // hash; 0: not in use
        int64_t paid_ms; // up to when the steady few are used up
        struct audit_gap gap;
    } slots[AUDIT_PACE_SLOTS];
};

// What it does: whether a record may be written now. One that may not is counted. *ret_gap is what has to be
// told before it, or in its place: of this source, or of another one that had to make room. Units: wall
// milliseconds.
bool audit_pace_take(struct audit_pace *pace, const struct audit_source *source, int64_t now_ms,
                     struct audit_gap *ret_gap);

// What it does: counts a record that could not be written for another reason.
void audit_pace_lost(struct audit_pace *pace, const struct audit_source *source, int64_t now_ms);

// What it does: the next gap that has waited long enough, or any at all. False: there is none.
bool audit_pace_due(struct audit_pace *pace, int64_t now_ms, bool any, struct audit_gap *ret_gap);

#endif
