// SPDX-License-Identifier: Apache-2.0
// generation-regressed: a slice has a lower pool generation than a live slice of the same pool.
//
// A driver raises spec.pool.generation when it publishes its pool anew, and consumers use only the highest
// generation. The API server lets it go backwards (5, then 2, on a live slice): what the driver then says is
// ignored, and the scheduler of 1.36 may charge Pods by either. A pool is told by driver, pool name and node;
// pools of other nodes or drivers do not count. When the last slice of a pool is gone, it may start at any
// number again.
//
// Wrong: a live slice says generation 5, and a new one of the same driver, pool and node says 2.
// Right: 5 again, or 6.
//
// What to do: use the generation that the message names, or a higher one, or delete the pool's slices first.
//
// Reads: spec.driver, spec.pool, spec.nodeName, spec.nodeSelector, spec.allNodes; the live slices of the
// pool.
//
// Default: deny. Policy may set deny, warn, audit or off. While the slices are not known yet, or nothing was
// heard of them for long, it warns.
//
// Source: k8s.io/api v0.36.3 resource/v1/types.go, ResourcePool.Generation; kubernetes v1.36.3
// pkg/apis/resource/validation/validation.go, ValidateResourceSliceUpdate (generation is not compared).
#include "validators/rules/rule.h"

static void say(const struct rule_input *input, const struct path *path, struct text live_slice, int64_t live,
                struct finding_list *findings) {
    long long generation = (long long)input->object->slice.pool.generation;
    struct finding *finding = finding_addf(
        findings, FINDING_INVALID, path, text_format(input->arena, "%lld", generation),
        "the pool is at generation %lld already (slice %.*s)", (long long)live, TEXT_ARG(live_slice));
    finding_hint(finding, text_format(input->arena, "use %lld or more", (long long)live));
}

void rule_generation_regressed(const struct rule_input *input, struct finding_list *findings) {
    const struct resource_slice *slice = &input->object->slice;
    struct path spec = path_field(NULL, TEXT("spec"));
    struct path pool = path_field(&spec, TEXT("pool"));
    struct path path = path_field(&pool, TEXT("generation"));
    struct pool_key key = pool_key_of(slice);
    struct pool_state state = {.live_generation = INT64_MIN};
    enum view_answer answer =
        input->view->table->pool(input->view->state, &key, slice->metadata.name, &state);
    if (answer != VIEW_KNOWN) state.live_generation = INT64_MIN;
    // The slice itself is live too, with what it said before.
    if (input->old != NULL && input->old->slice.pool.generation > state.live_generation) {
        state.live_generation = input->old->slice.pool.generation;
        state.live_slice = input->old->slice.metadata.name;
    }
    if (slice->pool.generation < state.live_generation) {
        size_t first = findings->count;
        bool from_cache = input->old == NULL || input->old->slice.pool.generation <= slice->pool.generation;
        say(input, &path, state.live_slice, state.live_generation, findings);
        // That slice may be gone by now, if nothing was heard for long.
        for (size_t i = first; state.cache_is_silent && from_cache && i < findings->count; i++)
            if (findings->items[i].severity == SEVERITY_DENY) findings->items[i].severity = SEVERITY_WARN;
        return;
    }
    if (answer != VIEW_NOT_SYNCED) return;
    struct finding *finding =
        finding_add(findings, FINDING_INVALID, &path, (struct text){NULL, 0},
                    TEXT("the pool's other slices are not known yet, so this generation was not compared"));
    finding_hint(finding, TEXT("nothing to do: it is compared again once they are"));
    if (finding != NULL && finding->severity == SEVERITY_DENY) finding->severity = SEVERITY_WARN;
}
