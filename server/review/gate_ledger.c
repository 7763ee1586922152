// SPDX-License-Identifier: Apache-2.0
// From the gate to the ledger.
#include "server/review/gate_ledger.h"

struct visit {
    void (*run)(const struct view *view, void *context);
    void *context;
};

static void visit_ledger(struct ledger *ledger, void *context) {
    const struct visit *visit = context;
    struct view view = ledger_view(ledger);
    visit->run(&view, visit->context);
}

static void with_store(void *state, void (*run)(const struct view *view, void *context), void *context) {
    struct visit visit = {.run = run, .context = context};
    store_judge(state, visit_ledger, &visit);
}

static void with_ledger(void *state, void (*run)(const struct view *view, void *context), void *context) {
    struct visit visit = {.run = run, .context = context};
    visit_ledger(state, &visit);
}

// The view is of the ledger that the caller holds.
static bool record(const struct view *view, const struct gate_record *record) {
    struct ledger *ledger = (struct ledger *)(uintptr_t)view->state;
    return ledger_let_in(ledger, record->claim, record->old_version, record->pod_uid, record->node);
}

static bool wait_for_store(void *state, enum object_kind kind, int64_t version, int wait_ms) {
    return store_wait_version(state, kind, version, wait_ms);
}

struct gate_store gate_store_of(struct store *store) {
    return (struct gate_store){
        .with_view = with_store, .record = record, .wait = wait_for_store, .state = store};
}

struct gate_store gate_store_of_ledger(struct ledger *ledger) {
    return (struct gate_store){.with_view = with_ledger, .record = record, .state = ledger};
}
