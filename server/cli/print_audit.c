// SPDX-License-Identifier: Apache-2.0
// An audit as text and as JSON. The members of the JSON are a contract: some may be added, none renamed.
#include <string.h>

#include "server/cli/audit.h"
#include "server/cli/check_result.h"
#include "server/cli/print_string.h"
#include "validators/registry/message.h"

#define LINE_BYTES 2048u

static const char *form_name(enum audit_form form) {
    static const char *const names[] = {
        [FORM_NONE] = "none", [FORM_V136] = "v1.36", [FORM_V137] = "v1.37", [FORM_BOTH] = "both"};
    return names[form];
}

static bool can_be_told(const struct audit_class *class) {
    return class->named || class->driver.len > 0;
}

// ---- JSON

static void member(FILE *out, const char *before, const char *name, struct text value) {
    fprintf(out, "%s\"%s\":", before, name);
    print_json_string(out, value);
}

static const char *truth(bool value) {
    return value ? "true" : "false";
}

static void json_texts(FILE *out, const char *name, const struct text_list *list) {
    fprintf(out, ",\"%s\":[", name);
    for (size_t i = 0; i < list->count; i++) {
        if (i > 0) putc(',', out);
        print_json_string(out, list->items[i]);
    }
    putc(']', out);
}

static void json_head(FILE *out, const struct audit_world *world) {
    fprintf(out, "{\"kubernetesVersion\":\"1.%d\"", world->minor);
    if (world->online) {
        member(out, ",", "serverVersion", world->version);
        fprintf(out, ",\"taintRulesServed\":%s", truth(world->taint_rules_served));
    }
    if (!world->gates_told) return;
    fputs(",\"featureGates\":{", out);
    for (size_t i = 0; i < world->gates.count; i++) {
        if (i > 0) putc(',', out);
        print_json_string(out, world->gates.items[i].name);
        fprintf(out, ":%s", truth(world->gates.items[i].enabled));
    }
    putc('}', out);
}

static void json_drivers(FILE *out, const struct audit_driver_list *drivers) {
    fputs(",\n \"drivers\":[", out);
    for (size_t i = 0; i < drivers->count; i++) {
        const struct audit_driver *driver = &drivers->items[i];
        member(out, i > 0 ? ",\n  {" : "\n  {", "driver", driver->name);
        fprintf(out,
                ",\"form\":\"%s\",\"read\":%s,\"slices\":%zu,\"devices\":%zu,\"mappedDevices\":%zu,"
                "\"nodes\":%zu}",
                form_name(driver->form), truth(driver->counts), driver->slices, driver->devices,
                driver->mapped_devices, driver->nodes);
    }
    putc(']', out);
}

static void json_classes(FILE *out, const struct audit_class_list *classes) {
    fputs(",\n \"classes\":[", out);
    for (size_t i = 0; i < classes->count; i++) {
        const struct audit_class *class = &classes->items[i];
        member(out, i > 0 ? ",\n  {" : "\n  {", "name", class->name);
        fprintf(out, ",\"gated\":%s,\"named\":%s,\"told\":%s", truth(class->gated), truth(class->named),
                truth(can_be_told(class)));
        member(out, ",", "driver", class->driver);
        putc('}', out);
    }
    putc(']', out);
}

static void json_nodes(FILE *out, const struct audit_node_list *nodes) {
    fputs(",\n \"nodes\":[", out);
    for (size_t i = 0; i < nodes->count; i++) {
        const struct audit_node *node = &nodes->items[i];
        member(out, i > 0 ? ",\n  {" : "\n  {", "name", node->name);
        fprintf(out, ",\"ready\":%s,\"state\":\"%s\"", truth(node->ready), node->state);
        json_texts(out, "causes", &node->causes);
        json_texts(out, "reasons", &node->reasons);
        fprintf(out, ",\"canary\":%s,\"divergences\":%zu", truth(node->canary), node->divergence_count);
        if (node->headroom_known) fprintf(out, ",\"headroomPercent\":%.1f", node->headroom);
        if (node->kubelet_minor > 0) fprintf(out, ",\"kubeletMinor\":%d", node->kubelet_minor);
        putc('}', out);
    }
    putc(']', out);
}

static void json_finding(FILE *out, const char *before, const struct finding *finding) {
    member(out, before, "rule", text_of(finding->rule));
    member(out, ",", "severity", text_of(severity_name(finding->severity)));
    member(out, ",", "reason", text_of(finding_type_reason(finding->type)));
    member(out, ",", "field", finding->path);
    member(out, ",", "value", check_cut_value(finding->value));
    member(out, ",", "message", finding->detail);
    member(out, ",", "hint", finding->hint);
    putc('}', out);
}

static void json_objects(FILE *out, const struct audit_object_list *objects) {
    fputs(",\n \"objects\":[", out);
    for (size_t i = 0; i < objects->count; i++) {
        const struct audit_object *object = &objects->items[i];
        member(out, i > 0 ? ",\n  {" : "\n  {", "kind", text_of(object->kind));
        member(out, ",", "namespace", object->namespace);
        member(out, ",", "name", object->name);
        member(out, ",", "uid", object->uid);
        if (object->file != NULL) member(out, ",", "file", text_of(object->file));
        fprintf(out, ",\"denied\":%s,\"findings\":[", truth(object->denied));
        for (size_t k = 0; k < object->finding_count; k++)
            json_finding(out, k > 0 ? ",\n   {" : "\n   {", &object->findings[k]);
        fputs("]}", out);
    }
    putc(']', out);
}

void print_audit_json(FILE *out, const struct audit_world *world, const struct audit_report *report) {
    json_head(out, world);
    json_drivers(out, &report->drivers);
    json_classes(out, &report->classes);
    json_nodes(out, &report->nodes);
    json_objects(out, &report->objects);
    fprintf(out,
            ",\n \"summary\":{\"judged\":%zu,\"denied\":%zu,\"warned\":%zu,\"unreadable\":%zu,"
            "\"rolesOfKubernetes\":%zu,\"unmappedNodes\":%zu}}\n",
            report->judged_count, report->denied_count, report->warned_count, world->unreadable_count,
            report->roles_passed_over_count, report->nodes.unmapped_count);
}

// ---- text

static void text_head(FILE *out, const struct audit_world *world) {
    fprintf(out, "Judged as Kubernetes 1.%d", world->minor);
    if (world->online) {
        fputs(", the API server says ", out);
        print_plain_text(out, world->version);
    }
    if (world->online && world->minor > MINOR_NEWEST)
        fprintf(out, "; newer than what is known, the rules of 1.%d are used", MINOR_NEWEST);
    putc('\n', out);
    if (!world->online) return;
    fprintf(out, "DeviceTaintRules: %s\n",
            world->taint_rules_served ? "served" : "not served; Pods are held by gate and denial alone");
    if (!world->gates_told) {
        fputs("Feature gates: the API server does not tell them to this user (GET /metrics)\n", out);
        return;
    }
    fputs("Feature gates:", out);
    for (size_t i = 0; i < world->gates.count; i++) {
        fputs(i > 0 ? ", " : " ", out);
        print_plain_text(out, world->gates.items[i].name);
        fputs(world->gates.items[i].enabled ? " on" : " off", out);
    }
    putc('\n', out);
}

static int width_of(size_t most, struct text text) {
    return (int)(text.len > most ? text.len : most);
}

static const char *form_words(const struct audit_driver *driver) {
    switch (driver->form) {
    case FORM_NONE: return "no mappings";
    case FORM_V136: return driver->counts ? "v1.36 field" : "v1.36 field, not read by this cluster";
    case FORM_V137: return driver->counts ? "v1.37 field" : "v1.37 field, not read by this cluster";
    default: return "both fields";
    }
}

static void text_drivers(FILE *out, const struct audit_driver_list *drivers) {
    int width = 6;
    fputs("\nDRIVERS\n", out);
    if (drivers->count == 0) fputs("  none has published a slice\n", out);
    for (size_t i = 0; i < drivers->count; i++) width = width_of((size_t)width, drivers->items[i].name);
    for (size_t i = 0; i < drivers->count; i++) {
        const struct audit_driver *driver = &drivers->items[i];
        fprintf(out, "  %-*.*s  %s; %zu of %zu devices have mappings, in %zu slice%s on %zu node%s\n", width,
                TEXT_ARG(driver->name), form_words(driver), driver->mapped_devices, driver->devices,
                driver->slices, driver->slices == 1 ? "" : "s", driver->nodes, driver->nodes == 1 ? "" : "s");
    }
}

static void text_classes(FILE *out, const struct audit_class_list *classes) {
    int width = 5;
    fputs("\nDEVICE CLASSES\n", out);
    if (classes->count == 0) fputs("  there are none\n", out);
    for (size_t i = 0; i < classes->count; i++) width = width_of((size_t)width, classes->items[i].name);
    for (size_t i = 0; i < classes->count; i++) {
        const struct audit_class *class = &classes->items[i];
        fprintf(out, "  %-*.*s  %-9s", width, TEXT_ARG(class->name), class->gated ? "gated" : "not gated");
        if (class->driver.len > 0) {
            fputs("  driver ", out);
            print_plain_text(out, class->driver);
        } else if (!class->named) {
            fputs("  its driver cannot be told: give it the label drawbridge.dev/driver, or name it in "
                  "gatedClasses",
                  out);
        }
        fputs(class->named ? "  named by the policy\n" : "\n", out);
    }
}

static void text_lines(FILE *out, const struct text_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        fputs("      ", out);
        print_plain_text(out, list->items[i]);
        putc('\n', out);
    }
}

static void text_nodes(FILE *out, const struct audit_node_list *nodes) {
    int width = 4;
    fputs("\nNODES\n", out);
    if (nodes->count == 0) fputs("  none has a driver with mappings\n", out);
    for (size_t i = 0; i < nodes->count; i++) width = width_of((size_t)width, nodes->items[i].name);
    for (size_t i = 0; i < nodes->count; i++) {
        const struct audit_node *node = &nodes->items[i];
        fprintf(out, "  %-*.*s  %s, %s\n", width, TEXT_ARG(node->name), node->ready ? "ready" : "not ready",
                node->state);
        text_lines(out, &node->causes);
        text_lines(out, &node->reasons);
    }
    if (nodes->unmapped_count > 0)
        fprintf(out, "  %zu more node%s no driver with mappings\n", nodes->unmapped_count,
                nodes->unmapped_count == 1 ? " has" : "s have");
}

static void text_objects(FILE *out, const struct audit_object_list *objects) {
    struct arena arena;
    if (objects->count == 0) return;
    fputs("\nFINDINGS\n", out);
    arena_init(&arena, (size_t)1 << 20);
    for (size_t i = 0; i < objects->count; i++) {
        const struct audit_object *object = &objects->items[i];
        fprintf(out, "  %s ", object->kind);
        if (object->namespace.len > 0) {
            print_plain_text(out, object->namespace);
            putc('/', out);
        }
        print_plain_text(out, object->name);
        if (object->file != NULL) fprintf(out, " (%s)", object->file);
        fputs(object->denied ? " would be denied\n" : "\n", out);
        for (size_t k = 0; k < object->finding_count; k++) {
            const struct finding *finding = &object->findings[k];
            arena_clear(&arena);
            struct text line = message_line(&arena, finding, LINE_BYTES);
            fprintf(out, "      %s: %.*s\n", severity_name(finding->severity), TEXT_ARG(line));
        }
    }
    arena_release(&arena);
}

void print_audit_text(FILE *out, const struct audit_world *world, const struct audit_report *report) {
    size_t ready = 0;
    for (size_t i = 0; i < report->nodes.count; i++) ready += report->nodes.items[i].ready;
    text_head(out, world);
    text_drivers(out, &report->drivers);
    text_classes(out, &report->classes);
    text_nodes(out, &report->nodes);
    text_objects(out, &report->objects);
    fprintf(out, "\n%zu object%s: %zu would be denied, %zu warned about; %zu of %zu node%s ready\n",
            report->judged_count, report->judged_count == 1 ? "" : "s", report->denied_count,
            report->warned_count, ready, report->nodes.count, report->nodes.count == 1 ? "" : "s");
    if (report->roles_passed_over_count > 0)
        fprintf(out, "roles and bindings that Kubernetes itself brings are passed over: %zu\n",
                report->roles_passed_over_count);
}
