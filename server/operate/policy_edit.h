// SPDX-License-Identifier: Apache-2.0
// What `freeze` and `resume` change in a LedgerPolicy: its lists of freezes and of resumes. Pure: the policy
// as JSON in, the new lists out; members that are not known here stay as they are.
#ifndef DRAWBRIDGE_OPERATE_POLICY_EDIT_H
#define DRAWBRIDGE_OPERATE_POLICY_EDIT_H

#include <jansson.h>
#include <stdint.h>

#include "validators/core/fault.h"

#define POLICY_FREEZES_LIMIT 256u // as the CRD
#define POLICY_RESUMES_LIMIT 256u
#define POLICY_ACCEPTS_LIMIT 1024u
#define POLICY_REASON_BYTES  512u
#define POLICY_RESUMES_KEPT  64u // beyond these, resumes that name no version are forgotten, the oldest first

enum policy_verb { POLICY_FREEZE, POLICY_RESUME };

// What a person asked for. NULL texts are not given.
struct policy_change {
    enum policy_verb verb;
    // The scope: one of these; a resume with a version or claims may have both driver and node.
    bool cluster;
    const char *driver;
    const char *node;
    const char *namespace;
    const char *reason;
    const char *by;        // who asks
    int64_t now_ms;        // since 1970
    int64_t for_ms;        // how long a freeze lasts
    bool from_version_set; // the rest: resume only
    int64_t from_version;
    const char *const *accept; // claim UIDs, or "all"
    size_t accept_count;
};

// What it does: tells whether a change is well formed, whatever the policy is. Errors: FAULT_USAGE, in the
// words of the command line.
bool policy_change_check(const struct policy_change *change, struct fault *fault)
    __attribute__((warn_unused_result));

// "the cluster", "driver D", … Owner: the caller's buffer.
#define POLICY_SCOPE_BYTES 600u
const char *policy_change_scope(const struct policy_change *change, char buffer[POLICY_SCOPE_BYTES]);

struct policy_edit {
    json_t *freezes; // the new lists
    json_t *resumes;
    bool replaced;       // the scope was frozen already: the new freeze takes the place of the old one
    size_t lifted_count; // freezes that this resume ended
    size_t pruned_count; // freezes that had expired
    char expires[32];    // of the new freeze
};

// What it does: works the change out. `policy` is the whole object, NULL when there is none yet. Owner: the
// caller, policy_edit_release. Errors: FAULT_STATE when a resume would change nothing, or a list is full;
// FAULT_INPUT when the policy is not one; FAULT_MEMORY.
bool policy_edit_make(const json_t *policy, const struct policy_change *change, struct policy_edit *ret_edit,
                      struct fault *fault) __attribute__((warn_unused_result));
void policy_edit_release(struct policy_edit *edit);

// What it does: drops freezes that have expired. Returns their number; 0 leaves *ret_freezes untouched.
// Owner of *ret_freezes: the caller.
size_t policy_prune(const json_t *policy, int64_t now_ms, json_t **ret_freezes);

// A new policy with these lists. Owner: the caller. Errors: NULL, memory.
json_t *policy_new_object(const struct policy_edit *edit);

#endif
