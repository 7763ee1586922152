// SPDX-License-Identifier: Apache-2.0
// Pods and the claims that they name.
#include "validators/rules/pod_gate.h"

enum view_answer pod_claim_is_gated(const struct rule_input *input, const struct pod_resource_claim *claim,
                                    bool *ret_gated) {
    struct text namespace = input->object->pod.metadata.namespace;
    if (claim->template_name.set)
        return VIEW_ASK(input->view, template_is_gated, namespace, claim->template_name.value, ret_gated);
    if (claim->claim_name.set)
        return VIEW_ASK(input->view, claim_is_gated, namespace, claim->claim_name.value, ret_gated);
    return VIEW_NOT_FOUND;
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
