// SPDX-License-Identifier: Apache-2.0
// The LedgerPolicy of a cluster: `freeze` and `resume` change it at the API server.
#ifndef DRAWBRIDGE_OPERATE_POLICY_OBJECT_H
#define DRAWBRIDGE_OPERATE_POLICY_OBJECT_H

#include "server/feed/api.h"
#include "server/operate/policy_edit.h"

#define POLICY_PATH       "/apis/drawbridge.dev/v1alpha1/ledgerpolicies"
#define POLICY_USER_BYTES 257u

// What it does: changes the policy, or makes it; when somebody else was faster it reads it and tries again.
// Owner of *ret_edit: the caller, policy_edit_release. Errors: FAULT_UNREACHABLE when the API server does not
// answer, FAULT_STATE when it refuses.
bool policy_object_change(struct api *api, const struct policy_change *change, struct policy_edit *ret_edit,
                          struct fault *fault) __attribute__((warn_unused_result));

// What it does: who the API server takes us for; "" when it does not say.
void policy_object_user(struct api *api, char ret_user[POLICY_USER_BYTES]);

// What it does: takes expired freezes out of the policy. `policy` is the object as it stands at the server.
// Returns how many; 0 also when it could not be done now.
size_t policy_object_prune(struct api *api, const json_t *policy, int64_t now_ms);

#endif
