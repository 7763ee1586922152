// SPDX-License-Identifier: Apache-2.0
// The writer into a fixed buffer: escaping, and what does not fit.
#include <criterion/criterion.h>

#include "server/out.h"

static void expect(const struct out *out, const char *want) {
    cr_expect(text_equal((struct text){out->ptr, out->len}, text_of(want)), "want %s\n got %.*s", want,
              (int)out->len, out->ptr);
}

Test(out, json_strings_are_escaped) {
    char buffer[128];
    struct out out = out_of(buffer, sizeof buffer);
    out_json_string(&out, (struct text){"a\"\\\n\r\t\x01\x7f\0z", 10}, 0);
    expect(&out, "\"a\\\"\\\\\\n\\r\\t\\u0001\\u007f\\u0000z\"");
    cr_expect_not(out.full);
}

Test(out, what_is_no_utf8_becomes_the_replacement) {
    char buffer[128];
    struct out out = out_of(buffer, sizeof buffer);
    out_json_string(&out, TEXT("\xE2\x82\xAC\xff\xE2\x82"), 0);
    expect(&out, "\"\xE2\x82\xAC\\ufffd\\ufffd\\ufffd\"");
}

Test(out, a_limit_cuts_between_characters) {
    char buffer[128];
    struct out out = out_of(buffer, sizeof buffer);
    out_json_string(&out, TEXT("ab\xE2\x82\xAC"), 4);
    expect(&out, "\"ab\"");
    cr_expect_not(out.full, "a limit is no lack of room");
}

Test(out, a_string_that_does_not_fit_is_closed_and_told) {
    for (size_t cap = 0; cap < 12; cap++) {
        char buffer[16];
        memset(buffer, '#', sizeof buffer);
        struct out out = out_of(buffer, cap);
        out_json_string(&out, TEXT("ab\ncd\x01"), 0);
        cr_expect(out.full, "%zu bytes", cap);
        cr_expect_leq(out.len, cap);
        for (size_t i = cap; i < sizeof buffer; i++) cr_expect_eq(buffer[i], '#');
        if (cap >= 2) cr_expect(out.len >= 2 && buffer[0] == '"' && buffer[out.len - 1] == '"');
    }
}

Test(out, texts_are_taken_whole_or_not_at_all) {
    char buffer[4];
    struct out out = out_of(buffer, sizeof buffer);
    OUT_LITERAL(&out, "abc");
    OUT_LITERAL(&out, "de");
    expect(&out, "abc");
    cr_expect(out.full);
    out.full = false;
    out_format(&out, "%d", 7);
    cr_expect(out.full, "printf needs room for its end");
}

Test(out, numbers) {
    char buffer[64];
    struct out out = out_of(buffer, sizeof buffer);
    out_int64(&out, 0);
    OUT_LITERAL(&out, " ");
    out_int64(&out, INT64_MAX);
    OUT_LITERAL(&out, " ");
    out_int64(&out, INT64_MIN);
    expect(&out, "0 9223372036854775807 -9223372036854775808");
}
