// SPDX-License-Identifier: Apache-2.0
// The mutex around the ledger, and its clock.
#include "server/ledger/store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define KIND_COUNT  (KIND_NODE_LEDGER + 1)
#define NANO_PER_MS 1000000

struct store {
    pthread_mutex_t mutex;
    pthread_mutex_t turn_mutex; // taken for a few instructions; the other one is never waited for below it
    pthread_cond_t judge_entered;
    _Atomic int judges_waiting; // for `mutex`; written under turn_mutex
    uint64_t judges_entered;
    pthread_cond_t reached_more; // some kind has reached a higher version
    struct ledger *ledger;
    int64_t wall_ahead_ms; // of the monotonic clock, at the start: a clock that is set later changes nothing
    int64_t reached[KIND_COUNT];
    store_observer *observer;
    void *observer_context;
    _Atomic int minor; // of the ledger; read without the mutex by who judges slices
    const struct device_judge *_Atomic judge;
    store_list_observer *list_observer;
    void *list_observer_context;
};

static int64_t clock_ms(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / NANO_PER_MS;
}

struct store *store_new(const struct ledger_options *options, struct fault *fault) {
    struct store *store = calloc(1, sizeof *store);
    if (store == NULL) {
        fault_set(fault, FAULT_MEMORY, "no memory for the ledger");
        return NULL;
    }
    store->ledger = ledger_new(options, fault);
    if (store->ledger == NULL) {
        free(store);
        return NULL;
    }
    store->minor = options->minor;
    store->judge = options->judge;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&store->mutex, NULL);
    pthread_mutex_init(&store->turn_mutex, NULL);
    pthread_cond_init(&store->judge_entered, NULL);
    pthread_cond_init(&store->reached_more, &attributes);
    pthread_condattr_destroy(&attributes);
    store->wall_ahead_ms = clock_ms(CLOCK_REALTIME) - clock_ms(CLOCK_MONOTONIC);
    return store;
}

void store_free(struct store *store) {
    if (store == NULL) return;
    ledger_free(store->ledger);
    pthread_cond_destroy(&store->reached_more);
    pthread_mutex_destroy(&store->mutex);
    pthread_cond_destroy(&store->judge_entered);
    pthread_mutex_destroy(&store->turn_mutex);
    free(store);
}

// The mutex wakes who waits for it only when it is free again, and by then who gave it back may have taken it
// once more: one that takes it in a loop keeps others out for many turns. So the feed and the survey let a
// review that waits enter first: one each time, so that they come to their turn as well.
static void let_judge_enter(struct store *store) {
    if (atomic_load_explicit(&store->judges_waiting, memory_order_relaxed) == 0) return;
    pthread_mutex_lock(&store->turn_mutex);
    uint64_t entered = store->judges_entered;
    while (store->judges_entered == entered &&
           atomic_load_explicit(&store->judges_waiting, memory_order_relaxed) > 0)
        pthread_cond_wait(&store->judge_entered, &store->turn_mutex);
    pthread_mutex_unlock(&store->turn_mutex);
}

static void enter_as_judge(struct store *store) {
    if (pthread_mutex_trylock(&store->mutex) == 0) return;
    pthread_mutex_lock(&store->turn_mutex);
    atomic_fetch_add_explicit(&store->judges_waiting, 1, memory_order_relaxed);
    pthread_mutex_unlock(&store->turn_mutex);
    pthread_mutex_lock(&store->mutex);
    pthread_mutex_lock(&store->turn_mutex);
    atomic_fetch_sub_explicit(&store->judges_waiting, 1, memory_order_relaxed);
    store->judges_entered++;
    pthread_cond_broadcast(&store->judge_entered);
    pthread_mutex_unlock(&store->turn_mutex);
}

static int64_t move_clock(struct store *store) {
    int64_t now_ms = clock_ms(CLOCK_MONOTONIC) + store->wall_ahead_ms;
    ledger_advance(store->ledger, now_ms);
    return now_ms;
}

// Takes the mutex and moves the ledger's clock.
static int64_t begin(struct store *store) {
    let_judge_enter(store);
    pthread_mutex_lock(&store->mutex);
    return move_clock(store);
}

static void end(struct store *store) {
    pthread_mutex_unlock(&store->mutex);
}

static void reach(struct store *store, enum object_kind kind, int64_t resource_version) {
    if (resource_version <= store->reached[kind]) return;
    store->reached[kind] = resource_version;
    pthread_cond_broadcast(&store->reached_more);
}

static bool is_followed(enum object_kind kind) {
    return kind > KIND_OTHER && kind < KIND_COUNT;
}

static enum ledger_outcome apply(struct store *store, const struct ledger_event *event, struct text json,
                                 struct fault *fault) {
    begin(store);
    enum ledger_outcome outcome = ledger_apply(store->ledger, event, fault);
    if (outcome != LEDGER_FAILED && is_followed(event->object->kind))
        reach(store, event->object->kind, event->resource_version);
    if (store->observer != NULL) store->observer(store->observer_context, event, json, outcome);
    end(store);
    return outcome;
}

enum ledger_outcome store_apply(struct store *store, const struct ledger_event *event, struct text json,
                                struct fault *fault) {
    struct ledger_event judged;
    struct arena arena;
    arena_init(&arena, LEDGER_JUDGE_BYTES);
    // What cannot be judged here is tried again by the ledger, which then tells.
    bool fine = ledger_judge(store->judge, store->minor, event, &arena, &judged);
    enum ledger_outcome outcome = apply(store, fine ? &judged : event, json, fault);
    arena_release(&arena);
    return outcome;
}

void store_observe(struct store *store, store_observer *observer, void *context) {
    begin(store);
    store->observer = observer;
    store->observer_context = context;
    end(store);
}

static void tell_of_list(const struct store *store, enum object_kind kind, enum store_list_step step) {
    if (store->list_observer != NULL)
        store->list_observer(store->list_observer_context, kind, step, store->minor);
}

void store_observe_lists(struct store *store, store_list_observer *observer, void *context) {
    begin(store);
    store->list_observer = observer;
    store->list_observer_context = context;
    tell_of_list(store, KIND_OTHER, STORE_BEGINS);
    end(store);
}

bool store_restart(struct store *store, const struct ledger_options *options, struct fault *fault) {
    struct ledger *fresh = ledger_new(options, fault);
    if (fresh == NULL) return false;
    begin(store);
    struct ledger *old = store->ledger;
    store->ledger = fresh;
    store->minor = options->minor;
    store->judge = options->judge;
    tell_of_list(store, KIND_OTHER, STORE_BEGINS);
    memset(store->reached, 0, sizeof store->reached);
    end(store);
    ledger_free(old);
    return true;
}

void store_list_begin(struct store *store, enum object_kind kind) {
    begin(store);
    ledger_list_begin(store->ledger, kind);
    tell_of_list(store, kind, STORE_LIST_BEGIN);
    end(store);
}

void store_list_end(struct store *store, enum object_kind kind) {
    begin(store);
    ledger_list_end(store->ledger, kind);
    tell_of_list(store, kind, STORE_LIST_END);
    end(store);
}

void store_list_cancel(struct store *store, enum object_kind kind) {
    begin(store);
    ledger_list_cancel(store->ledger, kind);
    tell_of_list(store, kind, STORE_LIST_CANCEL);
    end(store);
}

void store_set_synced(struct store *store, enum object_kind kind, bool synced) {
    begin(store);
    ledger_set_synced(store->ledger, kind, synced);
    tell_of_list(store, kind, synced ? STORE_SYNCED : STORE_NOT_SYNCED);
    end(store);
}

void store_watch_alive(struct store *store, enum object_kind kind) {
    int64_t now_ms = begin(store);
    ledger_watch_alive(store->ledger, kind, now_ms);
    end(store);
}

void store_with_ledger(struct store *store, void (*run)(struct ledger *ledger, void *context),
                       void *context) {
    begin(store);
    run(store->ledger, context);
    end(store);
}

void store_judge(struct store *store, void (*run)(struct ledger *ledger, void *context), void *context) {
    enter_as_judge(store);
    move_clock(store);
    run(store->ledger, context);
    end(store);
}

bool store_wait_version(struct store *store, enum object_kind kind, int64_t resource_version, int wait_ms) {
    if (!is_followed(kind)) return false;
    int64_t end_ms = clock_ms(CLOCK_MONOTONIC) + wait_ms;
    const struct timespec until = {.tv_sec = end_ms / 1000, .tv_nsec = end_ms % 1000 * NANO_PER_MS};
    enter_as_judge(store);
    int error = 0;
    while (store->reached[kind] < resource_version && error == 0)
        error = pthread_cond_timedwait(&store->reached_more, &store->mutex, &until);
    bool reached = store->reached[kind] >= resource_version;
    end(store);
    return reached;
}
