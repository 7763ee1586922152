// SPDX-License-Identifier: Apache-2.0
#include "server/operate/policy_edit.h"

#include <string.h>

#include <criterion/criterion.h>

#define NOW_MS  INT64_C(1796083200000) // 2026-12-01T00:00:00Z
#define HOUR_MS INT64_C(3600000)

static json_t *read_json(const char *text) {
    json_error_t error;
    json_t *json = json_loads(text, 0, &error);
    cr_assert_not_null(json, "%s", error.text);
    return json;
}

static struct policy_change freeze_driver(const char *driver) {
    return (struct policy_change){.verb = POLICY_FREEZE,
                                  .driver = driver,
                                  .reason = "maintenance",
                                  .by = "me",
                                  .now_ms = NOW_MS,
                                  .for_ms = 2 * HOUR_MS};
}

static struct policy_change resume_driver(const char *driver) {
    return (struct policy_change){
        .verb = POLICY_RESUME, .driver = driver, .reason = "done", .by = "me", .now_ms = NOW_MS};
}

static void expect_usage(const struct policy_change *change, const char *part) {
    struct fault fault = {.code = FAULT_NONE};
    cr_expect_not(policy_change_check(change, &fault));
    cr_expect_eq(fault.code, FAULT_USAGE);
    cr_expect_not_null(strstr(fault.text, part), "\"%s\" is not in \"%s\"", part, fault.text);
}

static void make(const char *policy, const struct policy_change *change, struct policy_edit *edit) {
    json_t *json = policy == NULL ? NULL : read_json(policy);
    struct fault fault;
    cr_assert(policy_edit_make(json, change, edit, &fault), "%s", fault.text);
    json_decref(json);
}

static void expect_lists(const struct policy_edit *edit, const char *freezes, const char *resumes) {
    json_t *wanted[] = {read_json(freezes), read_json(resumes)};
    cr_expect(json_equal(edit->freezes, wanted[0]), "%s", json_dumps(edit->freezes, 0));
    cr_expect(json_equal(edit->resumes, wanted[1]), "%s", json_dumps(edit->resumes, 0));
    json_decref(wanted[0]);
    json_decref(wanted[1]);
}

Test(policy_edit, freeze_needs_one_scope_a_reason_and_an_end) {
    struct fault fault;
    struct policy_change change = freeze_driver("a.example.com");
    cr_expect(policy_change_check(&change, &fault));
    change.node = "n1";
    expect_usage(&change, "exactly one");
    change = freeze_driver(NULL);
    expect_usage(&change, "exactly one");
    change = freeze_driver("a.example.com");
    change.reason = NULL;
    expect_usage(&change, "--reason");
    change.reason = "two\nlines";
    expect_usage(&change, "one line");
    change.reason = "\xff";
    expect_usage(&change, "plain text");
    change = freeze_driver("A");
    expect_usage(&change, "--driver");
    change = freeze_driver("a.example.com");
    change.for_ms = 0;
    expect_usage(&change, "--for");
}

Test(policy_edit, versions_and_claims_need_a_driver_or_a_node) {
    struct fault fault;
    const char *accept[] = {"all"};
    struct policy_change change = resume_driver("a.example.com");
    change.node = "n1";
    expect_usage(&change, "exactly one");
    change.accept = accept;
    change.accept_count = 1;
    cr_expect(policy_change_check(&change, &fault));
    change = resume_driver(NULL);
    change.cluster = true;
    change.from_version_set = true;
    expect_usage(&change, "need --driver");
}

Test(policy_edit, first_freeze_makes_the_lists) {
    struct policy_edit edit;
    struct policy_change change = freeze_driver("a.example.com");
    make(NULL, &change, &edit);
    expect_lists(&edit,
                 "[{\"driver\":\"a.example.com\",\"reason\":\"maintenance\",\"by\":\"me\","
                 "\"at\":\"2026-12-01T00:00:00Z\",\"expires\":\"2026-12-01T02:00:00Z\"}]",
                 "[]");
    cr_expect_str_eq(edit.expires, "2026-12-01T02:00:00Z");
    cr_expect_not(edit.replaced);
    policy_edit_release(&edit);
}

Test(policy_edit, same_scope_is_replaced_others_stay_expired_ones_go) {
    struct policy_edit edit;
    struct policy_change change = freeze_driver("a.example.com");
    make("{\"spec\":{\"freezes\":["
         "{\"driver\":\"a.example.com\",\"reason\":\"old\",\"expires\":\"2026-12-02T00:00:00Z\"},"
         "{\"node\":\"a.example.com\",\"reason\":\"kept\",\"expires\":\"2026-12-02T00:00:00Z\",\"x\":1},"
         "{\"cluster\":true,\"reason\":\"over\",\"expires\":\"2026-12-01T00:00:00Z\"},"
         "{\"cluster\":true,\"reason\":\"no end\",\"expires\":\"whenever\"}]}}",
         &change, &edit);
    expect_lists(&edit,
                 "[{\"node\":\"a.example.com\",\"reason\":\"kept\",\"expires\":\"2026-12-02T00:00:00Z\","
                 "\"x\":1},{\"cluster\":true,\"reason\":\"no end\",\"expires\":\"whenever\"},"
                 "{\"driver\":\"a.example.com\",\"reason\":\"maintenance\",\"by\":\"me\","
                 "\"at\":\"2026-12-01T00:00:00Z\",\"expires\":\"2026-12-01T02:00:00Z\"}]",
                 "[]");
    cr_expect(edit.replaced);
    cr_expect_eq(edit.pruned_count, 1u);
    policy_edit_release(&edit);
}

Test(policy_edit, resume_lifts_and_is_written_down) {
    struct policy_edit edit;
    struct policy_change change = resume_driver("a.example.com");
    make("{\"spec\":{\"freezes\":["
         "{\"driver\":\"a.example.com\",\"reason\":\"old\",\"expires\":\"2026-12-02T00:00:00Z\"}]}}",
         &change, &edit);
    expect_lists(&edit, "[]",
                 "[{\"driver\":\"a.example.com\",\"reason\":\"done\",\"by\":\"me\","
                 "\"at\":\"2026-12-01T00:00:00Z\"}]");
    cr_expect_eq(edit.lifted_count, 1u);
    policy_edit_release(&edit);
}

Test(policy_edit, resume_of_what_is_not_frozen_changes_nothing) {
    struct policy_edit edit;
    struct fault fault;
    struct policy_change change = resume_driver("a.example.com");
    json_t *policy = read_json("{\"spec\":{\"freezes\":[{\"cluster\":true,\"reason\":\"r\","
                               "\"expires\":\"2026-12-02T00:00:00Z\"}]}}");
    cr_expect_not(policy_edit_make(policy, &change, &edit, &fault));
    cr_expect_eq(fault.code, FAULT_STATE);
    cr_expect_str_eq(fault.text, "driver a.example.com is not frozen; nothing was changed");
    json_decref(policy);
}

Test(policy_edit, newer_version_replaces_the_one_of_its_scope) {
    struct policy_edit edit;
    struct policy_change change = resume_driver("a.example.com");
    change.from_version_set = true;
    change.from_version = 9;
    make("{\"spec\":{\"resumes\":["
         "{\"driver\":\"a.example.com\",\"fromVersion\":5},"
         "{\"driver\":\"a.example.com\",\"node\":\"n\",\"fromVersion\":6}]}}",
         &change, &edit);
    expect_lists(&edit, "[]",
                 "[{\"driver\":\"a.example.com\",\"node\":\"n\",\"fromVersion\":6},"
                 "{\"driver\":\"a.example.com\",\"reason\":\"done\",\"by\":\"me\","
                 "\"at\":\"2026-12-01T00:00:00Z\",\"fromVersion\":9}]");
    policy_edit_release(&edit);
}

Test(policy_edit, old_resumes_are_forgotten_versions_are_not) {
    struct policy_edit edit;
    struct policy_change change = resume_driver("z.example.com");
    change.from_version_set = true;
    json_t *policy = read_json("{\"spec\":{\"resumes\":[]}}");
    json_t *resumes = json_object_get(json_object_get(policy, "spec"), "resumes");
    struct fault fault;
    for (int i = 0; i < 100; i++)
        json_array_append_new(resumes, i == 0 ? json_pack("{s:s,s:i}", "driver", "first", "fromVersion", 1)
                                              : json_pack("{s:s,s:i}", "driver", "later", "number", i));
    cr_assert(policy_edit_make(policy, &change, &edit, &fault));
    cr_expect_eq(json_array_size(edit.resumes), POLICY_RESUMES_KEPT);
    cr_expect(json_is_integer(json_object_get(json_array_get(edit.resumes, 0), "fromVersion")));
    cr_expect_eq(json_integer_value(json_object_get(json_array_get(edit.resumes, 1), "number")), 38);
    json_decref(policy);
    policy_edit_release(&edit);
}

Test(policy_edit, a_list_that_is_none_is_not_overwritten) {
    struct policy_edit edit;
    struct fault fault;
    struct policy_change change = freeze_driver("a.example.com");
    json_t *policy = read_json("{\"spec\":{\"freezes\":\"none\"}}");
    cr_expect_not(policy_edit_make(policy, &change, &edit, &fault));
    cr_expect_eq(fault.code, FAULT_INPUT);
    json_decref(policy);
}

Test(policy_edit, prune_leaves_what_has_not_ended) {
    json_t *freezes = NULL;
    json_t *policy = read_json("{\"spec\":{\"freezes\":["
                               "{\"node\":\"a\",\"expires\":\"2026-12-01T00:00:00Z\"},"
                               "{\"node\":\"b\",\"expires\":\"2026-12-01T00:00:01Z\"}]}}");
    cr_expect_eq(policy_prune(policy, NOW_MS - 1, &freezes), 0u);
    cr_expect_null(freezes);
    cr_expect_eq(policy_prune(policy, NOW_MS, &freezes), 1u);
    cr_expect_eq(json_array_size(freezes), 1u);
    json_decref(freezes);
    json_decref(policy);
}
