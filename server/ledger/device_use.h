// SPDX-License-Identifier: Apache-2.0
// A device that an allocation under review uses, and who takes of it already. Internal to server/ledger.
#ifndef DRAWBRIDGE_LEDGER_DEVICE_USE_H
#define DRAWBRIDGE_LEDGER_DEVICE_USE_H

#include "server/ledger/state.h"

struct used_device {
    const struct pool_group *group;
    const struct name *device;
    const struct shape *shape; // in the highest generation
    bool certain;              // that generation is complete, and there is but one place that could be meant
};

// What it does: finds the device of a result as a node sees it; node NULL: in pools that are of no single
// node. Errors: false when it is not there.
bool device_used(const struct ledger *ledger, const struct allocation_result *result,
                 const struct node_entry *node, struct used_device *ret_used);

// What it does: fills what the footprint of a result is computed from; the row is in no list and has no shape
// yet. Errors: false, the arena.
bool result_row(const struct ledger *ledger, const struct allocation_result *result, struct arena *arena,
                struct row *ret_row);

struct taking {
    const struct ledger *ledger;
    const struct used_device *used;
    const struct node_entry *node; // as for device_used
    struct text without_uid;       // the claim under review
    bool with_held;                // also claims that no live Pod on the node consumes
    struct arena *arena;
};
typedef void taker_visit(const struct row *row, void *context);

// What it does: visits the rows of a device, then, as rows, what was let in and is not seen yet; each claim
// and share once. Errors: ends early when the arena is poisoned.
void each_taker(const struct taking *taking, taker_visit *visit, void *context);

#endif
