// SPDX-License-Identifier: Apache-2.0
// What is put into metadata, and that the rest stays byte for byte.
#include <criterion/criterion.h>

#include "server/feed/stamp.h"

static void expect_stamp(const char *json, const char *namespace, const char *want) {
    struct arena arena;
    arena_init(&arena, 65536);
    const struct stamp stamp = {.uid = TEXT("u-1"), .namespace = text_of(namespace), .resource_version = 12};
    struct text got = stamp_object(&arena, text_of(json), &stamp);
    cr_expect(text_equal(got, text_of(want)), "%s became %.*s", json, TEXT_ARG(got));
    arena_release(&arena);
}

Test(stamp, members) {
    expect_stamp("{\"metadata\":{\"name\":\"a\"}}", "",
                 "{\"metadata\":{\"uid\":\"u-1\",\"resourceVersion\":\"12\",\"name\":\"a\"}}");
    expect_stamp("{\"metadata\":{}}", "ns",
                 "{\"metadata\":{\"uid\":\"u-1\",\"resourceVersion\":\"12\",\"namespace\":\"ns\"}}");
    expect_stamp(
        " { \"kind\" : \"Pod\" , \"metadata\" : { \"uid\" : \"old\", \"name\" : \"a\","
        "\"resourceVersion\":7,\"namespace\":null , \"x\":[ 1 ] }, \"spec\": { } } ",
        "ns",
        "{\"kind\" : \"Pod\",\"metadata\":{\"uid\":\"u-1\",\"resourceVersion\":\"12\",\"namespace\":\"ns\","
        "\"name\" : \"a\",\"x\":[ 1 ]},\"spec\": { }}");
    expect_stamp("{\"m\\u0065tadata\":{\"\\u0075id\":1}}", "",
                 "{\"metadata\":{\"uid\":\"u-1\",\"resourceVersion\":\"12\"}}");
}

Test(stamp, nothing_to_stamp) {
    expect_stamp("{}", "", "");
    expect_stamp("[]", "", "");
    expect_stamp("", "", "");
    expect_stamp("{\"metadata\":3}", "", "");
    expect_stamp("{\"spec\":{\"metadata\":{}}}", "", "");
}

Test(stamp, memory) {
    for (size_t i = 1; i <= 3; i++) {
        struct arena arena;
        arena_init(&arena, 65536);
        arena.fail_after = i;
        const struct stamp stamp = {.uid = TEXT("u"), .namespace = TEXT("n"), .resource_version = 1};
        struct text got = stamp_object(&arena, TEXT("{\"metadata\":{}}"), &stamp);
        cr_expect_eq(got.len, 0, "a failed allocation still gave %.*s", TEXT_ARG(got));
        arena_release(&arena);
    }
}
