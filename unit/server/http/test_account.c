// SPDX-License-Identifier: Apache-2.0
// The account of bodies in flight.
#include <criterion/criterion.h>
#include <stdint.h>

#include "server/http/account.h"

#define KIB ((size_t)1024)
#define MIB ((size_t)1024 * 1024)

Test(account, small_bodies_always_fit) {
    struct account account;
    account_init(&account, 64 * MIB, 64 * KIB, 512);
    for (size_t i = 0; i < 2048; i++) cr_expect(account_charge(&account, 64 * KIB));
    cr_expect_eq(account_used(&account), 128 * MIB);
}

Test(account, large_ones_are_shed_above_what_is_left_for_them) {
    struct account account;
    account_init(&account, 64 * MIB, 64 * KIB, 512); // 32 MiB are the small ones' reserve
    for (size_t i = 0; i < 4; i++) cr_expect(account_charge(&account, 8 * MIB));
    cr_expect_not(account_charge(&account, 64 * KIB + 1));
    cr_expect(account_charge(&account, 64 * KIB), "the reserve is untouched");
    cr_expect_eq(account_used(&account), 32 * MIB + 64 * KIB);
    account_release(&account, 8 * MIB);
    cr_expect(account_charge(&account, 64 * KIB + 1));
    for (size_t i = 0; i < 3; i++) account_release(&account, 8 * MIB);
    account_release(&account, 64 * KIB + 1);
    account_release(&account, 64 * KIB);
    cr_expect_eq(account_used(&account), 0);
}

Test(account, the_reserve_is_never_more_than_half) {
    struct account account;
    account_init(&account, 10 * MIB, 1 * MIB, SIZE_MAX);
    cr_expect(account_charge(&account, 5 * MIB));
    cr_expect_not(account_charge(&account, 1 * MIB + 1));
}

Test(account, one_large_body_always_fits_when_it_is_alone) {
    struct account account;
    account_init(&account, 1 * MIB, 64 * KIB, 512);
    cr_expect(account_charge(&account, 8 * MIB));
    cr_expect_not(account_charge(&account, 65 * KIB));
    account_release(&account, 8 * MIB);
    cr_expect(account_charge(&account, 8 * MIB));
}
