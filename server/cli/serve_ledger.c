// SPDX-License-Identifier: Apache-2.0
// Joining journal, control socket, store and metrics.
#include "server/cli/serve_ledger.h"

#include <stdlib.h>

#include "server/cli/control_commands.h"
#include "server/ledger/journal_digest.h"
#include "server/operate/socket.h"

#define NODE_ARENA_BYTES ((size_t)1 << 30)

// ---- the digest of what the ledger shows, for STATE rows

struct digest_walk {
    struct journal_digest *digest;
    struct arena names;
    struct arena node;
    struct text_list list;
    size_t at;
    bool fine;
};

static void take_names(struct ledger *ledger, void *context) {
    struct digest_walk *walk = context;
    walk->fine = control_copy_names(ledger, &walk->names, &walk->list);
}

static void take_node(struct ledger *ledger, void *context) {
    struct digest_walk *walk = context;
    struct node_report report;
    arena_clear(&walk->node);
    // A node that went away meanwhile: the events that took it away end this attempt.
    walk->fine = ledger_node_report(ledger, walk->list.items[walk->at], true, &walk->node, &report) &&
                 journal_digest_node(walk->digest, &report, &walk->node);
}

// One node per hold of the mutex; that no event came meanwhile, the journal finds out.
static bool tell_state(void *context, char *ret_json, size_t json_bytes) {
    struct serve_ledger *serve = context;
    struct digest_walk walk = {.digest = journal_digest_new()};
    char text[JOURNAL_DIGEST_TEXT_BYTES];
    arena_init(&walk.names, NODE_ARENA_BYTES);
    arena_init(&walk.node, NODE_ARENA_BYTES);
    if (walk.digest != NULL) store_with_ledger(serve->store, take_names, &walk);
    for (; walk.fine && walk.at < walk.list.count; walk.at++)
        store_with_ledger(serve->store, take_node, &walk);
    bool fine = walk.fine && journal_digest_end(walk.digest, text);
    if (fine)
        fine = snprintf(ret_json, json_bytes, "{\"nodes\":%zu,\"digest\":\"%s\"}", walk.list.count, text) <
               (int)json_bytes;
    arena_release(&walk.names);
    arena_release(&walk.node);
    journal_digest_free(walk.digest);
    return fine;
}

// ---- a list, after rows were lost

static void ask_for_list(void *context) {
    struct serve_ledger *serve = context;
    pthread_mutex_lock(&serve->feed_mutex);
    if (serve->list_again != NULL) serve->list_again(serve->feed);
    pthread_mutex_unlock(&serve->feed_mutex);
}

void serve_ledger_use_feed(struct serve_ledger *ledger, void (*list_again)(void *feed), void *feed) {
    if (ledger->journal == NULL) return;
    pthread_mutex_lock(&ledger->feed_mutex);
    ledger->list_again = list_again;
    ledger->feed = feed;
    pthread_mutex_unlock(&ledger->feed_mutex);
}

// ---- metrics

static void collect_one(struct exposition *out, const char *name, const char *type, const char *help,
                        uint64_t value) {
    exposition_family(out, name, type, help);
    exposition_count(out, name, NULL, 0, value);
}

static void collect(void *state, struct exposition *out) {
    struct serve_ledger *serve = state;
    struct journal_counts counts;
    journal_counts(serve->journal, &counts);
    collect_one(out, "drawbridge_journal_rows_total", "counter", "Rows written to the journal.", counts.rows);
    collect_one(out, "drawbridge_journal_batches_total", "counter", "Batches written to the journal.",
                counts.batches);
    collect_one(out, "drawbridge_journal_gaps_total", "counter",
                "Places in the journal where rows are missing.", counts.gaps);
    collect_one(out, "drawbridge_journal_dropped_rows_total", "counter",
                "Rows that the journal could not take.", counts.dropped_rows);
    collect_one(out, "drawbridge_journal_set_aside_total", "counter",
                "Journals that were damaged or of another schema and were renamed.", counts.set_aside);
    collect_one(out, "drawbridge_journal_errors_total", "counter", "Writes of the journal that failed.",
                counts.errors);
    collect_one(out, "drawbridge_journal_failing", "gauge", "Whether the last write of the journal failed.",
                counts.failing);
    collect_one(out, "drawbridge_journal_bytes", "gauge", "Size of the journal.",
                (uint64_t)counts.file_bytes);
    collect_one(out, "drawbridge_journal_queue_bytes", "gauge", "Rows that wait to be written.",
                counts.queue_bytes);
}

// ---- life

bool serve_ledger_start(struct serve_ledger *ledger, const char *folder, struct store *store,
                        struct collectors *collectors, struct fault *fault) {
    *ledger = (struct serve_ledger){.store = store, .collectors = collectors, .folder = folder};
    if (folder[0] == '\0') return true;
    const struct journal_options options = {
        .folder = folder, .state = tell_state, .relist = ask_for_list, .context = ledger};
    pthread_mutex_init(&ledger->feed_mutex, NULL);
    if (!journal_new(&options, &ledger->journal, fault)) {
        pthread_mutex_destroy(&ledger->feed_mutex);
        return fault_wrap(fault, "--ledger-dir");
    }
    journal_attach(ledger->journal, store);
    const struct control_options control = {.folder = folder,
                                            .commands = control_commands,
                                            .command_count = control_command_count,
                                            .context = ledger};
    if (!control_socket_new(&control, &ledger->socket, fault)) return fault_wrap(fault, "--ledger-dir");
    return collectors_add(collectors, collect, ledger) ||
           fault_set(fault, FAULT_LIMIT, "no room for the journal's metrics");
}

void serve_ledger_stop(struct serve_ledger *ledger) {
    if (ledger->journal == NULL) return;
    collectors_remove(ledger->collectors, ledger);
    control_socket_free(ledger->socket);
    journal_detach(ledger->store);
    journal_free(ledger->journal);
    pthread_mutex_destroy(&ledger->feed_mutex);
    *ledger = (struct serve_ledger){.journal = NULL};
}
