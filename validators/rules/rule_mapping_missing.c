// SPDX-License-Identifier: Apache-2.0
// mapping-missing: a claim is allocated a device that its pool does not have, or not surely.
//
// Consumers use a pool's highest generation, and only when all of its slices are there. A device that is not
// in it, or in two slices of it, has no mapping that could be charged, so the allocation would take of the
// node what nobody counts. The same is true of a device whose mapping another rule denies: its slice was
// stored before drawbridge could refuse it, or was let in as one of several.
//
// Example: the driver removed gpu-3 a moment ago, and the scheduler allocated it by what it knew before.
//
// What to do: nothing; the scheduler tries again with what the slices say. If it stays, look at the driver's
// slices: kubectl get resourceslices. Where another rule is named, drawbridge explain RULE tells what is
// wrong with the mapping.
//
// Reads: status.allocation.devices.results[], status.allocation.nodeSelector; the live slices of the pools
// and what the rules about mappings found in them.
//
// Default: deny. Policy may set deny, warn, audit or off. Drivers that never published a mapping are passed
// over.
//
// Source: k8s.io/dynamic-resource-allocation v0.36.3 structured/internal/incubating/pools_incubating.go,
// GatherPools.
#include "validators/rules/claim_gate.h"

static struct text why_missing(const struct rule_input *input, const struct allocation_result *result,
                               const struct device_standing *standing) {
    struct text device =
        text_format(input->arena, "device %.*s of pool %.*s, driver %.*s,", TEXT_ARG(result->device),
                    TEXT_ARG(result->pool), TEXT_ARG(result->driver));
    if (standing->generation < 0)
        return text_format(input->arena, "%.*s is not there: the pool has no live slice", TEXT_ARG(device));
    if (!standing->complete)
        return text_format(input->arena, "%.*s cannot be told: the pool is incomplete at generation %lld",
                           TEXT_ARG(device), (long long)standing->generation);
    if (!standing->found)
        return text_format(input->arena, "%.*s is not in generation %lld", TEXT_ARG(device),
                           (long long)standing->generation);
    if (standing->ambiguous)
        return text_format(input->arena, "%.*s is in two slices of generation %lld", TEXT_ARG(device),
                           (long long)standing->generation);
    if (standing->fault != NULL)
        return text_format(input->arena, "%.*s is unusable: rule %s denies its mapping", TEXT_ARG(device),
                           standing->fault);
    return (struct text){NULL, 0};
}

void rule_mapping_missing(const struct rule_input *input, struct finding_list *findings) {
    struct claim_write write;
    if (!claim_write_of(input, &write) || !write.allocates) return;
    const struct allocation_result_list *results = &write.claim->allocation.results;
    for (size_t i = 0; i < results->count; i++) {
        const struct allocation_result *result = &results->items[i];
        struct device_key key = {result->driver, result->pool, result->device};
        struct device_standing standing = {.generation = -1};
        bool mapped = false;
        // A cache that is not synced is ledger-stale's to say.
        if (VIEW_ASK(input->view, driver_is_mapped, result->driver, &mapped) != VIEW_KNOWN || !mapped)
            continue;
        if (VIEW_ASK(input->view, device, &key, write.node, input->arena, &standing) == VIEW_NOT_SYNCED)
            continue;
        struct text why = why_missing(input, result, &standing);
        if (why.len == 0) continue;
        bool is_there = standing.found && standing.complete && !standing.ambiguous;
        claim_finding(input, &write, findings, FINDING_NOT_FOUND, why,
                      is_there ? TEXT("it ends when the driver publishes a mapping without this fault")
                               : TEXT("it ends when the driver has published the whole pool"));
        return;
    }
}
