// SPDX-License-Identifier: Apache-2.0
// Durations as Go writes them, and what they make of a request's deadline.
#include <criterion/criterion.h>

#include "server/http/deadline.h"

static const struct deadlines deadlines = {
    .request_ms = 10000, .request_most_ms = 30000, .request_reserve_ms = 500};

Test(deadline, durations_are_read_as_go_reads_them) {
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {
        {"0", 0},
        {"10s", 10000},
        {"1m30s", 90000},
        {"500ms", 500},
        {"1.5s", 1500},
        {"2h", 7200000},
        {"1h2m3.5s", 3723500},
        {"+5s", 5000},
        {"1500us", 1},
        {"999999ns", 0},
        {".5s", 500},
        {"5.s", 5000},
        {"0s", 0},
        {"1500\302\265s", 1},
        {"1500\316\274s", 1},
        {"2562047h", 9223369200000},
        {"0.000000000000000000001h", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t ms = -1;
        cr_expect(deadline_parse_duration(text_of(cases[i].text), &ms), "%s", cases[i].text);
        cr_expect_eq(ms, cases[i].ms, "%s is %lld", cases[i].text, (long long)ms);
    }
}

Test(deadline, what_is_no_duration_is_refused_and_changes_nothing) {
    static const char *const cases[] = {
        "",     "10",   "s",   "-5s", ".s",   "1d",          "1 s",
        "10s ", "ten",  "1x",  "+",   "++1s", "9999999999h", "99999999999999999999s",
        "1e3s", "1,5s", "0x1s"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t ms = 77;
        cr_expect_not(deadline_parse_duration(text_of(cases[i]), &ms), "%s", cases[i]);
        cr_expect_eq(ms, 77);
    }
    int64_t ms;
    cr_expect_not(deadline_parse_duration((struct text){"1s\0", 3}, &ms));
}

Test(deadline, of_a_request) {
    static const struct {
        const char *timeout;
        int64_t ms;
    } cases[] = {
        {"", 10000},    {"10s", 9500}, {"1s", 500},  {"30s", 29500}, {"31s", 30000},     {"1h", 30000},
        {"600ms", 300}, {"2ms", 1},    {"0", 10000}, {"-3s", 10000}, {"garbage", 10000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        cr_expect_eq(deadline_of_request(&deadlines, text_of(cases[i].timeout)), cases[i].ms, "%s gives %lld",
                     cases[i].timeout, (long long)deadline_of_request(&deadlines, text_of(cases[i].timeout)));
}
