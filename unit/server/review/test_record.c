// SPDX-License-Identifier: Apache-2.0
// Audit records: who asked for what, what was answered and why; and nothing of what callers hide in bodies.
#include <criterion/criterion.h>

#include "server/review/record.h"
#include "unit/lib/parsed.h"
#include "unit/lib/review_body.h"

struct court {
    struct judge judge;
    struct arena bodies;
    struct arena arena;
    char answer[RESPONSE_BYTES];
    char record[RECORD_BYTES];
    struct out out;
    struct out record_out;
    struct judgement judgement;
};

static struct court *court;

static void start(void) {
    court = calloc(1, sizeof *court);
    court->judge.gate.minor = MINOR_36;
    arena_init(&court->bodies, 16u << 20);
    arena_init(&court->arena, 16u << 20);
    court->out = out_of(court->answer, sizeof court->answer);
}
static void stop(void) {
    arena_release(&court->bodies);
    arena_release(&court->arena);
    free(court);
}
TestSuite(record, .init = start, .fini = stop);

// The body with one part replaced.
static struct text with(struct text body, const char *from, const char *to) {
    const char *at = memmem(body.ptr, body.len, from, strlen(from));
    cr_assert_not_null(at);
    size_t before = (size_t)(at - body.ptr);
    struct text after = text_slice(body, before + strlen(from), body.len);
    return text_format(&court->bodies, "%.*s%s%.*s", (int)before, body.ptr, to, TEXT_ARG(after));
}

// The record of a slice's review in which `from` stands as `to`; NULL when there is none.
static struct parsed *record_of(const char *multiplier, const char *from, const char *to) {
    struct review_parts parts = {.kind = "ResourceSlice",
                                 .resource = "resourceslices",
                                 .object = review_slice(&court->bodies, "memory", multiplier).ptr};
    struct text body = review_body(&court->bodies, &parts);
    if (from != NULL) body = with(body, from, to);
    arena_clear(&court->arena);
    review_judge(&court->judge, PATH_VALIDATE, body, &court->arena, &court->out, &court->judgement);
    if (!record_is_wanted(&court->judgement)) return NULL;
    court->record_out = out_of(court->record, sizeof court->record);
    record_write(&court->judgement, &court->arena, &court->record_out);
    cr_assert_not(court->record_out.full);
    return parsed_new(court->record, court->record_out.len);
}

Test(record, a_denial_says_who_what_and_why) {
    struct parsed *record =
        record_of("500m", "\"groups\":[\"g\"]", "\"groups\":[\"secret\"],\"extra\":{\"token\":[\"secret\"]}");
    cr_assert_not_null(record);
    cr_expect_str_eq(parsed_text(record, "action", NULL), "review");
    cr_expect_str_eq(parsed_text(record, "decision", NULL), "denied");
    cr_expect_str_eq(parsed_text(record, "operation", NULL), "CREATE");
    cr_expect_str_eq(parsed_text(record, "resource", NULL), "resourceslices");
    cr_expect_str_eq(parsed_text(record, "by", NULL), "jane");
    cr_expect_not_null(
        strstr(parsed_text(record, "reason", NULL), "whole bytes; did you mean 500Mi? [unit-"));
    cr_expect_not_null(
        memmem(court->record, court->record_out.len, "\"rules\":[\"unit-bytes-fraction\"]", 31));
    cr_expect_not_null(memmem(court->record, court->record_out.len, "\"code\":422", 10));
    cr_expect_null(memmem(court->record, court->record_out.len, "secret", 6));
    parsed_free(record);
}

Test(record, what_is_allowed_without_a_word_has_none) {
    cr_expect_null(record_of("8Gi", NULL, NULL));
}

Test(record, a_warning_has_one_and_says_so) {
    struct parsed *record = record_of("4", NULL, NULL);
    cr_assert_not_null(record);
    cr_expect_str_eq(parsed_text(record, "decision", NULL), "warned");
    cr_expect_null(memmem(court->record, court->record_out.len, "\"code\"", 6));
    parsed_free(record);
}

Test(record, a_dry_run_leaves_nothing) {
    cr_expect_null(record_of("500m", "\"dryRun\":false", "\"dryRun\":true"));
    cr_expect_eq(court->judgement.decision, DECISION_DENIED, "the verdict is the same");
}

Test(record, our_own_failure_has_one) {
    court->judge.fail_open = true;
    arena_release(&court->arena);
    arena_init(&court->arena, 6000);
    struct parsed *record = record_of("500m", NULL, NULL);
    cr_assert_not_null(record);
    cr_expect_str_eq(parsed_text(record, "decision", NULL), "failed");
    cr_expect_str_eq(parsed_text(record, "answer", NULL), "allowed");
    parsed_free(record);
}

// Every byte of every text is escaped: it still fits, and it is JSON.
Test(record, hostile_names_fit) {
    char name[2000];
    size_t len = 0;
    for (int i = 0; i < 300; i++) len += (size_t)snprintf(name + len, sizeof name - len, "\\u0001");
    struct parsed *record = record_of("500m", "jane", name);
    cr_assert_not_null(record);
    cr_expect_str_eq(parsed_text(record, "decision", NULL), "denied");
    parsed_free(record);
}
