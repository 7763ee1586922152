// SPDX-License-Identifier: Apache-2.0
// What the folder feed has told the store, and the events that lead from there to what the files say now.
#ifndef DRAWBRIDGE_FEED_APPLIED_H
#define DRAWBRIDGE_FEED_APPLIED_H

#include "server/feed/feed_state.h"
#include "server/feed/folder.h"
#include "server/ledger/store.h"

// An object that the store has. The texts are one block behind this struct.
struct applied_object {
    struct manifest manifest;
    int64_t resource_version;
};

struct applied {
    struct applied_object **items; // in the order of manifest_compare
    size_t count;
    int64_t next_version;
    bool listed; // the first list is complete: the kinds are synced
};

void applied_release(struct applied *applied);

// What it does: makes the store hold what the files say: what is gone first, then what is new or changed,
// each with a version of its own. Of an object that is in two files the first counts. When all is in and
// `complete`, the kinds are synced. Errors: false when something could not be told; the next call tries
// again.
bool applied_update(struct applied *applied, const struct folder_files *files, bool complete, int minor,
                    struct store *store, struct feed_state *state, struct fault *fault)
    __attribute__((warn_unused_result));

// What it does: tells the store of all that it was told as a list, unchanged. Errors: false; the list is
// given up.
bool applied_list_again(struct applied *applied, int minor, struct store *store, struct feed_state *state,
                        struct fault *fault) __attribute__((warn_unused_result));

#endif
