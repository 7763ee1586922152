// SPDX-License-Identifier: Apache-2.0
// Where two ledgers differ, in the JSON that `ledger replay` prints.
#ifndef DRAWBRIDGE_CLI_LEDGER_COMPARE_H
#define DRAWBRIDGE_CLI_LEDGER_COMPARE_H

#include <jansson.h>

// What it does: compares totals, NUMA sub-ledgers, rows, divergence and drivers of all nodes, and the rows on
// no single node. Not compared is what depends on when and by whom it was looked at: states, causes, times, a
// node's count of changes, rejections, counts. Owner: the caller, json_decref: a list of {"node","path","a",
// "b"}, null where one side has nothing. Errors: NULL, memory.
json_t *ledger_compare(const json_t *a, const json_t *b) __attribute__((warn_unused_result));

#endif
