// SPDX-License-Identifier: Apache-2.0
// What a Pod's own limits must cover beside its containers' limits, in v1.37. Pure. Internal to
// server/ledger.
#ifndef DRAWBRIDGE_LEDGER_POD_LIMITS_H
#define DRAWBRIDGE_LEDGER_POD_LIMITS_H

#include "validators/core/arena.h"
#include "validators/model/pod.h"

// One comparison: `containers` and what claims take must not be above `limit`. Hugepages are compared for all
// containers together with all of the Pod's claims; other resources for each container that has a limit, with
// the claims that it refers to.
struct pod_limit {
    struct text resource;
    struct text container; // empty: all containers together
    struct quantity limit;
    struct quantity containers;     // not set: nothing
    const struct text_list *claims; // names of pod claims that the container refers to; NULL: all
};
struct pod_limit_list {
    struct pod_limit *items;
    size_t count;
};

// What it does: lists the comparisons that claims could make fail. Owner: the arena, and the Pod. Errors: an
// empty list, arena poisoned. Source: kubernetes v1.37.2
// pkg/scheduler/framework/plugins/dynamicresources/nodeallocatabledynamicresources.go,
// validatePodLevelResourcesCoverDRA; k8s.io/component-helpers v0.37.2 resource/helpers.go,
// AggregateContainerLimits.
struct pod_limit_list pod_limits(const struct pod *pod, struct arena *arena);

#endif
