// SPDX-License-Identifier: Apache-2.0
// The folder feed: the manifests of one folder are the control plane. Each object gets a rising
// resourceVersion and, where the file has none, a UID that is always the same; what changes in the files
// becomes events. A file that is half written or cannot be read waits: what it said last stays in force.
// Subfolders are not followed, hidden names neither.
#ifndef DRAWBRIDGE_FEED_DIRFEED_H
#define DRAWBRIDGE_FEED_DIRFEED_H

#include "server/feed/feed_state.h"
#include "server/ledger/store.h"
#include "validators/core/fault.h"

#define DIRFEED_POLL_MS 5000 // the contents are compared so often, whatever notification says

struct dirfeed_options {
    const char *folder; // copied
    int minor;          // objects are read as this minor does
    int64_t poll_ms;    // 0: DIRFEED_POLL_MS
    struct store *store;
    struct feed_state *state;
};

struct dirfeed;

// What it does: begins to follow the folder, in a thread of its own. Owner: the caller, dirfeed_free; store
// and state must outlive it. Errors: FAULT_USAGE when the folder cannot be opened, FAULT_IO, FAULT_MEMORY.
bool dirfeed_new(const struct dirfeed_options *options, struct dirfeed **ret_feed, struct fault *fault)
    __attribute__((warn_unused_result));

// What it does: asks that all objects are told again as a list, for somebody who has missed events. Thread:
// any.
void dirfeed_list_again(struct dirfeed *feed);

// Ends the thread. NULL is allowed. The store keeps what it has.
void dirfeed_free(struct dirfeed *feed);

#endif
