// SPDX-License-Identifier: Apache-2.0
// What of a journal's rows is live at a moment: the newest row of each object, since the last start. The cut
// keeps those, the export prints them. Thread: one at a time.
#ifndef DRAWBRIDGE_LEDGER_JOURNAL_FOLD_H
#define DRAWBRIDGE_LEDGER_JOURNAL_FOLD_H

#include "server/ledger/journal_row.h"
#include "validators/core/fault.h"

struct journal_live {
    int64_t last_id;  // its newest row
    int64_t first_id; // where it came to be what it is: a claim's allocation, else its first row
    enum object_kind kind;
    uint64_t list_round;
    bool allocated;
    bool live;
    uint64_t hash;
    size_t key_len; // namespace, NUL, name
    char *key;
    char *uid;
    size_t uid_len;
};

struct journal_fold {
    struct journal_live *items; // an open table; unused ones have no key
    size_t room_count;          // a power of two, or 0
    size_t used_count;
    int64_t start_id; // the last START; 0: none
    uint64_t list_rounds[KIND_NODE_LEDGER + 1];
    bool listing[KIND_NODE_LEDGER + 1];
    bool lacking[KIND_NODE_LEDGER + 1];         // since a gap no list of the kind was complete
    int64_t list_end_ids[KIND_NODE_LEDGER + 1]; // 0: never listed
    int64_t gap_id;                             // the last GAP; 0: none
    uint64_t gap_count;
    struct arena scratch;
};

void journal_fold_init(struct journal_fold *fold);
void journal_fold_release(struct journal_fold *fold);

// What it does: takes the next row. Errors: false and a fault: memory.
bool journal_fold_row(struct journal_fold *fold, const struct journal_row *row, struct fault *fault)
    __attribute__((warn_unused_result));

// Whether a list is under way.
bool journal_fold_is_listing(const struct journal_fold *fold);

// What it does: the ids of the rows that make up what is live, rising, with the START. Owner: the caller,
// free. Errors: false, memory.
bool journal_fold_kept(const struct journal_fold *fold, int64_t **ret_ids, size_t *ret_count,
                       struct fault *fault) __attribute__((warn_unused_result));

// What it does: the live objects in the order in which an export has them: by kind, then as they came to be.
// Owner: the caller, free (the items are the fold's). Errors: false, memory.
bool journal_fold_order(const struct journal_fold *fold, const struct journal_live ***ret_items,
                        size_t *ret_count, struct fault *fault) __attribute__((warn_unused_result));

#endif
