// SPDX-License-Identifier: Apache-2.0
// Times as texts and as milliseconds.
#include "server/ledger/clock.h"

#include <criterion/criterion.h>

static void expect_ms(const char *text, int64_t want) {
    int64_t ms = -1;
    cr_expect(time_read_ms(text_of(text), &ms), "%s", text);
    cr_expect_eq(ms, want, "%s is %lld", text, (long long)ms);
}

Test(clock, reads_what_api_servers_write) {
    expect_ms("1970-01-01T00:00:00Z", 0);
    expect_ms("2026-11-30T00:00:24.630Z", 1795996824630);
    expect_ms("2000-02-29T12:00:00Z", 951825600000);
    expect_ms("2000-02-29T13:30:00+01:30", 951825600000);
    expect_ms("2000-02-29T10:30:00.000001-01:30", 951825600000);
    expect_ms("1969-12-31T23:59:59.5Z", -500);
    expect_ms("2100-03-01T00:00:00Z", 4107542400000);
}

Test(clock, refuses_the_rest) {
    static const char *const bad[] = {"",
                                      "2026-11-30",
                                      "2026-11-30T00:00:24",
                                      "2026-13-30T00:00:24Z",
                                      "2026-11-30 00:00:24Z",
                                      "2026-11-30T24:00:24Z",
                                      "2026-11-30T00:00:24Zx",
                                      "2026-11-30T00:00:24+1:00",
                                      "yesterday"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t ms = 7;
        cr_expect_not(time_read_ms(text_of(bad[i]), &ms), "%s", bad[i]);
        cr_expect_eq(ms, 7);
    }
}

Test(clock, prints_what_it_reads) {
    char text[TIME_TEXT_BYTES];
    for (int64_t ms = -5000000000123; ms < 5000000000000; ms += 86399999 * 7) {
        int64_t again;
        time_print(ms, text);
        cr_assert(time_read_ms(text_of(text), &again), "%s", text);
        cr_assert_eq(again, ms, "%s", text);
    }
    time_print(951825600000, text);
    cr_expect_str_eq(text, "2000-02-29T12:00:00Z");
    time_print(-500, text);
    cr_expect_str_eq(text, "1969-12-31T23:59:59.500Z");
}
