// SPDX-License-Identifier: Apache-2.0
#include "server/operate/leader.h"

#include <criterion/criterion.h>

static struct leader_record record_of(const char *holder, const char *version) {
    struct leader_record record = {.exists = true, .duration_s = 15};
    snprintf(record.holder, sizeof record.holder, "%s", holder);
    snprintf(record.version, sizeof record.version, "%s", version);
    return record;
}

static enum leader_action decide(struct leader *leader, const char *holder, const char *version,
                                 int64_t now_ms) {
    struct leader_record record = record_of(holder, version);
    return leader_decide(leader, &record, now_ms);
}

Test(leader, makes_a_lease_that_is_not_there) {
    struct leader leader;
    struct leader_record none = {.exists = false};
    leader_init(&leader, "ns", "me");
    cr_expect_eq(leader_decide(&leader, &none, 1000), LEADER_CREATE);
}

Test(leader, renews_its_own_and_takes_a_free_one) {
    struct leader leader;
    leader_init(&leader, "ns", "me");
    cr_expect_eq(decide(&leader, "me", "1", 1000), LEADER_RENEW);
    cr_expect_eq(decide(&leader, "", "2", 1000), LEADER_TAKE);
}

Test(leader, waits_a_whole_duration_by_its_own_clock) {
    struct leader leader;
    leader_init(&leader, "ns", "me");
    cr_expect_eq(decide(&leader, "other", "1", 1000), LEADER_WAIT);
    cr_expect_eq(decide(&leader, "other", "1", 15999), LEADER_WAIT);
    // A renewal starts the count anew, whatever time stands in it.
    cr_expect_eq(decide(&leader, "other", "2", 15999), LEADER_WAIT);
    cr_expect_eq(decide(&leader, "other", "2", 30998), LEADER_WAIT);
    cr_expect_eq(decide(&leader, "other", "2", 30999), LEADER_TAKE);
}

Test(leader, stops_before_others_may_begin) {
    struct leader leader;
    leader_init(&leader, "ns", "me");
    cr_expect_not(leader_is(&leader, 1));
    leader.holds = true;
    leader.renewed_ms = 1000;
    cr_expect(leader_is(&leader, 1000 + LEADER_DEADLINE_MS - 1));
    cr_expect_not(leader_is(&leader, 1000 + LEADER_DEADLINE_MS));
    cr_expect_lt(LEADER_DEADLINE_MS, LEADER_DURATION_S * 1000);
    // Somebody else has it: at once.
    leader.renewed_ms = 5000;
    cr_expect_eq(decide(&leader, "other", "9", 5001), LEADER_WAIT);
    cr_expect_not(leader_is(&leader, 5001));
}
