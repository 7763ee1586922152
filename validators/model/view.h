// SPDX-License-Identifier: Apache-2.0
// What rules may ask of the cache and the ledger. Rules see nothing else of the server, so that judging stays
// pure: the server fills the table of functions, tests fill it with plain structs. Thread: the caller holds
// the store's mutex while a view is in use.
#ifndef DRAWBRIDGE_MODEL_VIEW_H
#define DRAWBRIDGE_MODEL_VIEW_H

#include "validators/model/object.h"

// "Not synced" and "not found" are answers of their own and never fall through to allow.
enum view_answer { VIEW_KNOWN, VIEW_NOT_FOUND, VIEW_NOT_SYNCED };

// The pool of a slice within one node scope: generations are compared within one scope only.
enum node_scope_kind { SCOPE_NODE, SCOPE_SELECTOR, SCOPE_ALL_NODES, SCOPE_PER_DEVICE };
struct node_scope {
    enum node_scope_kind kind;
    struct text value; // node name; the selector's exact JSON; else empty
};
struct pool_key {
    struct text driver;
    struct text pool;
    struct node_scope scope;
};

// The key of a slice's pool. Owner: views of the slice.
struct pool_key pool_key_of(const struct resource_slice *slice);

struct pool_state {
    int64_t live_generation; // the highest generation of a live slice
    struct text live_slice;  // the name of a slice that has it
    size_t slice_count;      // live slices of all generations
};

struct view_table {
    // The live slices of a pool, leaving out the slice with this name (the one under review).
    enum view_answer (*pool)(const void *state, const struct pool_key *key, struct text without_slice,
                             struct pool_state *ret_state);
    // status.allocatable[resource] of a node.
    enum view_answer (*node_allocatable)(const void *state, struct text node, struct text resource,
                                         struct quantity *ret_quantity);
};

struct view {
    const struct view_table *table;
    const void *state;
};

#endif
