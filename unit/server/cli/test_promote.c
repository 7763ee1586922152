// SPDX-License-Identifier: Apache-2.0
// Thresholds, metrics and the judging of evidence; where evidence comes from is tested in the end-to-end
// suites.
#include "server/cli/promote.h"

#include <criterion/criterion.h>
#include <string.h>

#define NOW_MS  INT64_C(1796083200000)
#define HOUR_MS INT64_C(3600000)

static struct promote_thresholds read_thresholds(const char *json) {
    struct promote_thresholds thresholds;
    struct fault fault;
    cr_assert(promote_read_thresholds(text_of(json), &thresholds, &fault), "%s", fault.text);
    return thresholds;
}

Test(promote, thresholds_have_defaults_and_the_policy_wins) {
    struct promote_thresholds thresholds = read_thresholds("");
    cr_expect_eq(thresholds.zero_divergence_ms, 24 * HOUR_MS);
    cr_expect_eq(thresholds.rollback_drills, 1);
    cr_expect_float_eq(thresholds.driver_coverage, 100, 1e-9);
    thresholds =
        read_thresholds("{\"driverCoverage\":\"87.5%\",\"zeroDivergence\":\"7d\",\"rollbackDrills\":3,"
                        "\"holdTime\":\"1m30s\",\"headroom\":\"10%\"}");
    cr_expect_float_eq(thresholds.driver_coverage, 87.5, 1e-9);
    cr_expect_float_eq(thresholds.headroom, 10, 1e-9);
    cr_expect_eq(thresholds.zero_divergence_ms, 7 * 24 * HOUR_MS);
    cr_expect_eq(thresholds.rollback_drills, 3);
    cr_expect_eq(thresholds.hold_ms, 90000);
    cr_expect_str_eq(thresholds.unknown, "");
    cr_expect_str_eq(read_thresholds("{\"speed\":1,\"luck\":2}").unknown, "speed, luck");
}

Test(promote, what_is_no_threshold_is_refused) {
    static const char *const wrong[] = {"[]",
                                        "7",
                                        "{\"driverCoverage\":\"101%\"}",
                                        "{\"driverCoverage\":\"-1%\"}",
                                        "{\"driverCoverage\":90}",
                                        "{\"rollbackDrills\":-1}",
                                        "{\"rollbackDrills\":\"1\"}",
                                        "{\"holdTime\":60}",
                                        "{\"zeroDivergence\":\"soon\"}",
                                        "{\"headroom\":\"nan%\"}"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct promote_thresholds thresholds;
        struct fault fault;
        cr_expect_not(promote_read_thresholds(text_of(wrong[i]), &thresholds, &fault), "%s", wrong[i]);
    }
}

Test(promote, metrics_are_read_from_the_exposition) {
    struct promote_thresholds thresholds = read_thresholds("");
    struct promote_metrics metrics = {.known = true};
    static const char *const lines[] = {"# HELP drawbridge_held_pods Pods.",
                                        "drawbridge_held_pods{step=\"taint\"} 2",
                                        "drawbridge_held_pods{step=\"gate\"} 1",
                                        "drawbridge_held_pods_other 77",
                                        "drawbridge_failures_total{answer=\"denied\"} 1",
                                        "drawbridge_failures_total{answer=\"allowed\"} 2",
                                        "drawbridge_admission_duration_seconds_bucket{le=\"0.0025\"} 80",
                                        "drawbridge_admission_duration_seconds_bucket{le=\"0.005\"} 95",
                                        "drawbridge_admission_duration_seconds_bucket{le=\"0.01\"} 98",
                                        "drawbridge_admission_duration_seconds_bucket{le=\"+Inf\"} 100",
                                        "drawbridge_hold_duration_seconds_bucket{le=\"60\"} 3",
                                        "drawbridge_hold_duration_seconds_bucket{le=\"+Inf\"} 4",
                                        "",
                                        "drawbridge_held_pods"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        promote_take_metric(&metrics, &thresholds, lines[i]);
    cr_expect_float_eq(metrics.held_pods, 3, 1e-9);
    cr_expect_float_eq(metrics.failures, 3, 1e-9);
    cr_expect_float_eq(metrics.verdicts, 100, 1e-9);
    cr_expect_float_eq(metrics.verdicts_in_time, 95, 1e-9);
    cr_expect_float_eq(metrics.holds_in_time, 3, 1e-9);
}

// Evidence with which everything is met.
static struct promote_cluster cluster;
static struct promote_journal journal;
static struct promote_metrics metrics;
static struct promote_criterion criteria[PROMOTE_COUNT];

static void start(void) {
    cluster = (struct promote_cluster){.drivers = 2,
                                       .compatible_drivers = 2,
                                       .nodes = 3,
                                       .ready_nodes = 3,
                                       .headroom_known = true,
                                       .headroom = 12};
    journal = (struct promote_journal){.known = true,
                                       .from_ms = NOW_MS - 30 * HOUR_MS,
                                       .until_ms = NOW_MS,
                                       .sessions = 2,
                                       .drills = 1,
                                       .restarts = 1,
                                       .upgrades = 1,
                                       .replayed = true,
                                       .checkpoints = 9};
    metrics = (struct promote_metrics){.known = true, .verdicts = 1000, .verdicts_in_time = 990};
}
TestSuite(promote, .init = start);

static size_t judge(void) {
    struct promote_thresholds thresholds = read_thresholds("");
    promote_judge(&thresholds, &cluster, &journal, &metrics, NOW_MS, criteria);
    size_t count = 0;
    for (size_t i = 0; i < PROMOTE_COUNT; i++) count += criteria[i].met;
    return count;
}

static void expect_only(enum promote_id id) {
    cr_expect_eq(judge(), (size_t)PROMOTE_COUNT - 1);
    cr_expect_not(criteria[id].met, "%s", criteria[id].name);
    cr_expect_str_neq(criteria[id].evidence, "", "%s says why", criteria[id].name);
    start();
}

Test(promote, each_criterion_fails_by_itself) {
    cr_expect_eq(judge(), (size_t)PROMOTE_COUNT);
    cluster.compatible_drivers = 1;
    snprintf(cluster.incompatible, sizeof cluster.incompatible, "d: why");
    expect_only(PROMOTE_DRIVERS);
    journal.drills = 0;
    expect_only(PROMOTE_ROLLBACK);
    journal.restarts = 0;
    expect_only(PROMOTE_RESTART);
    journal.upgrades = 0;
    expect_only(PROMOTE_UPGRADE);
    journal.different = 1;
    expect_only(PROMOTE_REPLAY);
    journal.checkpoints = 0;
    expect_only(PROMOTE_REPLAY);
    journal.incomplete = true;
    expect_only(PROMOTE_REPLAY);
    cluster.divergences = 1;
    expect_only(PROMOTE_DIVERGENCE);
    journal.from_ms = NOW_MS - 23 * HOUR_MS;
    expect_only(PROMOTE_DIVERGENCE);
    journal.diverged_ms = NOW_MS - HOUR_MS;
    snprintf(journal.diverged, sizeof journal.diverged, "Pod p");
    expect_only(PROMOTE_DIVERGENCE);
    cluster.headroom = -1;
    expect_only(PROMOTE_CAPACITY);
    cluster.ready_nodes = 2;
    expect_only(PROMOTE_CAPACITY);
    metrics.held_pods = 1;
    expect_only(PROMOTE_PENDING);
    metrics.holds = 100;
    metrics.holds_in_time = 98;
    expect_only(PROMOTE_PENDING);
    metrics.verdicts_in_time = 989;
    expect_only(PROMOTE_VERDICTS);
    metrics.failures = 1;
    expect_only(PROMOTE_VERDICTS);
    metrics.verdicts = metrics.verdicts_in_time = 0;
    expect_only(PROMOTE_VERDICTS);
}

Test(promote, what_is_not_known_is_not_met) {
    cluster = (struct promote_cluster){.drivers = 0};
    journal = (struct promote_journal){.known = false};
    metrics = (struct promote_metrics){.known = false};
    cr_expect_eq(judge(), 0u);
    for (size_t i = 0; i < PROMOTE_COUNT; i++) cr_expect_str_neq(criteria[i].evidence, "");
}
