// SPDX-License-Identifier: Apache-2.0
// Allocations that were let in a moment ago and are not seen in the cache yet, so that two of one device, a
// millisecond apart, do not both pass. The gate records them in the same critical section in which it judged.
// Keyed like rows; a claim that is written again replaces its own. Thread: as the ledger.
#ifndef DRAWBRIDGE_LEDGER_PROVISIONAL_H
#define DRAWBRIDGE_LEDGER_PROVISIONAL_H

#include "server/ledger/amounts.h"
#include "server/ledger/names.h"
#include "validators/model/resource_claim.h"

struct ledger;

#define PROVISIONAL_LIFE_MS INT64_C(2000)
#define PROVISIONAL_MAX     65536u // devices

struct pending_claim;

struct pending_device {
    struct link by_device;
    struct pending_claim *claim;
    const struct name *driver;
    const struct name *pool;
    const struct name *device;
    const struct name *share;
    struct amounts consumed; // of its capacities
    bool linked;
};

struct pending_claim {
    struct link by_claim;
    struct link by_pod;
    const struct name *uid;
    const struct name *pod;  // that it is reserved for; the empty name: none
    const struct name *node; // where it will be used; the empty name: not one node
    int64_t version;         // of the claim before the write
    int64_t since_ms;
    struct pending_claim *next; // in the order of time
    struct pending_claim *previous;
    struct pending_device *devices;
    size_t device_count;
};

struct provisional {
    struct index by_claim;
    struct index by_pod;
    struct index by_device;
    struct pending_claim *oldest;
    struct pending_claim *newest;
    size_t device_count;
};

void provisional_init(struct ledger *ledger);
void provisional_release(struct ledger *ledger);

// What it does: an event about a claim: it was confirmed, deallocated or deleted. Older events change
// nothing.
void provisional_seen(struct ledger *ledger, struct text uid, int64_t resource_version, bool deleted);

// What it does: lets go of what is too old, but not while the watch of claims is not alive.
void provisional_expire(struct ledger *ledger);

// The first entry of a device, a claim, or a Pod, then the next one; NULL at the end.
const struct pending_device *provisional_of_device(const struct ledger *ledger, const struct name *driver,
                                                   const struct name *pool, const struct name *device,
                                                   const struct pending_device *after);
const struct pending_claim *provisional_of_claim(const struct ledger *ledger, const struct name *uid,
                                                 const struct pending_claim *after);
const struct pending_claim *provisional_of_pod(const struct ledger *ledger, const struct name *pod,
                                               const struct pending_claim *after);

#endif
