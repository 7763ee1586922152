// SPDX-License-Identifier: Apache-2.0
// The one mutex: the ledger behind it, the feeds that write, the gate that judges and records in one critical
// section. store.c is the only file that locks it. Thread: every function may be called by any thread unless
// it says otherwise.
#ifndef DRAWBRIDGE_LEDGER_STORE_H
#define DRAWBRIDGE_LEDGER_STORE_H

#include "server/ledger/ledger.h"

struct store;

// Owner: the caller, store_free. Errors: NULL and a fault.
struct store *store_new(const struct ledger_options *options, struct fault *fault);
void store_free(struct store *store);

// What it does: one event, as ledger_apply. `json` is the object as it came (for the observer); may be empty.
// A bookmark's object has its kind and nothing else.
enum ledger_outcome store_apply(struct store *store, const struct ledger_event *event, struct text json,
                                struct fault *fault);

// What it does: tells somebody of each event, in the order in which the ledger took them. It runs while the
// mutex is held: short, without waiting, without calling the store. NULL: nobody is told any more.
typedef void store_observer(void *context, const struct ledger_event *event, struct text json,
                            enum ledger_outcome outcome);
void store_observe(struct store *store, store_observer *observer, void *context);

// What it does: tells somebody of the lists and of what is synced, among the events in their order. As
// store_observe.
enum store_list_step {
    STORE_LIST_BEGIN,
    STORE_LIST_END,
    STORE_LIST_CANCEL,
    STORE_SYNCED,
    STORE_NOT_SYNCED,
    STORE_BEGINS, // with an empty ledger; the kind is KIND_OTHER. Also told when somebody begins to observe
};
typedef void store_list_observer(void *context, enum object_kind kind, enum store_list_step step, int minor);
void store_observe_lists(struct store *store, store_list_observer *observer, void *context);

// What it does: starts anew with an empty ledger, for a minor that became known only now. Errors: false and a
// fault; the store is as it was.
bool store_restart(struct store *store, const struct ledger_options *options, struct fault *fault)
    __attribute__((warn_unused_result));

void store_list_begin(struct store *store, enum object_kind kind);
void store_list_end(struct store *store, enum object_kind kind);
void store_list_cancel(struct store *store, enum object_kind kind);
void store_set_synced(struct store *store, enum object_kind kind, bool synced);
void store_watch_alive(struct store *store, enum object_kind kind);

// What it does: runs a function while the mutex is held. The function must be short, must not block and must
// not call the store. Exports copy one node per call.
void store_with_ledger(struct store *store, void (*run)(struct ledger *ledger, void *context), void *context);

// What it does: as store_with_ledger, for the gate: a review waits for nobody but who holds the mutex
// already, and for other reviews.
void store_judge(struct store *store, void (*run)(struct ledger *ledger, void *context), void *context);

// What it does: waits, outside the mutex, until the cache of a kind has reached this resourceVersion, at most
// wait_ms. False when it has not.
bool store_wait_version(struct store *store, enum object_kind kind, int64_t resource_version, int wait_ms);

#endif
