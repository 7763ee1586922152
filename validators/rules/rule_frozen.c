// SPDX-License-Identifier: Apache-2.0
// frozen: new claims are stopped for the cluster, a driver, a node or a namespace.
//
// An operator froze the scope with `drawbridge freeze`. New claims of people and tools are refused, and no
// claim is allocated there. What is bound stays bound; releases and deletions always pass. A freeze ends with
// `drawbridge resume`, or when it expires.
//
// What to do: wait, or ask who froze it; the message has the reason and when it ends.
//
// Reads: metadata.namespace, spec.devices.requests[].exactly.deviceClassName and firstAvailable[],
// status.allocation, status.reservedFor; DeviceClass; Pod; LedgerPolicy spec.freezes.
//
// Default: deny. Policy cannot change it. The resourceclaim controller and the scheduler may still create
// claims: refused, they would try again for minutes after the freeze has ended.
//
// Source: kubernetes v1.36.3 pkg/controller/resourceclaim/controller.go (back-off of up to 1,000 s).
#include "validators/rules/claim_gate.h"

static struct text what_of(struct arena *arena, const struct view_freeze *freeze) {
    return text_format(arena, "%.*s is frozen: %.*s", TEXT_ARG(freeze->scope),
                       TEXT_ARG(freeze->reason.len > 0 ? freeze->reason : TEXT("no reason given")));
}

static struct text end_of(struct arena *arena, const struct view_freeze *freeze) {
    if (freeze->expires.len == 0) return TEXT("it ends with drawbridge resume");
    return text_format(arena, "it ends at %.*s, or with drawbridge resume", TEXT_ARG(freeze->expires));
}

struct creation {
    struct text namespace;
    struct finding_list *findings;
    bool found;
};

static void judge_class(const struct rule_input *input, struct text name, const struct path *path,
                        void *context) {
    struct creation *creation = context;
    struct view_class class = {.gated = false};
    struct view_freeze freeze;
    const struct text none = {NULL, 0};
    if (creation->found || VIEW_ASK(input->view, device_class, name, &class) != VIEW_KNOWN) return;
    if (!class.gated || class.driver.len == 0) return;
    if (VIEW_ASK(input->view, freeze, none, class.driver, none, input->arena, &freeze) != VIEW_KNOWN) return;
    creation->found = true;
    finding_hint(
        finding_add(creation->findings, FINDING_FORBIDDEN, path, name, what_of(input->arena, &freeze)),
        end_of(input->arena, &freeze));
}

static void judge_creation(const struct rule_input *input, struct finding_list *findings) {
    struct creation creation = {.namespace = input->object->claim.metadata.namespace, .findings = findings};
    struct path metadata = path_field(NULL, TEXT("metadata"));
    struct path path = path_field(&metadata, TEXT("namespace"));
    struct view_freeze freeze;
    const struct text none = {NULL, 0};
    if (input->operation != OPERATION_CREATE || user_is_controller(input->user)) return;
    if (VIEW_ASK(input->view, freeze, creation.namespace, none, none, input->arena, &freeze) == VIEW_KNOWN) {
        finding_hint(finding_add(findings, FINDING_FORBIDDEN, &path, creation.namespace,
                                 what_of(input->arena, &freeze)),
                     end_of(input->arena, &freeze));
        return;
    }
    for_each_class(input, judge_class, &creation);
}

// The freeze that stops a Pod's claims: of one of the drivers, of the node, of the namespace, of all.
static bool find_freeze(const struct rule_input *input, const struct claim_write *write,
                        struct view_freeze *ret_freeze) {
    const struct resource_claim *claim = write->claim;
    struct text namespace = claim->metadata.namespace;
    for (size_t i = 0; i < claim->allocation.results.count; i++)
        if (VIEW_ASK(input->view, freeze, namespace, claim->allocation.results.items[i].driver, write->node,
                     input->arena, ret_freeze) == VIEW_KNOWN)
            return true;
    for (size_t i = 0; write->pod_known && i < write->pod.claim_count; i++) {
        const struct view_pod_claim *other = &write->pod.claims[i];
        if (!other->gated || other->written || other->allocated) continue;
        for (size_t k = 0; k < other->drivers.count; k++)
            if (VIEW_ASK(input->view, freeze, namespace, other->drivers.items[k], write->node, input->arena,
                         ret_freeze) == VIEW_KNOWN)
                return true;
    }
    return false;
}

void rule_frozen(const struct rule_input *input, struct finding_list *findings) {
    struct claim_write write;
    struct view_freeze freeze;
    if (input->subresource.len == 0) {
        judge_creation(input, findings);
        return;
    }
    if (!claim_write_of(input, &write) || !write.allocates) return;
    if (!find_freeze(input, &write, &freeze)) return;
    claim_finding(input, &write, findings, FINDING_FORBIDDEN, what_of(input->arena, &freeze),
                  end_of(input->arena, &freeze));
}
