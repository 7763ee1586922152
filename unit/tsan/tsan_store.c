// SPDX-License-Identifier: Apache-2.0
// The store under many threads: a folder feed and a watch write, gates ask, callers wait for versions.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "server/feed/dirfeed.h"

#define NODES  50
#define ROUNDS 40
#define WRITES 12

static struct store *store;
static atomic_bool done;
static atomic_ulong asked, waited;

static void must(bool fine, const char *what) {
    if (fine) return;
    fprintf(stderr, "tsan_store: %s\n", what);
    exit(1);
}

static void *watch(void *argument) {
    (void)argument;
    for (int64_t version = 1; version <= NODES * ROUNDS; version++) {
        char name[32];
        snprintf(name, sizeof name, "slice-%d", (int)(version % NODES));
        struct object object = {.kind = KIND_RESOURCE_SLICE};
        object.slice.metadata.name = text_of(name);
        object.slice.metadata.uid = text_of(name);
        object.slice.driver = TEXT("a.example.com");
        object.slice.pool.generation = version;
        const struct ledger_event event = {
            .type = EVENT_MODIFIED, .object = &object, .resource_version = version};
        struct fault fault;
        must(store_apply(store, &event, (struct text){NULL, 0}, &fault) == LEDGER_APPLIED, "not applied");
        store_watch_alive(store, KIND_RESOURCE_SLICE);
    }
    return NULL;
}

static void ask(struct ledger *ledger, void *context) {
    struct view view = ledger_view(ledger);
    struct quantity quantity;
    *(enum view_answer *)context =
        view.table->node_allocatable(view.state, TEXT("node-1"), TEXT("cpu"), &quantity);
}

static void *gate(void *argument) {
    (void)argument;
    while (!atomic_load(&done)) {
        enum view_answer answer;
        store_judge(store, ask, &answer);
        atomic_fetch_add(&asked, 1);
    }
    return NULL;
}

static void *survey(void *argument) {
    (void)argument;
    while (!atomic_load(&done)) {
        enum view_answer answer;
        store_with_ledger(store, ask, &answer);
    }
    return NULL;
}

static void *wait_all(void *argument) {
    (void)argument;
    for (int64_t version = 1; version <= NODES * ROUNDS; version += NODES) {
        must(store_wait_version(store, KIND_RESOURCE_SLICE, version, 60000), "a version never came");
        atomic_fetch_add(&waited, 1);
    }
    return NULL;
}

static void write_node(const char *folder, int round) {
    char path[512], beside[512];
    snprintf(path, sizeof path, "%s/node.yaml", folder);
    snprintf(beside, sizeof beside, "%s/node.new", folder);
    FILE *file = fopen(beside, "w");
    must(file != NULL, beside);
    fprintf(file,
            "apiVersion: v1\nkind: Node\nmetadata: {name: node-1}\nstatus: {allocatable: {cpu: '%d'}}\n",
            round);
    must(fclose(file) == 0 && rename(beside, path) == 0, path);
}

int main(void) {
    char folder[] = "/tmp/drawbridge-tsan-XXXXXX";
    const struct ledger_options options = {.minor = MINOR_36, .seed = {3, 4}};
    struct feed_state state;
    struct dirfeed *feed;
    struct fault fault;
    must(mkdtemp(folder) != NULL, "no folder");
    store = store_new(&options, &fault);
    must(store != NULL, "no store");
    feed_state_init(&state);
    const struct dirfeed_options feed_options = {
        .folder = folder, .minor = MINOR_36, .poll_ms = 20, .store = store, .state = &state};
    must(dirfeed_new(&feed_options, &feed, &fault), fault.text);
    void *(*const bodies[])(void *) = {gate, gate, survey, watch, wait_all, wait_all};
    pthread_t threads[6];
    for (size_t i = 0; i < 6; i++) must(pthread_create(&threads[i], NULL, bodies[i], NULL) == 0, "no thread");
    for (int round = 1; round <= WRITES; round++) {
        char why[FEED_WHY_BYTES];
        const struct timespec pause = {.tv_nsec = 150000000};
        write_node(folder, round);
        (void)feed_is_synced(&state, why, sizeof why);
        nanosleep(&pause, NULL);
    }
    for (size_t i = 3; i < 6; i++) pthread_join(threads[i], NULL);
    must(store_wait_version(store, KIND_NODE, 2, 20000), "the folder was not followed");
    atomic_store(&done, true);
    for (size_t i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    dirfeed_free(feed);
    store_free(store);
    feed_state_release(&state);
    char path[512];
    snprintf(path, sizeof path, "%s/node.yaml", folder);
    must(unlink(path) == 0 && rmdir(folder) == 0, "the folder stays");
    printf("asked %lu times, waited %lu times\n", atomic_load(&asked), atomic_load(&waited));
    return 0;
}
