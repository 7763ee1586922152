// SPDX-License-Identifier: Apache-2.0
// Judging what is there as if it were written now. Rules about a change from one state to the next, or about
// the present moment, say nothing of what is there, and are left out.
#include <stdlib.h>
#include <string.h>

#include "server/cli/audit.h"
#include "server/codec/decode.h"
#include "server/review/gate_policy.h"
#include "validators/registry/registry.h"

#define OBJECT_BYTES      ((size_t)256 << 20)
#define BOOTSTRAP_LABEL   "kubernetes.io/bootstrapping"
#define VALUE_LIMIT_BYTES 256u

// Rules that compare an object with itself before, that ask whether a ledger is fresh now, or that would
// count an allocation a second time (the nodes' own accounts tell what is overdrawn).
static bool is_of_the_moment(const char *rule) {
    static const char *const rules[] = {
        "capacity-exceeded",      "claim-regressed",    "device-dropped-in-use", "frozen",
        "generation-regressed",   "generation-reset",   "generation-runaway",    "ledger-stale",
        "mapping-changed-in-use", "pod-level-too-small"};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (strcmp(rules[i], rule) == 0) return true;
    return false;
}

bool audit_decode(const struct audit_world *world, const struct audit_item *item, struct arena *arena,
                  struct object *ret_object, struct finding_list *findings, struct fault *fault) {
    const struct decode_options options = {.mode = JSON_WIRE, .minor = world->minor};
    return decode_object(arena, item->json, &options, ret_object, findings, fault);
}

struct judging {
    struct audit_world *world;
    struct audit_report *report;
    struct arena arena; // of one object
    struct view view;
    struct fault *fault;
};

static enum review_resource resource_of(enum object_kind kind) {
    switch (kind) {
    case KIND_RESOURCE_SLICE: return RESOURCE_SLICES;
    case KIND_RESOURCE_CLAIM: return RESOURCE_CLAIMS;
    case KIND_RESOURCE_CLAIM_TEMPLATE: return RESOURCE_CLAIM_TEMPLATES;
    case KIND_DEVICE_CLASS: return RESOURCE_DEVICE_CLASSES;
    default: return RESOURCE_OTHER;
    }
}

static bool pool_has_siblings(const struct judging *judging, const struct object *object) {
    struct pool_state pool = {.slice_count = 0};
    if (object->kind != KIND_RESOURCE_SLICE) return false;
    struct pool_key key = pool_key_of(&object->slice);
    return VIEW_ASK(&judging->view, pool, &key, object->slice.metadata.name, &pool) == VIEW_KNOWN &&
           pool.slice_count > 0;
}

// The rules for one kind of write.
static void run_rules(struct judging *judging, const struct object *object, const struct object *old,
                      struct finding_list *findings) {
    const bool is_status = old != NULL;
    const struct object_meta *meta = object_metadata(object);
    struct review review = {.operation = is_status ? REVIEW_UPDATE : REVIEW_CREATE,
                            .resource = resource_of(object->kind),
                            .namespace = meta->namespace,
                            .name = meta->name,
                            .object_set = true,
                            .object = *object};
    static const struct rule_settings built_in = {.numa_attributes = {.set = false}};
    struct gate_policy policy;
    if (is_status) review.subresource = TEXT("status");
    gate_policy_read(&judging->view, &review, &judging->arena, &policy);
    if (policy.severities == NULL) return; // out of memory: the arena tells
    const struct rule_input input = {
        .object = object,
        .old = old,
        .operation = is_status ? OPERATION_UPDATE : OPERATION_CREATE,
        .subresource = review.subresource,
        .minor = judging->world->minor,
        .online = true,
        .pool_has_siblings = pool_has_siblings(judging, object),
        .settings = policy.settings.numa_attributes.set ? &policy.settings : &built_in,
        .view = &judging->view,
        .user = is_status ? TEXT("system:kube-scheduler") : TEXT("system:admin"),
        .arena = &judging->arena,
    };
    if (!is_status) registry_check_schema(&input, findings);
    registry_run_rules(&input, RULES_OFFLINE, &policy.actions, findings);
    registry_run_rules(&input, RULES_VIEW, &policy.actions, findings);
}

// A claim that has devices: the write that gave them.
static void judge_allocation(struct judging *judging, const struct object *object,
                             struct finding_list *findings) {
    if (object->kind != KIND_RESOURCE_CLAIM || !object->claim.allocation.set) return;
    struct object *old = arena_alloc(&judging->arena, sizeof *old);
    if (old == NULL) return;
    *old = *object;
    old->claim.allocation = (struct allocation){.set = false};
    old->claim.reserved_for.items = NULL;
    old->claim.reserved_for.count = 0;
    run_rules(judging, object, old, findings);
}

static bool is_of_kubernetes(const struct object *object) {
    const struct text_map *labels = &object_metadata(object)->labels;
    for (size_t i = 0; i < labels->count; i++)
        if (text_equal(labels->items[i].key, TEXT(BOOTSTRAP_LABEL))) return true;
    return false;
}

static bool is_same(const struct finding *a, const struct finding *b) {
    return strcmp(a->rule, b->rule) == 0 && text_equal(a->path, b->path) && text_equal(a->detail, b->detail);
}

// What is left to be told, each once.
static void sift(struct finding_list *findings) {
    size_t kept = 0;
    for (size_t i = 0; i < findings->count; i++) {
        bool told = findings->items[i].severity == SEVERITY_OFF || is_of_the_moment(findings->items[i].rule);
        for (size_t k = 0; k < kept && !told; k++) told = is_same(&findings->items[k], &findings->items[i]);
        if (!told) findings->items[kept++] = findings->items[i];
    }
    findings->count = kept;
    finding_list_sort(findings);
}

static bool copy_findings(struct arena *arena, const struct finding_list *findings,
                          struct audit_object *object) {
    object->findings = arena_zalloc(arena, findings->count, sizeof *object->findings);
    if (object->findings == NULL) return false;
    for (size_t i = 0; i < findings->count; i++) {
        struct finding *copy = &object->findings[i];
        *copy = findings->items[i];
        copy->path = text_copy(arena, copy->path);
        copy->value = text_copy(arena, text_slice(copy->value, 0, VALUE_LIMIT_BYTES));
        copy->detail = text_copy(arena, copy->detail);
        copy->hint = text_copy(arena, copy->hint);
    }
    object->finding_count = findings->count;
    return !arena->poisoned;
}

static const char *name_of_kind(const struct object *object) {
    switch (object->kind) {
    case KIND_RESOURCE_SLICE: return "ResourceSlice";
    case KIND_RESOURCE_CLAIM: return "ResourceClaim";
    case KIND_RESOURCE_CLAIM_TEMPLATE: return "ResourceClaimTemplate";
    case KIND_DEVICE_CLASS: return "DeviceClass";
    case KIND_ROLE: return "Role";
    case KIND_CLUSTER_ROLE: return "ClusterRole";
    default: return "ClusterRoleBinding";
    }
}

static bool has_severity(const struct finding_list *findings, enum severity severity) {
    for (size_t i = 0; i < findings->count; i++)
        if (findings->items[i].severity == severity) return true;
    return false;
}

static struct text driver_of(struct arena *arena, const struct object *object) {
    if (object->kind != KIND_RESOURCE_SLICE) return (struct text){NULL, 0};
    return text_copy(arena, object->slice.driver);
}

static bool note(struct judging *judging, const struct audit_item *item, const struct object *object,
                 struct finding_list *findings) {
    struct arena *arena = &judging->world->arena;
    const struct object_meta *meta = object_metadata(object);
    bool denied = finding_list_denies(findings);
    judging->report->denied_count += denied;
    judging->report->warned_count += !denied && has_severity(findings, SEVERITY_WARN);
    if (findings->count == 0) return true;
    struct audit_object *found = LIST_APPEND(arena, &judging->report->objects);
    if (found == NULL) return false;
    *found = (struct audit_object){.kind = name_of_kind(object),
                                   .namespace = text_copy(arena, meta->namespace),
                                   .name = text_copy(arena, meta->name),
                                   .uid = text_copy(arena, meta->uid),
                                   .driver = driver_of(arena, object),
                                   .file = item->file,
                                   .denied = denied};
    return copy_findings(arena, findings, found);
}

static bool judge_item(struct judging *judging, const struct audit_item *item) {
    struct finding_list findings;
    arena_clear(&judging->arena);
    finding_list_init(&findings, &judging->arena);
    struct object *object = arena_zalloc(&judging->arena, 1, sizeof *object);
    if (object == NULL ||
        !audit_decode(judging->world, item, &judging->arena, object, &findings, judging->fault))
        return object != NULL || fault_set(judging->fault, FAULT_MEMORY, "no memory for an object");
    bool is_rights = resource_of(item->kind) == RESOURCE_OTHER;
    if (is_rights && is_of_kubernetes(object)) {
        judging->report->roles_passed_over_count++;
        return true;
    }
    judging->report->judged_count++;
    run_rules(judging, object, NULL, &findings);
    judge_allocation(judging, object, &findings);
    sift(&findings);
    bool fine = finding_list_is_sound(&findings) && note(judging, item, object, &findings);
    return fine || fault_set(judging->fault, FAULT_MEMORY, "no memory for what was found");
}

bool audit_judge(struct audit_world *world, struct audit_report *report, struct fault *fault) {
    struct judging judging = {
        .world = world, .report = report, .view = ledger_view(world->ledger), .fault = fault};
    bool fine = true;
    arena_init(&judging.arena, OBJECT_BYTES);
    for (size_t i = 0; i < world->items.count && fine; i++)
        fine = judge_item(&judging, &world->items.items[i]);
    arena_release(&judging.arena);
    return fine;
}
