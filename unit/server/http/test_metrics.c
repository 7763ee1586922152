// SPDX-License-Identifier: Apache-2.0
// The text format, and what is counted.
#include <criterion/criterion.h>
#include <math.h>

#include "server/http/metrics.h"

static bool has_line(const struct exposition *out, const char *line) {
    size_t len = strlen(line);
    const char *at = out->ptr;
    const char *end = out->ptr + out->len;
    while (at < end) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        if (next == NULL) return false; // every line has its end
        if ((size_t)(next - at) == len && memcmp(at, line, len) == 0) return true;
        at = next + 1;
    }
    return false;
}

#define EXPECT_LINE(out, line)                                                                               \
    cr_expect(has_line((out), (line)), "%s\nin\n%.*s", (line), (int)(out)->len, (out)->ptr)

Test(exposition, labels_and_values) {
    struct exposition out = {.ptr = NULL};
    exposition_family(&out, "a_total", "counter", "Some help.");
    struct exposition_label labels[] = {{"x", TEXT("q\"b\\n\nl")}, {"y", TEXT("")}};
    exposition_count(&out, "a_total", labels, 2, UINT64_MAX);
    exposition_sample(&out, "b", NULL, 0, 0.1);
    exposition_sample(&out, "b", labels, 0, INFINITY);
    exposition_sample(&out, "b", NULL, 0, -INFINITY);
    exposition_sample(&out, "b", NULL, 0, NAN);
    EXPECT_LINE(&out, "# HELP a_total Some help.");
    EXPECT_LINE(&out, "# TYPE a_total counter");
    EXPECT_LINE(&out, "a_total{x=\"q\\\"b\\\\n\\nl\",y=\"\"} 18446744073709551615");
    EXPECT_LINE(&out, "b 0.10000000000000001");
    EXPECT_LINE(&out, "b +Inf");
    EXPECT_LINE(&out, "b -Inf");
    EXPECT_LINE(&out, "b NaN");
    cr_expect_not(out.failed);
    exposition_release(&out);
}

Test(exposition, grows_and_keeps_what_was_there) {
    struct exposition out = {.ptr = NULL};
    char name[32];
    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof name, "series_%d", i);
        exposition_count(&out, name, NULL, 0, (uint64_t)i);
    }
    cr_expect_not(out.failed);
    EXPECT_LINE(&out, "series_0 0");
    EXPECT_LINE(&out, "series_4999 4999");
    exposition_release(&out);
}

static void collect_one(void *state, struct exposition *out) {
    exposition_count(out, state, NULL, 0, 1);
}

Test(exposition, collectors_come_and_go) {
    static char first[] = "first";
    static char second[] = "second";
    struct collectors collectors;
    struct exposition out;
    collectors_init(&collectors);
    cr_assert(collectors_add(&collectors, collect_one, first));
    cr_assert(collectors_add(&collectors, collect_one, second));
    collectors_collect(&collectors, &out);
    EXPECT_LINE(&out, "first 1");
    EXPECT_LINE(&out, "second 1");
    exposition_release(&out);
    collectors_remove(&collectors, first);
    collectors_collect(&collectors, &out);
    cr_expect_not(has_line(&out, "first 1"));
    EXPECT_LINE(&out, "second 1");
    exposition_release(&out);
    for (int i = 1; i < EXPOSITION_COLLECTORS_LIMIT; i++)
        cr_expect(collectors_add(&collectors, collect_one, first));
    cr_expect_not(collectors_add(&collectors, collect_one, first), "full");
    collectors_release(&collectors);
}

static struct metrics metrics;

static struct exposition collect(void) {
    struct exposition out = {.ptr = NULL};
    metrics_collect(&metrics, &out);
    cr_assert_not(out.failed);
    return out;
}

Test(metrics, a_review_counts_by_operation_resource_and_decision) {
    static struct judgement judgement;
    struct arena arena;
    arena_init(&arena, 1u << 20);
    metrics_init(&metrics);
    judgement = (struct judgement){.http_status = 200, .decision = DECISION_DENIED, .code = 422};
    judgement.review.operation = REVIEW_UPDATE;
    judgement.review.resource = RESOURCE_SLICES;
    judgement.review.unknown_count = 3;
    finding_list_init(&judgement.findings, &arena);
    struct path path = path_field(NULL, TEXT("spec"));
    for (int i = 0; i < 3; i++)
        finding_add(&judgement.findings, FINDING_INVALID, &path, TEXT("v"), TEXT("d"));
    judgement.findings.rule = "unit-range";
    finding_add(&judgement.findings, FINDING_INVALID, &path, TEXT("v"), TEXT("d"));
    judgement.findings.severity = SEVERITY_WARN;
    finding_add(&judgement.findings, FINDING_INVALID, &path, TEXT("v"), TEXT("d"));
    metrics_count_judgement(&metrics, &judgement, 100000); // exactly the first bound
    metrics_count_judgement(&metrics, &judgement, 100001);
    metrics_count_judgement(&metrics, &judgement, INT64_C(11000000000));
    struct exposition out = collect();
    EXPECT_LINE(&out, "drawbridge_admission_requests_total{operation=\"UPDATE\",resource=\"resourceslices\","
                      "decision=\"denied\"} 3");
    EXPECT_LINE(&out, "drawbridge_rule_results_total{rule=\"schema\",result=\"deny\"} 3");
    EXPECT_LINE(&out, "drawbridge_rule_results_total{rule=\"unit-range\",result=\"deny\"} 3");
    EXPECT_LINE(&out, "drawbridge_rule_results_total{rule=\"unit-range\",result=\"warn\"} 3");
    EXPECT_LINE(&out, "drawbridge_rule_results_total{rule=\"unit-range\",result=\"audit\"} 0");
    EXPECT_LINE(&out, "drawbridge_unknown_fields_total 9");
    EXPECT_LINE(&out, "drawbridge_admission_duration_seconds_bucket{le=\"0.0001\"} 1");
    EXPECT_LINE(&out, "drawbridge_admission_duration_seconds_bucket{le=\"0.00025\"} 2");
    EXPECT_LINE(&out, "drawbridge_admission_duration_seconds_bucket{le=\"10\"} 2");
    EXPECT_LINE(&out, "drawbridge_admission_duration_seconds_bucket{le=\"+Inf\"} 3");
    EXPECT_LINE(&out, "drawbridge_admission_duration_seconds_count 3");
    EXPECT_LINE(&out, "drawbridge_admission_duration_seconds_sum 11.000200001");
    exposition_release(&out);
    arena_release(&arena);
}

Test(metrics, errors_failures_and_refusals) {
    static struct judgement judgement;
    struct arena arena;
    arena_init(&arena, 1u << 20);
    metrics_init(&metrics);
    finding_list_init(&judgement.findings, &arena);
    judgement.http_status = 400;
    judgement.error = REVIEW_DUPLICATE_KEY;
    metrics_count_judgement(&metrics, &judgement, 1);
    judgement.http_status = 200;
    judgement.error = REVIEW_FINE;
    judgement.unexpected = true;
    metrics_count_judgement(&metrics, &judgement, 1);
    judgement.unexpected = false;
    judgement.decision = DECISION_FAILED;
    judgement.answer_allowed = false;
    metrics_count_judgement(&metrics, &judgement, 1);
    metrics_count_refusal(&metrics, REFUSED_SHED);
    metrics_count_refusal(&metrics, REFUSED_LENGTH_MISSING);
    metrics_count_client(&metrics, CLIENT_EXPIRED);
    struct exposition out = collect();
    EXPECT_LINE(&out, "drawbridge_admission_errors_total{reason=\"duplicate_key\"} 1");
    EXPECT_LINE(&out, "drawbridge_admission_errors_total{reason=\"unexpected_resource\"} 1");
    EXPECT_LINE(&out, "drawbridge_admission_errors_total{reason=\"memory\"} 1");
    EXPECT_LINE(&out, "drawbridge_admission_errors_total{reason=\"shed\"} 1");
    EXPECT_LINE(&out, "drawbridge_admission_errors_total{reason=\"length\"} 1");
    EXPECT_LINE(&out, "drawbridge_failures_total{answer=\"denied\"} 1");
    EXPECT_LINE(&out, "drawbridge_failures_total{answer=\"allowed\"} 0");
    EXPECT_LINE(&out, "drawbridge_client_cert_rejections_total{reason=\"expired\"} 1");
    EXPECT_LINE(&out, "drawbridge_admission_requests_total{operation=\"other\",resource=\"other\",decision="
                      "\"failed\"} 1");
    exposition_release(&out);
    arena_release(&arena);
}

Test(metrics, the_number_of_series_does_not_depend_on_names) {
    static struct judgement judgement;
    struct arena arena;
    size_t lines[2] = {0, 0};
    metrics_init(&metrics);
    arena_init(&arena, 16u << 20);
    finding_list_init(&judgement.findings, &arena);
    judgement.http_status = 200;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 1000; i++) {
            judgement.review.name = text_format(&arena, "name-%d-%d", round, i);
            judgement.review.user_name = judgement.review.namespace = judgement.review.name;
            metrics_count_judgement(&metrics, &judgement, i);
        }
        struct exposition out = collect();
        for (size_t i = 0; i < out.len; i++) lines[round] += out.ptr[i] == '\n';
        exposition_release(&out);
    }
    cr_expect_gt(lines[0], 100);
    cr_expect_eq(lines[0], lines[1]);
    arena_release(&arena);
}
