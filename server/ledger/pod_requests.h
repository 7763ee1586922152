// SPDX-License-Identifier: Apache-2.0
// What a Pod takes of its node, as the scheduler counts it. Pure.
#ifndef DRAWBRIDGE_LEDGER_POD_REQUESTS_H
#define DRAWBRIDGE_LEDGER_POD_REQUESTS_H

#include "validators/core/arena.h"
#include "validators/model/pod.h"

// The scheduler's own way is {.minor, .with_claims = true}.
struct pod_requests_options {
    int minor;            // whose formula
    bool with_claims;     // what status says of node allocatable claims is added
    bool spec_only;       // what status says of containers and of resizes is left out, as for a new Pod
    bool containers_only; // pod-level requests are left out
};

// What it does: the sum per resource: containers, init containers, sidecars, claims, pod-level requests,
// overhead. Sorted by name. With claims left out it is what the Pod would take without them, but pod-level
// requests (in both) and what a v1.37 kubelet writes to status.allocatedResources have claims in them
// already. Owner: the arena. Errors: an empty map, arena poisoned. Source: k8s.io/component-helpers v0.36.3
// and v0.37.2 resource/helpers.go, PodRequests; kubernetes v1.36.3 pkg/scheduler/framework/types.go,
// CalculateResource.
struct quantity_map pod_requests(const struct pod *pod, const struct pod_requests_options *options,
                                 struct arena *arena);

#endif
