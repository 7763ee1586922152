// SPDX-License-Identifier: Apache-2.0
// The bounded queue between the store and the journal's thread. The store's side never waits: what has no
// room is dropped and counted, and a GAP row takes its place in the order. Thread: any.
#ifndef DRAWBRIDGE_LEDGER_JOURNAL_QUEUE_H
#define DRAWBRIDGE_LEDGER_JOURNAL_QUEUE_H

#include <pthread.h>

#include "server/ledger/journal_row.h"

struct journal_entry {
    struct journal_entry *next;
    size_t bytes;
    struct journal_row row; // its texts are behind this struct
};

struct journal_queue {
    pthread_mutex_t mutex;
    pthread_cond_t more;    // rows came, or the end, or somebody waits for the end of writing
    pthread_cond_t written; // rows left
    struct journal_entry *first;
    struct journal_entry *last;
    size_t count;
    size_t bytes;
    size_t limit_bytes;
    size_t audit_bytes; // of them in AUDIT rows
    uint64_t pushed_count;
    uint64_t written_count;
    uint64_t dropped_count; // in all
    uint64_t gap_rows;      // dropped since the last GAP row
    int64_t gap_from_ms;    // when the first of them was
    int64_t oldest_mono_ms; // when the first entry came
    unsigned flush_count;   // who waits
    bool ended;
};

void journal_queue_init(struct journal_queue *queue, size_t limit_bytes);
void journal_queue_release(struct journal_queue *queue);

// What it does: puts a copy of a row at the end; the time is now. Without room it is counted as dropped.
void journal_queue_push(struct journal_queue *queue, const struct journal_row *row);

// What it does: the same for an AUDIT row, which may take a share of the room and no more: whoever causes
// many must not push out what the ledger was told. False when it has no room; nothing stands for it then.
bool journal_queue_push_audit(struct journal_queue *queue, const struct journal_row *row)
    __attribute__((warn_unused_result));

// The same, but only when nothing was pushed since pushed_count was read. False when there was.
bool journal_queue_push_if(struct journal_queue *queue, const struct journal_row *row, uint64_t pushed_count);
uint64_t journal_queue_pushed(struct journal_queue *queue);
uint64_t journal_queue_dropped(struct journal_queue *queue);

// What it does: counts rows as dropped that could not even be made.
void journal_queue_drop(struct journal_queue *queue, uint64_t rows);

// What it does: waits for the next batch: at most `most` entries once there are so many, or once the first
// has waited batch_ms, or when somebody waits, or at the end; at most wait_ms. Owner: the caller, each entry
// by free. NULL: nothing came.
struct journal_entry *journal_queue_take(struct journal_queue *queue, size_t most, int64_t batch_ms,
                                         int64_t wait_ms);

// What it does: notes that entries that were taken are written, or lost for good.
void journal_queue_done(struct journal_queue *queue, size_t count);

// What it does: waits until all that was pushed before is done. False when it is not within wait_ms.
bool journal_queue_flush(struct journal_queue *queue, int64_t wait_ms);

// What it does: ends the queue: what is there can still be taken.
void journal_queue_end(struct journal_queue *queue);
bool journal_queue_is_ended(struct journal_queue *queue);

int64_t journal_wall_ms(void);
int64_t journal_mono_ms(void);

#endif
