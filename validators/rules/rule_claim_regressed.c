// SPDX-License-Identifier: Apache-2.0
// claim-regressed: a claim is allocated from a pool that is behind what the ledger has committed.
//
// A pool that began again below its old generation is in quarantine: nobody knows yet whether its devices are
// what they were. And after a rollback an operator may say from which mapping version on claims are let in
// again (drawbridge resume --from-version).
//
// Example: the kubelet restarted, the driver published generation 1 after 5, and one bound claim's device has
// another mapping now.
//
// What to do: a quarantine ends by itself when every bound claim's device that is back has its old mapping.
// What changed on purpose is confirmed: drawbridge resume --node NODE --driver DRIVER --accept CLAIMUID|all
// --reason REASON.
//
// Reads: status.allocation.devices.results[]; the pools' generations, versions and quarantine; LedgerPolicy
// spec.resumes.
//
// Default: deny. Policy may set deny, warn, audit or off.
//
// Source: k8s.io/api v0.36.3 resource/v1/types.go, ResourcePool.Generation.
#include "validators/rules/claim_gate.h"

void rule_claim_regressed(const struct rule_input *input, struct finding_list *findings) {
    struct claim_write write;
    if (!claim_write_of(input, &write) || !write.allocates) return;
    const struct allocation_result_list *results = &write.claim->allocation.results;
    for (size_t i = 0; i < results->count; i++) {
        const struct allocation_result *result = &results->items[i];
        struct device_key key = {result->driver, result->pool, result->device};
        struct device_standing standing = {.generation = -1};
        if (VIEW_ASK(input->view, device, &key, write.node, input->arena, &standing) != VIEW_KNOWN) continue;
        if (standing.quarantined) {
            claim_finding(
                input, &write, findings, FINDING_FORBIDDEN,
                text_format(
                    input->arena,
                    "pool %.*s of driver %.*s began again at generation %lld after %lld and is not confirmed",
                    TEXT_ARG(result->pool), TEXT_ARG(result->driver), (long long)standing.generation,
                    (long long)standing.retired_generation),
                TEXT("it ends when its bound claims have their mappings back, or with drawbridge resume "
                     "--accept"));
            return;
        }
        if (!standing.behind) continue;
        claim_finding(
            input, &write, findings, FINDING_FORBIDDEN,
            text_format(input->arena,
                        "pool %.*s of driver %.*s has mapping version %lld, and claims resume from %lld",
                        TEXT_ARG(result->pool), TEXT_ARG(result->driver), (long long)standing.version,
                        (long long)standing.from_version),
            TEXT("it ends when the driver has published the pool anew"));
        return;
    }
}
