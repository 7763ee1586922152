// SPDX-License-Identifier: Apache-2.0
// canary-scope: a claim outside the canary asks for devices that drawbridge guards.
//
// Devices that take of their node are rolled out to some namespaces first: those with the label
// drawbridge.dev/canary: "true", and those that spec.canary.namespaces of the LedgerPolicy lists. A device
// class is guarded when the policy names it, or when its label drawbridge.dev/driver or a selector of the
// form device.driver == "NAME" names a driver that publishes mappings.
//
// Wrong: a claim for class gpu.example.com in namespace default, which has no such label.
// Right: the same claim in a canary namespace.
//
// What to do: let an administrator take the namespace into the canary, or use another class.
//
// Reads: metadata.namespace, spec.devices.requests[].exactly.deviceClassName and firstAvailable[] (below
// spec.spec in templates), status.allocation; DeviceClass; the live slices; Namespace labels; LedgerPolicy
// spec.canary, spec.gatedClasses.
//
// Default: deny. Policy may set deny, warn, audit or off. What cannot be told yet is warned about.
//
// Source: kubernetes v1.36.3 pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go (a claim is
// allocated wherever a Pod asks for it).
#include "validators/rules/claim_gate.h"

struct scope {
    struct text namespace;
    bool canary;
    bool known;
    struct finding_list *findings;
};

static void judge(const struct rule_input *input, struct text name, const struct path *path, void *context) {
    const struct scope *scope = context;
    struct view_class class = {.gated = false};
    enum view_answer answer = VIEW_ASK(input->view, device_class, name, &class);
    if (answer == VIEW_NOT_FOUND || (answer == VIEW_KNOWN && !class.gated)) return;
    struct finding *finding;
    if (answer == VIEW_NOT_SYNCED || !scope->known) {
        finding =
            finding_add(scope->findings, FINDING_FORBIDDEN, path, name,
                        TEXT("classes and namespaces are not known yet, so the canary was not compared"));
        finding_hint(finding, TEXT("nothing to do: it is compared again when the claim is allocated"));
        if (finding != NULL && finding->severity == SEVERITY_DENY) finding->severity = SEVERITY_WARN;
        return;
    }
    finding = finding_addf(scope->findings, FINDING_FORBIDDEN, path, name,
                           "the class is guarded, and namespace %.*s is not in the canary",
                           TEXT_ARG(scope->namespace));
    finding_hint(finding, TEXT("ask for the label drawbridge.dev/canary: \"true\" on the namespace"));
}

// At the allocation the drivers are known, whatever the classes told.
static void judge_allocation(const struct rule_input *input, const struct scope *scope) {
    struct claim_write write;
    if (!claim_write_of(input, &write) || !write.allocates) return;
    const struct allocation_result_list *results = &write.claim->allocation.results;
    for (size_t i = 0; i < results->count; i++) {
        const struct allocation_result *result = &results->items[i];
        struct device_key key = {result->driver, result->pool, result->device};
        struct device_standing standing = {.generation = -1};
        if (VIEW_ASK(input->view, device, &key, write.node, input->arena, &standing) != VIEW_KNOWN ||
            !standing.found || standing.device.mappings.count == 0)
            continue;
        struct text what =
            scope->known
                ? text_format(input->arena,
                              "devices of driver %.*s are guarded, and namespace %.*s is not in the canary",
                              TEXT_ARG(result->driver), TEXT_ARG(scope->namespace))
                : TEXT("namespaces are not known yet");
        claim_finding(input, &write, scope->findings, FINDING_FORBIDDEN, what,
                      TEXT("it ends when the namespace is taken into the canary"));
        return;
    }
}

void rule_canary_scope(const struct rule_input *input, struct finding_list *findings) {
    struct scope scope = {.namespace = object_metadata(input->object)->namespace, .findings = findings};
    enum view_answer answer = VIEW_ASK(input->view, namespace_is_canary, scope.namespace, &scope.canary);
    scope.known = answer != VIEW_NOT_SYNCED;
    if (answer == VIEW_KNOWN && scope.canary) return;
    if (input->subresource.len > 0)
        judge_allocation(input, &scope);
    else
        for_each_class(input, judge, &scope);
}
