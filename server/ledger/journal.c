// SPDX-License-Identifier: Apache-2.0
// What the store's observers put into the queue, and the life of the journal. The thread is in
// journal_writer.c.
#include "server/ledger/journal.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/ledger/journal_lock.h"
#include "server/ledger/journal_writer.h"

#define IDENTITY_BYTES 1024
#define START_BYTES    128

struct journal {
    int lock_fd;
    bool running;
    // Behind the store's mutex, per kind.
    bool listing[KIND_NODE_LEDGER + 1];
    uint64_t dropped_before[KIND_NODE_LEDGER + 1]; // rows dropped when the list began
    uint64_t healed[KIND_NODE_LEDGER + 1];         // how many of them a whole list made up for
    struct journal_writer writer;
    char folder[PATH_MAX];
};

static struct journal_options with_defaults(const struct journal_options *given, const char *folder) {
    struct journal_options options = *given;
    options.folder = folder;
    if (options.queue_bytes == 0) options.queue_bytes = JOURNAL_QUEUE_BYTES;
    if (options.file_bytes == 0) options.file_bytes = JOURNAL_FILE_BYTES;
    if (options.keep_ms == 0) options.keep_ms = JOURNAL_KEEP_MS;
    if (options.state_ms == 0) options.state_ms = JOURNAL_STATE_MS;
    return options;
}

// A session: everything before it is of a ledger that is gone.
static void push_start(struct journal *journal, int minor) {
    char text[START_BYTES];
    int len = snprintf(text, sizeof text, "{\"minor\":%d,\"pid\":%ld,\"version\":\"%s\"}", minor,
                       (long)getpid(), DRAWBRIDGE_VERSION);
    memset(journal->listing, 0, sizeof journal->listing);
    const struct journal_row row = {.type = JOURNAL_START, .json = {text, (size_t)len}};
    journal_queue_push(&journal->writer.queue, &row);
}

static bool start(struct journal *journal, const struct journal_options *given, struct fault *fault) {
    int len = snprintf(journal->folder, sizeof journal->folder, "%s", given->folder);
    if (len <= 0 || len >= (int)sizeof journal->folder)
        return fault_set(fault, FAULT_USAGE, "the path of the folder is too long, or empty");
    if (!journal_lock_take(journal->folder, &journal->lock_fd, fault)) return false;
    const struct journal_options options = with_defaults(given, journal->folder);
    journal_writer_init(&journal->writer, &options);
    journal->running = true;
    return journal_writer_start(&journal->writer, fault);
}

bool journal_new(const struct journal_options *options, struct journal **ret_journal, struct fault *fault) {
    struct journal *journal = calloc(1, sizeof *journal);
    if (journal == NULL) return fault_set(fault, FAULT_MEMORY, "no memory for the journal");
    journal->lock_fd = -1;
    if (!start(journal, options, fault)) {
        journal_free(journal);
        return false;
    }
    *ret_journal = journal;
    return true;
}

void journal_free(struct journal *journal) {
    if (journal == NULL) return;
    if (journal->running) journal_writer_stop(&journal->writer);
    journal_lock_release(journal->lock_fd);
    free(journal);
}

// A text for JSON, when nothing in it needs an escape.
static bool is_plain(struct text text) {
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        if (byte < ' ' || byte == '"' || byte == '\\' || byte >= 0x7f) return false;
    }
    return true;
}

// A deletion of which only the identity came: an object that says no more than that.
static struct text identity_of(const struct ledger_event *event, const struct object_meta *meta,
                               char buffer[IDENTITY_BYTES]) {
    const struct object *object = event->object;
    if (!is_plain(meta->name) || !is_plain(meta->namespace) || !is_plain(meta->uid) ||
        !is_plain(object->api_version) || object->api_version.len == 0)
        return (struct text){NULL, 0};
    int len = snprintf(buffer, IDENTITY_BYTES,
                       "{\"apiVersion\":\"%.*s\",\"kind\":\"%s\",\"metadata\":{\"name\":\"%.*s\","
                       "\"namespace\":\"%.*s\",\"uid\":\"%.*s\",\"resourceVersion\":\"%lld\"}}",
                       TEXT_ARG(object->api_version), journal_kind_name(object->kind), TEXT_ARG(meta->name),
                       TEXT_ARG(meta->namespace), TEXT_ARG(meta->uid), (long long)event->resource_version);
    return len > 0 && len < IDENTITY_BYTES ? (struct text){buffer, (size_t)len} : (struct text){NULL, 0};
}

static enum journal_type type_of(enum event_type type) {
    if (type == EVENT_DELETED) return JOURNAL_DELETED;
    return type == EVENT_MODIFIED ? JOURNAL_MODIFIED : JOURNAL_ADDED;
}

// Runs while the store's mutex is held: one copy, one push.
static void hear_event(void *context, const struct ledger_event *event, struct text json,
                       enum ledger_outcome outcome) {
    struct journal *journal = context;
    const struct object_meta *meta = object_metadata(event->object);
    char identity[IDENTITY_BYTES];
    if (meta == NULL || event->type == EVENT_BOOKMARK || event->object->kind == KIND_LEASE) return;
    enum object_kind kind = event->object->kind;
    bool seen = outcome == LEDGER_REPEATED || outcome == LEDGER_OLDER;
    if (seen ? !journal->listing[kind] : outcome != LEDGER_APPLIED) return;
    // After rows were lost, what a list repeats may be news to the file.
    if (outcome == LEDGER_REPEATED && journal->dropped_before[kind] > journal->healed[kind]) seen = false;
    if (seen) json = TEXT("{}");
    if (json.len == 0 && event->type == EVENT_DELETED) json = identity_of(event, meta, identity);
    if (json.len == 0) {
        journal_queue_drop(&journal->writer.queue, 1);
        return;
    }
    const struct journal_row row = {
        .type = seen ? JOURNAL_SEEN : type_of(event->type),
        .kind = kind,
        .version = event->resource_version,
        .namespace = meta->namespace,
        .name = meta->name,
        .uid = meta->uid,
        .json = json,
    };
    journal_queue_push(&journal->writer.queue, &row);
}

static void hear_list(void *context, enum object_kind kind, enum store_list_step step, int minor) {
    struct journal *journal = context;
    static const enum journal_type types[] = {
        [STORE_LIST_BEGIN] = JOURNAL_LIST_BEGIN,
        [STORE_LIST_END] = JOURNAL_LIST_END,
        [STORE_LIST_CANCEL] = JOURNAL_LIST_CANCEL,
        [STORE_SYNCED] = JOURNAL_LIST_END,
    };
    if (step == STORE_BEGINS) push_start(journal, minor);
    if (step == STORE_BEGINS) return;
    if (kind == KIND_LEASE || kind > KIND_NODE_LEDGER || step == STORE_NOT_SYNCED) return;
    if (step == STORE_LIST_BEGIN)
        journal->dropped_before[kind] = journal_queue_dropped(&journal->writer.queue);
    if (step == STORE_LIST_END && journal->listing[kind])
        journal->healed[kind] = journal->dropped_before[kind];
    journal->listing[kind] = step == STORE_LIST_BEGIN;
    const struct journal_row row = {.type = types[step], .kind = kind};
    journal_queue_push(&journal->writer.queue, &row);
}

void journal_attach(struct journal *journal, struct store *store) {
    store_observe(store, hear_event, journal);
    store_observe_lists(store, hear_list, journal);
}

void journal_detach(struct store *store) {
    store_observe(store, NULL, NULL);
    store_observe_lists(store, NULL, NULL);
}

bool journal_audit(struct journal *journal, struct text json) {
    const struct journal_row row = {.type = JOURNAL_AUDIT, .json = json};
    return journal_queue_push_audit(&journal->writer.queue, &row);
}

bool journal_flush(struct journal *journal, int64_t wait_ms) {
    return journal_queue_flush(&journal->writer.queue, wait_ms);
}

void journal_counts(struct journal *journal, struct journal_counts *ret_counts) {
    journal_writer_counts(&journal->writer, ret_counts);
}
