// SPDX-License-Identifier: Apache-2.0
// The ledger's books as metrics: gauges of each node whose drivers have mappings (switchable), and what is
// counted over all of them.
#ifndef DRAWBRIDGE_CLI_SERVE_BOOKS_H
#define DRAWBRIDGE_CLI_SERVE_BOOKS_H

#include "server/http/exposition.h"
#include "server/ledger/store.h"

struct serve_books {
    struct store *store; // NULL: there is no ledger
    struct collectors *collectors;
    bool nodes; // gauges of single nodes
};

// What it does: begins to show the books of a store (NULL: there are none). Owner: the caller,
// serve_books_stop, before the store ends. Errors: FAULT_LIMIT.
bool serve_books_start(struct serve_books *books, struct store *store, bool nodes,
                       struct collectors *collectors, struct fault *fault)
    __attribute__((warn_unused_result));
void serve_books_stop(struct serve_books *books);

#endif
