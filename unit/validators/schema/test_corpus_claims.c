// SPDX-License-Identifier: Apache-2.0
// Claims and claim templates, judged as real API servers judged them.
#include <criterion/criterion.h>

#include "unit/lib/parity.h"
#include "validators/schema/resource_claim.h"
#include "validators/schema/resource_claim_template.h"

static void judge(const struct object *object, int minor, struct finding_list *findings) {
    if (object->kind == KIND_RESOURCE_CLAIM)
        schema_resource_claim(&object->claim, object->version, minor, findings);
    else
        schema_resource_claim_template(&object->claim_template, object->version, minor, findings);
}

Test(corpus_claims, verdicts_are_the_servers) {
    parity_expect(PARITY_KIND(KIND_RESOURCE_CLAIM) | PARITY_KIND(KIND_RESOURCE_CLAIM_TEMPLATE), judge);
}
