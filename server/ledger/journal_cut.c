// SPDX-License-Identifier: Apache-2.0
// One scan up to the place of the cut, then one transaction.
#include "server/ledger/journal_cut.h"

#include <stdlib.h>

#include "server/ledger/journal_fold.h"

struct cut {
    struct journal_fold fold;
    int64_t wanted_seq;
    struct journal_batch at; // seq 0: no place was found
};

static bool see_row(void *context, const struct journal_row *row, struct fault *fault) {
    struct cut *cut = context;
    return journal_fold_row(&cut->fold, row, fault);
}

static bool see_batch(void *context, const struct journal_batch *batch) {
    struct cut *cut = context;
    if (batch->seq < cut->wanted_seq || journal_fold_is_listing(&cut->fold)) return true;
    cut->at = *batch;
    return false;
}

static bool cut_at(struct journal_file *file, const struct cut *cut, struct fault *fault) {
    int64_t *ids;
    size_t count;
    if (!journal_fold_kept(&cut->fold, &ids, &count, fault)) return false;
    bool done = journal_file_rebase(file, &cut->at, ids, count, fault);
    free(ids);
    return done;
}

bool journal_cut(struct journal_file *file, int64_t limit_bytes, int64_t oldest_ms, struct fault *fault) {
    struct cut cut = {.wanted_seq = journal_file_over(file, limit_bytes, oldest_ms)};
    if (cut.wanted_seq == 0) return true;
    journal_fold_init(&cut.fold);
    const struct journal_visitor visitor = {.row = see_row, .batch = see_batch, .context = &cut};
    bool fine = journal_file_scan(file, &visitor, fault);
    if (fine && cut.at.seq > 0) fine = cut_at(file, &cut, fault);
    journal_fold_release(&cut.fold);
    return fine;
}
