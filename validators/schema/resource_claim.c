// SPDX-License-Identifier: Apache-2.0
// ResourceClaim.
#include "validators/schema/resource_claim.h"

#include "validators/schema/claim_equal.h"
#include "validators/schema/device_claim.h"
#include "validators/schema/metadata.h"

static const struct path SPEC = {.kind = PATH_FIELD, .name = TEXT_INIT("spec")};

void schema_resource_claim(const struct resource_claim *claim, enum resource_version version, int minor,
                           struct finding_list *findings) {
    schema_object_meta(&claim->metadata, true, schema_name_subdomain, minor, NULL, findings);
    struct path devices_path = path_field(&SPEC, TEXT("devices"));
    schema_device_claim(&claim->devices, version, minor, &devices_path, findings);
}

void schema_resource_claim_update(const struct resource_claim *claim, const struct resource_claim *old,
                                  int minor, struct finding_list *findings) {
    struct object_meta metadata = claim->metadata;
    metadata.generation = old->metadata.generation; // as the server has it
    schema_object_meta(&metadata, true, schema_name_subdomain, minor, NULL, findings);
    schema_object_meta_update(&metadata, &old->metadata, NULL, findings);
    bool same_bytes = claim->spec_raw.len > 0 && text_equal(claim->spec_raw, old->spec_raw);
    if (same_bytes || device_claim_equal(&claim->devices, &old->devices, findings->arena)) return;
    finding_hint(finding_add(findings, FINDING_INVALID, &SPEC, (struct text){0}, TEXT("cannot be changed")),
                 TEXT("delete the claim and create another one"));
}
