// SPDX-License-Identifier: Apache-2.0
// Messages: both forms, their bounds, and what tenants may write into them.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "validators/registry/message.h"

struct fixture {
    struct arena arena;
    struct finding_list findings;
};

static void setup(struct fixture *f) {
    arena_init(&f->arena, 16u << 20);
    finding_list_init(&f->findings, &f->arena);
}

static struct finding *add(struct fixture *f, const char *field, const char *value, const char *detail,
                           const char *hint) {
    struct path path = path_field(NULL, text_copy(&f->arena, text_of(field)));
    struct finding *finding =
        finding_add(&f->findings, FINDING_INVALID, &path, text_copy(&f->arena, text_of(value)),
                    text_copy(&f->arena, text_of(detail)));
    cr_assert_not_null(finding);
    finding_hint(finding, text_copy(&f->arena, text_of(hint)));
    return finding;
}

static void expect_line(const struct finding *finding, const char *want) {
    struct arena arena;
    arena_init(&arena, 1u << 20);
    struct text line = message_line(&arena, finding, MESSAGE_LINE_LIMIT_BYTES);
    cr_expect(text_equal(line, text_of(want)), "want %s\n got %.*s", want, TEXT_ARG(line));
    arena_release(&arena);
}

Test(message, a_line_has_field_reason_value_what_and_rule) {
    struct fixture f;
    setup(&f);
    f.findings.rule = "unit-bytes-fraction";
    expect_line(add(&f, "spec.x", "500m", "memory is counted in whole bytes", "did you mean 500Mi?"),
                "spec.x: Invalid value: \"500m\": memory is counted in whole bytes; did you mean 500Mi? "
                "[unit-bytes-fraction]");
    expect_line(add(&f, "spec.x", "", "is wrong", ""),
                "spec.x: Invalid value: is wrong [unit-bytes-fraction]");
    expect_line(add(&f, "spec.x", "v", "", "do this"),
                "spec.x: Invalid value: \"v\": do this [unit-bytes-fraction]");
    expect_line(add(&f, "spec.x", "v", "", ""), "spec.x: Invalid value: \"v\" [unit-bytes-fraction]");
    expect_line(add(&f, "", "v", "is wrong", ""), "Invalid value: \"v\": is wrong [unit-bytes-fraction]");
    arena_release(&f.arena);
}

Test(message, hostile_text_is_made_printable) {
    struct fixture f;
    setup(&f);
    expect_line(add(&f, "a\nb\x1b[31m", "x\"y\\z\x01%n%s\xff", "says \"no\" \\ \x07", "\xE2\x80\xAEhint"),
                "a\\x0ab\\x1b[31m: Invalid value: \"x\\\"y\\\\z\\x01%n%s\\xff\": says \"no\" \\ \\x07; "
                "\\xe2\\x80\\xaehint [schema]");
    arena_release(&f.arena);
}

Test(message, values_over_64_bytes_are_cut) {
    struct fixture f;
    char value[200];
    setup(&f);
    memset(value, 'v', sizeof value);
    value[sizeof value - 1] = '\0';
    struct text line = message_line(&f.arena, add(&f, "x", value, "d", ""), MESSAGE_LINE_LIMIT_BYTES);
    char want[200];
    snprintf(want, sizeof want, "x: Invalid value: \"%.64s…\": d [schema]", value);
    cr_expect(text_equal(line, text_of(want)), "%.*s", TEXT_ARG(line));
    arena_release(&f.arena);
}

Test(message, a_line_is_cut_at_a_character_and_keeps_its_rule) {
    struct fixture f;
    char detail[3000];
    setup(&f);
    for (size_t i = 0; i + 2 < sizeof detail; i += 2) memcpy(detail + i, "\xC3\xA9", 2);
    detail[sizeof detail - 2] = '\0';
    struct finding *finding = add(&f, "x", "", detail, "");
    for (size_t limit = 0; limit < 1100; limit++) {
        struct text line = message_line(&f.arena, finding, limit);
        cr_assert(text_ends_with(line, TEXT(" [schema]")));
        cr_assert(line.len <= limit || limit < sizeof "… [schema]" - 1, "%zu at %zu", line.len, limit);
        for (size_t at = 0; at < line.len;) {
            size_t width = text_utf8_len(text_slice(line, at, line.len));
            cr_assert_gt(width, 0);
            at += width;
        }
    }
    arena_release(&f.arena);
}

Test(message, people_get_ten_lines_sorted_by_path) {
    struct fixture f;
    setup(&f);
    add(&f, "b", "", "second", "");
    add(&f, "a", "", "first", "");
    f.findings.severity = SEVERITY_WARN;
    add(&f, "c", "", "a warning", "");
    struct text text = message_for_people(&f.arena, &f.findings, SEVERITY_DENY);
    cr_expect(text_equal(text, TEXT("a: Invalid value: first [schema]\nb: Invalid value: second [schema]")),
              "%.*s", TEXT_ARG(text));
    text = message_for_people(&f.arena, &f.findings, SEVERITY_WARN);
    cr_expect(text_equal(text, TEXT("c: Invalid value: a warning [schema]")), "%.*s", TEXT_ARG(text));
    text = message_for_people(&f.arena, &f.findings, SEVERITY_AUDIT);
    cr_expect_eq(text.len, 0);
    f.findings.severity = SEVERITY_DENY;
    for (int i = 0; i < 128; i++) add(&f, "d", "", "more", "");
    text = message_for_people(&f.arena, &f.findings, SEVERITY_DENY);
    size_t lines = 1;
    for (size_t i = 0; i < text.len; i++) lines += text.ptr[i] == '\n';
    cr_expect_eq(lines, 11);
    cr_expect(text_ends_with(text, TEXT("\nand 120 more")), "%.*s", TEXT_ARG(text));
    arena_release(&f.arena);
}

Test(message, people_get_at_most_4_kb) {
    struct fixture f;
    char name[600];
    char detail[700];
    setup(&f);
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    memset(detail, '\x01', sizeof detail);
    detail[sizeof detail - 1] = '\0';
    for (int i = 0; i < 128; i++) add(&f, name, name, detail, detail);
    struct text text = message_for_people(&f.arena, &f.findings, SEVERITY_DENY);
    cr_expect_leq(text.len, MESSAGE_PEOPLE_LIMIT_BYTES);
    cr_expect(text_ends_with(text, TEXT(" more")));
    arena_release(&f.arena);
}

Test(message, findings_that_found_no_room_are_counted) {
    struct fixture f;
    setup(&f);
    f.findings.limit = 2;
    add(&f, "a", "", "x", "");
    add(&f, "b", "", "x", "");
    struct path path = path_field(NULL, TEXT("c"));
    cr_expect_null(finding_add(&f.findings, FINDING_INVALID, &path, TEXT(""), TEXT("x")));
    struct text text = message_for_people(&f.arena, &f.findings, SEVERITY_DENY);
    cr_expect(text_ends_with(text, TEXT("\nand 1 more")), "%.*s", TEXT_ARG(text));
    f.findings.count = 0;
    text = message_for_people(&f.arena, &f.findings, SEVERITY_DENY);
    cr_expect(text_equal(text, TEXT("and 1 more")), "%.*s", TEXT_ARG(text));
    arena_release(&f.arena);
}

Test(message, the_scheduler_gets_one_short_text_with_the_rule_first) {
    struct fixture f;
    char detail[2000];
    setup(&f);
    f.findings.rule = "ledger-stale";
    f.findings.severity = SEVERITY_WARN;
    add(&f, "a", "", "only a warning", "");
    f.findings.severity = SEVERITY_DENY;
    add(&f, "b", "", "node-1 is stale", "ends when it is fresh");
    struct text text = message_for_scheduler(&f.arena, &f.findings, SEVERITY_DENY);
    cr_expect(text_equal(text, TEXT("[ledger-stale] node-1 is stale; ends when it is fresh")), "%.*s",
              TEXT_ARG(text));
    cr_expect_eq(message_for_scheduler(&f.arena, &f.findings, SEVERITY_AUDIT).len, 0);
    memset(detail, 'd', sizeof detail);
    detail[sizeof detail - 1] = '\0';
    add(&f, "a", "", detail, detail);
    text = message_for_scheduler(&f.arena, &f.findings, SEVERITY_DENY);
    cr_expect_eq(text.len, MESSAGE_SCHEDULER_LIMIT_BYTES);
    cr_expect(text_starts_with(text, TEXT("[ledger-stale] ddd")));
    arena_release(&f.arena);
}

Test(message, memory_runs_out_at_every_allocation) {
    struct fixture f;
    setup(&f);
    for (int i = 0; i < 12; i++) add(&f, "spec.x", "v", "is wrong", "do this");
    for (size_t n = 1;; n++) {
        struct arena arena;
        arena_init(&arena, 1u << 20);
        arena.fail_after = n;
        message_for_people(&arena, &f.findings, SEVERITY_DENY);
        message_for_scheduler(&arena, &f.findings, SEVERITY_DENY);
        bool poisoned = arena.poisoned;
        arena_release(&arena);
        if (!poisoned) break;
        cr_assert_lt(n, 10000);
    }
    arena_release(&f.arena);
}
