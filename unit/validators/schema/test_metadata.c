// SPDX-License-Identifier: Apache-2.0
// Metadata, where the corpora do not reach.
#include "validators/schema/metadata.h"

#include <criterion/criterion.h>

#include "unit/lib/found.h"

static const struct path ROOT = {.kind = PATH_FIELD, .name = TEXT_INIT("m")};

static void expect_name(int line, schema_name_check *check, const char *name, bool prefix, bool fine) {
    struct found found;
    found_init(&found);
    check(text_of(name), prefix, &ROOT, &found.findings);
    found_expect(&found, line, fine ? "" : "m Invalid");
    found_release(&found);
}
#define SUBDOMAIN(...) expect_name(__LINE__, schema_name_subdomain, __VA_ARGS__)

Test(metadata, names) {
    SUBDOMAIN("a.b-c", false, true);
    SUBDOMAIN("a-", false, false);
    SUBDOMAIN("a-", true, true);
    SUBDOMAIN("a.-", true, true); // the two last characters count as one letter
    SUBDOMAIN("-", true, false);
    SUBDOMAIN("a.", true, false);
    SUBDOMAIN("A-", true, true);
    SUBDOMAIN("AB-", true, false);
}

Test(metadata, updates_fill_in_what_is_absent) {
    struct found found;
    found_init(&found);
    struct object_meta old = {.name = TEXT("a"), .namespace = TEXT("n"), .uid = TEXT("u"), .generation = 3};
    struct object_meta meta = {.name = TEXT("a")};
    schema_object_meta_update(&meta, &old, &ROOT, &found.findings);
    FOUND(&found, "");
    meta = (struct object_meta){.name = TEXT("b"),
                                .namespace = TEXT("x"),
                                .uid = TEXT("x"),
                                .deletion_timestamp = TEXT("2024-01-01T00:00:00Z"),
                                .deletion_grace_period_seconds = {3, true}};
    schema_object_meta_update(&meta, &old, &ROOT, &found.findings);
    FOUND(&found, "m.deletionGracePeriodSeconds Invalid, m.deletionTimestamp Invalid, m.name Invalid, "
                  "m.namespace Invalid, m.uid Invalid");
    old.deletion_grace_period_seconds = (struct opt_int64){3, true};
    old.deletion_timestamp = TEXT("2023-01-01T00:00:00Z");
    meta = old;
    struct text finalizers[] = {TEXT("a/b"), TEXT("c/d")};
    old.finalizers = (struct text_list){finalizers, 1, true};
    meta.finalizers = (struct text_list){finalizers, 1, true};
    schema_object_meta_update(&meta, &old, &ROOT, &found.findings);
    FOUND(&found, "");
    meta.finalizers.count = 2;
    schema_object_meta_update(&meta, &old, &ROOT, &found.findings);
    FOUND(&found, "m.finalizers Forbidden");
    found_release(&found);
}

Test(metadata, the_value_of_a_generated_name_is_what_was_written) {
    struct found found;
    found_init(&found);
    struct object_meta meta = {.generate_name = TEXT("AB-")};
    schema_object_meta(&meta, false, schema_name_subdomain, 36, NULL, &found.findings);
    cr_assert_eq(found.findings.count, 2);
    cr_assert(text_equal(found.findings.items[1].value, TEXT("AB-")));
    FOUND(&found, "metadata.generateName Invalid, metadata.name Invalid");
    found_release(&found);
}
