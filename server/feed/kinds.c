// SPDX-License-Identifier: Apache-2.0
// What is followed.
#include "server/feed/kinds.h"

#define RESOURCE_PREFIX   "/apis/resource.k8s.io/v1"
#define OLDER_PREFIX      "/apis/resource.k8s.io/v1beta2"
#define DRAWBRIDGE_PREFIX "/apis/drawbridge.dev/v1alpha1"

// Pods that have ended take nothing of their node.
#define LIVE_PODS "status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"

const struct feed_kind feed_kinds[FEED_KIND_COUNT] = {
    {KIND_LEDGER_POLICY, "ledgerpolicies", DRAWBRIDGE_PREFIX, NULL, "", "", false, true},
    {KIND_NODE_LEDGER, "nodeledgers", DRAWBRIDGE_PREFIX, NULL, "", "", false, true},
    {KIND_NODE, "nodes", "/api/v1", NULL, "", "", false, false},
    {KIND_NAMESPACE, "namespaces", "/api/v1", NULL, "", "", false, false},
    {KIND_DEVICE_CLASS, "deviceclasses", RESOURCE_PREFIX, NULL, "", "", false, false},
    {KIND_RESOURCE_SLICE, "resourceslices", RESOURCE_PREFIX, NULL, "", "", false, false},
    {KIND_RESOURCE_CLAIM_TEMPLATE, "resourceclaimtemplates", RESOURCE_PREFIX, NULL, "", "", true, false},
    {KIND_RESOURCE_CLAIM, "resourceclaims", RESOURCE_PREFIX, NULL, "", "", true, false},
    {KIND_POD, "pods", "/api/v1", NULL, "", LIVE_PODS, true, false},
    {KIND_DEVICE_TAINT_RULE, "devicetaintrules", RESOURCE_PREFIX, OLDER_PREFIX, "", "", false, true},
    {KIND_LEASE, "leases", "/apis/coordination.k8s.io/v1", NULL, "kube-node-lease", "", true, false},
};

const struct feed_kind *feed_kind_of(enum object_kind kind) {
    for (size_t i = 0; i < FEED_KIND_COUNT; i++)
        if (feed_kinds[i].kind == kind) return &feed_kinds[i];
    return NULL;
}

size_t feed_kind_index(const struct feed_kind *row) {
    return (size_t)(row - feed_kinds);
}
