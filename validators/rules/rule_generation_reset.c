// SPDX-License-Identifier: Apache-2.0
// generation-reset: a pool starts again below the generation that it had.
//
// When the last slice of a pool is gone, its driver may publish it again at any generation; a restart of the
// kubelet does that to every driver. The slice is let in, but the pool is in quarantine: bound claims keep
// what they have, and no new claim is let in, until every bound claim's device that is back has the mapping
// under which it was bound. Mostly that takes seconds and ends by itself.
//
// Example: all slices of a pool at generation 5 are deleted, and one comes back at generation 1.
//
// What to do: nothing, if the devices are what they were. If a mapping has changed on purpose, confirm it:
// drawbridge resume --node NODE --driver DRIVER --accept CLAIMUID|all --reason REASON.
//
// Reads: spec.driver, spec.pool, spec.nodeName, spec.nodeSelector, spec.allNodes; the pool's retired
// generation.
//
// Default: warn. Policy may set deny, warn, audit or off.
//
// Source: k8s.io/api v0.36.3 resource/v1/types.go, ResourcePool.Generation; kubernetes v1.36.3
// pkg/kubelet/cm/dra/plugin/dra_plugin_manager.go (a node's slices are deleted at start).
#include "validators/rules/pool.h"

void rule_generation_reset(const struct rule_input *input, struct finding_list *findings) {
    const struct resource_slice *slice = &input->object->slice;
    struct pool_state state;
    struct path_room room;
    if (input->operation != OPERATION_CREATE || pool_of(input, &state) != VIEW_KNOWN) return;
    if (state.slice_count > 0 || slice->pool.generation >= state.retired_generation) return;
    struct path path = pool_path(&room, TEXT("generation"));
    struct finding *finding = finding_addf(
        findings, FINDING_INVALID, &path,
        text_format(input->arena, "%lld", (long long)slice->pool.generation),
        "the pool was at generation %lld; it is in quarantine until its bound claims are confirmed",
        (long long)state.retired_generation);
    finding_hint(finding, TEXT("nothing to do if its devices are what they were"));
}
