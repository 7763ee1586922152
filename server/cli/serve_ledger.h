// SPDX-License-Identifier: Apache-2.0
// What `serve` keeps in --ledger-dir: the journal and the control socket, their metrics, and the commands
// that the socket answers.
#ifndef DRAWBRIDGE_CLI_SERVE_LEDGER_H
#define DRAWBRIDGE_CLI_SERVE_LEDGER_H

#include <pthread.h>

#include "server/http/exposition.h"
#include "server/ledger/journal.h"

struct control_socket;

struct serve_ledger {
    struct journal *journal; // NULL: there is no ledger folder
    struct control_socket *socket;
    struct store *store;
    struct collectors *collectors;
    const char *folder;
    pthread_mutex_t feed_mutex;
    void (*list_again)(void *feed); // NULL: there is no feed
    void *feed;
};

// What it does: begins to keep what the store is told, before any feed tells it; answers on the socket. With
// an empty folder nothing. Owner: the caller, serve_ledger_stop, also after a failure; folder, store and
// collectors must outlive it. Errors: FAULT_STATE another server uses the folder; FAULT_IO, FAULT_MEMORY.
bool serve_ledger_start(struct serve_ledger *ledger, const char *folder, struct store *store,
                        struct collectors *collectors, struct fault *fault)
    __attribute__((warn_unused_result));

// What it does: says how the feed is asked to tell everything again, after rows of the journal were lost.
// NULL: not any more; nobody asks it once this is back.
void serve_ledger_use_feed(struct serve_ledger *ledger, void (*list_again)(void *feed), void *feed);

// Ends both. The feeds must have ended. A zeroed one is allowed.
void serve_ledger_stop(struct serve_ledger *ledger);

#endif
