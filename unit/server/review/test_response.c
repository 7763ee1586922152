// SPDX-License-Identifier: Apache-2.0
// Answers: warnings, annotations, codes.
#include <criterion/criterion.h>

#include "server/review/response.h"
#include "unit/lib/parsed.h"

struct fixture {
    struct arena arena;
    struct finding_list findings;
    char answer[RESPONSE_BYTES];
    struct out out;
    struct review review;
    unsigned code;
    struct parsed *answered;
};

static void setup(struct fixture *f) {
    *f = (struct fixture){.code = 0};
    arena_init(&f->arena, 16u << 20);
    finding_list_init(&f->findings, &f->arena);
    f->out = out_of(f->answer, sizeof f->answer);
    f->review.uid = TEXT("u-1");
}

static void teardown(struct fixture *f) {
    parsed_free(f->answered);
    arena_release(&f->arena);
}

static void add(struct fixture *f, const char *rule, enum severity severity, const char *field,
                const char *detail, const char *hint) {
    struct path path = path_field(NULL, text_of(field));
    f->findings.rule = rule;
    f->findings.severity = severity;
    finding_hint(finding_add(&f->findings, FINDING_INVALID, &path, TEXT("v"), text_of(detail)),
                 text_of(hint));
}

static enum decision answer(struct fixture *f) {
    enum decision decision = response_verdict(&f->out, &f->arena, &f->review, &f->findings, &f->code);
    cr_assert_not(f->out.full);
    f->answered = parsed_new(f->out.ptr, f->out.len);
    return decision;
}

static const char *text_at(const struct fixture *f, const char *path) {
    return parsed_text(f->answered, path, NULL);
}

static const char *annotation(const struct fixture *f, const char *name) {
    char path[80];
    snprintf(path, sizeof path, "response/auditAnnotations/%s", name);
    return text_at(f, path);
}

Test(response, nothing_found_is_nothing_said) {
    static struct fixture f;
    setup(&f);
    cr_expect_eq(answer(&f), DECISION_ALLOWED);
    cr_expect_eq(parsed_size(f.answered, "response"), 2, "uid and allowed");
    teardown(&f);
}

Test(response, a_warning_allows) {
    static struct fixture f;
    setup(&f);
    add(&f, "unit-suspicious", SEVERITY_WARN, "spec.x", "looks odd", "look again");
    cr_expect_eq(answer(&f), DECISION_WARNED);
    cr_expect(parsed_is_true(f.answered, "response/allowed"));
    cr_expect_not(parsed_has(f.answered, "response/status"));
    cr_expect_eq(f.code, 0);
    cr_expect_str_eq(text_at(&f, "response/warnings/0"),
                     "spec.x: Invalid value: \"v\": looks odd; look again [unit-suspicious]");
    cr_expect_str_eq(annotation(&f, "decision"), "warn");
    cr_expect_str_eq(annotation(&f, "rule"), "unit-suspicious");
    teardown(&f);
}

Test(response, audit_is_an_annotation_only) {
    static struct fixture f;
    setup(&f);
    add(&f, "numa-missing", SEVERITY_AUDIT, "spec.x", "is missing", "");
    cr_expect_eq(answer(&f), DECISION_AUDITED);
    cr_expect(parsed_is_true(f.answered, "response/allowed"));
    cr_expect_not(parsed_has(f.answered, "response/warnings"));
    cr_expect_str_eq(annotation(&f, "decision"), "audit");
    teardown(&f);
}

Test(response, a_denial_names_only_what_denies_and_keeps_the_warnings) {
    static struct fixture f;
    setup(&f);
    add(&f, "unit-suspicious", SEVERITY_WARN, "spec.a", "looks odd", "");
    add(&f, "unit-range", SEVERITY_DENY, "spec.c", "is too much", "");
    add(&f, "schema", SEVERITY_DENY, "spec.b", "is missing", "");
    add(&f, "unit-range", SEVERITY_DENY, "spec.d", "is too much", "");
    cr_expect_eq(answer(&f), DECISION_DENIED);
    cr_expect_not(parsed_is_true(f.answered, "response/allowed"));
    cr_expect_eq(f.code, 422);
    const char *message = text_at(&f, "response/status/message");
    cr_expect_str_eq(message, "spec.b: Invalid value: \"v\": is missing [schema]\n"
                              "spec.c: Invalid value: \"v\": is too much [unit-range]\n"
                              "spec.d: Invalid value: \"v\": is too much [unit-range]");
    cr_expect_eq(parsed_size(f.answered, "response/status/details/causes"), 3);
    cr_expect_str_eq(text_at(&f, "response/status/details/causes/0/field"), "spec.b");
    cr_expect_str_eq(text_at(&f, "response/status/details/causes/0/message"),
                     "Invalid value: \"v\": is missing [schema]", "kubectl puts the field before it");
    cr_expect_eq(parsed_size(f.answered, "response/warnings"), 1);
    cr_expect_str_eq(annotation(&f, "decision"), "deny");
    cr_expect_str_eq(annotation(&f, "rule"), "schema,unit-range");
    teardown(&f);
}

Test(response, the_code_is_403_as_soon_as_one_rule_asked_the_cache) {
    static struct fixture f;
    setup(&f);
    add(&f, "unit-range", SEVERITY_DENY, "spec.a", "is too much", "");
    add(&f, "generation-regressed", SEVERITY_DENY, "spec.b", "goes back", "");
    cr_expect_eq(answer(&f), DECISION_DENIED);
    cr_expect_eq(f.code, 403);
    cr_expect_str_eq(text_at(&f, "response/status/reason"), "Forbidden");
    teardown(&f);
}

Test(response, a_cached_rule_that_only_warns_does_not_change_the_code) {
    static struct fixture f;
    setup(&f);
    add(&f, "unit-range", SEVERITY_DENY, "spec.a", "is too much", "");
    add(&f, "generation-regressed", SEVERITY_WARN, "spec.b", "goes back", "");
    cr_expect_eq(answer(&f), DECISION_DENIED);
    cr_expect_eq(f.code, 422);
    teardown(&f);
}

Test(response, warnings_are_short_and_few) {
    static struct fixture f;
    setup(&f);
    char field[600];
    char detail[600];
    for (size_t i = 0; i < 40; i++) {
        memset(field, 'a', sizeof field);
        memset(detail, 'd', sizeof detail);
        field[i * 13] = '\0';
        detail[i * 14] = '\0';
        struct text copy = text_format(&f.arena, "spec.%s[\n%zu].\xE2\x82\xAC", field, i);
        add(&f, "unit-hugepage-multiple", SEVERITY_WARN, copy.ptr, text_format(&f.arena, "%s", detail).ptr,
            "do\r\nthis");
    }
    cr_expect_eq(answer(&f), DECISION_WARNED);
    cr_expect_eq(parsed_size(f.answered, "response/warnings"), 11);
    size_t total = 0;
    for (size_t i = 0; i < parsed_size(f.answered, "response/warnings"); i++) {
        char path[40];
        snprintf(path, sizeof path, "response/warnings/%zu", i);
        const char *warning = text_at(&f, path);
        cr_expect_leq(strlen(warning), 120, "%s", warning);
        cr_expect_null(strpbrk(warning, "\r\n"), "%s", warning);
        cr_expect_neq(strncmp(warning, "Warning:", 8), 0);
        if (i < 10) cr_expect_not_null(strstr(warning, "[unit-hugepage-multiple]"), "%s", warning);
        total += strlen(warning);
    }
    cr_expect_leq(total, 4096);
    cr_expect_str_eq(text_at(&f, "response/warnings/10"), "and 30 more findings of drawbridge");
    teardown(&f);
}

Test(response, a_long_warning_keeps_the_end_of_its_path_and_what_is_wrong) {
    static struct fixture f;
    setup(&f);
    struct path path = path_field(
        NULL, TEXT("spec.devices[12].nodeAllocatableResourceMappings[hugepages-2Mi].allocationMultiplier"));
    struct finding *finding =
        finding_add(&f.findings, FINDING_INVALID, &path, TEXT("4"), TEXT("less than one page"));
    finding_hint(finding, TEXT("write the bytes and not the number of pages, such as 8Mi"));
    finding->rule = "unit-suspicious";
    struct text warning = response_warning(&f.arena, finding);
    cr_expect(text_equal(warning, TEXT("\xE2\x80\xA6[hugepages-2Mi].allocationMultiplier: less than one page "
                                       "[unit-suspicious]")),
              "%.*s", TEXT_ARG(warning));
    teardown(&f);
}

Test(response, every_finding_at_its_longest_fits) {
    static struct fixture f;
    setup(&f);
    static char text[5000];
    memset(text, '"', sizeof text - 1);
    for (size_t i = 0; i < 40; i++)
        add(&f, "unit-range", i % 2 == 0 ? SEVERITY_DENY : SEVERITY_WARN, text, text, text);
    f.review.name = f.review.object_kind.group = f.review.object_kind.name = text_of(text);
    cr_expect_eq(answer(&f), DECISION_DENIED);
    teardown(&f);
}

Test(response, dropped_findings_still_deny) {
    static struct fixture f;
    setup(&f);
    f.findings.limit = 1;
    add(&f, "unit-suspicious", SEVERITY_WARN, "spec.b", "looks odd", "");
    add(&f, "unit-range", SEVERITY_DENY, "spec.a", "is too much", "");
    cr_expect_eq(answer(&f), DECISION_DENIED);
    const char *message = text_at(&f, "response/status/message");
    cr_expect_not_null(strstr(message, "1 more"), "%s", message);
    teardown(&f);
}

Test(response, every_error_has_words) {
    for (int i = REVIEW_FINE + 1; i < REVIEW_ERROR_COUNT; i++)
        cr_expect_gt(strlen(response_error_words((enum review_error)i)), 10, "%d", i);
}
