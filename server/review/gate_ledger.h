// SPDX-License-Identifier: Apache-2.0
// The two doors from the gate to the ledger: through the store's mutex, as the server goes, and straight, for
// suites and tests that have one thread.
#ifndef DRAWBRIDGE_REVIEW_GATE_LEDGER_H
#define DRAWBRIDGE_REVIEW_GATE_LEDGER_H

#include "server/ledger/store.h"
#include "server/review/gate.h"

// Owner: the caller keeps the store, or the ledger, alive as long as the gate.
struct gate_store gate_store_of(struct store *store);
struct gate_store gate_store_of_ledger(struct ledger *ledger);

#endif
