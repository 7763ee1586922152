// SPDX-License-Identifier: Apache-2.0
// claim-duplicate: a claim is allocated a device that another claim has.
//
// A device without allowMultipleAllocations belongs to one claim at a time; one with it to many, each with a
// share ID of its own. Admin access takes nothing from others. Two schedulers, or one that restarted, may
// allocate a device twice; what comes second is refused, also when the first was let in only a moment ago.
//
// Wrong: claim a has gpu-0, and claim b is allocated gpu-0 too.
//
// What to do: nothing; the scheduler picks another device, or waits until this one is released.
//
// Reads: status.allocation.devices.results[], status.allocation.nodeSelector; the claims that have the
// devices.
//
// Default: deny. Policy may set deny, warn, audit or off.
//
// Source: kubernetes pull request 136269; k8s.io/dynamic-resource-allocation v0.36.3
// structured/internal/incubating/allocator_incubating.go (allocated devices are left out).
#include "validators/rules/claim_gate.h"

static bool is_admin(const struct allocation_result *result) {
    return result->admin_access.set && result->admin_access.value;
}

static struct text share_of(const struct allocation_result *result) {
    return result->share_id.set ? result->share_id.value : (struct text){NULL, 0};
}

// Two with share IDs may have one device; without, or with one ID, they may not.
static bool collides(struct text a, struct text b) {
    return a.len == 0 || b.len == 0 || text_equal(a, b);
}

static struct text device_text(const struct rule_input *input, const struct allocation_result *result) {
    return text_format(input->arena, "device %.*s of pool %.*s, driver %.*s,", TEXT_ARG(result->device),
                       TEXT_ARG(result->pool), TEXT_ARG(result->driver));
}

static struct text repeated_here(const struct rule_input *input, const struct allocation_result_list *results,
                                 size_t index) {
    const struct allocation_result *result = &results->items[index];
    for (size_t i = 0; i < index; i++) {
        const struct allocation_result *other = &results->items[i];
        if (!text_equal(other->device, result->device) || !text_equal(other->pool, result->pool) ||
            !text_equal(other->driver, result->driver) || is_admin(other) ||
            !collides(share_of(other), share_of(result)))
            continue;
        return text_format(input->arena, "%.*s is allocated twice in this claim",
                           TEXT_ARG(device_text(input, result)));
    }
    return (struct text){NULL, 0};
}

static struct text held_by_other(const struct rule_input *input, const struct claim_write *write,
                                 const struct allocation_result *result) {
    struct device_key key = {result->driver, result->pool, result->device};
    struct device_holder_list holders = {NULL, 0};
    if (VIEW_ASK(input->view, holders, &key, write->node, input->arena, &holders) != VIEW_KNOWN)
        return (struct text){NULL, 0};
    for (size_t i = 0; i < holders.count; i++) {
        const struct device_holder *holder = &holders.items[i];
        if (holder->admin || text_equal(holder->claim_uid, write->claim->metadata.uid) ||
            !collides(holder->share_id, share_of(result)))
            continue;
        return text_format(input->arena, "%.*s is held by another claim (UID %.*s)",
                           TEXT_ARG(device_text(input, result)), TEXT_ARG(holder->claim_uid));
    }
    return (struct text){NULL, 0};
}

void rule_claim_duplicate(const struct rule_input *input, struct finding_list *findings) {
    struct claim_write write;
    if (!claim_write_of(input, &write) || !write.allocates) return;
    const struct allocation_result_list *results = &write.claim->allocation.results;
    for (size_t i = 0; i < results->count; i++) {
        if (is_admin(&results->items[i])) continue;
        struct text why = repeated_here(input, results, i);
        if (why.len == 0) why = held_by_other(input, &write, &results->items[i]);
        if (why.len == 0) continue;
        claim_finding(input, &write, findings, FINDING_DUPLICATE, why,
                      TEXT("it ends when that claim is released, or another device is chosen"));
        return;
    }
}
