// SPDX-License-Identifier: Apache-2.0
// The ledger as JSON and as text: what `ledger replay` and `ledger show` print.
#ifndef DRAWBRIDGE_CLI_PRINT_LEDGER_H
#define DRAWBRIDGE_CLI_PRINT_LEDGER_H

#include <stdio.h>

#include "server/ledger/report.h"

// What was counted while a ledger was printed.
struct ledger_print_totals {
    size_t node_count;
    size_t divergence_count;
    size_t rejection_count;
};

// What they do: print the whole ledger, one node at a time. With all_settled every difference counts, settled
// or not; others are left out. Errors: false and a fault, with the output cut short.
bool print_ledger_json(FILE *out, const struct ledger *ledger, int minor, bool all_settled,
                       struct ledger_print_totals *ret_totals, struct fault *fault);
bool print_ledger_text(FILE *out, const struct ledger *ledger, int minor, bool all_settled,
                       struct ledger_print_totals *ret_totals, struct fault *fault);

// What it does: one node as it stands among the others in the JSON.
void print_ledger_node_json(FILE *out, const struct node_report *report, struct arena *arena);

#endif
