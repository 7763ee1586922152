// SPDX-License-Identifier: Apache-2.0
// Writes of claims.
#include "validators/rules/claim_gate.h"

#define MS_PER_SECOND 1000
#define MS_PER_MINUTE 60000
#define MS_PER_HOUR   3600000

static bool has_consumer(const struct resource_claim *claim, struct text uid) {
    for (size_t i = 0; i < claim->reserved_for.count; i++)
        if (text_equal(claim->reserved_for.items[i].uid, uid)) return true;
    return false;
}

static bool is_key(const struct node_selector_requirement *requirement, struct text key) {
    return text_equal(requirement->key, key) && text_equal(requirement->operator, TEXT("In")) &&
           requirement->values.count == 1;
}

struct text selector_node(const struct node_selector *selector) {
    const struct text none = {NULL, 0};
    if (selector == NULL || selector->terms.count != 1) return none;
    const struct node_selector_term *term = &selector->terms.items[0];
    for (size_t i = 0; i < term->match_fields.count; i++)
        if (is_key(&term->match_fields.items[i], TEXT("metadata.name")))
            return term->match_fields.items[i].values.items[0];
    for (size_t i = 0; i < term->match_expressions.count; i++)
        if (is_key(&term->match_expressions.items[i], TEXT("kubernetes.io/hostname")))
            return term->match_expressions.items[i].values.items[0];
    return none;
}

static void look_at_pod(const struct rule_input *input, struct claim_write *write) {
    const struct object_meta *metadata = &write->claim->metadata;
    enum view_answer answer = VIEW_NOT_FOUND;
    if (write->group.len > 0)
        answer = VIEW_ASK(input->view, group_pod, metadata->namespace, write->group, metadata->name,
                          input->arena, &write->pod);
    else if (write->consumer_uid.len > 0)
        answer = VIEW_ASK(input->view, pod, write->consumer_uid, input->arena, &write->pod);
    write->pod_known = answer == VIEW_KNOWN;
}

static void set_consumer(const struct consumer_reference *consumer, struct claim_write *write) {
    write->consumer_uid = consumer->uid;
    if (consumer_is_group(consumer)) write->group = consumer->name;
}

bool claim_write_of(const struct rule_input *input, struct claim_write *ret_write) {
    const struct resource_claim *claim = &input->object->claim;
    const struct resource_claim *old = input->old == NULL ? NULL : &input->old->claim;
    struct claim_write write = {.claim = claim};
    write.allocates = claim->allocation.set && (old == NULL || !old->allocation.set);
    for (size_t i = 0; i < claim->reserved_for.count; i++) {
        const struct consumer_reference *consumer = &claim->reserved_for.items[i];
        if (old != NULL && has_consumer(old, consumer->uid)) continue;
        if (write.consumer_count++ == 0) set_consumer(consumer, &write);
    }
    // An allocation for nobody new is for those who are there.
    if (write.allocates && write.consumer_uid.len == 0 && claim->reserved_for.count > 0)
        set_consumer(&claim->reserved_for.items[0], &write);
    look_at_pod(input, &write);
    write.node = selector_node(claim->allocation.node_selector);
    if (write.node.len == 0 && write.pod_known) write.node = write.pod.node;
    *ret_write = write;
    return write.allocates || write.consumer_count > 0;
}

static bool has_claim(const struct rule_input *input, const struct claim_write *write, struct text uid) {
    bool has = false;
    // The Pod itself need not be known for that.
    return VIEW_ASK(input->view, pod_has_claim, uid, write->claim->metadata.uid, &has) == VIEW_KNOWN && has;
}

bool claim_write_is_later(const struct rule_input *input, const struct claim_write *write) {
    return has_claim(input, write, write->consumer_uid) ||
           (write->group.len > 0 && write->pod_known && has_claim(input, write, write->pod.uid));
}

struct finding *claim_finding(const struct rule_input *input, const struct claim_write *write,
                              struct finding_list *findings, enum finding_type type, struct text what,
                              struct text hint) {
    struct path status = path_field(NULL, TEXT("status"));
    struct path path = path_field(&status, write->allocates ? TEXT("allocation") : TEXT("reservedFor"));
    struct text uid = write->claim->metadata.uid;
    struct text detail =
        uid.len == 0 ? what
                     : text_format(input->arena, "%.*s (claim UID %.*s)", TEXT_ARG(what), TEXT_ARG(uid));
    struct finding *finding = finding_add(findings, type, &path, (struct text){NULL, 0}, detail);
    finding_hint(finding, hint);
    return finding;
}

bool user_is_controller(struct text user) {
    static const struct text users[] = {
        TEXT_INIT("system:kube-scheduler"),
        TEXT_INIT("system:kube-controller-manager"),
        TEXT_INIT("system:serviceaccount:kube-system:resource-claim-controller"),
        TEXT_INIT("system:serviceaccount:kube-system:resourceclaim-controller"),
    };
    for (size_t i = 0; i < sizeof users / sizeof users[0]; i++)
        if (text_equal(user, users[i])) return true;
    return false;
}

static void visit_request(const struct rule_input *input, const struct exact_request *request,
                          const struct path *path, class_visit *visit, void *context) {
    struct path class = path_field(path, TEXT("deviceClassName"));
    if (request->device_class_name.len > 0) visit(input, request->device_class_name, &class, context);
}

void for_each_class(const struct rule_input *input, class_visit *visit, void *context) {
    bool is_template = input->object->kind == KIND_RESOURCE_CLAIM_TEMPLATE;
    const struct device_claim *claim =
        is_template ? &input->object->claim_template.devices : &input->object->claim.devices;
    struct path outer = path_field(NULL, TEXT("spec"));
    struct path inner = path_field(&outer, TEXT("spec"));
    struct path devices = path_field(is_template ? &inner : &outer, TEXT("devices"));
    struct path list = path_field(&devices, TEXT("requests"));
    for (size_t i = 0; i < claim->requests.count; i++) {
        const struct device_request *request = &claim->requests.items[i];
        struct path at = path_index(&list, i);
        struct path exactly = path_field(&at, TEXT("exactly"));
        struct path first = path_field(&at, TEXT("firstAvailable"));
        if (request->exactly != NULL) visit_request(input, request->exactly, &exactly, visit, context);
        for (size_t k = 0; k < request->first_available.count; k++) {
            struct path sub = path_index(&first, k);
            visit_request(input, &request->first_available.items[k], &sub, visit, context);
        }
    }
}

struct text age_text(struct arena *arena, int64_t age_ms) {
    if (age_ms < MS_PER_MINUTE) return text_format(arena, "%llds", (long long)(age_ms / MS_PER_SECOND));
    if (age_ms < MS_PER_HOUR) return text_format(arena, "%lldm", (long long)(age_ms / MS_PER_MINUTE));
    return text_format(arena, "%lldh", (long long)(age_ms / MS_PER_HOUR));
}
