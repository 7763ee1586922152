// SPDX-License-Identifier: Apache-2.0
#include "validators/core/text.h"

#include <criterion/criterion.h>

static struct arena arena;
static void start(void) {
    arena_init(&arena, 1 << 20);
}
static void stop(void) {
    arena_release(&arena);
}
TestSuite(text, .init = start, .fini = stop);

Test(text, compares_and_slices) {
    cr_expect(text_equal(TEXT("ab"), TEXT("ab")));
    cr_expect_not(text_equal(TEXT("ab"), TEXT("abc")));
    cr_expect(text_equal((struct text){NULL, 0}, TEXT("")));
    cr_expect(text_compare(TEXT("ab"), TEXT("b")) < 0);
    cr_expect(text_compare(TEXT("ab"), TEXT("a")) > 0);
    cr_expect_eq(text_compare(TEXT("a\0b"), TEXT("a\0b")), 0);
    cr_expect(text_starts_with(TEXT("abc"), TEXT("ab")));
    cr_expect_not(text_starts_with(TEXT("a"), TEXT("ab")));
    cr_expect(text_ends_with(TEXT("abc"), TEXT("bc")));
    cr_expect_not(text_ends_with(TEXT("c"), TEXT("bc")));
    cr_expect_eq(text_find(TEXT("a/b/c"), '/', 2), 3);
    cr_expect_eq(text_find(TEXT("abc"), '/', 0), 3);
    cr_expect_eq(text_find(TEXT("abc"), '/', 9), 3);
    cr_expect(text_equal(text_slice(TEXT("abc"), 1, 99), TEXT("bc")));
    cr_expect(text_is_empty(text_slice(TEXT("abc"), 2, 1)));
    cr_expect_eq(text_of(NULL).len, 0);
}

Test(text, reads_integers_exactly) {
    int64_t value = 7;
    cr_expect(text_to_int64(TEXT("-9223372036854775808"), &value));
    cr_expect_eq(value, INT64_MIN);
    cr_expect(text_to_int64(TEXT("9223372036854775807"), &value));
    cr_expect_eq(value, INT64_MAX);
    cr_expect(text_to_int64(TEXT("0"), &value) && value == 0);
    value = 7;
    static const struct text bad[] = {
        TEXT_INIT(""),   TEXT_INIT("-"),   TEXT_INIT("9223372036854775808"),
        TEXT_INIT("1x"), TEXT_INIT("+1"),  TEXT_INIT("-9223372036854775809"),
        TEXT_INIT(" 1"), TEXT_INIT("1.0"), TEXT_INIT("99999999999999999999999")};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_expect_not(text_to_int64(bad[i], &value), "%zu", i);
    cr_expect_eq(value, 7);
}

Test(text, printable_escapes_what_could_deceive) {
    struct text got = text_printable(&arena, TEXT("a\"\\\n\x7f\xff\xE2\x80\xAE\xC3\xA9\0z"), 99);
    cr_expect_str_eq(got.ptr, "a\\\"\\\\\\x0a\\x7f\\xff\\xe2\\x80\\xae\xC3\xA9\\x00z");
    got = text_printable(&arena, TEXT("\xC2\x85"), 9);
    cr_expect_str_eq(got.ptr, "\\xc2\\x85");
    got = text_printable(&arena, TEXT("12345678"), 5);
    cr_expect_str_eq(got.ptr, "12345\xE2\x80\xA6");
    got = text_printable(&arena, TEXT("ab\xC3\xA9"), 3);
    cr_expect_str_eq(got.ptr, "ab\xE2\x80\xA6", "a character is never cut in two");
    arena.fail_after = 1;
    cr_expect(text_is_empty(text_printable(&arena, TEXT("x"), 3)));
    cr_expect(text_is_empty(text_copy(&arena, TEXT("x"))));
    cr_expect(text_is_empty(text_format(&arena, "%d", 1)));
}

Test(text, knows_well_formed_utf8) {
    static const struct {
        struct text text;
        size_t len;
    } rows[] = {
        {TEXT_INIT(""), 0},
        {TEXT_INIT("a"), 1},
        {TEXT_INIT("\xC3\xA9"), 2},
        {TEXT_INIT("\xE2\x82\xAC"), 3},
        {TEXT_INIT("\xF0\x9F\x98\x80"), 4},
        {TEXT_INIT("\xC0\x80"), 0},
        {TEXT_INIT("\xE0\x80\x80"), 0},
        {TEXT_INIT("\xED\xA0\x80"), 0},
        {TEXT_INIT("\xF4\x90\x80\x80"), 0},
        {TEXT_INIT("\xF0\x80\x80\x80"), 0},
        {TEXT_INIT("\xE2\x82"), 0},
        {TEXT_INIT("\xE2\x82\x41"), 0},
        {TEXT_INIT("\x80"), 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        cr_expect_eq(text_utf8_len(rows[i].text), rows[i].len, "row %zu", i);
}

Test(text, measures_distance) {
    cr_expect_eq(text_distance(TEXT("memory"), TEXT("Memory"), 3), 1);
    cr_expect_eq(text_distance(TEXT("memory"), TEXT("memroy"), 3), 2);
    cr_expect_eq(text_distance(TEXT("cpu"), TEXT("hugepages"), 3), 4);
    char longer[80] = {0};
    memset(longer, 'x', sizeof longer - 1);
    cr_expect_eq(text_distance(text_of(longer), TEXT("x"), 3), 4);
}
