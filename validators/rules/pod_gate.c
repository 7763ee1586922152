// SPDX-License-Identifier: Apache-2.0
// Pods and the claims that they name.
#include "validators/rules/pod_gate.h"

enum view_answer pod_claim_known(const struct view *view, const struct pod *pod,
                                 const struct pod_resource_claim *claim, struct arena *arena,
                                 struct view_pod_claim *ret_claim) {
    bool is_template = claim->template_name.set;
    if (!is_template && !claim->claim_name.set) return VIEW_NOT_FOUND;
    struct text name = is_template ? claim->template_name.value : claim->claim_name.value;
    return VIEW_ASK(view, named_claim, pod->metadata.namespace, name, is_template, arena, ret_claim);
}

bool pod_claim_is_gated(const struct rule_input *input, const struct pod_resource_claim *claim) {
    struct view_pod_claim known = {.gated = false};
    return pod_claim_known(input->view, &input->object->pod, claim, input->arena, &known) == VIEW_KNOWN &&
           known.gated;
}

static size_t references_in(const struct container_list *containers, struct text name) {
    size_t count = 0;
    for (size_t i = 0; i < containers->count; i++) {
        const struct text_list *claims = &containers->items[i].resources.claims;
        for (size_t k = 0; k < claims->count; k++)
            if (text_equal(claims->items[k], name)) {
                count++;
                break;
            }
    }
    return count;
}

size_t pod_claim_references(const struct pod *pod, struct text name) {
    return references_in(&pod->containers, name) + references_in(&pod->init_containers, name);
}

struct path pod_claim_path(struct pod_path_room *room, size_t index) {
    room->spec = path_field(NULL, TEXT("spec"));
    room->list = path_field(&room->spec, TEXT("resourceClaims"));
    return path_index(&room->list, index);
}
