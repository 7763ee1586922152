// SPDX-License-Identifier: Apache-2.0
// The journal: this replica's evidence of what it was told and what the ledger made of it. Nothing waits for
// it and no verdict needs it: when it fails, rows are missing, a GAP row and a metric say so, and all else
// goes on.
//
// Rows go through a bounded queue to a thread of its own, which writes them in batches (100 ms or 1,000
// rows). A file whose chain is broken is set aside as corrupt-…, and a new one is begun. Heartbeats (Leases)
// and bookmarks are not kept: they move clocks only.
#ifndef DRAWBRIDGE_LEDGER_JOURNAL_H
#define DRAWBRIDGE_LEDGER_JOURNAL_H

#include "server/ledger/journal_row.h"
#include "server/ledger/store.h"

#define JOURNAL_BATCH_MS    100
#define JOURNAL_BATCH_ROWS  1000u
#define JOURNAL_QUEUE_BYTES ((size_t)32 << 20)
#define JOURNAL_FILE_BYTES  ((int64_t)256 << 20)
#define JOURNAL_KEEP_MS     ((int64_t)7 * 24 * 3600 * 1000)
#define JOURNAL_STATE_MS    ((int64_t)10 * 60 * 1000)
#define JOURNAL_STATE_FIRST 10000 // the first state row comes so soon: restarts are to be checked early
#define JOURNAL_LOOK_MS     60000 // how often the bounds are looked at
#define JOURNAL_STATE_BYTES 256
#define JOURNAL_ASIDE_LIMIT 4 // files that were set aside and are kept

struct journal_options {
    const char *folder; // copied; made when it is not there
    size_t queue_bytes; // 0: as above; so for all numbers
    int64_t file_bytes;
    int64_t keep_ms;
    int64_t state_ms;
    // What it does: a line of JSON about what the ledger shows now. False when it cannot be told. Called by
    // the journal's thread. NULL: no STATE rows.
    bool (*state)(void *context, char *ret_json, size_t json_bytes);
    // What it does: asks the feed to list everything again, after rows were lost. NULL: nobody is asked.
    void (*relist)(void *context);
    void *context;
};

struct journal;

// What it does: locks the folder and opens the file. Owner: the caller, journal_free. Errors:
// FAULT_STATE another process uses the folder; FAULT_IO the folder cannot be used; FAULT_MEMORY. A file that
// cannot be used is no error: it is set aside, or tried again later.
bool journal_new(const struct journal_options *options, struct journal **ret_journal, struct fault *fault)
    __attribute__((warn_unused_result));

// What it does: writes what is waiting, ends the thread, closes the file. NULL is allowed. Nobody may still
// tell it anything.
void journal_free(struct journal *journal);

// What they do: begin and end to keep what a store is told, from its empty ledger on. Thread: any.
void journal_attach(struct journal *journal, struct store *store);
void journal_detach(struct store *store);

// What it does: keeps a verdict, a denial or an operator's action, one JSON object. Never waits. False when
// there is no room for it. Thread: any.
bool journal_audit(struct journal *journal, struct text json);

// What it does: waits until all that was told before is in the file. False when it is not within wait_ms.
bool journal_flush(struct journal *journal, int64_t wait_ms);

struct journal_counts {
    uint64_t rows;
    uint64_t batches;
    uint64_t gaps;         // GAP rows written
    uint64_t dropped_rows; // that the gaps stand for
    uint64_t set_aside;    // files
    uint64_t errors;       // writes that failed
    int64_t file_bytes;
    size_t queue_bytes;
    bool failing; // the last write failed
};
void journal_counts(struct journal *journal, struct journal_counts *ret_counts);

#endif
