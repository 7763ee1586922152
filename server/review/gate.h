// SPDX-License-Identifier: Apache-2.0
// What stands between a decoded review and the rules: an unchanged spec passes, then the schema, the rules
// that need no cache, and, under the store's mutex, those that ask it.
#ifndef DRAWBRIDGE_REVIEW_GATE_H
#define DRAWBRIDGE_REVIEW_GATE_H

#include "server/review/review.h"
#include "validators/registry/registry.h"

// What a write of a claim's status adds, to be remembered until the cache shows it.
struct gate_record {
    const struct resource_claim *claim;
    int64_t old_version; // of the claim before the write
    struct text pod_uid;
    struct text node;
};

// What the gate knows of the store: it runs a function while the store holds still, under its one mutex. The
// function is short, blocks on nothing and does not call the store. A store that is not synced says so in
// the answers of its view.
struct gate_store {
    void (*with_view)(void *state, void (*run)(const struct view *view, void *context), void *context);
    // Inside `run` only: remembers what was let in. False when there is no room. NULL: nothing is remembered.
    bool (*record)(const struct view *view, const struct gate_record *record);
    // Waits outside the mutex until the cache of a kind has reached a version, at most so long; whether it
    // has. NULL: there is nothing to wait for.
    bool (*wait)(void *state, enum object_kind kind, int64_t version, int wait_ms);
    void *state;
};

struct gate {
    _Atomic int minor;                    // the Kubernetes minor that is served; the feed may tell it late
    const struct rule_settings *settings; // NULL: the built-in ones
    const struct rule_actions *actions;   // NULL: as the policy says, else the table's defaults
    const struct gate_store *store;       // NULL: there is no cache, cached rules do not run
};

// What it does: judges a review that is in scope (review_is_judged) and appends what it finds.
// Thread: any; one review per arena. Errors: sticky in the arena and the list.
void gate_judge(const struct gate *gate, const struct review *review, struct arena *arena,
                struct finding_list *findings);

// What it does: tells whether a new Pod is held by a scheduling gate: it has a guarded claim, and no node
// where its driver's devices are is fresh, or its namespace is frozen. *ret_add is false for everything else.
// Errors: false when memory ran out.
bool gate_holds_pod(const struct gate *gate, const struct review *review, struct arena *arena, bool *ret_add)
    __attribute__((warn_unused_result));

#endif
