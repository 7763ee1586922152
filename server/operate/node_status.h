// SPDX-License-Identifier: Apache-2.0
// NodeLedger.status of a node, made of its report. Pure. The short form is what is compared and planned by:
// state, drivers, unusable devices and summary.
#ifndef DRAWBRIDGE_OPERATE_NODE_STATUS_H
#define DRAWBRIDGE_OPERATE_NODE_STATUS_H

#include <jansson.h>

#include "server/ledger/report.h"

#define NODE_STATUS_DRIVERS 256u // entries that are written down; the rest is counted in `omitted`
#define NODE_STATUS_CLAIMS  1024u
#define NODE_STATUS_CAUSE   1024u // bytes, as the CRD
#define NODE_STATUS_PARTS   64u   // resources, NUMA nodes twice as many

// What it does: the status. memory: what a ledger that starts anew must know of the node; claims are written
// as it has them; NULL for a short one. minor: of Kubernetes, by which it was counted. Owner: the caller; the
// arena is for what is made in between. Errors: NULL, memory.
json_t *node_status_of(const struct node_report *report, const struct node_ledger *memory, int minor,
                       struct arena *arena);

// What it does: a number that changes when something in a status changes that is worth a write. Seconds that
// a cause counts up are not, nor is the node's version by itself.
uint64_t node_status_digest(const json_t *status);

#endif
