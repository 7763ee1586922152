// SPDX-License-Identifier: Apache-2.0
// Checks and the pages they make.
#include <criterion/criterion.h>

#include "server/http/health.h"

static bool check_flag(void *state, char ret_why[HEALTH_WHY_BYTES]) {
    if (*(bool *)state) return true;
    snprintf(ret_why, HEALTH_WHY_BYTES, "the flag is down");
    return false;
}

static bool page(struct health *health, enum health_kind kind, bool verbose, const char *want) {
    char buffer[HEALTH_PAGE_BYTES];
    struct out out = out_of(buffer, sizeof buffer);
    bool all = health_page(health, kind, verbose, &out);
    cr_expect(text_equal((struct text){buffer, out.len}, text_of(want)), "want\n%s\ngot\n%.*s", want,
              (int)out.len, buffer);
    return all;
}

Test(health, pages_look_as_the_api_servers) {
    struct health health;
    bool synced = false;
    bool alive = true;
    health_init(&health);
    cr_assert(health_add(&health, "feed", HEALTH_READY, check_flag, &synced));
    cr_assert(health_add(&health, "workers", HEALTH_LIVE | HEALTH_READY, check_flag, &alive));
    cr_expect(page(&health, HEALTH_LIVE, false, "ok"), "liveness does not depend on the feed");
    cr_expect(page(&health, HEALTH_LIVE, true, "[+]ping ok\n[+]workers ok\nlivez check passed\n"));
    cr_expect_not(
        page(&health, HEALTH_READY, false,
             "[+]ping ok\n[+]shutdown ok\n[-]feed failed: the flag is down\n[+]workers ok\nreadyz check "
             "failed\n"));
    synced = true;
    cr_expect(page(&health, HEALTH_READY, false, "ok"));
    atomic_store(&health.draining, true);
    cr_expect_not(
        page(&health, HEALTH_READY, false,
             "[+]ping ok\n[-]shutdown failed: the server is about to end\n[+]feed ok\n[+]workers ok\n"
             "readyz check failed\n"));
    cr_expect(page(&health, HEALTH_LIVE, false, "ok"), "a drain is no reason to kill");
    health_remove(&health, &synced);
    cr_expect(page(&health, HEALTH_LIVE, true, "[+]ping ok\n[+]workers ok\nlivez check passed\n"));
    health_release(&health);
}

Test(health, the_list_has_an_end) {
    struct health health;
    bool flag = true;
    health_init(&health);
    for (int i = 0; i < HEALTH_CHECKS_LIMIT; i++)
        cr_expect(health_add(&health, "x", HEALTH_READY, check_flag, &flag));
    cr_expect_not(health_add(&health, "x", HEALTH_READY, check_flag, &flag));
    health_release(&health);
}
