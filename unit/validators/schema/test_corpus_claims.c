// SPDX-License-Identifier: Apache-2.0
// Claims and claim templates, judged as real API servers judged them.
#include <criterion/criterion.h>

#include "unit/lib/parity.h"
#include "validators/schema/resource_claim.h"
#include "validators/schema/resource_claim_status.h"
#include "validators/schema/resource_claim_template.h"

#define KINDS (PARITY_KIND(KIND_RESOURCE_CLAIM) | PARITY_KIND(KIND_RESOURCE_CLAIM_TEMPLATE))

static void judge(const struct object *object, int minor, struct finding_list *findings) {
    if (object->kind == KIND_RESOURCE_CLAIM)
        schema_resource_claim(&object->claim, object->version, minor, findings);
    else
        schema_resource_claim_template(&object->claim_template, object->version, minor, findings);
}

static void judge_update(const struct object *object, const struct object *old, bool status, int minor,
                         struct finding_list *findings) {
    if (object->kind == KIND_RESOURCE_CLAIM_TEMPLATE)
        schema_resource_claim_template_update(&object->claim_template, &old->claim_template, object->version,
                                              minor, findings);
    else if (status)
        schema_resource_claim_status(&object->claim, &old->claim, minor, findings);
    else
        schema_resource_claim_update(&object->claim, &old->claim, minor, findings);
}

Test(corpus_claims, creations_get_the_verdicts_of_servers) {
    parity_expect(KINDS, judge);
}

// Edges that chance seldom finds: both forms of a request at once, flat requests of v1beta1, letters beyond
// ASCII, metadata of templates.
Test(corpus_claims, edges_get_the_verdicts_of_servers) {
    parity_expect_file("unit/testdata/parity/claims.jsonl", KINDS, judge);
}

Test(corpus_claims, updates_get_the_verdicts_of_servers) {
    parity_expect_updates("unit/testdata/parity/claim-updates.jsonl", KINDS, judge_update);
}
