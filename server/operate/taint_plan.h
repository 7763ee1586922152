// SPDX-License-Identifier: Apache-2.0
// Which DeviceTaintRules there should be, and what has to be written so that there are. Pure.
//
// A rule is about one (driver, pool), or about a whole driver where very many of its pools are not fresh, or
// about one faulty device, or about a pool of which all devices are faulty. A pool that several nodes see is
// left alone while one of them finds it fresh.
#ifndef DRAWBRIDGE_OPERATE_TAINT_PLAN_H
#define DRAWBRIDGE_OPERATE_TAINT_PLAN_H

#include <jansson.h>

#include "validators/core/text.h"

#define TAINT_KEY         "drawbridge.dev/not-fresh"
#define TAINT_NAME_BYTES  32
#define TAINT_COLLAPSE_AT 16u   // pools of one driver, all not fresh, that become one rule
#define TAINT_DEVICES_MAX 1024u // rules about single devices

// What it does: the name of a rule: the same on every replica. pool empty: the whole driver; device empty:
// the whole pool.
void taint_rule_name(const char *driver, const char *pool, const char *device,
                     char ret_name[TAINT_NAME_BYTES]);

struct taint_plan {
    json_t *pools;   // "driver\npool" → {driver, pool, state, cause, fresh}; for the planner
    json_t *devices; // wanted rules of faulty devices
};

bool taint_plan_init(struct taint_plan *plan) __attribute__((warn_unused_result));
void taint_plan_release(struct taint_plan *plan);

// What it does: takes one node's status (see node_status.h) into account. Errors: false, memory.
bool taint_plan_add(struct taint_plan *plan, const json_t *status) __attribute__((warn_unused_result));

// What it does: takes a node's faulty devices into account: [{driver, pool, device, rule}]; device empty: all
// of the pool. After all nodes were added. Errors: false, memory.
bool taint_plan_add_faulty(struct taint_plan *plan, const json_t *faulty) __attribute__((warn_unused_result));

// What it does: the rules that are wanted: name → {driver, pool, device, value, cause}; pool and device may
// be missing. Owner: the caller. Errors: NULL, memory.
json_t *taint_plan_wanted(const struct taint_plan *plan);

// What it does: the rules of a list as the API server gives it, in the same form. Rules that are not ours are
// left out. Owner: the caller. Errors: NULL, memory.
json_t *taint_rules_of_list(const json_t *list);

// What it does: compares. Names to make, to change, to remove. Owner: the caller, each list. Errors: false,
// memory.
struct taint_changes {
    json_t *make;
    json_t *change;
    json_t *remove;
};
bool taint_changes_between(const json_t *wanted, const json_t *have, struct taint_changes *ret_changes)
    __attribute__((warn_unused_result));
void taint_changes_release(struct taint_changes *changes);

// What it does: the object of a wanted rule. api_version: "resource.k8s.io/v1". Owner: the caller. Errors:
// NULL, memory.
json_t *taint_rule_object(const char *api_version, const char *name, const json_t *wanted);

#endif
