// SPDX-License-Identifier: Apache-2.0
// generation-runaway: the generations of a pool rise faster than one a second, for ten seconds.
//
// A driver that publishes its pool anew again and again is in a loop: mostly a slice of it is refused, or is
// changed by somebody, and the driver tries to put it right. While it loops, its pool is hardly ever complete
// and its Pods wait.
//
// Example: a pool goes from generation 4 to 15 in eleven seconds.
//
// What to do: look at the driver's log for what it cannot write, and at the denials about its slices.
//
// Reads: spec.driver, spec.pool, spec.nodeName, spec.nodeSelector, spec.allNodes; how fast the pool's
// generations rose.
//
// Default: warn. Policy may set deny, warn, audit or off.
//
// Source: k8s.io/dynamic-resource-allocation v0.36.3 resourceslice/resourceslicecontroller.go, syncPool.
#include "validators/rules/pool.h"

void rule_generation_runaway(const struct rule_input *input, struct finding_list *findings) {
    struct pool_state state;
    struct path_room room;
    if (pool_of(input, &state) != VIEW_KNOWN || !state.runs_away) return;
    if (input->object->slice.pool.generation <= state.live_generation) return;
    struct path path = pool_path(&room, TEXT("generation"));
    struct finding *finding = finding_add(
        findings, FINDING_INVALID, &path,
        text_format(input->arena, "%lld", (long long)input->object->slice.pool.generation),
        TEXT("the pool's generations have risen faster than one a second for ten seconds: the driver loops"));
    finding_hint(finding, TEXT("look in the driver's log for what it cannot write"));
}
