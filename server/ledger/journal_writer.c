// SPDX-License-Identifier: Apache-2.0
// One thread, one file. Whatever fails here costs rows, never an answer.
#include "server/ledger/journal_writer.h"

#include <stdlib.h>

#include "server/ledger/journal_aside.h"
#include "server/ledger/journal_cut.h"
#include "server/ledger/prune.h"
#include "server/log.h"

#define TICK_MS         1000
#define START_BYTES     64
#define RETRY_MS        5000
#define RELIST_MS       60000
#define SCRATCH_BYTES   ((size_t)64 << 20)
#define FILE_PATH_BYTES 4128

void journal_writer_init(struct journal_writer *writer, const struct journal_options *options) {
    *writer = (struct journal_writer){.options = *options};
    journal_queue_init(&writer->queue, options->queue_bytes);
    arena_init(&writer->scratch, SCRATCH_BYTES);
    pthread_mutex_init(&writer->mutex, NULL);
}

void journal_writer_counts(struct journal_writer *writer, struct journal_counts *ret_counts) {
    pthread_mutex_lock(&writer->mutex);
    *ret_counts = writer->counts;
    pthread_mutex_unlock(&writer->mutex);
    pthread_mutex_lock(&writer->queue.mutex);
    ret_counts->dropped_rows = writer->queue.dropped_count;
    ret_counts->queue_bytes = writer->queue.bytes;
    pthread_mutex_unlock(&writer->queue.mutex);
}

static bool open_file(struct journal_writer *writer, struct fault *fault) {
    char path[FILE_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", writer->options.folder, JOURNAL_FILE_NAME);
    return journal_file_open(path, true, &writer->file, fault);
}

// The file is renamed and a new one begun, whatever was wrong with it.
static void set_aside(struct journal_writer *writer, const struct fault *why) {
    struct fault fault = {0};
    char name[JOURNAL_ASIDE_NAME_BYTES] = "";
    journal_file_close(writer->file);
    writer->file = NULL;
    const char *prefix = why->code == FAULT_STATE ? "schema" : "corrupt";
    if (!journal_set_aside(writer->options.folder, prefix, journal_wall_ms(), JOURNAL_ASIDE_LIMIT, name,
                           &fault)) {
        log_error("journal", "The journal cannot be set aside, rows are lost", fault.text);
        return;
    }
    log_error("journal", "The journal cannot be used, it is set aside and a new one begun", why->text,
              LOG_STRING("folder", writer->options.folder), LOG_STRING("renamedTo", name));
    pthread_mutex_lock(&writer->mutex);
    writer->counts.set_aside++;
    pthread_mutex_unlock(&writer->mutex);
    if (!open_file(writer, &fault)) log_error("journal", "No new journal, rows are lost", fault.text);
}

static bool is_unusable(const struct fault *fault) {
    return fault->code == FAULT_INPUT || fault->code == FAULT_STATE;
}

// Opens the file; one that is damaged or of another schema is set aside.
static void open_or_set_aside(struct journal_writer *writer) {
    struct fault fault = {0};
    writer->next_try_ms = journal_mono_ms() + RETRY_MS;
    if (open_file(writer, &fault)) return;
    if (is_unusable(&fault))
        set_aside(writer, &fault);
    else
        log_error("journal", "The journal cannot be opened, rows are lost", fault.text);
}

static void count_failure(struct journal_writer *writer, const struct fault *fault) {
    pthread_mutex_lock(&writer->mutex);
    bool first = !writer->counts.failing;
    writer->counts.failing = true;
    writer->counts.errors++;
    pthread_mutex_unlock(&writer->mutex);
    if (first) log_error("journal", "The journal cannot be written, rows are lost", fault->text);
}

static void count_success(struct journal_writer *writer, size_t rows, size_t gaps) {
    pthread_mutex_lock(&writer->mutex);
    bool recovered = writer->counts.failing;
    writer->counts.failing = false;
    writer->counts.rows += rows;
    writer->counts.batches++;
    writer->counts.gaps += gaps;
    pthread_mutex_unlock(&writer->mutex);
    if (gaps > 0) writer->relist_wanted = true;
    if (recovered) log_info(0, "journal", "The journal is written again");
}

// After a file was set aside in the middle of a session, the new one begins with what is known: a start, and
// that rows are missing.
static bool begin_again(struct journal_writer *writer, struct fault *fault) {
    char text[START_BYTES];
    int len = snprintf(text, sizeof text, "{\"minor\":%d,\"setAside\":true}", writer->minor);
    const struct journal_row row = {
        .type = JOURNAL_START, .at_ms = journal_wall_ms(), .json = {text, (size_t)len}};
    journal_queue_drop(&writer->queue, 1);
    if (!journal_file_append(writer->file, &row, 1, row.at_ms, fault)) return false;
    count_success(writer, 1, 0);
    return true;
}

// Cuts the objects down. Rows whose text no longer fits into memory stay as they came.
static size_t gather_rows(struct journal_writer *writer, const struct journal_entry *first,
                          size_t *ret_gaps) {
    size_t count = 0;
    *ret_gaps = 0;
    arena_clear(&writer->scratch);
    for (const struct journal_entry *entry = first; entry != NULL; entry = entry->next) {
        struct journal_row *row = &writer->rows[count++];
        *row = entry->row;
        *ret_gaps += row->type == JOURNAL_GAP;
        if (row->type == JOURNAL_START) writer->minor = journal_start_minor(row->json);
        if (!journal_is_event(row->type) || writer->scratch.poisoned) continue;
        struct text pruned = prune_object(&writer->scratch, row->kind, row->json);
        if (pruned.len > 0) row->json = pruned;
    }
    return count;
}

static void write_entries(struct journal_writer *writer, const struct journal_entry *first) {
    struct fault fault = {0};
    size_t gaps;
    size_t count = gather_rows(writer, first, &gaps);
    if (writer->file == NULL && journal_mono_ms() >= writer->next_try_ms) open_or_set_aside(writer);
    if (writer->file == NULL) {
        journal_queue_drop(&writer->queue, count);
        fault_set(&fault, FAULT_IO, "it is not open");
        count_failure(writer, &fault);
        return;
    }
    if (journal_file_append(writer->file, writer->rows, count, journal_wall_ms(), &fault)) {
        count_success(writer, count, gaps);
        return;
    }
    count_failure(writer, &fault);
    if (is_unusable(&fault)) {
        set_aside(writer, &fault);
        if (writer->file != NULL && begin_again(writer, &fault)) {
            // The rows that were to be written come after the start.
            if (journal_file_append(writer->file, writer->rows, count, journal_wall_ms(), &fault)) {
                count_success(writer, count, gaps);
                return;
            }
        }
    }
    journal_queue_drop(&writer->queue, count);
}

static void look_at_bounds(struct journal_writer *writer) {
    struct fault fault = {0};
    if (writer->file == NULL) return;
    int64_t oldest_ms = journal_wall_ms() - writer->options.keep_ms;
    if (!journal_cut(writer->file, writer->options.file_bytes, oldest_ms, &fault)) {
        count_failure(writer, &fault);
        if (is_unusable(&fault)) {
            set_aside(writer, &fault);
            if (writer->file != NULL && !begin_again(writer, &fault)) count_failure(writer, &fault);
        }
    }
    if (writer->file == NULL) return;
    int64_t bytes = journal_file_bytes(writer->file);
    pthread_mutex_lock(&writer->mutex);
    writer->counts.file_bytes = bytes;
    pthread_mutex_unlock(&writer->mutex);
}

// A row about the ledger, in its place among the events. False when events came meanwhile.
static bool note_state(struct journal_writer *writer) {
    char json[JOURNAL_STATE_BYTES];
    if (writer->options.state == NULL) return true;
    uint64_t pushed = journal_queue_pushed(&writer->queue);
    if (!writer->options.state(writer->options.context, json, sizeof json)) return false;
    const struct journal_row row = {.type = JOURNAL_STATE, .json = text_of(json)};
    return journal_queue_push_if(&writer->queue, &row, pushed);
}

static void ask_for_list(struct journal_writer *writer, int64_t now_ms) {
    if (!writer->relist_wanted || writer->options.relist == NULL) return;
    if (writer->last_relist_ms != 0 && now_ms < writer->last_relist_ms + RELIST_MS) return;
    writer->relist_wanted = false;
    writer->last_relist_ms = now_ms;
    writer->options.relist(writer->options.context);
}

static void tick(struct journal_writer *writer) {
    int64_t now_ms = journal_mono_ms();
    if (now_ms >= writer->next_look_ms) {
        look_at_bounds(writer);
        writer->next_look_ms = now_ms + JOURNAL_LOOK_MS;
    }
    // When events come all the time the next second may be quieter.
    if (now_ms >= writer->next_state_ms && note_state(writer))
        writer->next_state_ms = now_ms + writer->options.state_ms;
    ask_for_list(writer, now_ms);
}

static void free_entries(struct journal_entry *first) {
    while (first != NULL) {
        struct journal_entry *next = first->next;
        free(first);
        first = next;
    }
}

static void *run(void *context) {
    struct journal_writer *writer = context;
    for (;;) {
        struct journal_entry *first =
            journal_queue_take(&writer->queue, JOURNAL_BATCH_ROWS, JOURNAL_BATCH_MS, TICK_MS);
        if (first == NULL && journal_queue_is_ended(&writer->queue)) return NULL;
        size_t count = 0;
        for (const struct journal_entry *entry = first; entry != NULL; entry = entry->next) count++;
        if (count > 0) write_entries(writer, first);
        free_entries(first);
        journal_queue_done(&writer->queue, count);
        tick(writer);
    }
}

bool journal_writer_start(struct journal_writer *writer, struct fault *fault) {
    writer->rows = calloc(JOURNAL_BATCH_ROWS, sizeof *writer->rows);
    if (writer->rows == NULL) return fault_set(fault, FAULT_MEMORY, "no memory for the journal");
    open_or_set_aside(writer);
    writer->next_state_ms =
        journal_mono_ms() +
        (writer->options.state_ms < JOURNAL_STATE_FIRST ? writer->options.state_ms : JOURNAL_STATE_FIRST);
    int error = pthread_create(&writer->thread, NULL, run, writer);
    if (error != 0) return fault_set(fault, FAULT_IO, "no thread for the journal: %s", strerror(error));
    writer->started = true;
    return true;
}

void journal_writer_stop(struct journal_writer *writer) {
    journal_queue_end(&writer->queue);
    if (writer->started) pthread_join(writer->thread, NULL);
    journal_file_close(writer->file);
    journal_queue_release(&writer->queue);
    arena_release(&writer->scratch);
    free(writer->rows);
    pthread_mutex_destroy(&writer->mutex);
}
