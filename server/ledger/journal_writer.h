// SPDX-License-Identifier: Apache-2.0
// The journal's thread: rows from the queue into the file; bounds, state rows, files set aside. Internal to
// the journal.
#ifndef DRAWBRIDGE_LEDGER_JOURNAL_WRITER_H
#define DRAWBRIDGE_LEDGER_JOURNAL_WRITER_H

#include "server/ledger/journal.h"
#include "server/ledger/journal_file.h"
#include "server/ledger/journal_queue.h"

struct journal_writer {
    struct journal_options options;
    struct journal_queue queue;
    pthread_t thread;
    bool started;
    // The thread's own.
    struct journal_file *file; // NULL: it cannot be used at the moment
    struct arena scratch;      // of one batch
    struct journal_row *rows;
    int64_t next_look_ms; // monotonic, as the others
    int64_t next_state_ms;
    int64_t next_try_ms;
    int64_t last_relist_ms;
    bool relist_wanted;
    int minor; // of the session
    // What is counted.
    pthread_mutex_t mutex;
    struct journal_counts counts;
};

void journal_writer_init(struct journal_writer *writer, const struct journal_options *options);

// What it does: opens the file and starts the thread. Errors: FAULT_MEMORY, FAULT_IO; stop is needed all the
// same.
bool journal_writer_start(struct journal_writer *writer, struct fault *fault)
    __attribute__((warn_unused_result));

// What it does: writes what is left, ends the thread, frees all.
void journal_writer_stop(struct journal_writer *writer);

void journal_writer_counts(struct journal_writer *writer, struct journal_counts *ret_counts);

#endif
