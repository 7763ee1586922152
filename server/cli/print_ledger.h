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

// What they do: one node as it stands among the others.
void print_ledger_node_json(FILE *out, const struct node_report *report, struct arena *arena);
void print_ledger_node_text(FILE *out, const struct node_report *report, struct arena *arena);

// What they do: what follows on the nodes: claims on no single node, rejections, counts; in the JSON from the
// member "unplaced" to the last brace. Errors: false, memory.
bool print_ledger_rest_json(FILE *out, const struct ledger *ledger, struct arena *arena,
                            size_t *ret_rejections) __attribute__((warn_unused_result));
bool print_ledger_rest_text(FILE *out, const struct ledger *ledger, struct arena *arena,
                            size_t *ret_rejections) __attribute__((warn_unused_result));

#endif
