// SPDX-License-Identifier: Apache-2.0
// What stands between a decoded review and the rules: an unchanged spec passes, then the schema, the rules
// that need no cache, and, under the store's mutex, those that ask it.
#ifndef DRAWBRIDGE_REVIEW_GATE_H
#define DRAWBRIDGE_REVIEW_GATE_H

#include "server/review/review.h"
#include "validators/registry/registry.h"

// What the gate knows of the store: it runs a function while the store holds still, under its one mutex. The
// function is short, blocks on nothing and does not call the store. A store that is not synced says so in
// the answers of its view.
struct gate_store {
    void (*with_view)(void *state, void (*run)(const struct view *view, void *context), void *context);
    void *state;
};

struct gate {
    _Atomic int minor;                    // the Kubernetes minor that is served; the feed may tell it late
    const struct rule_settings *settings; // NULL: the built-in ones
    const struct rule_actions *actions;   // NULL: the table's defaults
    const struct gate_store *store;       // NULL: there is no cache, cached rules do not run
};

// What it does: judges a review that is in scope (review_is_judged) and appends what it finds.
// Thread: any; one review per arena. Errors: sticky in the arena and the list.
void gate_judge(const struct gate *gate, const struct review *review, struct arena *arena,
                struct finding_list *findings);

#endif
