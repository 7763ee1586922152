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

// The same sum before claims are put in, per resource: what a Pod takes is greater(on_top + claims, within)
// + overhead, or within + overhead where `pod_level`. A quantity that is not set is nothing.
struct pod_demand {
    struct text resource;
    struct quantity on_top;
    struct quantity within; // has the claims in it already
    struct quantity overhead;
    bool pod_level; // pod-level requests take the place of the sum
};
struct pod_demand_list {
    struct pod_demand *items; // sorted by resource
    size_t count;
};

// What it does: takes a Pod's requests apart, so that what its claims take may change afterwards. Owner: the
// arena. Errors: an empty list, arena poisoned.
struct pod_demand_list pod_demands(const struct pod *pod, int minor, struct arena *arena);

// What it does: a Pod's share of one resource when its claims take `claims` of it (not set: nothing).
struct quantity pod_demand_sum(const struct quantity *on_top, const struct quantity *within,
                               const struct quantity *overhead, bool pod_level, struct quantity claims);

#endif
