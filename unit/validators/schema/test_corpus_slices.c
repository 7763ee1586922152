// SPDX-License-Identifier: Apache-2.0
// Slices and classes, judged as real API servers judged them.
#include <criterion/criterion.h>

#include "unit/lib/parity.h"
#include "validators/schema/device_class.h"
#include "validators/schema/resource_slice.h"

#define KINDS (PARITY_KIND(KIND_RESOURCE_SLICE) | PARITY_KIND(KIND_DEVICE_CLASS))

static void judge(const struct object *object, int minor, struct finding_list *findings) {
    if (object->kind == KIND_RESOURCE_SLICE)
        schema_resource_slice(&object->slice, object->version, minor, FEATURES_BY_DEFAULT, findings);
    else
        schema_device_class(&object->device_class, object->version, minor, findings);
}

static void judge_update(const struct object *object, const struct object *old, bool status, int minor,
                         struct finding_list *findings) {
    cr_assert_not(status, "neither kind has a status");
    if (object->kind == KIND_RESOURCE_SLICE)
        schema_resource_slice_update(&object->slice, &old->slice, object->version, minor, FEATURES_BY_DEFAULT,
                                     findings);
    else
        schema_device_class_update(&object->device_class, &old->device_class, object->version, minor,
                                   findings);
}

Test(corpus_slices, creations_get_the_verdicts_of_servers) {
    parity_expect(KINDS, judge);
}

// Each field and reason that was ever seen, in each minor and API version.
Test(corpus_slices, edges_get_the_verdicts_of_servers) {
    parity_expect_file("unit/testdata/parity/slices.jsonl", KINDS, judge);
}

Test(corpus_slices, updates_get_the_verdicts_of_servers) {
    parity_expect_updates("unit/testdata/parity/slice-updates.jsonl", KINDS, judge_update);
}
