// SPDX-License-Identifier: Apache-2.0
// The store: events pass to the ledger, waiting is bounded, the observer hears all in order.
#include <criterion/criterion.h>
#include <pthread.h>
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
