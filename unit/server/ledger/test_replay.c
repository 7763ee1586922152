// SPDX-License-Identifier: Apache-2.0
// The events of every scenario, each tried with each of its allocations failing: nothing may change then, and
// nothing may be lost.
#include "server/ledger/replay.h"

#include <criterion/criterion.h>
#include <glob.h>
#include <stdio.h>

#include "server/cli/print_ledger.h"
#include "unit/lib/corpus.h"

// Owner: the caller, free.
static char *printed(const struct ledger *ledger) {
    char *text = NULL;
    size_t size = 0;
    struct ledger_print_totals totals;
    struct fault fault = {0};
    FILE *out = open_memstream(&text, &size);
    cr_assert_not_null(out);
    cr_assert(print_ledger_json(out, ledger, MINOR_36, true, &totals, &fault), "%s", fault.text);
    fclose(out);
    return text;
}

static struct ledger *new_ledger(int minor, struct replay *replay) {
    struct fault fault = {0};
    struct ledger_options options = {.minor = minor, .seed = {3, 5}};
    struct ledger *ledger = ledger_new(&options, &fault);
    cr_assert_not_null(ledger);
    replay_init(replay, ledger, minor);
    return ledger;
}

// Returns how often the line failed.
static size_t try_line(struct ledger *ledger, struct replay *replay, struct text line) {
    char *before = NULL;
    for (size_t allocation = 1;; allocation++) {
        struct fault fault = {0};
        ledger_fail_after(ledger, allocation);
        bool applied = replay_lines(replay, line, &fault);
        ledger_fail_after(ledger, 0);
        if (applied) {
            free(before);
            return allocation - 1;
        }
        cr_assert_eq(fault.code, FAULT_MEMORY, "%s", fault.text);
        char *after =
            printed(ledger); // the line's time has moved the clock, so the first failure is compared with
        if (before == NULL) before = after;
        cr_assert_str_eq(before, after, "allocation %zu of %.*s", allocation, TEXT_ARG(line));
        if (before != after) free(after);
    }
}

static size_t try_file(const char *path) {
    struct text events = test_file_read(path);
    int minor = replay_minor(events);
    struct replay short_replay;
    struct replay replay;
    struct fault fault = {0};
    if (minor == 0) minor = MINOR_36;
    struct ledger *starved = new_ledger(minor, &short_replay);
    struct ledger *ledger = new_ledger(minor, &replay);
    size_t at = 0;
    size_t failures = 0;
    struct text line;
    while (test_next_line(events, &at, &line)) failures += try_line(starved, &short_replay, line);
    cr_assert(replay_lines(&replay, events, &fault), "%s", fault.text);
    replay_end(&short_replay);
    replay_end(&replay);
    char *left = printed(starved);
    char *right = printed(ledger);
    cr_assert_str_eq(left, right, "%s", path);
    free(left);
    free(right);
    replay_release(&short_replay);
    replay_release(&replay);
    ledger_free(starved);
    ledger_free(ledger);
    test_file_free(events);
    return failures;
}

Test(replay, out_of_memory_changes_nothing) {
    glob_t found;
    size_t failures = 0;
    cr_assert_eq(glob(test_source_path("e2e/scenarios/*/events.jsonl"), 0, NULL, &found), 0);
    cr_assert_gt(found.gl_pathc, 20);
    for (size_t i = 0; i < found.gl_pathc; i++) failures += try_file(found.gl_pathv[i]);
    cr_assert_gt(failures, 1000); // else nothing was tried
    globfree(&found);
}

Test(replay, the_minor_is_told_by_kubelets_and_mappings) {
    static const struct {
        const char *events;
        int minor;
    } cases[] = {
        {"", 0},
        {"{", 0},
        {"{\"type\":\"ADDED\",\"object\":{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"status\":{\"nodeInfo\":{"
         "\"kubeletVersion\":\"v1.36.3\"}}}}",
         36},
        {"{\"type\":\"ADDED\",\"object\":{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"status\":{\"nodeInfo\":{"
         "\"kubeletVersion\":\"v1.38.0-alpha\"}}}}",
         38},
        {"{\"type\":\"ADDED\",\"object\":{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"status\":{\"nodeInfo\":{"
         "\"kubeletVersion\":\"\"}}}}",
         0},
        {"{\"type\":\"ADDED\",\"object\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{"
         "\"annotations\":{"
         "\"a\":\"\\\"nodeAllocatableResources\\\":{}\"}}}}",
         0},
        {"{\"type\":\"ADDED\",\"object\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"status\":{"
         "\"nodeAllocatableResourceClaimStatuses\":[{\"mapping\":[{\"name\":\"cpu\",\"quantity\":\"1\"}]}]}}"
         "}",
         37},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        cr_expect_eq(replay_minor(text_of(cases[i].events)), cases[i].minor, "%s", cases[i].events);
}
