// SPDX-License-Identifier: Apache-2.0
#include "server/operate/audit_pace.h"

#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#define START_MS INT64_C(1800000000000)

static struct audit_pace *pace;
static struct audit_gap gap;

static void start(void) {
    pace = calloc(1, sizeof *pace);
    cr_assert_not_null(pace);
}
static void stop(void) {
    free(pace);
}
TestSuite(audit_pace, .init = start, .fini = stop);

static const struct audit_source mallory = {TEXT_INIT("mallory"), TEXT_INIT("evil"), "denied"};
static const struct audit_source alice = {TEXT_INIT("alice"), TEXT_INIT("good"), "denied"};

Test(audit_pace, a_burst_and_then_a_steady_few) {
    int taken = 0;
    for (int i = 0; i < 10000; i++) taken += audit_pace_take(pace, &mallory, START_MS, &gap);
    cr_expect_eq(taken, AUDIT_PACE_BURST);
    // One second later ten more, and nobody else was held up.
    for (int i = 0; i < 100; i++) taken += audit_pace_take(pace, &mallory, START_MS + 1000, &gap);
    cr_expect_eq(taken, AUDIT_PACE_BURST + 10);
    cr_expect(audit_pace_take(pace, &alice, START_MS + 1000, &gap));
    cr_expect_eq(gap.count, 0u);
}

Test(audit_pace, what_is_missing_is_told_with_whose_and_when) {
    for (int i = 0; i < AUDIT_PACE_BURST + 7; i++) audit_pace_take(pace, &mallory, START_MS + i, &gap);
    cr_expect_not(audit_pace_due(pace, START_MS + 1000, false, &gap), "not yet");
    cr_assert(audit_pace_due(pace, START_MS + 2 * AUDIT_PACE_GAP_MS, false, &gap));
    cr_expect_eq(gap.count, 6u); // one was earned back within the 106 ms
    cr_expect_str_eq(gap.user, "mallory");
    cr_expect_str_eq(gap.namespace, "evil");
    cr_expect_str_eq(gap.decision, "denied");
    cr_expect_gt(gap.from_ms, START_MS + AUDIT_PACE_BURST - 1);
    cr_expect_eq(gap.until_ms, START_MS + AUDIT_PACE_BURST + 6);
    cr_expect_not(audit_pace_due(pace, START_MS + 9 * AUDIT_PACE_GAP_MS, true, &gap), "told once");
}

Test(audit_pace, at_the_end_all_is_told) {
    for (int i = 0; i < AUDIT_PACE_BURST + 1; i++) audit_pace_take(pace, &mallory, START_MS, &gap);
    cr_assert(audit_pace_due(pace, START_MS, true, &gap));
    cr_expect_eq(gap.count, 1u);
}

Test(audit_pace, records_lost_otherwise_are_counted_too) {
    cr_expect(audit_pace_take(pace, &alice, START_MS, &gap));
    audit_pace_lost(pace, &alice, START_MS);
    cr_assert(audit_pace_due(pace, START_MS, true, &gap));
    cr_expect_eq(gap.count, 1u);
    cr_expect_str_eq(gap.user, "alice");
}

// More users than slots: every record is taken or stands in a gap.
Test(audit_pace, nothing_is_missing_without_a_word) {
    uint64_t asked = 0, taken = 0, missing = 0;
    char user[32];
    for (int round = 0; round < AUDIT_PACE_BURST + 5; round++)
        for (unsigned i = 0; i < AUDIT_PACE_SLOTS / 2; i++) {
            snprintf(user, sizeof user, "user-%u", i);
            const struct audit_source source = {text_of(user), {NULL, 0}, "denied"};
            asked++;
            taken += audit_pace_take(pace, &source, START_MS, &gap);
            missing += gap.count;
        }
    while (audit_pace_due(pace, START_MS, true, &gap)) missing += gap.count;
    cr_expect_eq(asked, taken + missing, "%llu asked, %llu taken, %llu missing", (unsigned long long)asked,
                 (unsigned long long)taken, (unsigned long long)missing);
    cr_expect_gt(missing, 0u);
}

Test(audit_pace, a_clock_that_goes_back_silences_nobody) {
    for (int i = 0; i < AUDIT_PACE_BURST; i++) audit_pace_take(pace, &alice, START_MS, &gap);
    cr_expect(audit_pace_take(pace, &alice, START_MS - 3600000, &gap));
}

Test(audit_pace, long_names_are_cut) {
    char user[1000];
    memset(user, 'u', sizeof user);
    const struct audit_source source = {{user, sizeof user}, {user, sizeof user}, "warned"};
    for (int i = 0; i < AUDIT_PACE_BURST + 1; i++) audit_pace_take(pace, &source, START_MS, &gap);
    cr_assert(audit_pace_due(pace, START_MS, true, &gap));
    cr_expect_eq(strlen(gap.user), AUDIT_PACE_BYTES - 1);
}
