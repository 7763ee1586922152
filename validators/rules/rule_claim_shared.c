// SPDX-License-Identifier: Apache-2.0
// claim-shared: a claim whose devices take of their node is reserved for a second Pod.
//
// What such a device takes is counted once, for one Pod. In 1.36 the claim may serve one Pod on each node, in
// 1.37 one Pod at all; a device with overhead only may serve many, and each Pod pays its own overhead. When
// the first Pod has ended, the next one may have the claim. So a Pod that names such a claim is let in with a
// warning when it is made: a Deployment that replaces its Pods does that, and its next Pod runs once the last
// one is gone.
//
// A reservation for a PodGroup is never denied: which of its Pods will have the claim cannot be told from it.
// It is warned about where the claim's devices take of their node, because 1.36 charges them to the first Pod
// of the group alone, and 1.37 refuses them to a second Pod that is scheduled together with the first, and
// charges them again to one that comes later.
//
// Wrong: Pods a and b on node-1, both with claim gpu, whose device has a mapping.
// Right: a ResourceClaimTemplate, which makes a claim for each Pod.
//
// What to do: use a template, or let the first Pod end.
//
// Reads: status.reservedFor, status.allocation.devices.results[]; the live slices; the Pods that have the
// claim; spec.resourceClaims[] of a Pod that is made.
//
// Default: deny. Policy may set deny, warn, audit or off.
//
// Source: k8s.io/dynamic-resource-allocation v0.37.2 resourceclaim/resourceclaim.go, BindTo; kubernetes
// v1.36.3 and v1.37.2 pkg/scheduler/framework/plugins/dynamicresources/ nodeallocatabledynamicresources.go;
// kubernetes/enhancements pull request 6082.
#include "validators/rules/pod_gate.h"

static bool takes_of_node(const struct rule_input *input, const struct claim_write *write) {
    const struct allocation_result_list *results = &write->claim->allocation.results;
    for (size_t i = 0; i < results->count; i++) {
        const struct allocation_result *result = &results->items[i];
        struct device_key key = {result->driver, result->pool, result->device};
        struct device_standing standing = {.generation = -1};
        if (VIEW_ASK(input->view, device, &key, write->node, input->arena, &standing) != VIEW_KNOWN) continue;
        for (size_t k = 0; standing.found && k < standing.device.mappings.count; k++)
            if (standing.device.mappings.items[k].mapped) return true;
    }
    return false;
}

static void judge_group(const struct rule_input *input, const struct claim_write *write,
                        struct finding_list *findings) {
    if (!takes_of_node(input, write)) return;
    struct finding *finding = claim_finding(
        input, write, findings, FINDING_FORBIDDEN,
        text_format(input->arena, "PodGroup %.*s shares devices that take of the node%s",
                    TEXT_ARG(write->group),
                    input->minor < MINOR_37 ? ", and 1.36 charges them to one of its Pods alone" : ""),
        TEXT("a template in the Pods makes a claim for each"));
    if (finding != NULL && finding->severity == SEVERITY_DENY) finding->severity = SEVERITY_WARN;
}

static bool is_same_place(const struct rule_input *input, struct text a, struct text b) {
    return input->minor >= MINOR_37 || (a.len > 0 && text_equal(a, b));
}

static struct text who_has_it(struct arena *arena, struct text pod_uid) {
    return text_format(arena,
                       "its devices take of the node, and a Pod that lives has it already (Pod UID %.*s)",
                       TEXT_ARG(pod_uid));
}

static void judge_pod(const struct rule_input *input, struct finding_list *findings) {
    const struct pod *pod = &input->object->pod;
    for (size_t i = 0; i < pod->resource_claims.count; i++) {
        const struct pod_resource_claim *claim = &pod->resource_claims.items[i];
        struct view_pod_claim known = {.for_one = false};
        struct view_consumer_list consumers = {NULL, 0};
        if (!claim->claim_name.set ||
            pod_claim_known(input->view, pod, claim, input->arena, &known) != VIEW_KNOWN || !known.for_one)
            continue;
        const struct object_meta metadata = {
            .namespace = pod->metadata.namespace, .name = known.name, .uid = known.uid};
        if (VIEW_ASK(input->view, consumers, &metadata, pod->metadata.uid, input->arena, &consumers) !=
                VIEW_KNOWN ||
            consumers.count == 0)
            continue;
        struct pod_path_room room;
        struct path path = pod_claim_path(&room, i);
        struct finding *finding = finding_add(findings, FINDING_FORBIDDEN, &path, known.name,
                                              who_has_it(input->arena, consumers.items[0].pod_uid));
        finding_hint(finding,
                     TEXT("the Pod waits until that one ends; a template makes a claim for each Pod"));
        if (finding != NULL && finding->severity == SEVERITY_DENY) finding->severity = SEVERITY_WARN;
    }
}

void rule_claim_shared(const struct rule_input *input, struct finding_list *findings) {
    struct claim_write write;
    struct view_consumer_list consumers = {NULL, 0};
    if (input->object->kind == KIND_POD) judge_pod(input, findings);
    if (input->object->kind != KIND_RESOURCE_CLAIM || input->subresource.len == 0 ||
        !claim_write_of(input, &write) || write.consumer_count == 0)
        return;
    if (write.group.len > 0) {
        judge_group(input, &write, findings);
        return;
    }
    if (!write.pod_known) return;
    if (VIEW_ASK(input->view, consumers, &write.claim->metadata, write.consumer_uid, input->arena,
                 &consumers) != VIEW_KNOWN)
        return;
    struct text node = write.pod.node.len > 0 ? write.pod.node : write.node;
    for (size_t i = 0; i < consumers.count; i++) {
        if (!is_same_place(input, consumers.items[i].node, node) || !takes_of_node(input, &write)) continue;
        claim_finding(input, &write, findings, FINDING_FORBIDDEN,
                      who_has_it(input->arena, consumers.items[i].pod_uid),
                      TEXT("it ends when that Pod does; a template makes a claim for each Pod"));
        return;
    }
}
