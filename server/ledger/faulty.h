// SPDX-License-Identifier: Apache-2.0
// Devices of a node's own pools that nobody should get at present, because it cannot be told which one a
// claim would have: two slices of the newest generation have it (device-duplicate), or, on 1.36, another
// driver has a pool and a device of the same names with another mapping (device-ambiguous).
#ifndef DRAWBRIDGE_LEDGER_FAULTY_H
#define DRAWBRIDGE_LEDGER_FAULTY_H

#include "server/ledger/ledger.h"

#define FAULTY_DEVICES_LIMIT 256u // of one node
#define FAULTY_SLICES_LIMIT  32u  // of one pool that are compared with each other

struct faulty_device {
    struct text driver;
    struct text pool;
    struct text device;
    const char *rule; // static text
};
struct faulty_device_list {
    struct faulty_device *items;
    size_t count;
};

// What it does: lists them. Texts hold until the ledger changes. A node that is not known has none. Owner:
// the arena. Errors: false, arena poisoned.
bool ledger_faulty_devices(const struct ledger *ledger, struct text node, struct arena *arena,
                           struct faulty_device_list *ret_devices) __attribute__((warn_unused_result));

#endif
