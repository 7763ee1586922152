// SPDX-License-Identifier: Apache-2.0
// What is written to the API server.
#ifndef DRAWBRIDGE_OPERATE_WRITE_KINDS_H
#define DRAWBRIDGE_OPERATE_WRITE_KINDS_H

enum write_kind {
    WRITE_LEASE,
    WRITE_NODE_LEDGER,
    WRITE_TAINT_RULE,
    WRITE_EVENT,
    WRITE_POD,
    WRITE_POLICY,
    WRITE_SECRET,
    WRITE_VALIDATING_HOOKS,
    WRITE_MUTATING_HOOKS,
    WRITE_KIND_COUNT
};
const char *write_kind_name(enum write_kind kind); // the resource, as in a metric

#endif
