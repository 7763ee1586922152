// SPDX-License-Identifier: Apache-2.0
// Looks into the ledger, one node at a time, and brings out copies: whoever plans and writes does so without
// holding the store.
#ifndef DRAWBRIDGE_OPERATE_SURVEY_H
#define DRAWBRIDGE_OPERATE_SURVEY_H

#include <jansson.h>

#include "server/ledger/store.h"
#include "server/operate/denied.h"
#include "server/operate/node_status.h"
#include "server/operate/pod_plan.h"

#define SURVEY_MEMORY_BYTES ((size_t)64 * 1024 * 1024)

// What it does: the name of a node that is new or changed since it was asked last; NULL when there is none.
// Owner: the caller, free.
char *survey_changed(struct store *store);

// A node as it stands.
struct survey_node {
    bool known;          // the Node object is there
    json_t *status;      // NodeLedger.status; each driver stands as the node lets it stand
    json_t *divergences; // settled ones: {namespace, pod, podUID, claim, claimUID, class}
    json_t *faulty; // devices to be kept away: {driver, pool, device, rule}; device empty: all of the pool
};

// What it does: one node, with what is written of it when `whole`. Owner: the caller, survey_node_release.
// Errors: false when there is no such node, or memory ran out.
bool survey_node(struct store *store, const char *name, int minor, bool whole, struct survey_node *ret_node)
    __attribute__((warn_unused_result));
void survey_node_release(struct survey_node *node);

// What the policy says about the writers.
struct survey_policy {
    bool hold_taint;
    size_t frozen[4]; // freezes in force: cluster, driver, node, namespace
    size_t expired;   // that are still written down
};
void survey_policy(struct store *store, int64_t wall_ms, struct survey_policy *ret_policy);

// What it does: the policy as the entries of policy_watch.h. Owner: the caller. NULL: the policy is not
// synced yet, or memory ran out.
json_t *survey_policy_entries(struct store *store);

// What it does: the plan for Pods without a node, in parts: between them Pods may come and go. Owner: the
// arena. Errors: false, memory.
bool survey_pods(struct store *store, struct arena *arena, struct pod_plan *ret_plan)
    __attribute__((warn_unused_result));

// The Pod that a claim write was for.
struct survey_consumer {
    struct text pod; // its name
    struct text
        node; // that the write names, or that the Pod is on or nominated for; empty: not one that is known
};

// What it does: finds that Pod, where it uses the claim of that UID. Owner: the arena. False: the ledger has
// no such Pod, or it has another claim under that name.
bool survey_consumer(struct store *store, const struct denied_write *write, struct arena *arena,
                     struct survey_consumer *ret_consumer) __attribute__((warn_unused_result));

// What it does: what was not merged, newest last: {rule, namespace, name, uid, driver, pool, device,
// otherUID, count}. Owner: the caller. Errors: NULL, memory.
json_t *survey_rejections(struct store *store);

// Whether nodes, slices, claims and Pods have been listed: a ledger that begins anew knows none for a moment.
bool survey_is_listed(struct store *store);

// Whether everything that is needed for a verdict has been listed.
bool survey_is_synced(const json_t *status);

#endif
