// SPDX-License-Identifier: Apache-2.0
// Small open tables; UIDs are the API server's, so nobody chooses the hashes.
#include "server/operate/holds.h"

#define FNV_OFFSET UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME  UINT64_C(0x100000001b3)
#define PROBES     16u
#define MS_PER_S   1000.0

const double hold_bucket_s[HOLD_BUCKET_COUNT] = {1, 5, 15, 60, 300, 1800, 7200, 0};

const char *hold_step_name(enum hold_step step) {
    static const char *const names[] = {[HOLD_TAINT] = "taint", [HOLD_GATE] = "gate", [HOLD_DENY] = "deny"};
    return names[step];
}

static uint64_t hash_of(struct text text) {
    uint64_t hash = FNV_OFFSET;
    for (size_t i = 0; i < text.len; i++) hash = (hash ^ (unsigned char)text.ptr[i]) * FNV_PRIME;
    return hash | 1u;
}

void holds_begin(struct holds *holds) {
    for (size_t step = 0; step < HOLD_STEP_COUNT; step++) holds->looked[step] = 0;
    for (size_t i = 0; i < HOLDS_LIMIT; i++) holds->items[i].seen = false;
}

// The Pod's place, or a free one; NULL when there is neither nearby.
static struct hold *place_of(struct holds *holds, uint64_t pod) {
    struct hold *free_place = NULL;
    for (size_t i = 0; i < PROBES; i++) {
        struct hold *hold = &holds->items[(pod + i) % HOLDS_LIMIT];
        if (hold->pod == pod) return hold;
        if (hold->pod == 0 && free_place == NULL) free_place = hold;
    }
    return free_place;
}

void holds_add(struct holds *holds, struct text pod_uid, enum hold_step step, int64_t now_ms) {
    uint64_t pod = hash_of(pod_uid);
    struct hold *hold = place_of(holds, pod);
    holds->looked[step]++;
    if (hold == NULL) return;
    if (hold->pod == 0) *hold = (struct hold){.pod = pod, .since_ms = now_ms};
    hold->step = step;
    hold->seen = true;
}

static void note_end(struct holds *holds, double lasted_s) {
    size_t bucket = 0;
    while (bucket + 1 < HOLD_BUCKET_COUNT && lasted_s > hold_bucket_s[bucket]) bucket++;
    holds->buckets[bucket]++;
    holds->ended_count++;
    holds->ended_sum_s += lasted_s;
}

void holds_end(struct holds *holds, int64_t now_ms) {
    for (size_t step = 0; step < HOLD_STEP_COUNT; step++) holds->held[step] = holds->looked[step];
    for (size_t i = 0; i < HOLDS_LIMIT; i++) {
        struct hold *hold = &holds->items[i];
        if (hold->pod == 0 || hold->seen) continue;
        note_end(holds, (double)(now_ms - hold->since_ms) / MS_PER_S);
        *hold = (struct hold){.pod = 0};
    }
}

// ---- denials

static bool is_recent(int64_t at_ms, int64_t now_ms) {
    return now_ms - at_ms < HOLD_DENIED_FOR_MS;
}

void denials_note(struct denials *denials, struct text pod_uid, int64_t now_ms) {
    uint64_t pod = hash_of(pod_uid);
    size_t oldest = pod % DENIALS_LIMIT;
    for (size_t i = 0; i < PROBES; i++) {
        size_t at = (pod + i) % DENIALS_LIMIT;
        if (denials->items[at].pod == pod || denials->items[at].pod == 0) {
            oldest = at;
            break;
        }
        if (denials->items[at].at_ms < denials->items[oldest].at_ms) oldest = at;
    }
    denials->items[oldest].pod = pod;
    denials->items[oldest].at_ms = now_ms;
}

bool denials_has(const struct denials *denials, struct text pod_uid, int64_t now_ms) {
    uint64_t pod = hash_of(pod_uid);
    for (size_t i = 0; i < PROBES; i++) {
        size_t at = (pod + i) % DENIALS_LIMIT;
        if (denials->items[at].pod == pod) return is_recent(denials->items[at].at_ms, now_ms);
    }
    return false;
}

size_t denials_count(const struct denials *denials, int64_t now_ms) {
    size_t count = 0;
    for (size_t i = 0; i < DENIALS_LIMIT; i++)
        count += denials->items[i].pod != 0 && is_recent(denials->items[i].at_ms, now_ms);
    return count;
}
