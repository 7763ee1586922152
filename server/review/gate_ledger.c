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
    store_with_ledger(state, visit_ledger, &visit);
}

static void with_ledger(void *state, void (*run)(const struct view *view, void *context), void *context) {
    struct visit visit = {.run = run, .context = context};
    visit_ledger(state, &visit);
}

struct gate_store gate_store_of(struct store *store) {
    return (struct gate_store){.with_view = with_store, .state = store};
}

struct gate_store gate_store_of_ledger(struct ledger *ledger) {
    return (struct gate_store){.with_view = with_ledger, .state = ledger};
}
