// SPDX-License-Identifier: Apache-2.0
#include "server/operate/taint_plan.h"

#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>

static struct taint_plan plan;

static void start(void) {
    cr_assert(taint_plan_init(&plan));
}
static void stop(void) {
    taint_plan_release(&plan);
}
TestSuite(taint_plan, .init = start, .fini = stop);

// One node with one pool.
static void add(const char *driver, const char *pool, const char *state) {
    json_t *status = json_pack("{s:[{s:s, s:s, s:s, s:s}]}", "drivers", "driver", driver, "pool", pool,
                               "state", state, "cause", "because");
    cr_assert(taint_plan_add(&plan, status));
    json_decref(status);
}

static json_t *wanted_rule(json_t *wanted, const char *driver, const char *pool) {
    char name[TAINT_NAME_BYTES];
    taint_rule_name(driver, pool, "", name);
    return json_object_get(wanted, name);
}

Test(taint_plan, names_are_stable_and_differ) {
    char a[TAINT_NAME_BYTES], b[TAINT_NAME_BYTES], again[TAINT_NAME_BYTES];
    taint_rule_name("d.example.com", "p", "", a);
    taint_rule_name("d.example.com", "", "p", b);
    taint_rule_name("d.example.com", "p", "", again);
    cr_expect_str_eq(a, again);
    cr_expect_str_neq(a, b);
    cr_expect_eq(strlen(a), strlen("drawbridge-") + 16);
}

Test(taint_plan, only_states_that_keep_pods_away) {
    static const char *const states[] = {"Fresh",       "Rebuilding", "Stale",     "Diverged",
                                         "Quarantined", "Frozen",     "NotSynced", "Unmapped"};
    static const bool away[] = {false, false, true, true, true, true, false, false};
    for (size_t i = 0; i < 8; i++) add("d", states[i], states[i]);
    json_t *wanted = taint_plan_wanted(&plan);
    for (size_t i = 0; i < 8; i++)
        cr_expect_eq(wanted_rule(wanted, "d", states[i]) != NULL, away[i], "%s", states[i]);
    json_decref(wanted);
}

Test(taint_plan, a_pool_that_one_node_finds_fresh_is_left_alone) {
    add("d", "shared", "Stale");
    add("d", "shared", "Fresh");
    add("d", "late", "Fresh");
    add("d", "late", "Stale");
    add("d", "both", "Stale");
    add("d", "both", "Frozen");
    json_t *wanted = taint_plan_wanted(&plan);
    cr_expect_eq(json_object_size(wanted), 1u);
    cr_expect_not_null(wanted_rule(wanted, "d", "both"));
    json_decref(wanted);
}

Test(taint_plan, very_many_pools_become_one_rule) {
    char pool[16];
    for (unsigned i = 0; i < TAINT_COLLAPSE_AT; i++) {
        snprintf(pool, sizeof pool, "p%u", i);
        add("all", pool, "Frozen");
        add("most", pool, i == 0 ? "Fresh" : "Frozen");
    }
    json_t *wanted = taint_plan_wanted(&plan);
    cr_expect_eq(json_object_size(wanted), TAINT_COLLAPSE_AT);
    const json_t *whole = wanted_rule(wanted, "all", "");
    cr_expect_not_null(whole);
    cr_expect_null(json_object_get(whole, "pool"));
    cr_expect_null(wanted_rule(wanted, "most", "p0"));
    cr_expect_not_null(wanted_rule(wanted, "most", "p1"));
    json_decref(wanted);
}

Test(taint_plan, only_our_rules_are_ours) {
    json_t *list = json_loads(
        "{\"items\":["
        "{\"metadata\":{\"name\":\"drawbridge-1\",\"labels\":{\"app.kubernetes.io/"
        "managed-by\":\"drawbridge\"}},"
        "\"spec\":{\"deviceSelector\":{\"driver\":\"d\",\"pool\":\"p\"},\"taint\":{\"value\":\"Stale\"}}},"
        "{\"metadata\":{\"name\":\"drawbridge-2\"},\"spec\":{}},"
        "{\"metadata\":{\"name\":\"mine\",\"labels\":{\"app.kubernetes.io/managed-by\":\"drawbridge\"}}}]}",
        0, NULL);
    json_t *rules = taint_rules_of_list(list);
    cr_expect_eq(json_object_size(rules), 1u);
    cr_expect_str_eq(json_string_value(json_object_get(json_object_get(rules, "drawbridge-1"), "value")),
                     "Stale");
    json_decref(rules);
    json_decref(list);
}

Test(taint_plan, a_faulty_device_has_a_rule_of_its_own) {
    add("d", "p", "Fresh");
    json_t *faulty = json_pack("[{s:s, s:s, s:s, s:s}]", "driver", "d", "pool", "p", "device", "x", "rule",
                               "device-duplicate");
    cr_assert(taint_plan_add_faulty(&plan, faulty));
    cr_assert(taint_plan_add_faulty(&plan, NULL));
    json_t *wanted = taint_plan_wanted(&plan);
    cr_assert_eq(json_object_size(wanted), 1u);
    const char *name = json_object_iter_key(json_object_iter(wanted));
    json_t *object = taint_rule_object("resource.k8s.io/v1", name, json_object_get(wanted, name));
    const json_t *selector = json_object_get(json_object_get(object, "spec"), "deviceSelector");
    json_t *expected = json_pack("{s:s, s:s, s:s}", "driver", "d", "pool", "p", "device", "x");
    cr_expect(json_equal(selector, expected));
    json_decref(expected);
    json_decref(object);
    json_decref(wanted);
    json_decref(faulty);
}

static void add_faulty(const char *pool, const char *device) {
    json_t *faulty = json_pack("[{s:s, s:s, s:s, s:s}]", "driver", "d", "pool", pool, "device", device,
                               "rule", "unit-range");
    cr_assert(taint_plan_add_faulty(&plan, faulty));
    json_decref(faulty);
}

Test(taint_plan, a_pool_of_faulty_devices_has_one_rule) {
    add("d", "p", "Fresh");
    add_faulty("p", "");
    json_t *wanted = taint_plan_wanted(&plan);
    cr_assert_eq(json_object_size(wanted), 1u);
    const json_t *rule = json_object_iter_value(json_object_iter(wanted));
    json_t *expected = json_pack("{s:s, s:s, s:s, s:s}", "driver", "d", "pool", "p", "value", "Faulty",
                                 "cause", "unit-range");
    cr_expect(json_equal(rule, expected));
    json_decref(expected);
    json_decref(wanted);
}

Test(taint_plan, a_pool_that_is_stale_stays_so_whatever_its_devices_are) {
    add("d", "p", "Stale");
    add_faulty("p", "");
    json_t *wanted = taint_plan_wanted(&plan);
    cr_assert_eq(json_object_size(wanted), 1u);
    cr_expect_str_eq(
        json_string_value(json_object_get(json_object_iter_value(json_object_iter(wanted)), "value")),
        "Stale");
    json_decref(wanted);
}

Test(taint_plan, a_driver_with_very_many_faulty_pools_has_one_rule) {
    char pool[16];
    for (unsigned i = 0; i < TAINT_COLLAPSE_AT; i++) {
        snprintf(pool, sizeof pool, "p%u", i);
        add("d", pool, "Fresh");
        add_faulty(pool, "");
    }
    json_t *wanted = taint_plan_wanted(&plan);
    cr_assert_eq(json_object_size(wanted), 1u);
    cr_expect_null(json_object_get(json_object_iter_value(json_object_iter(wanted)), "pool"));
    json_decref(wanted);
}

Test(taint_plan, rules_about_single_devices_are_bounded) {
    char device[16];
    for (unsigned i = 0; i < TAINT_DEVICES_MAX + 1; i++) {
        snprintf(device, sizeof device, "d%u", i);
        add_faulty("p", device);
    }
    json_t *wanted = taint_plan_wanted(&plan);
    cr_expect_eq(json_object_size(wanted), TAINT_DEVICES_MAX);
    json_decref(wanted);
}

Test(taint_plan, changes_are_the_difference) {
    struct taint_changes changes;
    json_t *wanted = json_loads("{\"new\":{\"value\":\"Stale\"},\"same\":{\"value\":\"Stale\"},"
                                "\"other\":{\"value\":\"Frozen\"}}",
                                0, NULL);
    json_t *have = json_loads("{\"same\":{\"value\":\"Stale\"},\"other\":{\"value\":\"Stale\"},"
                              "\"old\":{\"value\":\"Stale\"}}",
                              0, NULL);
    cr_assert(taint_changes_between(wanted, have, &changes));
    cr_expect_str_eq(json_string_value(json_array_get(changes.make, 0)), "new");
    cr_expect_str_eq(json_string_value(json_array_get(changes.change, 0)), "other");
    cr_expect_str_eq(json_string_value(json_array_get(changes.remove, 0)), "old");
    cr_expect_eq(json_array_size(changes.make) + json_array_size(changes.change) +
                     json_array_size(changes.remove),
                 3u);
    taint_changes_release(&changes);
    json_decref(wanted);
    json_decref(have);
}

Test(taint_plan, a_rule_reads_back_as_what_was_wanted) {
    add("d.example.com", "p", "Stale");
    json_t *wanted = taint_plan_wanted(&plan);
    const char *name = json_object_iter_key(json_object_iter(wanted));
    json_t *object = taint_rule_object("resource.k8s.io/v1", name, json_object_get(wanted, name));
    json_t *list = json_pack("{s:[O]}", "items", object);
    json_t *have = taint_rules_of_list(list);
    struct taint_changes changes;
    cr_assert(taint_changes_between(wanted, have, &changes));
    cr_expect_eq(json_array_size(changes.make) + json_array_size(changes.change) +
                     json_array_size(changes.remove),
                 0u);
    const json_t *taint = json_object_get(json_object_get(object, "spec"), "taint");
    cr_expect_str_eq(json_string_value(json_object_get(taint, "key")), "drawbridge.dev/not-fresh");
    cr_expect_str_eq(json_string_value(json_object_get(taint, "effect")), "NoSchedule");
    taint_changes_release(&changes);
    json_decref(have);
    json_decref(list);
    json_decref(object);
    json_decref(wanted);
}
