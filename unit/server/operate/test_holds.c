// SPDX-License-Identifier: Apache-2.0
#include "server/operate/holds.h"

#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>

static struct holds *holds;
static struct denials *denials;

static void start(void) {
    holds = calloc(1, sizeof *holds);
    denials = calloc(1, sizeof *denials);
    cr_assert(holds != NULL && denials != NULL);
}
static void stop(void) {
    free(holds);
    free(denials);
}
TestSuite(holds, .init = start, .fini = stop);

Test(holds, the_last_look_counts_and_what_is_gone_has_ended) {
    holds_begin(holds);
    holds_add(holds, TEXT("a"), HOLD_TAINT, 1000);
    holds_add(holds, TEXT("b"), HOLD_GATE, 1000);
    holds_end(holds, 1000);
    cr_expect_eq(holds->held[HOLD_TAINT], 1u);
    cr_expect_eq(holds->held[HOLD_GATE], 1u);
    holds_begin(holds);
    // Another step holds it now: it is one hold, from the beginning.
    holds_add(holds, TEXT("a"), HOLD_DENY, 3000);
    holds_end(holds, 5000);
    cr_expect_eq(holds->held[HOLD_TAINT], 0u);
    cr_expect_eq(holds->held[HOLD_DENY], 1u);
    cr_expect_eq(holds->ended_count, 1u);
    cr_expect_eq(holds->buckets[1], 1u); // b: 4 s
    holds_begin(holds);
    holds_end(holds, 21000);
    cr_expect_eq(holds->buckets[3], 1u); // a: 20 s
    cr_expect_float_eq(holds->ended_sum_s, 24.0, 1e-9);
    holds_begin(holds);
    holds_end(holds, 99000);
    cr_expect_eq(holds->ended_count, 2u);
}

Test(holds, very_long_ones_have_a_bucket) {
    holds_begin(holds);
    holds_add(holds, TEXT("a"), HOLD_GATE, 0);
    holds_end(holds, 0);
    holds_begin(holds);
    holds_end(holds, INT64_C(864000000));
    cr_expect_eq(holds->buckets[HOLD_BUCKET_COUNT - 1], 1u);
}

Test(holds, more_than_there_is_room_for_are_still_counted) {
    char uid[32];
    holds_begin(holds);
    for (unsigned i = 0; i < 2 * HOLDS_LIMIT; i++) {
        snprintf(uid, sizeof uid, "pod-%u", i);
        holds_add(holds, text_of(uid), HOLD_TAINT, 0);
    }
    holds_end(holds, 0);
    cr_expect_eq(holds->held[HOLD_TAINT], 2 * HOLDS_LIMIT);
}

Test(holds, a_denial_is_remembered_for_a_minute) {
    denials_note(denials, TEXT("a"), 1000);
    cr_expect(denials_has(denials, TEXT("a"), 1000 + HOLD_DENIED_FOR_MS - 1));
    cr_expect_not(denials_has(denials, TEXT("a"), 1000 + HOLD_DENIED_FOR_MS));
    cr_expect_not(denials_has(denials, TEXT("b"), 1000));
    denials_note(denials, TEXT("a"), 50000);
    cr_expect_eq(denials_count(denials, 70000), 1u);
    cr_expect_eq(denials_count(denials, 200000), 0u);
}

Test(holds, many_denials_forget_old_ones_not_new_ones) {
    char uid[32];
    for (unsigned i = 0; i < 4 * DENIALS_LIMIT; i++) {
        snprintf(uid, sizeof uid, "pod-%u", i);
        denials_note(denials, text_of(uid), 1000 + i);
        cr_expect(denials_has(denials, text_of(uid), 1000 + i));
    }
    cr_expect_leq(denials_count(denials, 5000), DENIALS_LIMIT);
}
