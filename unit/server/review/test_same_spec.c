// SPDX-License-Identifier: Apache-2.0
// Whether two JSON texts say the same.
#include <criterion/criterion.h>

#include "server/review/same_spec.h"

static bool same(const char *a, const char *b) {
    struct arena arena;
    arena_init(&arena, 16u << 20);
    bool result = same_json(&arena, text_of(a), text_of(b));
    cr_expect_eq(same_json(&arena, text_of(b), text_of(a)), result, "%s and %s, the other way round", a, b);
    cr_expect_not(arena.poisoned);
    arena_release(&arena);
    return result;
}

Test(same_spec, order_of_keys_blanks_and_spelling_do_not_count) {
    cr_expect(same("{\"a\":1,\"b\":[true,null]}", "{\"a\":1,\"b\":[true,null]}"));
    cr_expect(same("{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}"));
    cr_expect(same("{\"a\":{\"x\":[{\"p\":1,\"q\":2}],\"y\":\"\"}}",
                   "{ \"a\" : {\"y\":\"\", \"x\":[ {\"q\":2 ,\"p\":1} ] } }"));
    cr_expect(same("{\"a\":\"b\"}", "{\"\\u0061\":\"\\u0062\"}"));
    cr_expect(same("{}", "{ }"));
    cr_expect(same("[]", "[ ]"));
    cr_expect(same("", ""));
}

Test(same_spec, what_differs_differs) {
    static const char *const pairs[][2] = {
        {"{\"a\":1}", "{\"a\":2}"},
        {"{\"a\":1}", "{\"b\":1}"},
        {"{\"a\":12}", "{\"a\":21}"},
        {"[1,2]", "[2,1]"},
        {"[1]", "[1,1]"},
        {"{\"a\":1}", "{\"a\":\"1\"}"},
        {"{\"a\":null}", "{}"},
        {"{}", "[]"},
        {"{\"a\":\"ab\"}", "{\"a\":\"ba\"}"},
        {"{\"a\":{\"b\":1},\"c\":{}}", "{\"a\":{},\"c\":{\"b\":1}}"},
        {"{\"a\":1}", ""},
        {"{\"ab\":\"c\",\"a\":\"bc\"}", "{\"ab\":\"bc\",\"a\":\"c\"}"},
        {"true", "false"},
        {"{\"a\":\"x y\"}", "{\"a\":\"xy \"}"},
        {"1", "1.0"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        cr_expect_not(same(pairs[i][0], pairs[i][1]), "%s and %s", pairs[i][0], pairs[i][1]);
}

Test(same_spec, what_cannot_be_compared_counts_as_changed) {
    cr_expect_not(same("{\"a\":1,\"a\":2}", "{\"a\":2,\"a\":1}"), "repeated keys have an order");
    cr_expect(same("{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":2}"), "unless the bytes are the same");
    char a[400] = "";
    char b[400] = "";
    memset(a, '[', 100);
    memcpy(a + 100, "{\"p\":1,\"q\":2}", 13);
    memset(a + 113, ']', 100);
    memset(b, '[', 100);
    memcpy(b + 100, "{\"q\":2,\"p\":1}", 13);
    memset(b + 113, ']', 100);
    cr_expect_not(same(a, b), "deeper than is looked into");
}

Test(same_spec, long_texts_are_told_apart_at_any_place) {
    enum { COUNT = 500 };
    static char a[COUNT * 16];
    static char b[COUNT * 16];
    for (size_t changed = 0; changed < COUNT; changed += 7) {
        size_t len_a = 0;
        size_t len_b = 0;
        a[len_a++] = b[len_b++] = '{';
        for (size_t i = 0; i < COUNT; i++) {
            size_t k = COUNT - 1 - i;
            len_a += (size_t)snprintf(a + len_a, sizeof a - len_a, "%s\"k%zu\":%zu", i == 0 ? "" : ",", i, i);
            len_b += (size_t)snprintf(b + len_b, sizeof b - len_b, "%s\"k%zu\":%zu", i == 0 ? "" : ",", k, k);
        }
        a[len_a++] = b[len_b++] = '}';
        a[len_a] = b[len_b] = '\0';
        cr_expect(same(a, b));
        char *digit = a + strlen(a) / COUNT * changed + 1;
        while (*digit < '0' || *digit > '9') digit++;
        *digit = (char)(*digit == '9' ? '8' : *digit + 1);
        cr_expect_not(same(a, b), "%zu", changed);
    }
}

Test(same_spec, no_memory_is_no_equality) {
    struct arena arena;
    for (size_t n = 1; n < 8; n++) {
        arena_init(&arena, 1u << 20);
        arena.fail_after = n;
        bool result = same_json(&arena, TEXT("{\"a\":[1],\"b\":2}"), TEXT("{\"b\":2,\"a\":[ 1 ]}"));
        cr_expect(!result || !arena.poisoned);
        arena_release(&arena);
    }
}
