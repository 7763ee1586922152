// SPDX-License-Identifier: Apache-2.0
// When the version is asked for, and when another one counts.
#include <criterion/criterion.h>

#include "server/feed/version_watch.h"

static struct version_watch watch;
static int64_t now_ms;

static void start(void) {
    now_ms = 1000000;
    version_watch_init(&watch, 36, now_ms);
}
TestSuite(version_watch, .init = start);

static bool answer(int minor) {
    cr_assert_not(version_watch_is_due(&watch, watch.next_ms - 1));
    now_ms = watch.next_ms;
    cr_assert(version_watch_is_due(&watch, now_ms));
    return version_watch_answer(&watch, minor, now_ms);
}

Test(version_watch, is_asked_seldom_and_soon_after_a_disturbance) {
    cr_expect_eq(watch.next_ms, now_ms + VERSION_ASK_MS);
    now_ms += 60000;
    version_watch_disturb(&watch, now_ms);
    cr_expect_eq(watch.next_ms, now_ms + VERSION_SOON_MS);
    version_watch_disturb(&watch, now_ms + 1000);
    cr_expect_eq(watch.next_ms, now_ms + VERSION_SOON_MS, "many ends, one question");
    cr_expect_not(answer(36));
    cr_expect_eq(watch.next_ms, now_ms + VERSION_ASK_MS);
    version_watch_disturb(&watch, now_ms);
    cr_expect_eq(watch.next_ms, now_ms + VERSION_GAP_MS, "not more often than this");
}

Test(version_watch, another_minor_counts_when_it_is_said_in_a_row) {
    cr_expect_not(answer(37));
    cr_expect_eq(watch.next_ms, now_ms + VERSION_CONFIRM_MS);
    cr_expect_not(answer(37));
    cr_expect(answer(37));
    cr_expect_eq(watch.other, 37);
}

// While a control plane is upgraded, its servers say one and the other.
Test(version_watch, servers_that_differ_change_nothing) {
    for (int i = 0; i < 20; i++) {
        cr_expect_not(answer(37));
        cr_expect_not(answer(37));
        cr_expect_not(answer(36));
    }
    cr_expect_not(answer(37));
    cr_expect_not(answer(38));
    cr_expect_not(answer(37));
    cr_expect_not(answer(37));
    cr_expect(answer(37));
}

Test(version_watch, no_answer_says_nothing) {
    cr_expect_not(answer(37));
    cr_expect_not(answer(37));
    cr_expect_not(answer(0));
    cr_expect_eq(watch.next_ms, now_ms + VERSION_CONFIRM_MS);
    cr_expect(answer(37), "a server that was away does not take back what was said");
}
