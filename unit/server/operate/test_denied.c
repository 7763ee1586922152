// SPDX-License-Identifier: Apache-2.0
#include "server/operate/denied.h"

#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>

static struct denied *denied;
static struct denied_write write;

static void start(void) {
    denied = calloc(1, sizeof *denied);
    cr_assert_not_null(denied);
    write = (struct denied_write){.namespace = TEXT("work"),
                                  .claim = TEXT("c"),
                                  .claim_uid = TEXT("claim-uid"),
                                  .pod_uid = TEXT("pod-uid"),
                                  .note = TEXT("[frozen] why")};
}
static void stop(void) {
    free(denied);
}
TestSuite(denied, .init = start, .fini = stop);

Test(denied, copies_come_out_in_their_order) {
    char uid[16];
    struct denied_write out;
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 100; i++) {
            snprintf(uid, sizeof uid, "p-%u", i);
            write.pod_uid = text_of(uid);
            denied_add(denied, &write);
        }
        for (unsigned i = 0; i < 100; i++) {
            snprintf(uid, sizeof uid, "p-%u", i);
            cr_assert(denied_take(denied, &out));
            cr_expect(text_equal(out.pod_uid, text_of(uid)));
            cr_expect(text_equal(out.note, TEXT("[frozen] why")));
            cr_expect(text_equal(out.node, TEXT("")));
        }
        cr_expect_not(denied_take(denied, &out));
    }
    cr_expect_eq(denied->dropped_count, 0u);
}

Test(denied, what_has_no_room_is_counted) {
    for (unsigned i = 0; i < DENIED_LIMIT + 5; i++) denied_add(denied, &write);
    cr_expect_eq(denied->count, DENIED_LIMIT);
    cr_expect_eq(denied->dropped_count, 5u);
}

Test(denied, names_that_no_object_has_are_dropped) {
    char name[300];
    memset(name, 'a', sizeof name);
    write.node = (struct text){name, DENIED_NAME_BYTES};
    denied_add(denied, &write);
    cr_expect_eq(denied->count, 0u);
    write.node.len = DENIED_NAME_BYTES - 1;
    denied_add(denied, &write);
    cr_expect_eq(denied->count, 1u);
}
