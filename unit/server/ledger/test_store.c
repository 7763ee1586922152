// SPDX-License-Identifier: Apache-2.0
// The store: events pass to the ledger, waiting is bounded, the observer hears all in order.
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "server/ledger/store.h"

static struct object node_object(const char *name, const char *uid) {
    struct object object = {.kind = KIND_NODE};
    object.node.metadata.name = text_of(name);
    object.node.metadata.uid = text_of(uid);
    return object;
}

static struct store *new_store(size_t cap_bytes) {
    const struct ledger_options options = {.minor = MINOR_36, .seed = {1, 2}, .memory_cap_bytes = cap_bytes};
    struct fault fault;
    struct store *store = store_new(&options, &fault);
    cr_assert_not_null(store, "%s", fault.text);
    return store;
}

static enum ledger_outcome apply(struct store *store, enum event_type type, const struct object *object,
                                 int64_t version) {
    const struct ledger_event event = {.type = type, .object = object, .resource_version = version};
    struct fault fault;
    return store_apply(store, &event, (struct text){NULL, 0}, &fault);
}

static void ask_node(struct ledger *ledger, void *context) {
    struct view view = ledger_view(ledger);
    struct quantity ignored;
    *(enum view_answer *)context = view.table->node_allocatable(view.state, TEXT("a"), TEXT("cpu"), &ignored);
}

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

Test(store, lists_and_views) {
    struct store *store = new_store(0);
    enum view_answer answer;
    store_with_ledger(store, ask_node, &answer);
    cr_expect_eq(answer, VIEW_NOT_SYNCED);
    store_list_begin(store, KIND_NODE);
    struct object node = node_object("a", "u1");
    struct quantity_entry cpu = {TEXT("cpu"), {.set = true}};
    node.node.allocatable = (struct quantity_map){.items = &cpu, .count = 1, .set = true};
    cr_expect_eq(apply(store, EVENT_ADDED, &node, 5), LEDGER_APPLIED);
    store_list_end(store, KIND_NODE);
    store_with_ledger(store, ask_node, &answer);
    cr_expect_eq(answer, VIEW_KNOWN);
    store_set_synced(store, KIND_NODE, false);
    store_with_ledger(store, ask_node, &answer);
    cr_expect_eq(answer, VIEW_NOT_SYNCED);
    store_set_synced(store, KIND_NODE, true);
    store_list_begin(store, KIND_NODE);
    store_list_cancel(store, KIND_NODE);
    store_list_end(store, KIND_NODE);
    store_with_ledger(store, ask_node, &answer);
    cr_expect_eq(answer, VIEW_KNOWN, "a list that was given up deletes nothing");
    store_list_begin(store, KIND_NODE);
    store_list_end(store, KIND_NODE);
    store_with_ledger(store, ask_node, &answer);
    cr_expect_eq(answer, VIEW_NOT_FOUND);
    store_free(store);
}

Test(store, an_object_comes_back) {
    struct store *store = new_store(0);
    struct object node = node_object("a", "u1");
    cr_expect_eq(apply(store, EVENT_ADDED, &node, 5), LEDGER_APPLIED);
    cr_expect_eq(apply(store, EVENT_ADDED, &node, 5), LEDGER_REPEATED);
    cr_expect_eq(apply(store, EVENT_DELETED, &node, 6), LEDGER_APPLIED);
    cr_expect_eq(apply(store, EVENT_MODIFIED, &node, 5), LEDGER_OLDER);
    cr_expect_eq(apply(store, EVENT_MODIFIED, &node, 6), LEDGER_OLDER);
    cr_expect_eq(apply(store, EVENT_ADDED, &node, 7), LEDGER_APPLIED);
    store_free(store);
}

static void *bookmark_later(void *context) {
    const struct timespec pause = {.tv_nsec = 30 * 1000000};
    nanosleep(&pause, NULL);
    const struct object object = {.kind = KIND_RESOURCE_CLAIM};
    apply(context, EVENT_BOOKMARK, &object, 42);
    return NULL;
}

Test(store, waiting_is_bounded) {
    struct store *store = new_store(0);
    int64_t began_ms = now_ms();
    cr_expect_not(store_wait_version(store, KIND_RESOURCE_CLAIM, 42, 50));
    cr_expect_geq(now_ms() - began_ms, 50);
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, bookmark_later, store), 0);
    cr_expect(store_wait_version(store, KIND_RESOURCE_CLAIM, 42, 20000));
    pthread_join(thread, NULL);
    cr_expect(store_wait_version(store, KIND_RESOURCE_CLAIM, 41, 0));
    cr_expect_not(store_wait_version(store, KIND_RESOURCE_CLAIM, 43, 0));
    cr_expect_not(store_wait_version(store, KIND_NODE, 1, 0), "versions of kinds are apart");
    cr_expect_not(store_wait_version(store, KIND_OTHER, 0, 0));
    store_free(store);
}

struct heard {
    size_t count;
    int64_t version;
    enum ledger_outcome outcome;
    struct text json;
};

static void hear(void *context, const struct ledger_event *event, struct text json,
                 enum ledger_outcome outcome) {
    struct heard *heard = context;
    heard->count++;
    heard->version = event->resource_version;
    heard->outcome = outcome;
    heard->json = json;
}

Test(store, observer) {
    struct store *store = new_store(0);
    struct heard heard = {0};
    struct object node = node_object("a", "u1");
    store_observe(store, hear, &heard);
    const struct ledger_event event = {.type = EVENT_ADDED, .object = &node, .resource_version = 9};
    struct fault fault;
    store_apply(store, &event, TEXT("{}"), &fault);
    cr_expect_eq(heard.version, 9);
    cr_expect_eq(heard.outcome, LEDGER_APPLIED);
    cr_expect(text_equal(heard.json, TEXT("{}")));
    store_apply(store, &event, TEXT("{}"), &fault);
    cr_expect_eq(heard.outcome, LEDGER_REPEATED);
    store_observe(store, NULL, NULL);
    store_apply(store, &event, TEXT("{}"), &fault);
    cr_expect_eq(heard.count, 2);
    store_free(store);
}

// Somebody who takes the mutex again and again, as a survey of all nodes does.
struct survey {
    struct store *store;
    atomic_bool ends;
    atomic_ulong holds;
    unsigned long at_entry; // of the last review
};

static void hold(struct ledger *ledger, void *context) {
    struct survey *survey = context;
    (void)ledger;
    atomic_fetch_add(&survey->holds, 1);
    for (volatile int i = 0; i < 20000; i++) continue;
}

static void *survey_all(void *context) {
    struct survey *survey = context;
    while (!atomic_load(&survey->ends)) store_with_ledger(survey->store, hold, survey);
    return NULL;
}

static void note_holds(struct ledger *ledger, void *context) {
    struct survey *survey = context;
    (void)ledger;
    survey->at_entry = atomic_load(&survey->holds);
}

// Counted in holds of the mutex, not in time: a review that comes while it is held is the next, or nearly so.
// A few may be kept off the processor before they wait.
Test(store, a_review_enters_before_the_survey) {
    enum { ROUNDS = 200 };
    struct survey survey = {.store = new_store(0)};
    pthread_t thread;
    unsigned long passed = 0;
    cr_assert_eq(pthread_create(&thread, NULL, survey_all, &survey), 0);
    for (int i = 0; i < ROUNDS; i++) {
        unsigned long before = atomic_load(&survey.holds);
        while (atomic_load(&survey.holds) == before) continue;
        before = atomic_load(&survey.holds);
        store_judge(survey.store, note_holds, &survey);
        passed += survey.at_entry - before;
    }
    atomic_store(&survey.ends, true);
    pthread_join(thread, NULL);
    cr_expect_lt(passed, 2 * ROUNDS, "%d reviews waited for %lu holds", ROUNDS, passed);
    store_free(survey.store);
}

Test(store, memory_that_ran_out_reaches_nothing) {
    const struct ledger_options options = {.minor = MINOR_36, .memory_cap_bytes = 1};
    struct fault fault;
    struct store *store = store_new(&options, &fault);
    if (store == NULL) {
        cr_expect_eq(fault.code, FAULT_MEMORY);
        return;
    }
    struct object node = node_object("a", "u1");
    cr_expect_eq(apply(store, EVENT_ADDED, &node, 5), LEDGER_FAILED);
    cr_expect_not(store_wait_version(store, KIND_NODE, 5, 0));
    store_free(store);
}
