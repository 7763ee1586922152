// SPDX-License-Identifier: Apache-2.0
#include "server/operate/node_status.h"

#include <criterion/criterion.h>

static struct arena arena;

static void start(void) {
    arena_init(&arena, 1 << 22);
}
static void stop(void) {
    arena_release(&arena);
}
TestSuite(node_status, .init = start, .fini = stop);

static struct quantity cores(int64_t count) {
    struct quantity quantity = quantity_from_int64(count, QUANTITY_DECIMAL_SI);
    quantity.set = true;
    return quantity;
}

// A node with two drivers, one of them stale, a claim of two devices and a held one.
static struct node_report report_of(struct driver_report *drivers, struct row_report *rows,
                                    struct total_report *total, struct text *cause) {
    drivers[0] = (struct driver_report){.driver = TEXT("a.example.com"),
                                        .pool = TEXT("p"),
                                        .retired_generation = 4,
                                        .version = 12,
                                        .digest = "0a",
                                        .state = FRESHNESS_FRESH};
    drivers[1] = (struct driver_report){.driver = TEXT("b.example.com"),
                                        .pool = TEXT("p"),
                                        .retired_generation = -1,
                                        .state = FRESHNESS_STALE,
                                        .cause = TEXT("silent for 10 s"),
                                        .since_ms = INT64_C(1796083200999)};
    for (size_t i = 0; i < 3; i++)
        rows[i] = (struct row_report){.uid = i < 2 ? TEXT("u-1") : TEXT("u-2"),
                                      .namespace = TEXT("work"),
                                      .name = TEXT("c"),
                                      .driver = TEXT("a.example.com"),
                                      .pool = TEXT("p"),
                                      .device = i == 1 ? TEXT("d1") : TEXT("d0"),
                                      .version = 12,
                                      .held = i == 2};
    *total = (struct total_report){.resource = TEXT("cpu"),
                                   .allocatable = cores(32),
                                   .ordinary = cores(1),
                                   .dra = cores(12),
                                   .held = cores(2),
                                   .free = cores(19)};
    *cause = TEXT("b.example.com: silent for 10 s");
    return (struct node_report){.name = TEXT("n"),
                                .known = true,
                                .version = 7,
                                .state = FRESHNESS_STALE,
                                .causes = {.items = cause, .count = 1},
                                .totals = {total, 1},
                                .claims = {rows, 3},
                                .drivers = {drivers, 2}};
}

static json_t *status_of(bool whole, const char *cause_text) {
    struct driver_report drivers[2];
    struct row_report rows[3];
    struct total_report total;
    struct text cause;
    struct node_report report = report_of(drivers, rows, &total, &cause);
    if (cause_text != NULL) cause = text_of(cause_text);
    struct node_ledger_claim claim = {.uid = TEXT("u-1"),
                                      .driver = TEXT("a.example.com"),
                                      .pool = TEXT("p"),
                                      .device = TEXT("d0"),
                                      .version = 12,
                                      .numa = {.set = true, .value = 1}};
    struct node_ledger_driver kept[] = {
        {.driver = TEXT("a.example.com"), .pool = TEXT("p"), .retired_generation = 4},
        {.driver = TEXT("gone.example.com"), .pool = TEXT("p"), .retired_generation = 9}};
    struct node_ledger memory = {.claims = {&claim, 1}, .drivers = {kept, 2}};
    json_t *status = node_status_of(&report, whole ? &memory : NULL, 37, &arena);
    cr_assert_not_null(status);
    return status;
}

Test(node_status, columns_and_columns_of_resources) {
    json_t *status = status_of(true, NULL);
    json_t *wanted = json_pack("{s:s, s:i, s:i, s:i}", "cpu", "12/32", "claims", 1, "held", 1, "diverged", 0);
    cr_expect(json_equal(json_object_get(status, "summary"), wanted), "%s", json_dumps(status, 0));
    const json_t *totals = json_object_get(status, "totals");
    cr_expect_str_eq(json_string_value(json_object_get(json_object_get(totals, "free"), "cpu")), "19");
    cr_expect_str_eq(json_string_value(json_object_get(status, "state")), "Stale");
    cr_expect_str_eq(json_string_value(json_object_get(status, "since")), "2026-12-01T00:00:00Z");
    cr_expect_str_eq(json_string_value(json_object_get(status, "kubernetesVersion")), "1.37");
    const json_t *claims = json_object_get(status, "claims");
    cr_expect_eq(json_array_size(claims), 1u);
    cr_expect_eq(json_integer_value(json_object_get(json_array_get(claims, 0), "numa")), 1);
    // What is only remembered is written too, once.
    const json_t *drivers = json_object_get(status, "drivers");
    cr_expect_eq(json_array_size(drivers), 3u);
    cr_expect_eq(json_integer_value(json_object_get(json_array_get(drivers, 2), "retiredGeneration")), 9);
    cr_expect_null(json_object_get(json_array_get(drivers, 2), "state"));
    const json_t *second = json_array_get(json_object_get(status, "drivers"), 1);
    cr_expect_eq(json_integer_value(json_object_get(second, "retiredGeneration")), 0);
    json_decref(wanted);
    json_decref(status);
}

Test(node_status, quarantine_is_written_of_the_pool_that_is_in_it) {
    struct driver_report drivers[] = {
        {.driver = TEXT("d"), .pool = TEXT("p"), .state = FRESHNESS_FROZEN, .cause = TEXT("frozen")},
        {.driver = TEXT("d"), .pool = TEXT("q"), .state = FRESHNESS_QUARANTINED, .cause = TEXT("p is")}};
    struct node_ledger_driver kept[] = {
        {.driver = TEXT("d"), .pool = TEXT("p"), .state = TEXT("Quarantined")},
        {.driver = TEXT("d"), .pool = TEXT("q")}};
    struct node_report report = {.state = FRESHNESS_FROZEN, .drivers = {drivers, 2}};
    struct node_ledger memory = {.drivers = {kept, 2}};
    json_t *status = node_status_of(&report, &memory, 36, &arena);
    const json_t *list = json_object_get(status, "drivers");
    cr_expect_str_eq(json_string_value(json_object_get(json_array_get(list, 0), "state")), "Quarantined");
    cr_expect_str_eq(json_string_value(json_object_get(json_array_get(list, 1), "state")), "Stale");
    cr_expect_eq(json_array_size(list), 2u);
    json_decref(status);
}

Test(node_status, a_short_one_has_no_claims) {
    json_t *status = status_of(false, NULL);
    cr_expect_null(json_object_get(status, "claims"));
    cr_expect_eq(json_array_size(json_object_get(status, "drivers")), 2u);
    json_decref(status);
}

Test(node_status, seconds_in_a_cause_are_not_worth_a_write) {
    json_t *a = status_of(false, "silent for 10 s");
    json_t *b = status_of(false, "silent for 25 s");
    json_t *c = status_of(false, "slices are gone");
    cr_expect_eq(node_status_digest(a), node_status_digest(b));
    cr_expect_neq(node_status_digest(a), node_status_digest(c));
    json_object_set_new(b, "version", json_integer(8));
    cr_expect_eq(node_status_digest(a), node_status_digest(b));
    json_object_set_new(json_array_get(json_object_get(b, "drivers"), 0), "version", json_integer(13));
    cr_expect_neq(node_status_digest(a), node_status_digest(b));
    json_decref(a);
    json_decref(b);
    json_decref(c);
}

Test(node_status, who_is_not_fresh_says_why) {
    struct node_report report = {.state = FRESHNESS_STALE};
    json_t *status = node_status_of(&report, NULL, 36, &arena);
    cr_expect_str_eq(json_string_value(json_object_get(status, "cause")), "not told");
    json_decref(status);
    report.state = FRESHNESS_FRESH;
    status = node_status_of(&report, NULL, 36, &arena);
    cr_expect_null(json_object_get(status, "cause"));
    json_decref(status);
}

Test(node_status, too_many_claims_are_counted) {
    static struct node_ledger_claim claims[NODE_STATUS_CLAIMS + 3];
    for (size_t i = 0; i < NODE_STATUS_CLAIMS + 3; i++)
        claims[i] = (struct node_ledger_claim){.uid = TEXT("u"), .driver = TEXT("d"), .pool = TEXT("p")};
    struct node_report report = {.known = true};
    struct node_ledger memory = {.claims = {claims, NODE_STATUS_CLAIMS + 3}};
    json_t *status = node_status_of(&report, &memory, 36, &arena);
    cr_expect_eq(json_array_size(json_object_get(status, "claims")), NODE_STATUS_CLAIMS);
    cr_expect_eq(json_integer_value(json_object_get(status, "omitted")), 3);
    json_decref(status);
}

Test(node_status, without_memory_there_is_none) {
    struct driver_report drivers[2];
    struct row_report rows[3];
    struct total_report total;
    struct text cause;
    struct node_report report = report_of(drivers, rows, &total, &cause);
    arena.fail_after = 1;
    cr_expect_null(node_status_of(&report, NULL, 37, &arena));
}
