// SPDX-License-Identifier: Apache-2.0
// A small cluster in which things happen at random: nodes, drivers with pools of one node and of several,
// claims, Pods and PodGroups. What happens comes out as events, each kind in its order; at any time the whole
// can be listed. Without Criterion, so that programs of unit/tsan may use it, too: what goes wrong ends the
// program.
#ifndef DRAWBRIDGE_UNIT_WORLD_H
#define DRAWBRIDGE_UNIT_WORLD_H

#include "server/ledger/ledger.h"

#define WORLD_NODES       4
#define WORLD_POOLS       (WORLD_NODES * 2 + 2) // two drivers on each node with one pool name, and two wide pools
#define WORLD_POOL_SLICES 2
#define WORLD_DEVICES     4 // per slice
#define WORLD_CLAIMS      16
#define WORLD_PODS        12
#define WORLD_GROUPS      2
#define WORLD_CONSUMERS   2 // Pods that one claim may be reserved for at once

enum world_kind { WORLD_NODE, WORLD_SLICE, WORLD_CLAIM, WORLD_POD, WORLD_KINDS };
extern const enum object_kind world_object_kinds[WORLD_KINDS];

struct world_thing {
    bool exists;
    int uid; // rises with each making
    int64_t version;
};
struct world_node {
    struct world_thing thing;
    int cpu;
    int zone;
    bool cordoned;
};
struct world_slice {
    struct world_thing thing;
    int generation;
    int count;
    int millis[WORLD_DEVICES]; // what each device takes of cpu; of shareable ones, of each whole unit
};
struct world_claim {
    struct world_thing thing;
    bool allocated;
    bool let_in;     // written without an event, as a review that the API server then refused
    int allocations; // how often: the time of the allocation
    int pool;
    int device; // slice * WORLD_DEVICES + device
    int pods[WORLD_CONSUMERS];
    int pod_uids[WORLD_CONSUMERS];
    int pod_count;
    int group; // -1: none
};
struct world_pod {
    struct world_thing thing;
    int node;      // -1: not bound
    int nominated; // -1: not
    int claim;
    int group; // -1: none
    bool scheduled;
    bool done;
    int reports; // millis that status names; -1: no entry
};
struct world {
    uint64_t random;
    int minor;
    int64_t version;
    int uid;
    struct world_node nodes[WORLD_NODES];
    struct world_slice slices[WORLD_POOLS][WORLD_POOL_SLICES];
    struct world_claim claims[WORLD_CLAIMS];
    struct world_pod pods[WORLD_PODS];
    // Told of each event. The object lives in the arena.
    void (*event)(void *context, enum world_kind kind, const struct ledger_event *event);
    // Asked before the event of an allocation: a review lets it in. NULL: nobody is.
    void (*review)(void *context, const struct resource_claim *claim, int64_t old_version,
                   struct text pod_uid, struct text node);
    void *context;
    struct arena *arena;
};

void world_must(bool fine, const char *what);

uint64_t world_random(struct world *world);
int world_below(struct world *world, int count);

// What it does: lets something happen.
void world_step(struct world *world);

// What it does: an event for each claim that was let in and did not come to be, as time would end them.
void world_end_reviews(struct world *world);

// What it does: an ADDED event for each thing of a kind. Objects live in the arena.
typedef void world_visit(void *context, const struct ledger_event *event);
void world_list(const struct world *world, enum world_kind kind, struct arena *arena, world_visit *visit,
                void *context);

// The key of a device of a pool. Owner: the arena.
struct device_key world_device(struct arena *arena, int pool, int device);

#endif
