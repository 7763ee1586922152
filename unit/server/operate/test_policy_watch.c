// SPDX-License-Identifier: Apache-2.0
#include "server/operate/policy_watch.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define NOW_MS INT64_C(1796083200000) // 2026-12-01T00:00:00Z

static struct freeze frozen_driver = {.driver = TEXT_INIT("gpu.example.com"),
                                      .reason = TEXT_INIT("new firmware"),
                                      .by = TEXT_INIT("jane"),
                                      .at = TEXT_INIT("2026-11-30T23:00:00Z"),
                                      .expires = TEXT_INIT("2026-12-01T02:00:00Z")};

static struct policy_watch watch;

static void stop(void) {
    policy_watch_release(&watch);
}
TestSuite(policy_watch, .fini = stop);

// The records as one line of JSON. Owner: the caller.
static char *step(const struct ledger_policy *policy, int64_t now_ms) {
    json_t *records = policy_watch_step(&watch, policy_watch_entries(policy), now_ms);
    cr_assert_not_null(records);
    char *text = json_dumps(records, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(records);
    return text;
}

#define expect_records(policy, now_ms, wanted)                                                               \
    do {                                                                                                     \
        char *have_ = step((policy), (now_ms));                                                              \
        cr_expect_str_eq(have_, (wanted));                                                                   \
        free(have_);                                                                                         \
    } while (0)

Test(policy_watch, what_is_there_at_the_start_is_told_as_such) {
    struct ledger_policy policy = {.freezes = {&frozen_driver, 1}};
    expect_records(&policy, NOW_MS,
                   "[{\"action\":\"freeze\",\"at\":\"2026-11-30T23:00:00Z\",\"by\":\"jane\","
                   "\"expires\":\"2026-12-01T02:00:00Z\",\"observed\":\"start\",\"reason\":\"new firmware\","
                   "\"scope\":\"driver gpu.example.com\"}]");
    expect_records(&policy, NOW_MS, "[]");
}

Test(policy_watch, a_freeze_and_its_resume_are_told_once_each) {
    struct ledger_policy none = {.freezes = {NULL, 0}}, frozen = {.freezes = {&frozen_driver, 1}};
    struct resume resume = {
        .driver = TEXT("gpu.example.com"), .by = TEXT("joe"), .reason = TEXT("done"), .at = TEXT("t")};
    struct ledger_policy resumed = {.resumes = {&resume, 1}};
    expect_records(&none, NOW_MS, "[]");
    char *records = step(&frozen, NOW_MS);
    cr_expect_not_null(strstr(records, "\"action\":\"freeze\""));
    cr_expect_null(strstr(records, "observed"));
    free(records);
    expect_records(&resumed, NOW_MS,
                   "[{\"action\":\"resume\",\"at\":\"t\",\"by\":\"joe\",\"reason\":\"done\","
                   "\"scope\":\"driver gpu.example.com\"}]");
    expect_records(&resumed, NOW_MS, "[]");
}

Test(policy_watch, a_freeze_that_is_gone_has_ended_or_was_taken_out_by_somebody) {
    struct ledger_policy none = {.freezes = {NULL, 0}}, frozen = {.freezes = {&frozen_driver, 1}};
    free(step(&frozen, NOW_MS));
    char *records = step(&none, NOW_MS + 3 * 3600000);
    cr_expect_not_null(strstr(records, "\"action\":\"expired\""), "%s", records);
    free(records);
    free(step(&frozen, NOW_MS));
    records = step(NULL, NOW_MS); // the whole policy was deleted
    cr_expect_not_null(strstr(records, "\"action\":\"lifted\""), "%s", records);
    cr_expect_null(strstr(records, "\"by\""), "who made it is not who took it away: %s", records);
    free(records);
}

Test(policy_watch, versions_and_accepted_claims_are_in_the_record) {
    struct text uids[] = {TEXT("u-1"), TEXT("u-2")};
    struct resume resume = {.driver = TEXT("d"),
                            .node = TEXT("n"),
                            .from_version = {.set = true, .value = 7},
                            .accept = {uids, 2, true},
                            .by = TEXT("joe")};
    struct ledger_policy none = {.freezes = {NULL, 0}}, policy = {.resumes = {&resume, 1}};
    free(step(&none, NOW_MS));
    expect_records(&policy, NOW_MS,
                   "[{\"accept\":[\"u-1\",\"u-2\"],\"action\":\"resume\",\"by\":\"joe\",\"fromVersion\":7,"
                   "\"scope\":\"driver d on node n\"}]");
}

Test(policy_watch, changed_actions_of_rules_are_told) {
    struct ledger_rule deny = {.id = TEXT("capacity-exceeded"), .action = TEXT("deny")};
    struct ledger_rule off = {.id = TEXT("capacity-exceeded"), .action = TEXT("off")};
    struct ledger_policy none = {.freezes = {NULL, 0}}, first = {.rules = {&deny, 1}};
    struct ledger_policy second = {.rules = {&off, 1}};
    free(step(&none, NOW_MS));
    expect_records(&first, NOW_MS, "[{\"action\":\"rule\",\"rule\":\"capacity-exceeded\",\"to\":\"deny\"}]");
    expect_records(&second, NOW_MS, "[{\"action\":\"rule\",\"rule\":\"capacity-exceeded\",\"to\":\"off\"}]");
    expect_records(&none, NOW_MS,
                   "[{\"action\":\"rule\",\"rule\":\"capacity-exceeded\",\"to\":\"its default\"}]");
}

Test(policy_watch, what_has_no_effect_is_told_as_refused) {
    struct ledger_rule rules[] = {{.id = TEXT("frozen"), .action = TEXT("off")},
                                  {.id = TEXT("no-such-rule"), .action = TEXT("off")}};
    struct freeze nothing = {.reason = TEXT("r"), .by = TEXT("jane")};
    struct text all = TEXT("all");
    struct resume everywhere = {.cluster = true, .accept = {&all, 1, true}};
    struct ledger_policy none = {.freezes = {NULL, 0}};
    struct ledger_policy policy = {
        .rules = {rules, 2}, .freezes = {&nothing, 1}, .resumes = {&everywhere, 1}};
    free(step(&none, NOW_MS));
    char *records = step(&policy, NOW_MS);
    size_t count = 0;
    for (const char *at = records; (at = strstr(at, "\"action\":\"refused\"")) != NULL; at++) count++;
    cr_expect_eq(count, 4u, "%s", records);
    cr_expect_not_null(strstr(records, "the action of this rule cannot be changed"));
    cr_expect_not_null(strstr(records, "there is no such rule"));
    free(records);
}
