// SPDX-License-Identifier: Apache-2.0
// Pods that have claims and no node yet: those that may be held by us.
#ifndef DRAWBRIDGE_LEDGER_WAITING_H
#define DRAWBRIDGE_LEDGER_WAITING_H

#include "server/ledger/ledger.h"

#define WAITING_GATE "drawbridge.dev/ledger" // our scheduling gate

struct waiting_pod {
    struct text namespace;
    struct text name;
    struct text uid;
    bool gated; // by us
};
struct waiting_pod_list {
    struct waiting_pod *items; // newest first
    size_t count;
    bool more; // there are others behind them
};

// What it does: lists them, without the first `skip`, at most `limit`. Texts hold until the ledger changes.
// Owner: the arena. Errors: false, arena poisoned.
bool ledger_waiting_pods(const struct ledger *ledger, size_t skip, size_t limit, struct arena *arena,
                         struct waiting_pod_list *ret_pods) __attribute__((warn_unused_result));

// For the ledger itself.
struct pod_entry;
bool waiting_has_gate(const struct pod *object);
void waiting_enter(struct ledger *ledger, struct pod_entry *pod);
void waiting_leave(struct ledger *ledger, struct pod_entry *pod);

#endif
