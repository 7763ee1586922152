// SPDX-License-Identifier: Apache-2.0
// Which Pods without a node are held because no node is fresh for a driver that they need, and which of those
// with our scheduling gate may go on. Pure: it only asks the ledger.
#ifndef DRAWBRIDGE_OPERATE_POD_PLAN_H
#define DRAWBRIDGE_OPERATE_POD_PLAN_H

#include "server/ledger/ledger.h"

#define POD_PLAN_LIMIT 2000u // Pods that are looked at, the newest first
#define POD_PLAN_PART  100u  // of them in one hold of the store

struct pod_verdict {
    struct text namespace;
    struct text name;
    struct text uid;
    bool gated;          // it has our gate
    bool held;           // else a gated one may go on,
    bool awaits;         // unless a claim of it is not there yet: its drivers are not known
    struct text drivers; // that its claims need
    struct text state;
    struct text cause;
    struct text claim; // of those that it is held for the first one: its name
    struct text claim_uid;
};

struct pod_plan {
    struct pod_verdict *items; // Pods that are held or have the gate
    size_t count;
    size_t looked_at; // so far
    bool more;        // there are others
};

// What it does: adds the next part to a plan that starts zeroed. Texts are copies in the arena: they outlive
// the ledger's next change. With gates switched off by policy every gated Pod may go on. Errors: false, arena
// poisoned.
bool pod_plan_add(const struct ledger *ledger, struct arena *arena, struct pod_plan *plan)
    __attribute__((warn_unused_result));

#endif
