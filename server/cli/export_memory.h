// SPDX-License-Identifier: Apache-2.0
// What a ledger remembers and its objects do not say, as NodeLedgers in an export: under which mapping bound
// claims were admitted, and the highest generation that a pool had.
#ifndef DRAWBRIDGE_CLI_EXPORT_MEMORY_H
#define DRAWBRIDGE_CLI_EXPORT_MEMORY_H

#include "server/ledger/report.h"

// What it does: the event {"type":"ADDED","object":…} of what ledger_node_memory tells of a node, without a
// line end. Owner: the caller, free. Errors: NULL, memory or a name that is no UTF-8.
char *export_memory_line(const struct node_ledger *memory, int minor, struct arena *arena)
    __attribute__((warn_unused_result));

#endif
