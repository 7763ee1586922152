// SPDX-License-Identifier: Apache-2.0
// A small table without chains: who collides makes room, and what was missing of him is told.
#include "server/operate/audit_pace.h"

#include <stdio.h>

#define FNV_OFFSET UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME  UINT64_C(0x100000001b3)

static uint64_t hash_text(uint64_t hash, struct text text) {
    for (size_t i = 0; i < text.len; i++) hash = (hash ^ (unsigned char)text.ptr[i]) * FNV_PRIME;
    return (hash ^ 0xff) * FNV_PRIME;
}

static uint64_t source_hash(const struct audit_source *source) {
    uint64_t hash = hash_text(FNV_OFFSET, source->user);
    hash = hash_text(hash, source->namespace);
    return hash_text(hash, text_of(source->decision)) | 1u;
}

static void note_lost(struct audit_gap *gap, const struct audit_source *source, int64_t now_ms) {
    gap->until_ms = now_ms;
    if (gap->count++ > 0) return;
    gap->from_ms = now_ms;
    gap->decision = source->decision;
    snprintf(gap->user, sizeof gap->user, "%.*s", TEXT_ARG(source->user));
    snprintf(gap->namespace, sizeof gap->namespace, "%.*s", TEXT_ARG(source->namespace));
}

bool audit_pace_take(struct audit_pace *pace, const struct audit_source *source, int64_t now_ms,
                     struct audit_gap *ret_gap) {
    uint64_t hash = source_hash(source);
    size_t at = (size_t)(hash >> 32) % AUDIT_PACE_SLOTS;
    int64_t floor_ms = now_ms - (int64_t)AUDIT_PACE_BURST * AUDIT_PACE_EACH_MS;
    ret_gap->count = 0;
    if (pace->slots[at].source != hash) {
        *ret_gap = pace->slots[at].gap;
        pace->slots[at].source = hash;
        pace->slots[at].paid_ms = floor_ms;
        pace->slots[at].gap.count = 0;
    }
    // A clock that was set back must not silence anybody.
    if (pace->slots[at].paid_ms < floor_ms || pace->slots[at].paid_ms > now_ms)
        pace->slots[at].paid_ms = floor_ms;
    if (pace->slots[at].paid_ms + AUDIT_PACE_EACH_MS > now_ms) {
        note_lost(&pace->slots[at].gap, source, now_ms);
        return false;
    }
    pace->slots[at].paid_ms += AUDIT_PACE_EACH_MS;
    return true;
}

void audit_pace_lost(struct audit_pace *pace, const struct audit_source *source, int64_t now_ms) {
    uint64_t hash = source_hash(source);
    size_t at = (size_t)(hash >> 32) % AUDIT_PACE_SLOTS;
    if (pace->slots[at].source == hash) note_lost(&pace->slots[at].gap, source, now_ms);
}

bool audit_pace_due(struct audit_pace *pace, int64_t now_ms, bool any, struct audit_gap *ret_gap) {
    for (size_t i = 0; i < AUDIT_PACE_SLOTS; i++) {
        struct audit_gap *gap = &pace->slots[i].gap;
        if (gap->count == 0) continue;
        int64_t age_ms = now_ms - gap->from_ms;
        if (!any && age_ms >= 0 && age_ms < AUDIT_PACE_GAP_MS) continue;
        *ret_gap = *gap;
        gap->count = 0;
        return true;
    }
    return false;
}
