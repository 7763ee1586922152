// SPDX-License-Identifier: Apache-2.0
// What the LedgerPolicy says about one review: the action of each rule and the settings that rules read.
#ifndef DRAWBRIDGE_REVIEW_GATE_POLICY_H
#define DRAWBRIDGE_REVIEW_GATE_POLICY_H

#include "server/review/review.h"
#include "validators/registry/registry.h"

struct gate_policy {
    const enum severity *severities; // one a rule, in the registry's order; NULL: the table's
    struct rule_settings settings;
    struct rule_actions actions;
    bool hold_gate; // whether Pods may be held by a scheduling gate
};

// What it does: reads the policy in force for this review, while the store is held. Nothing of it points into
// the store afterwards. Errors: sticky in the arena.
void gate_policy_read(const struct view *view, const struct review *review, struct arena *arena,
                      struct gate_policy *ret_policy);

#endif
