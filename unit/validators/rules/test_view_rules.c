// SPDX-License-Identifier: Apache-2.0
// The rules that ask the cache, with a cache made of plain structs.
#include <criterion/criterion.h>
#include <stdio.h>

#include "unit/lib/judge.h"

struct pools {
    enum view_answer answer;
    struct pool_state state;
    enum view_answer node_answer;
    const char *allocatable;
    struct pool_key asked; // what the rule asked for
    struct text without;
};

static enum view_answer pool(const void *state, const struct pool_key *key, struct text without_slice,
                             struct pool_state *ret_state) {
    struct pools *pools = (struct pools *)(uintptr_t)state;
    pools->asked = *key;
    pools->without = without_slice;
    if (pools->answer == VIEW_KNOWN) *ret_state = pools->state;
    return pools->answer;
}

static enum view_answer node_allocatable(const void *state, struct text node, struct text resource,
                                         struct quantity *ret_quantity) {
    const struct pools *pools = state;
    cr_assert(text_equal(node, TEXT("node-1")));
    cr_assert(text_equal(resource, TEXT("memory")));
    if (pools->node_answer == VIEW_KNOWN)
        cr_assert(quantity_parse(text_of(pools->allocatable), ret_quantity, NULL));
    return pools->node_answer;
}

static const struct view_table table = {.pool = pool, .node_allocatable = node_allocatable};

static const char *slice_at(int generation) {
    static char json[512];
    snprintf(
        json, sizeof json,
        "{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceSlice\",\"metadata\":{\"name\":\"s\"},"
        "\"spec\":{\"driver\":\"d\",\"nodeName\":\"n\",\"pool\":{\"name\":\"p\",\"generation\":%d,"
        "\"resourceSliceCount\":1},\"devices\":[]}}",
        generation);
    return json;
}

// Judges a slice at this generation and keeps what was found.
static void judge_generation(struct judged *judged, struct pools *pools, int generation, int old_generation) {
    struct view view = {&table, pools};
    judged_init(judged, slice_at(generation), 36);
    if (old_generation >= 0) judged_set_old(judged, slice_at(old_generation));
    judged->input.online = true;
    judged->input.view = &view;
    judged_run(judged, "generation-regressed", RULES_VIEW);
}

static size_t count_generation(struct pools *pools, int generation, int old_generation) {
    struct judged judged;
    judge_generation(&judged, pools, generation, old_generation);
    size_t count = judged.findings.count;
    judged_release(&judged);
    return count;
}

Test(generation_regressed, lower_than_a_live_slice_is_denied) {
    struct pools pools = {
        .answer = VIEW_KNOWN,
        .state = {.live_generation = 5, .live_slice = TEXT_INIT("other"), .slice_count = 1}};
    cr_expect_eq(count_generation(&pools, 3, -1), 1);
    cr_expect_eq(count_generation(&pools, 5, -1), 0); // content may change at one generation
    cr_expect_eq(count_generation(&pools, 6, -1), 0);
    struct judged judged;
    judge_generation(&judged, &pools, 3, -1);
    cr_expect(text_equal(pools.without, TEXT("s")));
    cr_expect_eq(pools.asked.scope.kind, SCOPE_NODE);
    const struct finding *finding = judged_only(&judged);
    cr_expect(text_equal(finding->path, TEXT("spec.pool.generation")));
    cr_expect(text_equal(finding->value, TEXT("3")));
    cr_expect(text_equal(finding->detail, TEXT("the pool is at generation 5 already (slice other)")));
    cr_expect(text_equal(finding->hint, TEXT("use 5 or more")));
    cr_expect_eq(finding->severity, SEVERITY_DENY);
    judged_release(&judged);
}

Test(generation_regressed, the_slice_itself_is_live_too) {
    struct pools none = {.answer = VIEW_NOT_FOUND,
                         .state = {.live_generation = 99, .live_slice = TEXT_INIT("gone"), .slice_count = 1}};
    cr_expect_eq(count_generation(&none, 2, 5), 1);
    cr_expect_eq(count_generation(&none, 5, 5), 0);
    cr_expect_eq(count_generation(&none, 6, 5), 0);
    cr_expect_eq(count_generation(&none, 0, -1), 0); // all slices are gone: any number may start
    struct pools other = {
        .answer = VIEW_KNOWN,
        .state = {.live_generation = 4, .live_slice = TEXT_INIT("other"), .slice_count = 1}};
    cr_expect_eq(count_generation(&other, 4, 5), 1);
    cr_expect_eq(count_generation(&other, 5, 4), 0);
}

Test(generation_regressed, unknown_pools_warn) {
    struct pools pools = {.answer = VIEW_NOT_SYNCED,
                          .state = {.live_generation = 99, .live_slice = TEXT_INIT("old"), .slice_count = 1}};
    struct judged judged;
    judge_generation(&judged, &pools, 1, -1);
    cr_expect_eq(judged_only(&judged)->severity, SEVERITY_WARN);
    judged_release(&judged);
    judge_generation(&judged, &pools, 1, 5); // what the slice said before is known in any case
    cr_expect_eq(judged_only(&judged)->severity, SEVERITY_DENY);
    judged_release(&judged);
}

static size_t count_exceeds(const struct pools *pools, int minor, const char *json) {
    struct judged judged;
    struct view view = {&table, pools};
    judged_init(&judged, json, minor);
    judged.input.view = &view;
    judged_run(&judged, "mapping-exceeds-node", RULES_VIEW);
    size_t count = judged.findings.count;
    judged_release(&judged);
    return count;
}

Test(mapping_exceeds_node, fixed_footprints_are_compared) {
    struct pools pools = {.node_answer = VIEW_KNOWN, .allocatable = "64Gi"};
    for (int minor = 36; minor <= 37; minor++) {
        cr_expect_eq(count_exceeds(&pools, minor, slice_mapping(minor, "memory", NULL, "\"80Gi\"", NULL)), 1);
        cr_expect_eq(count_exceeds(&pools, minor, slice_mapping(minor, "memory", NULL, "\"64Gi\"", NULL)), 0);
        cr_expect_eq(count_exceeds(&pools, minor, slice_mapping(minor, "memory", "c", "\"80Gi\"", NULL)), 0);
    }
    pools.node_answer = VIEW_NOT_FOUND;
    cr_expect_eq(count_exceeds(&pools, 36, slice_mapping(36, "memory", NULL, "\"80Gi\"", NULL)), 0);
    pools.node_answer = VIEW_NOT_SYNCED;
    cr_expect_eq(count_exceeds(&pools, 36, slice_mapping(36, "memory", NULL, "\"80Gi\"", NULL)), 0);
}

Test(mapping_exceeds_node, overhead_counts_from_1_37_on) {
    struct pools pools = {.node_answer = VIEW_KNOWN, .allocatable = "64Gi"};
    cr_expect_eq(
        count_exceeds(&pools, 37,
                      slice_with("\"nodeAllocatableResources\":{\"memory\":{\"mapping\":{"
                                 "\"deviceMultiplier\":\"60Gi\"},\"overhead\":{\"perPod\":\"5Gi\"}}}")),
        1);
    cr_expect_eq(count_exceeds(&pools, 37,
                               slice_with("\"nodeAllocatableResources\":{\"memory\":{\"overhead\":{"
                                          "\"perPod\":\"65Gi\"}}}")),
                 1);
    cr_expect_eq(count_exceeds(&pools, 37,
                               slice_with("\"nodeAllocatableResources\":{\"memory\":{\"overhead\":{"
                                          "\"perContainer\":\"65Gi\"}}}")),
                 0);
}

Test(mapping_exceeds_node, the_node_is_the_slices_or_the_devices) {
    struct pools pools = {.node_answer = VIEW_KNOWN, .allocatable = "64Gi"};
    static const char start[] =
        "{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceSlice\",\"metadata\":{"
        "\"name\":\"s\"},\"spec\":{\"driver\":\"d\",\"pool\":{\"name\":\"p\"},";
    static const char end[] =
        "\"nodeAllocatableResourceMappings\":{\"memory\":{\"allocationMultiplier\":\"80Gi\"}}}]}}";
    char json[1024];
    snprintf(json, sizeof json,
             "%s\"perDeviceNodeSelection\":true,\"devices\":[{\"name\":\"x\",\"nodeName\":\"node-1\",%s",
             start, end);
    cr_expect_eq(count_exceeds(&pools, 36, json), 1);
    snprintf(json, sizeof json, "%s\"allNodes\":true,\"devices\":[{\"name\":\"x\",%s", start, end);
    cr_expect_eq(count_exceeds(&pools, 36, json), 0);
}
