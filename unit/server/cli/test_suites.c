// SPDX-License-Identifier: Apache-2.0
// The suites of cached rules, run by the program as a user would, and suites that must not pass.
#include <criterion/criterion.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/lib/corpus.h"

#define OUTPUT_BYTES 262144

struct run {
    int code;
    char output[OUTPUT_BYTES]; // both streams
};
static struct run run;

static void run_test(const char *arguments) {
    char command[8192];
    const char *program = getenv("DRAWBRIDGE");
    cr_assert_not_null(program, "DRAWBRIDGE names the program");
    snprintf(command, sizeof command, "'%s' test %s 2>&1", program, arguments);
    FILE *pipe = popen(command, "r");
    cr_assert_not_null(pipe);
    size_t len = fread(run.output, 1, sizeof run.output - 1, pipe);
    run.output[len] = '\0';
    int status = pclose(pipe);
    run.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void run_text(const char *suite, const char *flags) {
    char path[] = "/tmp/suite-XXXXXX";
    char arguments[64];
    int fd = mkstemp(path);
    cr_assert(fd >= 0);
    cr_assert_eq(write(fd, suite, strlen(suite)), (ssize_t)strlen(suite));
    close(fd);
    snprintf(arguments, sizeof arguments, "%s %s", flags, path);
    run_test(arguments);
    unlink(path);
}

static void says(const char *part) {
    cr_assert_not_null(strstr(run.output, part), "\"%s\" is not in:\n%s", part, run.output);
}

Test(suites, all_pass) {
    glob_t found;
    cr_assert_eq(glob(test_source_path("unit/testdata/suites/*.yaml"), 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char arguments[4096];
        snprintf(arguments, sizeof arguments, "'%s'", found.gl_pathv[i]);
        run_test(arguments);
        cr_assert_eq(run.code, 0, "%s", run.output);
        says(" 0 failed");
    }
    globfree(&found);
}

#define HEAD                                                                                                 \
    "kind: Suite\nkubernetesVersion: '1.36'\nobjects:\n- apiVersion: resource.k8s.io/v1\n"                   \
    "  kind: ResourceSlice\n  metadata: {name: a}\n  spec: {driver: d.example.com, nodeName: node-1, "       \
    "pool: {name: p, generation: 5, resourceSliceCount: 1}, devices: [{name: x}]}\ncases:\n- name: one\n"    \
    "  steps:\n"
#define REVIEW                                                                                               \
    "  - review: {operation: CREATE, object: {apiVersion: resource.k8s.io/v1, kind: ResourceSlice, "         \
    "metadata: {name: b}, spec: {driver: d.example.com, nodeName: node-1, pool: {name: p, generation: 4, "   \
    "resourceSliceCount: 1}, devices: [{name: x}]}}}\n"

Test(suites, the_right_answer_passes) {
    run_text(HEAD REVIEW
             "    want: {allowed: false, code: 403, rules: [generation-regressed], message: already}\n",
             "");
    cr_assert_eq(run.code, 0, "%s", run.output);
    says("1 passed, 0 failed");
}

Test(suites, each_wrong_want_fails) {
    static const struct {
        const char *want;
        const char *why;
    } wrong[] = {
        {"{allowed: true}", "it should be allowed"},
        {"{code: 422}", "the code is 403, not 422"},
        {"{rules: []}", "no rule should speak"},
        {"{rules: [frozen]}", "rule frozen did not speak"},
        {"{message: nothing like it}", "the message has no \"nothing like it\""},
        {"{warnings: [some]}", "no warning has \"some\""},
        {"{patch: []}", "the patch is absent"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char suite[4096];
        snprintf(suite, sizeof suite, HEAD REVIEW "    want: %s\n", wrong[i].want);
        run_text(suite, "");
        cr_assert_eq(run.code, 1, "%s: %s", wrong[i].want, run.output);
        says(wrong[i].why);
        says("[generation-regressed]");
        says("0 passed, 1 failed");
    }
}

Test(suites, each_case_starts_anew) {
    run_text(HEAD
             "  - events: [{type: DELETED, object: {apiVersion: resource.k8s.io/v1, kind: ResourceSlice, "
             "metadata: {name: a}, spec: {driver: d.example.com}}}]\n" REVIEW
             "    want: {rules: []}\n- name: two\n  steps:\n" REVIEW "    want: {allowed: false}\n",
             "");
    cr_assert_eq(run.code, 0, "%s", run.output);
    says("2 passed, 0 failed");
}

Test(suites, json_has_a_case_each) {
    run_text(HEAD REVIEW "    want: {allowed: true}\n- name: two\n  steps:\n  - advance: 1s\n", "-o json");
    cr_assert_eq(run.code, 1, "%s", run.output);
    says("\"name\":\"one\",\"passed\":false,\"message\":\"it should be allowed");
    says("\"name\":\"two\",\"passed\":true,\"message\":\"\"");
}

Test(suites, what_cannot_be_read_has_its_line) {
    static const struct {
        const char *suite;
        const char *why;
    } bad[] = {
        {"kind: Suit\n", "the kind is \"Suit\", not Suite"},
        {"kind: Suite\n", "the suite has no cases"},
        {"kind: Suite\nkubernetesVersion: '1.35'\ncases: []\n", ":2:"},
        {"kind: Suite\napiVersion: v1\ncases: []\n", "drawbridge.dev/v1alpha1, or absent"},
        {HEAD "  - advance: 30\n", ":11:"},
        {HEAD "  - advance: 30 days\n", "is no duration"},
        {HEAD "  - advance: 1s\n    events: []\n", "exactly one of"},
        {HEAD REVIEW, "a review needs a want"},
        {HEAD "  - advance: 1s\n    want: {}\n", "only a review has a want"},
        {HEAD "  - advnce: 1s\n", "unknown field"},
        {HEAD "  - events: [{type: MOVED, object: {kind: Node, apiVersion: v1, metadata: {name: node-1}}}]\n",
         "no event has the type \"MOVED\""},
        {HEAD "  - events: [{type: ADDED, object: {kind: Foo}}]\n",
         "kind \"Foo\" is none that drawbridge follows"},
        {HEAD "  - advance: 1s\n- name: one\n  steps: [{advance: 1s}]\n", "taken by another case"},
        {"kind: Suite\npolicy: {rules: [{id: frozen, action: shout}]}\ncases: [{name: a, steps: [{advance: "
         "1s}]}]\n",
         "an action is deny, warn, audit or off"},
        {"kind: Suite\npolicy: {rules: [{id: frozen, action: warn}]}\ncases: [{name: a, steps: [{advance: "
         "1s}]}]\n",
         "rule \"frozen\" is locked"},
        {"kind: Suite\npolicy: {rules: [{id: frosen, action: warn}]}\ncases: [{name: a, steps: [{advance: "
         "1s}]}]\n",
         "there is no rule \"frosen\""},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        run_text(bad[i].suite, "");
        cr_assert_eq(run.code, 3, "%zu: %s", i, run.output);
        says(bad[i].why);
    }
}

Test(suites, the_ledger_is_compared) {
    run_text(HEAD "  - ledger: {unplaced: []}\n", "");
    cr_assert_eq(run.code, 0, "%s", run.output);
    run_text(HEAD "  - ledger: {unplaced: [{uid: u}]}\n", "");
    cr_assert_eq(run.code, 1, "%s", run.output);
    says("not as wanted at \"unplaced[0]\"");
}

Test(suites, events_come_from_files) {
    char path[] = "/tmp/events-XXXXXX";
    char suite[4096];
    static const char lines[] =
        "{\"type\":\"BOOKMARK\",\"time\":\"2026-02-01T00:00:00Z\",\"object\":{\"kind\":\"ResourceSlice\","
        "\"apiVersion\":\"resource.k8s.io/v1\",\"metadata\":{\"resourceVersion\":\"7\"}}}\n"
        "{\"type\":\"DELETED\",\"object\":{\"kind\":\"ResourceSlice\",\"apiVersion\":\"resource.k8s.io/v1\","
        "\"metadata\":{\"name\":\"a\"},\"spec\":{\"driver\":\"d.example.com\"}}}\n";
    int fd = mkstemp(path);
    cr_assert_eq(write(fd, lines, sizeof lines - 1), (ssize_t)sizeof lines - 1);
    snprintf(suite, sizeof suite, HEAD "  - eventsFile: %s\n" REVIEW "    want: {rules: []}\n", path);
    run_text(suite, "");
    cr_assert_eq(run.code, 0, "%s", run.output);
    cr_assert_eq(write(fd, "{}\n", 3), 3);
    close(fd);
    run_text(suite, "");
    unlink(path);
    cr_assert_eq(run.code, 1, "%s", run.output);
    says(":3: not an event");
}

Test(suites, none_is_a_mistake) {
    run_test("");
    cr_assert_eq(run.code, 2);
    says("no suite to run");
    run_test("/nonexistent/suite.yaml");
    cr_assert_eq(run.code, 3);
}
