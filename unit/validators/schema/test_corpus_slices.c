// SPDX-License-Identifier: Apache-2.0
// Slices and classes, judged as real API servers judged them.
#include <criterion/criterion.h>

#include "unit/lib/parity.h"
#include "validators/schema/device_class.h"
#include "validators/schema/resource_slice.h"

static void judge(const struct object *object, int minor, struct finding_list *findings) {
    if (object->kind == KIND_RESOURCE_SLICE)
        schema_resource_slice(&object->slice, object->version, minor, findings);
    else
        schema_device_class(&object->device_class, object->version, minor, findings);
}

Test(corpus_slices, verdicts_are_the_servers) {
    parity_expect(PARITY_KIND(KIND_RESOURCE_SLICE) | PARITY_KIND(KIND_DEVICE_CLASS), judge);
}
