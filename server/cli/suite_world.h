// SPDX-License-Identifier: Apache-2.0
// What a case happens in: a ledger, a clock, and the objects as they were seen last. Each case starts anew.
#ifndef DRAWBRIDGE_CLI_SUITE_WORLD_H
#define DRAWBRIDGE_CLI_SUITE_WORLD_H

#include "server/cli/suite.h"

#define SUITE_START_MS INT64_C(1767225600000) // 2026-01-01T00:00:00Z

struct world_object {
    enum object_kind kind;
    struct text namespace;
    struct text name;
    struct text uid;
    struct text json; // with uid, namespace and resourceVersion
    int64_t resource_version;
    bool live;
    unsigned births; // how often an object of this name came to be
};
struct world_object_list {
    struct world_object *items;
    size_t count;
};

struct suite_world {
    struct arena *arena; // of the case
    const struct suite *suite;
    struct ledger *ledger;
    int64_t now_ms;
    int64_t newest_version;
    struct world_object_list objects;
};

// What it does: starts a case: the suite's objects, its policy and those of the case are listed, but for the
// kinds that the case says are not synced. Errors: false and a fault; *ret_path is the place.
bool suite_world_start(struct suite_world *world, struct arena *arena, const struct suite *suite,
                       const struct suite_case *one, struct text *ret_path, struct fault *fault)
    __attribute__((warn_unused_result));
void suite_world_release(struct suite_world *world);

// What it does: one event. What the object does not say is filled in: namespace default, a UID of its name,
// the next resourceVersion. Errors: false and a fault.
bool suite_world_apply(struct suite_world *world, const struct suite_event *event, struct fault *fault)
    __attribute__((warn_unused_result));

void suite_world_advance(struct suite_world *world, int64_t ms);

// The object as it was seen last and lives; NULL when there is none.
const struct world_object *suite_world_find(const struct suite_world *world,
                                            const struct suite_object *object);

// What it does: an object with what it does not say filled in, without noting it. versioned: with a
// resourceVersion, that of the live one unless the object says another. Errors: empty, memory.
struct text suite_world_fill(struct suite_world *world, const struct suite_object *object, bool versioned);

// The namespace that the object is in; empty for kinds that have none.
struct text suite_world_namespace(const struct suite_object *object);

#endif
