// SPDX-License-Identifier: Apache-2.0
// The gate: unchanged specs pass before any rule, cached rules see the store's view, siblings soften the
// mapping rules.
#include <criterion/criterion.h>

#include "server/review/judge.h"
#include "unit/lib/review_body.h"

struct gated {
    struct judge judge;
    struct arena bodies;
    struct arena arena;
    char answer[RESPONSE_BYTES];
    struct out out;
    struct judgement judgement;
};

static void setup(struct gated *gated) {
    *gated = (struct gated){.judge.gate.minor = MINOR_36};
    arena_init(&gated->bodies, 16u << 20);
    arena_init(&gated->arena, 16u << 20);
    gated->out = out_of(gated->answer, sizeof gated->answer);
}

static void teardown(struct gated *gated) {
    arena_release(&gated->bodies);
    arena_release(&gated->arena);
}

static void update(struct gated *gated, const char *object, const char *old_object) {
    struct review_parts parts = {.kind = "ResourceSlice",
                                 .resource = "resourceslices",
                                 .operation = "UPDATE",
                                 .object = object,
                                 .old_object = old_object};
    arena_clear(&gated->arena);
    review_judge(&gated->judge, PATH_VALIDATE, review_body(&gated->bodies, &parts), &gated->arena,
                 &gated->out, &gated->judgement);
}

static bool has_rule(const struct gated *gated, const char *rule, enum severity severity) {
    for (size_t i = 0; i < gated->judgement.findings.count; i++)
        if (strcmp(gated->judgement.findings.items[i].rule, rule) == 0 &&
            gated->judgement.findings.items[i].severity == severity)
            return true;
    return false;
}

Test(gate, an_unchanged_spec_passes_although_it_is_bad) {
    static struct gated gated;
    setup(&gated);
    const char *bad = review_slice(&gated.bodies, "memory", "500m").ptr;
    update(&gated, bad, bad);
    cr_expect_eq(gated.judgement.decision, DECISION_ALLOWED);
    // The same, with finalizers and labels that come and go.
    const char *spec = strstr(bad, "\"spec\"");
    const char *other =
        text_format(&gated.bodies, "{\"metadata\":{\"name\":\"thing\",\"finalizers\":[\"a/b\"]},%s", spec)
            .ptr;
    update(&gated, other, bad);
    cr_expect_eq(gated.judgement.decision, DECISION_ALLOWED);
    update(&gated, bad, other);
    cr_expect_eq(gated.judgement.decision, DECISION_ALLOWED);
    teardown(&gated);
}

Test(gate, a_spec_in_another_form_is_unchanged_too) {
    static struct gated gated;
    setup(&gated);
    const char *old_object =
        "{\"metadata\":{\"name\":\"thing\"},\"spec\":{\"driver\":\"a\",\"devices\":[{\"name\":7},{}]}}";
    const char *object = "{\"metadata\":{\"name\":\"thing\"},\"spec\": {\"devices\" :[ {\"name\": 7}, "
                         "{}],\"dr\\u0069ver\":\"\\u0061\" } }";
    update(&gated, object, old_object);
    cr_expect_eq(gated.judgement.decision, DECISION_ALLOWED, "%.*s", (int)gated.out.len, gated.out.ptr);
    teardown(&gated);
}

Test(gate, a_changed_spec_is_judged) {
    static struct gated gated;
    setup(&gated);
    update(&gated, review_slice(&gated.bodies, "memory", "500m").ptr,
           review_slice(&gated.bodies, "memory", "1Gi").ptr);
    cr_expect_eq(gated.judgement.decision, DECISION_DENIED);
    cr_expect(has_rule(&gated, "unit-bytes-fraction", SEVERITY_DENY));
    teardown(&gated);
}

Test(gate, only_the_new_object_is_judged) {
    static struct gated gated;
    setup(&gated);
    update(&gated, review_slice(&gated.bodies, "memory", "1Gi").ptr,
           review_slice(&gated.bodies, "memory", "500m").ptr);
    cr_expect_eq(gated.judgement.decision, DECISION_ALLOWED, "%.*s", (int)gated.out.len, gated.out.ptr);
    teardown(&gated);
}

Test(gate, an_update_without_an_old_object_is_judged_as_a_creation) {
    static struct gated gated;
    setup(&gated);
    update(&gated, review_slice(&gated.bodies, "memory", "500m").ptr, NULL);
    cr_expect_eq(gated.judgement.decision, DECISION_DENIED);
    update(&gated, NULL, NULL);
    cr_expect_eq(gated.judgement.decision, DECISION_DENIED, "an object that is not there is no good object");
    teardown(&gated);
}

// A store of one pool.
struct small_store {
    enum view_answer answer;
    struct pool_state pool;
    unsigned entered_count;
    bool inside;
};

static enum view_answer pool_of(const void *state, const struct pool_key *key, struct text without_slice,
                                struct pool_state *ret_state) {
    const struct small_store *store = state;
    cr_assert(store->inside, "asked without holding the store");
    cr_expect(text_equal(key->driver, TEXT("gpu.example.com")));
    cr_expect(text_equal(without_slice, TEXT("thing")));
    *ret_state = store->pool;
    return store->answer;
}

static enum view_answer allocatable_of(const void *state, struct text node, struct text resource,
                                       struct quantity *ret_quantity) {
    (void)state;
    (void)node;
    (void)resource;
    (void)ret_quantity;
    return VIEW_NOT_FOUND;
}

static void with_view(void *state, void (*run)(const struct view *view, void *context), void *context) {
    static const struct view_table table = {.pool = pool_of, .node_allocatable = allocatable_of};
    struct small_store *store = state;
    struct view view = {.table = &table, .state = store};
    store->entered_count++;
    store->inside = true;
    run(&view, context);
    store->inside = false;
}

Test(gate, cached_rules_ask_the_view_while_the_store_is_held) {
    static struct gated gated;
    setup(&gated);
    struct small_store store = {
        .answer = VIEW_KNOWN,
        .pool = {.live_generation = 9, .live_slice = TEXT_INIT("other"), .slice_count = 1}};
    struct gate_store gate_store = {.with_view = with_view, .state = &store};
    gated.judge.gate.store = &gate_store;
    update(&gated, review_slice(&gated.bodies, "memory", "2Gi").ptr,
           review_slice(&gated.bodies, "memory", "1Gi").ptr);
    cr_expect_geq(store.entered_count, 1);
    cr_expect_eq(gated.judgement.decision, DECISION_DENIED, "%.*s", (int)gated.out.len, gated.out.ptr);
    cr_expect(has_rule(&gated, "generation-regressed", SEVERITY_DENY));
    cr_expect_eq(gated.judgement.code, 403, "a rule that asks the cache");
    teardown(&gated);
}

Test(gate, siblings_soften_the_mapping_rules) {
    static struct gated gated;
    setup(&gated);
    struct small_store store = {
        .answer = VIEW_KNOWN,
        .pool = {.live_generation = 1, .live_slice = TEXT_INIT("other"), .slice_count = 1}};
    struct gate_store gate_store = {.with_view = with_view, .state = &store};
    gated.judge.gate.store = &gate_store;
    update(&gated, review_slice(&gated.bodies, "memory", "500m").ptr,
           review_slice(&gated.bodies, "memory", "1Gi").ptr);
    cr_expect_eq(gated.judgement.decision, DECISION_WARNED, "%.*s", (int)gated.out.len, gated.out.ptr);
    cr_expect(has_rule(&gated, "unit-bytes-fraction", SEVERITY_WARN));
    store.pool.slice_count = 0;
    update(&gated, review_slice(&gated.bodies, "memory", "500m").ptr,
           review_slice(&gated.bodies, "memory", "1Gi").ptr);
    cr_expect_eq(gated.judgement.decision, DECISION_DENIED);
    teardown(&gated);
}
