// SPDX-License-Identifier: Apache-2.0
// What the rules about Pods share: which of a Pod's claims are guarded.
#ifndef DRAWBRIDGE_RULES_POD_GATE_H
#define DRAWBRIDGE_RULES_POD_GATE_H

#include "validators/rules/claim_gate.h"

// What it does: what is known of a claim that a Pod names, by the claim or the template that it names.
// Errors: VIEW_NOT_SYNCED or VIEW_NOT_FOUND; *ret_claim is then untouched.
enum view_answer pod_claim_known(const struct view *view, const struct pod *pod,
                                 const struct pod_resource_claim *claim, struct arena *arena,
                                 struct view_pod_claim *ret_claim);

// Whether such a claim is guarded; false when it is not known.
bool pod_claim_is_gated(const struct rule_input *input, const struct pod_resource_claim *claim);

// How many containers, init containers included, reference a claim of the Pod.
size_t pod_claim_references(const struct pod *pod, struct text name);

// spec.resourceClaims[index].
struct pod_path_room {
    struct path spec;
    struct path list;
};
struct path pod_claim_path(struct pod_path_room *room, size_t index);

#endif
