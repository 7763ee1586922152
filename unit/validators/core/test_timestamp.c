// SPDX-License-Identifier: Apache-2.0
// Times as text and as numbers.
#include "validators/core/timestamp.h"

#include <criterion/criterion.h>

static int64_t parsed(const char *text) {
    int64_t ms = -1;
    cr_assert(timestamp_parse(text_of(text), &ms), "%s", text);
    return ms;
}

Test(timestamp, reads_what_kubernetes_writes) {
    cr_assert_eq(parsed("1970-01-01T00:00:00Z"), 0);
    cr_assert_eq(parsed("2026-01-01T00:00:00Z"), 1767225600000);
    cr_assert_eq(parsed("2024-02-29T12:30:15.250999Z"), 1709209815250);
    cr_assert_eq(parsed("2026-01-01T02:00:00+02:00"), 1767225600000);
    cr_assert_eq(parsed("2025-12-31T19:00:00.5-05:00"), 1767225600500);
}

Test(timestamp, refuses_what_is_none) {
    static const char *const bad[] = {"",
                                      "2026-01-01",
                                      "2026-01-01T00:00:00",
                                      "2026-13-01T00:00:00Z",
                                      "2026-00-01T00:00:00Z",
                                      "2026-01-01 00:00:00Z",
                                      "2026-01-01T24:00:00Z",
                                      "2026-01-01T00:00:00.Z",
                                      "2026-01-01T00:00:00Z ",
                                      "2026-01-01T00:00:00+2:00"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t ms = 7;
        cr_assert_not(timestamp_parse(text_of(bad[i]), &ms), "%s", bad[i]);
        cr_assert_eq(ms, 7);
    }
}

Test(timestamp, prints_what_it_read) {
    static const char *const times[] = {"1970-01-01T00:00:00Z", "2026-11-30T23:59:59Z",
                                        "2024-02-29T00:00:00Z", "2000-03-01T00:00:01Z",
                                        "1969-12-31T23:59:58Z", "0001-01-01T00:00:00Z"};
    struct arena arena;
    arena_init(&arena, 4096);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        cr_assert_str_eq(timestamp_text(&arena, parsed(times[i])).ptr, times[i]);
    arena_release(&arena);
}
