// SPDX-License-Identifier: Apache-2.0
// One replica writes: the one that holds the Lease `drawbridge-leader`. Who does not see the Lease renewed
// for its duration, by his own clock, takes it; who cannot renew it in time stops writing before others may.
#ifndef DRAWBRIDGE_OPERATE_LEADER_H
#define DRAWBRIDGE_OPERATE_LEADER_H

#include "server/feed/api.h"

#define LEADER_LEASE           "drawbridge-leader"
#define LEADER_DURATION_S      15
#define LEADER_DEADLINE_MS     10000
#define LEADER_STEP_MS         2000
#define LEADER_IDENTITY_BYTES  192u
#define LEADER_NAMESPACE_BYTES 64u

// The Lease as it was read.
struct leader_record {
    bool exists;
    char holder[LEADER_IDENTITY_BYTES]; // "": free
    char renewed[64];                   // as written
    int64_t duration_s;
    int64_t transitions;
    char version[64]; // resourceVersion
};

struct leader {
    char namespace[LEADER_NAMESPACE_BYTES];
    char identity[LEADER_IDENTITY_BYTES];
    struct leader_record seen;
    int64_t seen_ms;    // when `seen` last changed; monotonic
    int64_t renewed_ms; // our last renewal that succeeded; 0: never
    int64_t next_ms;    // not before
    bool holds;
};

enum leader_action { LEADER_WAIT, LEADER_CREATE, LEADER_TAKE, LEADER_RENEW };

void leader_init(struct leader *leader, const char *namespace, const char *identity);

// What it does: decides what to do about a Lease that was just read. Pure.
enum leader_action leader_decide(struct leader *leader, const struct leader_record *record, int64_t now_ms);

// Whether this replica may write now.
bool leader_is(const struct leader *leader, int64_t now_ms);

// What it does: reads the Lease and does what is to be done, when it is time. Errors: false and a fault; a
// Lease that somebody else took in the same moment is none. Units: now_ms monotonic, wall_ms since 1970.
bool leader_step(struct leader *leader, struct api *api, int64_t now_ms, int64_t wall_ms, struct fault *fault)
    __attribute__((warn_unused_result));

// What it does: gives the Lease back, so that the next one need not wait.
void leader_resign(struct leader *leader, struct api *api, int64_t wall_ms);

#endif
