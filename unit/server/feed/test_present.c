// SPDX-License-Identifier: Apache-2.0
// The set against a plain array that knows the truth, through random additions, removals and lists.
#include <criterion/criterion.h>

#include "server/feed/present.h"

#define UIDS  200u
#define STEPS 200000u

static struct text uid_of(unsigned number, char *buffer, size_t size) {
    return (struct text){buffer, (size_t)snprintf(buffer, size, "uid-%u", number)};
}

Test(present, as_an_array_would) {
    struct heap heap = {0};
    struct present present;
    bool there[UIDS] = {false}, listed[UIDS] = {false};
    size_t count = 0;
    uint32_t random = 12345;
    bool listing = false;
    present_init(&present, &heap);
    present_remove(&present, TEXT("nobody"));
    for (unsigned step = 0; step < STEPS; step++) {
        char buffer[32];
        random = random * 1664525u + 1013904223u;
        unsigned number = (random >> 8) % UIDS;
        unsigned action = (random >> 24) % 64;
        struct text uid = uid_of(number, buffer, sizeof buffer);
        if (action == 0) {
            present_list_begin(&present);
            memset(listed, 0, sizeof listed);
            listing = true;
        } else if (action == 1 && listing) {
            present_list_end(&present);
            for (unsigned i = 0; i < UIDS; i++) {
                if (there[i] && !listed[i]) count--;
                there[i] = there[i] && listed[i];
            }
            listing = false;
        } else if (action < 40) {
            present_add(&present, uid);
            count += !there[number];
            there[number] = listed[number] = true;
        } else {
            present_remove(&present, uid);
            count -= there[number];
            there[number] = false;
        }
        cr_assert_eq(present.count, count, "step %u: %zu, not %zu", step, present.count, count);
    }
    present_release(&present);
    cr_expect_eq(heap.used_bytes, 0);
}

Test(present, memory) {
    struct heap heap = {.fail_after = 1};
    struct present present;
    present_init(&present, &heap);
    present_add(&present, TEXT("a"));
    cr_expect_eq(present.count, 0);
    present_add(&present, TEXT("a"));
    cr_expect_eq(present.count, 1);
    present_release(&present);
}
