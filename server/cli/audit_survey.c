// SPDX-License-Identifier: Apache-2.0
// Drivers by the form of their mappings, classes by what can be told of them, nodes by whether they are
// ready.
#include <stdlib.h>
#include <string.h>

#include "server/cli/audit.h"
#include "server/codec/decode.h"
#include "validators/model/device_class.h"

#define OBJECT_BYTES ((size_t)256 << 20)

struct surveying {
    struct audit_world *world;
    struct audit_report *report;
    struct arena arena; // of one object
    struct view view;
};

// ---- drivers

static struct audit_driver *driver_of(struct surveying *surveying, struct text name) {
    struct audit_driver_list *drivers = &surveying->report->drivers;
    for (size_t i = 0; i < drivers->count; i++)
        if (text_equal(drivers->items[i].name, name)) return &drivers->items[i];
    struct audit_driver *driver = LIST_APPEND(&surveying->world->arena, drivers);
    if (driver != NULL) driver->name = text_copy(&surveying->world->arena, name);
    return driver;
}

static enum audit_form form_of(const struct device *device) {
    bool v136 = device->mappings_v136.count > 0, v137 = device->resources_v137.count > 0;
    if (v136 && v137) return FORM_BOTH;
    return v136 ? FORM_V136 : v137 ? FORM_V137 : FORM_NONE;
}

static enum audit_form joined(enum audit_form a, enum audit_form b) {
    if (a == b || b == FORM_NONE) return a;
    return a == FORM_NONE ? b : FORM_BOTH;
}

// Slices of a node mostly follow each other.
static void count_node(struct surveying *surveying, struct audit_driver *driver,
                       const struct resource_slice *slice) {
    if (!slice->node_name.set || text_equal(driver->last_node, slice->node_name.value)) return;
    driver->last_node = text_copy(&surveying->world->arena, slice->node_name.value);
    driver->nodes++;
}

static void take_slice(struct surveying *surveying, const struct resource_slice *slice) {
    struct audit_driver *driver = driver_of(surveying, slice->driver);
    if (driver == NULL) return;
    driver->slices++;
    driver->devices += slice->devices.count;
    count_node(surveying, driver, slice);
    for (size_t i = 0; i < slice->devices.count; i++) {
        enum audit_form form = form_of(&slice->devices.items[i]);
        driver->mapped_devices += form != FORM_NONE;
        driver->form = joined(driver->form, form);
    }
}

static int compare_drivers(const void *a, const void *b) {
    return text_compare(((const struct audit_driver *)a)->name, ((const struct audit_driver *)b)->name);
}

// 1.36 reads its own field, 1.37 its own; the other one is dropped when it is written.
static bool is_read(enum audit_form form, int minor) {
    return form != FORM_NONE && (form == FORM_BOTH || (minor >= MINOR_37) == (form == FORM_V137));
}

// ---- classes

static void take_class(struct surveying *surveying, const struct device_class *device_class) {
    struct arena *arena = &surveying->world->arena;
    const struct ledger_policy *policy = surveying->view.table->policy(surveying->view.state);
    struct view_class known = {.gated = false};
    struct audit_class *found = LIST_APPEND(arena, &surveying->report->classes);
    if (found == NULL) return;
    struct text name = device_class->metadata.name;
    found->name = text_copy(arena, name);
    found->driver = text_copy(arena, device_class_driver(device_class));
    if (VIEW_ASK(&surveying->view, device_class, name, &known) == VIEW_KNOWN) found->gated = known.gated;
    for (size_t i = 0; policy != NULL && i < policy->gated_classes.count; i++)
        if (text_equal(policy->gated_classes.items[i], name)) found->named = true;
}

static int compare_classes(const void *a, const void *b) {
    return text_compare(((const struct audit_class *)a)->name, ((const struct audit_class *)b)->name);
}

static bool survey_items(struct surveying *surveying, struct fault *fault) {
    struct audit_report *report = surveying->report;
    bool fine = true;
    for (size_t i = 0; i < surveying->world->items.count && fine; i++) {
        const struct audit_item *item = &surveying->world->items.items[i];
        struct finding_list findings;
        if (item->kind != KIND_RESOURCE_SLICE && item->kind != KIND_DEVICE_CLASS) continue;
        arena_clear(&surveying->arena);
        finding_list_init(&findings, &surveying->arena);
        struct object *object = arena_zalloc(&surveying->arena, 1, sizeof *object);
        fine = (object != NULL || fault_set(fault, FAULT_MEMORY, "no memory for an object")) &&
               audit_decode(surveying->world, item, &surveying->arena, object, &findings, fault);
        if (fine && item->kind == KIND_RESOURCE_SLICE) take_slice(surveying, &object->slice);
        if (fine && item->kind == KIND_DEVICE_CLASS) take_class(surveying, &object->device_class);
    }
    if (!fine) return false;
    for (size_t i = 0; i < report->drivers.count; i++)
        report->drivers.items[i].counts = is_read(report->drivers.items[i].form, surveying->world->minor);
    if (report->drivers.count > 0)
        qsort(report->drivers.items, report->drivers.count, sizeof *report->drivers.items, compare_drivers);
    if (report->classes.count > 0)
        qsort(report->classes.items, report->classes.count, sizeof *report->classes.items, compare_classes);
    return true;
}

// ---- nodes

static void add_reason(struct arena *arena, struct audit_node *node, struct text reason) {
    struct text *text = LIST_APPEND(arena, &node->reasons);
    if (text != NULL) *text = reason;
}

static void find_reasons(struct surveying *surveying, struct audit_node *node,
                         const struct node_report *report) {
    struct arena *arena = &surveying->world->arena;
    int minor = surveying->world->minor;
    struct view_node view = {.canary = true};
    if (VIEW_ASK(&surveying->view, node, report->name, &view) != VIEW_KNOWN) {
        add_reason(arena, node, TEXT("there is no Node object"));
        return;
    }
    node->kubelet_minor = view.kubelet_minor;
    node->canary = view.canary;
    if (!view.canary) add_reason(arena, node, TEXT("it is no canary node of the policy"));
    if (view.kubelet_minor > 0 && view.kubelet_minor < minor)
        add_reason(arena, node,
                   text_format(arena, "its kubelet is of 1.%d, older than 1.%d", view.kubelet_minor, minor));
    if (minor >= MINOR_37 && !view.declares_feature)
        add_reason(arena, node, TEXT("it does not declare the feature DRANodeAllocatableResources"));
    for (size_t i = 0; i < report->totals.count; i++) {
        const struct total_report *total = &report->totals.items[i];
        if (quantity_sign(total->free) >= 0) continue;
        add_reason(arena, node,
                   text_format(arena, "more %.*s is taken than it has", TEXT_ARG(total->resource)));
    }
    for (size_t i = 0; i < report->divergence.count; i++)
        add_reason(arena, node,
                   text_format(
                       arena, "Pod %.*s, claim %.*s (%.*s): its status says otherwise (%s)",
                       TEXT_ARG(report->divergence.items[i].pod), TEXT_ARG(report->divergence.items[i].claim),
                       TEXT_ARG(report->divergence.items[i].claim_uid), report->divergence.items[i].class));
}

static void find_headroom(struct surveying *surveying, struct audit_node *node,
                          const struct node_report *report) {
    for (size_t i = 0; i < report->totals.count; i++) {
        const struct total_report *total = &report->totals.items[i];
        int64_t free_milli, all_milli;
        if (!text_equal(total->resource, TEXT("cpu")) && !text_equal(total->resource, TEXT("memory")))
            continue;
        if (!quantity_milli(total->allocatable, &all_milli) || all_milli <= 0) continue;
        // What cannot be counted in the range is far below nothing.
        double share = quantity_milli(total->free, &free_milli)
                           ? 100.0 * (double)free_milli / (double)all_milli
                           : -100.0;
        if (node->headroom_known && node->headroom <= share) continue;
        node->headroom_known = true;
        node->headroom = share;
        node->tightest = text_copy(&surveying->world->arena, total->resource);
    }
}

static bool copy_causes(struct arena *arena, const struct text_list *causes, struct audit_node *node) {
    for (size_t i = 0; i < causes->count; i++) {
        struct text *text = LIST_APPEND(arena, &node->causes);
        if (text != NULL) *text = text_copy(arena, causes->items[i]);
    }
    return !arena->poisoned;
}

static bool take_node(struct surveying *surveying, struct text name) {
    struct arena *arena = &surveying->world->arena;
    struct node_report report;
    if (!ledger_node_report(surveying->world->ledger, name, true, &surveying->arena, &report)) return false;
    if (report.state == FRESHNESS_UNMAPPED) {
        surveying->report->nodes.unmapped_count++;
        return true;
    }
    struct audit_node *node = LIST_APPEND(arena, &surveying->report->nodes);
    if (node == NULL) return false;
    node->name = text_copy(arena, name);
    node->state = freshness_name(report.state);
    node->divergence_count = report.divergence.count;
    find_reasons(surveying, node, &report);
    find_headroom(surveying, node, &report);
    node->ready = report.state == FRESHNESS_FRESH && node->reasons.count == 0;
    return copy_causes(arena, &report.causes, node);
}

static bool survey_nodes(struct surveying *surveying) {
    struct text_list names;
    bool fine = ledger_nodes(surveying->world->ledger, &surveying->world->arena, &names);
    for (size_t i = 0; fine && i < names.count; i++) {
        arena_clear(&surveying->arena);
        fine = take_node(surveying, names.items[i]);
    }
    return fine;
}

bool audit_survey(struct audit_world *world, struct audit_report *report, struct fault *fault) {
    struct surveying surveying = {.world = world, .report = report, .view = ledger_view(world->ledger)};
    arena_init(&surveying.arena, OBJECT_BYTES);
    bool fine = survey_items(&surveying, fault);
    if (fine && !survey_nodes(&surveying)) fine = fault_set(fault, FAULT_MEMORY, "no memory for the nodes");
    if (fine && world->arena.poisoned) fine = fault_set(fault, FAULT_MEMORY, "no memory for the result");
    arena_release(&surveying.arena);
    return fine;
}
