// SPDX-License-Identifier: Apache-2.0
// What the journal keeps of an object: what the ledger reads, and nothing that may be a secret.
#include <criterion/criterion.h>
#include <stdlib.h>

#include "server/ledger/prune.h"

#define ARENA_BYTES 65536

static void expect(enum object_kind kind, const char *before, const char *after) {
    struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    // A block of exactly the size, so that a sanitizer sees a byte too far.
    size_t len = strlen(before);
    char *bytes = malloc(len == 0 ? 1 : len);
    cr_assert_not_null(bytes);
    memcpy(bytes, before, len);
    struct text pruned = prune_object(&arena, kind, (struct text){bytes, len});
    cr_expect(text_equal(pruned, text_of(after)), "%s became %.*s", before, TEXT_ARG(pruned));
    free(bytes);
    arena_release(&arena);
}

Test(prune, metadata_of_every_kind) {
    expect(
        KIND_NODE,
        "{\"metadata\":{\"name\":\"a\",\"annotations\":{\"x\":\"y\"},\"managedFields\":[{}],\"labels\":{}}}",
        "{\"metadata\":{\"name\":\"a\",\"labels\":{}}}");
    expect(KIND_RESOURCE_SLICE, "{\"metadata\":{\"annotations\":{}},\"spec\":{\"annotations\":1}}",
           "{\"metadata\":{},\"spec\":{\"annotations\":1}}");
}

Test(prune, pods) {
    expect(KIND_POD,
           "{\"kind\":\"Pod\",\"spec\":{\"volumes\":[1],\"containers\":[{\"name\":\"c\",\"env\":[{\"value\":"
           "\"secret\"}],"
           "\"resources\":{\"limits\":{\"cpu\":\"1\"}}},{\"image\":\"x\"}],\"nodeName\":\"n\"},"
           "\"status\":{\"hostIP\":\"::1\",\"phase\":\"Running\",\"conditions\":[{\"type\":\"t\",\"message\":"
           "\"m\"}]}}",
           "{\"kind\":\"Pod\",\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{\"cpu\":"
           "\"1\"}}},{}],"
           "\"nodeName\":\"n\"},\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"t\"}]}}");
}

Test(prune, opaque_parameters) {
    expect(KIND_RESOURCE_CLAIM,
           "{\"spec\":{\"devices\":{\"config\":[{\"opaque\":{}}],\"requests\":[]}},"
           "\"status\":{\"devices\":[{\"data\":1}],\"allocation\":{\"devices\":{\"results\":[{\"config\":1}],"
           "\"config\":2}}}}",
           "{\"spec\":{\"devices\":{\"requests\":[]}},"
           "\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"config\":1}]}}}}");
    expect(KIND_DEVICE_CLASS, "{\"spec\":{\"config\":[1],\"selectors\":[]}}",
           "{\"spec\":{\"selectors\":[]}}");
    expect(KIND_RESOURCE_CLAIM_TEMPLATE,
           "{\"spec\":{\"spec\":{\"devices\":{\"config\":[1]}},\"metadata\":{\"annotations\":{}}}}",
           "{\"spec\":{\"spec\":{\"devices\":{}},\"metadata\":{}}}");
}

Test(prune, forms_of_json) {
    expect(KIND_NODE, " { \"status\" : { \"images\" : [ ] , \"allocatable\" : { \"cpu\" : 1 } } } ",
           "{\"status\":{\"allocatable\":{ \"cpu\" : 1 }}}");
    expect(KIND_NODE, "{}", "{}");
    expect(KIND_NODE, "{\"metadata\":null,\"spec\":[],\"status\":\"}\"}",
           "{\"metadata\":null,\"spec\":[],\"status\":\"}\"}");
    // A key that is written with escapes is the same key.
    expect(KIND_NODE, "{\"metadata\":{\"annot\\u0061tions\":{\"s\":1},\"n\\u0061me\":\"a\"}}",
           "{\"metadata\":{\"n\\u0061me\":\"a\"}}");
    expect(KIND_NAMESPACE, "{\"k\\u0069nd\":\"Namespace\",\"spec\":{}}", "{\"k\\u0069nd\":\"Namespace\"}");
    expect(KIND_POD, "{\"spec\":{\"containers\":{\"name\":\"not a list\"}}}",
           "{\"spec\":{\"containers\":{\"name\":\"not a list\"}}}");
}

Test(prune, what_is_no_object) {
    static const char *const texts[] = {"",     " ",       "[]",       "1",          "{",
                                        "{}{}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "null"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) expect(KIND_POD, texts[i], "");
}

Test(prune, without_memory) {
    struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    arena.fail_after = 1;
    cr_expect_eq(prune_object(&arena, KIND_NODE, TEXT("{\"metadata\":{}}")).len, 0);
    arena_clear(&arena);
    arena.fail_after = 2;
    cr_expect_eq(prune_object(&arena, KIND_NODE, TEXT("{\"n\\u0061me\":{}}")).len, 0);
    arena_release(&arena);
}
