// SPDX-License-Identifier: Apache-2.0
// What the ledger holds. Internal to server/ledger: others ask through ledger.h and view.h.
#ifndef DRAWBRIDGE_LEDGER_STATE_H
#define DRAWBRIDGE_LEDGER_STATE_H

#include "server/ledger/ledger.h"
#include "server/ledger/names.h"

struct node_entry;
struct pool_entry;

// A resource and an amount of it. The quantity is a computed one: it has no source text.
struct amount {
    const struct name *resource;
    struct quantity quantity;
};
struct amounts {
    struct amount *items; // sorted by the resource's text
    size_t count;
};

// A live ResourceSlice.
struct slice_entry {
    struct link by_name;
    const struct name *name;
    const struct name *uid;
    int64_t resource_version;
    struct pool_entry *pool;
    struct slice_entry *pool_next; // the other slices of the pool
    int64_t generation;
    int64_t resource_slice_count;
    uint64_t list_round; // the list in which it was seen last
};

// The slices of one (driver, pool, node scope).
struct pool_entry {
    struct link by_key;
    const struct name *driver;
    const struct name *pool;
    enum node_scope_kind scope;
    const struct name *scope_value; // the empty name where the scope has none
    struct slice_entry *slices;
    int64_t
        retired_generation; // the highest generation that ever was; a restart below it starts a quarantine
};

struct node_entry {
    struct link by_name;
    const struct name *name;
    const struct name *uid;
    int64_t resource_version;
    struct amounts allocatable;
    uint64_t list_round;
};

// The last version of an object that is gone, so that an older event does not bring it back.
struct tombstone {
    struct link by_uid;
    const struct name *uid;
    int64_t resource_version;
    struct tombstone *next; // in the order of deletion
};
#define TOMBSTONES_MAX 65536u

struct kind_state {
    bool synced;
    bool listing;
    uint64_t list_round;
    int64_t alive_ms;
};

struct ledger {
    struct ledger_options options;
    struct heap heap;
    struct name_table names;
    struct index slices; // by name
    struct index pools;  // by key
    struct index nodes;  // by name
    struct index tombstones;
    struct tombstone *oldest_tombstone;
    struct tombstone *newest_tombstone;
    struct kind_state kinds[KIND_NODE_LEDGER + 1];
    int64_t now_ms;
};

// ---- helpers of ledger.c

// What it does: tells whether an event about an object may be applied: LEDGER_APPLIED, or the outcome that
// ends it. known_uid is NULL when the object is not held.
enum ledger_outcome order_of(const struct ledger *ledger, const struct name *known_uid, int64_t known_version,
                             const struct ledger_event *event);

// What it does: remembers a deleted object. The oldest is forgotten when there are too many. Errors: false,
// memory.
bool tombstone_add(struct ledger *ledger, const struct name *uid, int64_t resource_version)
    __attribute__((warn_unused_result));

// What it does: a copy of a map of quantities, sorted by name. Errors: false, memory; untouched then.
bool amounts_copy(struct ledger *ledger, const struct quantity_map *map, struct amounts *ret_amounts)
    __attribute__((warn_unused_result));
void amounts_release(struct ledger *ledger, struct amounts *amounts);

// ---- one file a kind: apply, and remove what a list did not have

enum ledger_outcome slice_apply(struct ledger *ledger, const struct ledger_event *event);
void slices_sweep(struct ledger *ledger, uint64_t list_round);
void slices_release(struct ledger *ledger);
enum ledger_outcome node_apply(struct ledger *ledger, const struct ledger_event *event);
void nodes_sweep(struct ledger *ledger, uint64_t list_round);
void nodes_release(struct ledger *ledger);

// Lookups that the view uses; NULL when there is none.
const struct pool_entry *pool_find(const struct ledger *ledger, const struct pool_key *key);
const struct node_entry *node_find(const struct ledger *ledger, struct text name);

#endif
