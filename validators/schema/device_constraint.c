// SPDX-License-Identifier: Apache-2.0
// Constraints between the devices of a claim.
#include "validators/schema/device_claim.h"
#include "validators/schema/names.h"

void schema_device_constraint(const struct device_constraint *constraint, const struct claim_scope *scope,
                              const struct path *path) {
    bool declared = scope->minor >= 37;
    struct path references_path = path_field(path, TEXT("requests"));
    schema_request_references(scope->names, &constraint->requests, &references_path, scope->findings);
    const struct opt_text *match = &constraint->match_attribute;
    const struct opt_text *distinct = &constraint->distinct_attribute;
    if (!match->set && !distinct->set)
        finding_hint(finding_add(scope->findings, FINDING_REQUIRED, path, (struct text){0},
                                 TEXT("one of matchAttribute and distinctAttribute is required")),
                     TEXT("name an attribute as domain/name, such as resource.kubernetes.io/numaNode"));
    if (match->set) {
        struct path match_path = path_field(path, TEXT("matchAttribute"));
        schema_fully_qualified_name(match->value, declared, &match_path, scope->findings);
    }
    // Before v1.37 nobody looked at distinctAttribute beside matchAttribute.
    if (distinct->set && (!match->set || declared)) {
        struct path distinct_path = path_field(path, TEXT("distinctAttribute"));
        schema_fully_qualified_name(distinct->value, declared, &distinct_path, scope->findings);
    }
}
