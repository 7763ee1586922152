// SPDX-License-Identifier: Apache-2.0
// device-dropped-in-use: a device goes from its pool while claims are bound to it.
//
// The Pods that have it run on, but the scheduler no longer knows what they have, and the ledger keeps their
// rows as orphans under the mapping that they were committed with.
//
// Example: gpu-1 is allocated to a claim of a running Pod, and the slice is written without it.
//
// What to do: taint a device that must not be used any more (spec.devices[].taints), and drop it when its
// claims have ended.
//
// Reads: spec.driver, spec.pool, spec.nodeName, spec.devices[].name, before and now; the other live slices of
// the pool; the claims that have the devices.
//
// Default: warn. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.36.3 pkg/kubelet/cm/dra/manager.go (prepared devices are not compared with slices);
// k8s.io/api v0.36.3 resource/v1/types.go, DeviceTaint.
#include "validators/rules/pool.h"

static bool has_device(const struct device_list *devices, struct text name) {
    for (size_t i = 0; i < devices->count; i++)
        if (text_equal(devices->items[i].name, name)) return true;
    return false;
}

static void judge(const struct rule_input *input, struct text name, struct finding_list *findings) {
    const struct resource_slice *slice = &input->object->slice;
    struct pool_key pool = pool_key_of(slice);
    struct device_key key = {slice->driver, slice->pool.name, name};
    struct text node = pool.scope.kind == SCOPE_NODE ? pool.scope.value : (struct text){NULL, 0};
    struct device_holder_list holders = {NULL, 0};
    struct view_device elsewhere;
    size_t count;
    if (VIEW_ASK(input->view, holders, &key, node, input->arena, &holders) != VIEW_KNOWN) return;
    struct text claims = bound_claims(input, &holders, &count);
    // It may have moved to another slice of the pool.
    if (count == 0 || VIEW_ASK(input->view, pool_device, &pool, slice->metadata.name, slice->pool.generation,
                               true, name, input->arena, &elsewhere) == VIEW_KNOWN)
        return;
    struct path spec = path_field(NULL, TEXT("spec"));
    struct path path = path_field(&spec, TEXT("devices"));
    struct finding *finding = finding_addf(findings, FINDING_INVALID, &path, name,
                                           "goes while it is bound (claim UID %.*s)", TEXT_ARG(claims));
    finding_hint(finding, TEXT("taint it first, and drop it when its claims have ended"));
}

void rule_device_dropped_in_use(const struct rule_input *input, struct finding_list *findings) {
    if (input->old == NULL) return;
    const struct device_list *before = &input->old->slice.devices;
    const struct device_list *now = &input->object->slice.devices;
    // Lists are mostly in the same order, so that a look at the same place is enough.
    for (size_t i = 0; i < before->count; i++) {
        struct text name = before->items[i].name;
        bool same_place = i < now->count && text_equal(now->items[i].name, name);
        if (!same_place && !has_device(now, name)) judge(input, name, findings);
    }
}
