// SPDX-License-Identifier: Apache-2.0
// The journal's file: SQLite in WAL mode, rows in batches, and a chain of SHA-256 digests over the batches,
// so that a byte that changed, a row that went missing in the middle or one that was put in is found. What a
// crash takes is whole batches at the end.
//
// A batch's digest is over the digest before it, its own columns, and every column of its rows. After a cut
// the first batch is a base: it holds the rows that are still needed (ids with holes) and hands the old
// digest on, so that the chain goes on unbroken. Thread: one at a time.
#ifndef DRAWBRIDGE_LEDGER_JOURNAL_FILE_H
#define DRAWBRIDGE_LEDGER_JOURNAL_FILE_H

#include "server/ledger/journal_row.h"
#include "validators/core/fault.h"

#define JOURNAL_FILE_NAME      "journal.db"
#define JOURNAL_SCHEMA_VERSION 1
#define JOURNAL_DIGEST_BYTES   32u

struct journal_file;

// What it does: opens the file; for writing it is made when it is not there, 0600. Owner: the caller,
// journal_file_close. Errors: FAULT_INPUT it is damaged or no journal; FAULT_STATE another schema version;
// FAULT_IO; FAULT_MEMORY.
bool journal_file_open(const char *path, bool for_writing, struct journal_file **ret_file,
                       struct fault *fault) __attribute__((warn_unused_result));
void journal_file_close(struct journal_file *file);

// What it does: one batch: all rows or none. Their ids follow on the last one, whatever they say. Errors:
// FAULT_INPUT the file is damaged, FAULT_IO.
bool journal_file_append(struct journal_file *file, const struct journal_row *rows, size_t count,
                         int64_t at_ms, struct fault *fault) __attribute__((warn_unused_result));

struct journal_batch {
    int64_t seq;
    bool base;
    int64_t first_id;
    int64_t last_id;
    int64_t row_count;
    int64_t bytes; // of the rows' texts
    int64_t at_ms;
    unsigned char previous[JOURNAL_DIGEST_BYTES];
    unsigned char digest[JOURNAL_DIGEST_BYTES];
};

// Told of each row in order, and of the end of each batch once its digest was found right (NULL: not told).
// row: false ends the scan as failed, with the fault set. batch: false ends it there, as a success.
struct journal_visitor {
    bool (*row)(void *context, const struct journal_row *row, struct fault *fault);
    bool (*batch)(void *context, const struct journal_batch *batch);
    void *context;
};

// What it does: reads all rows, of one moment, and verifies the chain on the way. visitor NULL: only
// verifies. Errors: FAULT_INPUT with the batch where the chain breaks; FAULT_IO; what the visitor said.
bool journal_file_scan(struct journal_file *file, const struct journal_visitor *visitor, struct fault *fault)
    __attribute__((warn_unused_result));

// The object of one row. Errors: as scan.
bool journal_file_json(struct journal_file *file, int64_t id, struct arena *arena, struct text *ret_json,
                       struct fault *fault) __attribute__((warn_unused_result));

// What it does: the id of the last START; 0 when there is none. Errors: FAULT_INPUT, FAULT_IO.
bool journal_file_last_start(struct journal_file *file, int64_t *ret_id, struct fault *fault)
    __attribute__((warn_unused_result));

// Bytes that the rows take in the file; pages that are free for use again do not count.
int64_t journal_file_bytes(struct journal_file *file);

// The batches that would have to go: up to which seq. 0 when none.
int64_t journal_file_over(struct journal_file *file, int64_t limit_bytes, int64_t oldest_ms);

// What it does: makes the batches up to and with this one a base that holds only these rows (ids, rising).
// Errors: FAULT_INPUT, FAULT_IO; nothing is changed then.
bool journal_file_rebase(struct journal_file *file, const struct journal_batch *last, const int64_t *kept_ids,
                         size_t kept_count, struct fault *fault) __attribute__((warn_unused_result));

// The last digest, as evidence elsewhere. Zeros while the file is empty.
void journal_file_head(const struct journal_file *file, unsigned char ret_digest[JOURNAL_DIGEST_BYTES]);

#endif
