// SPDX-License-Identifier: Apache-2.0
// pool-count: the slices of a pool do not agree on how many they are, or are more than they say.
//
// spec.pool.resourceSliceCount is the number of slices of the pool at its generation, the same in each. As
// long as the number of live slices is another, the pool is incomplete and no claim is allocated from it. A
// slice that was deleted a moment ago does not count.
//
// Wrong: generation 4, one slice says resourceSliceCount: 2 and the other 3; three slices say 2.
// Right: the same number in all slices of a generation, and so many slices.
//
// What to do: publish all slices of the pool with one number, or raise the generation with the new number.
//
// Reads: spec.driver, spec.pool, spec.nodeName, spec.nodeSelector, spec.allNodes; the live slices of the
// pool.
//
// Default: warn. Policy may set deny, warn, audit or off.
//
// Source: k8s.io/dynamic-resource-allocation v0.36.3 structured/internal/incubating/pools_incubating.go.
#include "validators/rules/pool.h"

void rule_pool_count(const struct rule_input *input, struct finding_list *findings) {
    const struct resource_pool *pool = &input->object->slice.pool;
    struct pool_state state;
    struct path_room room;
    if (pool_of(input, &state) != VIEW_KNOWN || state.slice_count == 0) return;
    if (state.live_generation != pool->generation) return;
    struct path path = pool_path(&room, TEXT("resourceSliceCount"));
    struct text value = text_format(input->arena, "%lld", (long long)pool->resource_slice_count);
    struct finding *finding = NULL;
    if (state.wanted_count != pool->resource_slice_count)
        finding = finding_addf(
            findings, FINDING_INVALID, &path, value,
            "another slice of generation %lld says %lld (slice %.*s); the pool is unusable until they agree",
            (long long)pool->generation, (long long)state.wanted_count, TEXT_ARG(state.live_slice));
    else if ((int64_t)state.newest_count + 1 > pool->resource_slice_count)
        finding = finding_addf(findings, FINDING_INVALID, &path, value,
                               "with this one there are %zu slices of generation %lld; the pool is unusable "
                               "until they are as many as it says",
                               state.newest_count + 1, (long long)pool->generation);
    finding_hint(finding, TEXT("publish all slices of the pool with one number"));
}
