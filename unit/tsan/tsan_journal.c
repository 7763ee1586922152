// SPDX-License-Identifier: Apache-2.0
// Store, journal and control socket under many threads: events come, audit rows come, clients ask, readers
// read the file, state rows are made; then all ends in order.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/cli/serve_ledger.h"
#include "server/ledger/journal_read.h"
#include "server/operate/socket.h"

#define NODES  50
#define EVENTS 6000

static struct store *store;
static struct serve_ledger serve;
static char folder[] = "/tmp/drawbridge-tsan-XXXXXX";
static atomic_bool done;
static atomic_ulong shown, exported;

static void must(bool fine, const char *what) {
    if (fine) return;
    fprintf(stderr, "tsan_journal: %s\n", what);
    exit(1);
}

static void *watch(void *argument) {
    (void)argument;
    for (int64_t version = 1; version <= EVENTS; version++) {
        char name[32], json[256];
        snprintf(name, sizeof name, "node-%d", (int)(version % NODES));
        int len =
            snprintf(json, sizeof json,
                     "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"%s\",\"uid\":\"%s\","
                     "\"resourceVersion\":\"%lld\"}}",
                     name, name, (long long)version);
        struct object object = {.kind = KIND_NODE};
        object.node.metadata.name = text_of(name);
        object.node.metadata.uid = text_of(name);
        const struct ledger_event event = {
            .type = EVENT_MODIFIED, .object = &object, .resource_version = version};
        struct fault fault;
        must(store_apply(store, &event, (struct text){json, (size_t)len}, &fault) == LEDGER_APPLIED,
             "not applied");
        if (version % 500 == 0) {
            store_list_begin(store, KIND_NODE);
            store_list_cancel(store, KIND_NODE);
        }
    }
    return NULL;
}

static void *audit(void *argument) {
    (void)argument;
    while (!atomic_load(&done)) {
        struct journal_counts counts;
        journal_audit(serve.journal, TEXT("{\"what\":\"denied\"}"));
        journal_counts(serve.journal, &counts);
        usleep(200);
    }
    return NULL;
}

static bool pass(void *context, struct text line, struct fault *fault) {
    (void)line;
    (void)fault;
    ++*(size_t *)context;
    return true;
}

static void *ask(void *argument) {
    (void)argument;
    while (!atomic_load(&done)) {
        size_t lines = 0;
        struct fault fault;
        must(control_call(folder, TEXT("{\"command\":\"show\",\"output\":\"json\"}"), pass, &lines, &fault),
             fault.text);
        must(control_call(folder, TEXT("{\"command\":\"state\"}"), pass, &lines, &fault), fault.text);
        atomic_fetch_add(&shown, lines);
        must(control_call(folder, TEXT("{\"command\":\"export\"}"), pass, &lines, &fault), fault.text);
        atomic_fetch_add(&exported, 1);
    }
    return NULL;
}

static void remove_folder(void) {
    static const char *const names[] = {"journal.db", "journal.db-wal", "journal.db-shm", "drawbridge.lock"};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    must(rmdir(folder) == 0, "something is left in the folder");
}

int main(void) {
    const struct ledger_options options = {.minor = MINOR_36, .seed = {3, 4}};
    struct collectors collectors;
    struct fault fault;
    pthread_t threads[3];
    void *(*const runs[])(void *) = {watch, audit, ask};
    must(mkdtemp(folder) != NULL, "no folder");
    collectors_init(&collectors);
    store = store_new(&options, &fault);
    must(store != NULL, fault.text);
    must(serve_ledger_start(&serve, folder, store, &collectors, &fault), fault.text);
    for (size_t i = 0; i < 3; i++) must(pthread_create(&threads[i], NULL, runs[i], NULL) == 0, "no thread");
    pthread_join(threads[0], NULL);
    while (atomic_load(&exported) < 3) usleep(10000);
    atomic_store(&done, true);
    for (size_t i = 1; i < 3; i++) pthread_join(threads[i], NULL);
    must(journal_flush(serve.journal, 60000), "not flushed");
    struct exposition page;
    collectors_collect(&collectors, &page);
    must(!page.failed && page.len > 0, "no metrics");
    exposition_release(&page);
    struct journal_reading reading;
    struct ledger *ledger = ledger_new(&options, &fault);
    must(journal_replay(folder, MINOR_36, ledger, &reading, &fault), fault.text);
    must(reading.events == EVENTS && !reading.incomplete, "events are missing");
    ledger_free(ledger);
    serve_ledger_stop(&serve);
    store_free(store);
    collectors_release(&collectors);
    remove_folder();
    printf("%lu lines shown, %lu exports\n", atomic_load(&shown), atomic_load(&exported));
    return 0;
}
