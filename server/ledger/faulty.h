// SPDX-License-Identifier: Apache-2.0
// Devices that a node sees and that nobody should get at present: it cannot be told which one a claim would
// have, because two slices of the newest generation have it (device-duplicate) or, on 1.36, another driver
// has a pool and a device of the same names with another mapping (device-ambiguous); or a rule about mappings
// denies what it says. Devices that take nothing of their node are never among them.
#ifndef DRAWBRIDGE_LEDGER_FAULTY_H
#define DRAWBRIDGE_LEDGER_FAULTY_H

#include "server/ledger/ledger.h"

#define FAULTY_DEVICES_LIMIT 256u // of one node
#define FAULTY_SLICES_LIMIT  32u  // of one pool that are compared with each other

struct faulty_device {
    struct text driver;
    struct text pool;
    struct text device; // empty: every device of the pool
    const char *rule;   // static text
    // A pool of this name is on another node too, and has the device without a fault there (or there are too
    // many to tell): no rule that names driver, pool and device may keep it away.
    bool sound_elsewhere;
};
struct faulty_device_list {
    struct faulty_device *items; // by driver, pool, device
    size_t count;
};

// What it does: lists them under the policy in force. Texts hold until the ledger changes. A node that is not
// known has none. Owner: the arena. Errors: false, arena poisoned.
bool ledger_faulty_devices(const struct ledger *ledger, struct text node, struct arena *arena,
                           struct faulty_device_list *ret_devices) __attribute__((warn_unused_result));

#endif
