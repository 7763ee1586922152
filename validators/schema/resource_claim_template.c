// SPDX-License-Identifier: Apache-2.0
// ResourceClaimTemplate.
#include "validators/schema/resource_claim_template.h"

#include "validators/schema/claim_equal.h"
#include "validators/schema/device_claim.h"
#include "validators/schema/metadata.h"

static const struct path SPEC = {.kind = PATH_FIELD, .name = TEXT_INIT("spec")};

// Returns true when the metadata of the claims to be made has nothing but labels and annotations.
static bool check_spec(const struct resource_claim_template *claim_template, enum resource_version version,
                       int minor, struct finding_list *findings) {
    struct path metadata_path = path_field(&SPEC, TEXT("metadata"));
    bool plain = schema_template_meta(&claim_template->spec_metadata, &metadata_path, findings);
    struct path spec_path = path_field(&SPEC, TEXT("spec"));
    struct path devices_path = path_field(&spec_path, TEXT("devices"));
    schema_device_claim(&claim_template->devices, version, minor, &devices_path, findings);
    return plain;
}

void schema_resource_claim_template(const struct resource_claim_template *claim_template,
                                    enum resource_version version, int minor, struct finding_list *findings) {
    schema_object_meta(&claim_template->metadata, true, schema_name_subdomain, minor, NULL, findings);
    check_spec(claim_template, version, minor, findings);
}

void schema_resource_claim_template_update(const struct resource_claim_template *claim_template,
                                           const struct resource_claim_template *old,
                                           enum resource_version version, int minor,
                                           struct finding_list *findings) {
    struct object_meta metadata = claim_template->metadata;
    metadata.generation = old->metadata.generation; // as the server has it
    schema_object_meta(&metadata, true, schema_name_subdomain, minor, NULL, findings);
    schema_object_meta_update(&metadata, &old->metadata, NULL, findings);
    bool plain = check_spec(claim_template, version, minor, findings);
    if (claim_template->spec_raw.len > 0 && text_equal(claim_template->spec_raw, old->spec_raw)) return;
    const struct object_meta *meta = &claim_template->spec_metadata;
    const struct object_meta *old_meta = &old->spec_metadata;
    if (plain && text_maps_equal(&meta->labels, &old_meta->labels, findings->arena) &&
        text_maps_equal(&meta->annotations, &old_meta->annotations, findings->arena) &&
        device_claim_equal(&claim_template->devices, &old->devices, findings->arena))
        return;
    finding_hint(finding_add(findings, FINDING_INVALID, &SPEC, (struct text){0}, TEXT("cannot be changed")),
                 TEXT("delete the template and create another one"));
}
