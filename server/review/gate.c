// SPDX-License-Identifier: Apache-2.0
// The order of judging.
#include "server/review/gate.h"

#include "server/review/same_spec.h"

static struct text spec_of(const struct object *object) {
    switch (object->kind) {
    case KIND_RESOURCE_SLICE: return object->slice.spec_raw;
    case KIND_RESOURCE_CLAIM: return object->claim.spec_raw;
    case KIND_RESOURCE_CLAIM_TEMPLATE: return object->claim_template.spec_raw;
    case KIND_DEVICE_CLASS: return object->device_class.spec_raw;
    default: return (struct text){NULL, 0};
    }
}

struct siblings {
    const struct object *object;
    bool found;
};

static void look_for_siblings(const struct view *view, void *context) {
    struct siblings *siblings = context;
    const struct resource_slice *slice = &siblings->object->slice;
    struct pool_key key = pool_key_of(slice);
    struct pool_state pool = {.slice_count = 0};
    enum view_answer answer = view->table->pool(view->state, &key, slice->metadata.name, &pool);
    siblings->found = answer == VIEW_KNOWN && pool.slice_count > 0;
}

// Whether other slices of the slice's pool are live. The store is held only for the question, because the
// rules that need no cache run without it.
static bool pool_has_siblings(const struct gate *gate, const struct object *object) {
    if (gate->store == NULL || object->kind != KIND_RESOURCE_SLICE) return false;
    struct siblings siblings = {.object = object};
    gate->store->with_view(gate->store->state, look_for_siblings, &siblings);
    return siblings.found;
}

struct view_run {
    struct rule_input *input;
    const struct rule_actions *actions;
    struct finding_list *findings;
};

static void run_view_rules(const struct view *view, void *context) {
    struct view_run *run = context;
    run->input->view = view;
    registry_run_rules(run->input, RULES_VIEW, run->actions, run->findings);
    run->input->view = NULL;
}

void gate_judge(const struct gate *gate, const struct review *review, struct arena *arena,
                struct finding_list *findings) {
    if (!review->object_set) {
        // Only a forged review says that something is created and does not say what.
        struct path path = path_field(NULL, TEXT("object"));
        finding_add(findings, FINDING_REQUIRED, &path, (struct text){"", 0},
                    TEXT("the review has no object"));
        return;
    }
    bool has_old = review->operation == REVIEW_UPDATE && review->old_set;
    if (has_old && same_json(arena, spec_of(&review->object), spec_of(&review->old))) {
        // Nothing that a rule reads has changed: what was stored before may be wrong, but it must stay
        // possible to add a finalizer to it, to own it and to let it go.
        findings->count = 0;
        findings->dropped_count = 0;
        return;
    }
    static const struct rule_settings built_in = {.numa_attributes = {.set = false}};
    struct rule_input input = {
        .object = &review->object,
        .old = has_old ? &review->old : NULL,
        .operation = has_old ? OPERATION_UPDATE : OPERATION_CREATE,
        .subresource = review->subresource,
        .minor = gate->minor,
        .online = true,
        .pool_has_siblings = pool_has_siblings(gate, &review->object),
        .settings = gate->settings != NULL ? gate->settings : &built_in,
        .arena = arena,
    };
    registry_check_schema(&input, findings);
    registry_run_rules(&input, RULES_OFFLINE, gate->actions, findings);
    if (gate->store == NULL) return;
    struct view_run run = {.input = &input, .actions = gate->actions, .findings = findings};
    gate->store->with_view(gate->store->state, run_view_rules, &run);
}
