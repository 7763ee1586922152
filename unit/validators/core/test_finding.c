// SPDX-License-Identifier: Apache-2.0
#include "validators/core/finding.h"

#include <criterion/criterion.h>

static struct arena arena;
static struct finding_list list;
static void start(void) {
    arena_init(&arena, 4 << 20);
    finding_list_init(&list, &arena);
}
static void stop(void) {
    arena_release(&arena);
}
TestSuite(finding, .init = start, .fini = stop);

Test(finding, paths_print_as_upstream_prints_them) {
    struct path spec = path_field(NULL, TEXT("spec"));
    struct path devices = path_field(&spec, TEXT("devices"));
    struct path device = path_index(&devices, 12);
    struct path capacity = path_field(&device, TEXT("capacity"));
    struct path key = path_key(&capacity, TEXT("dra.example.com/cpu"));
    cr_expect_str_eq(path_render(&arena, &key).ptr, "spec.devices[12].capacity[dra.example.com/cpu]");
    cr_expect_str_eq(path_render(&arena, NULL).ptr, "");
    struct path empty = path_key(&spec, TEXT(""));
    cr_expect_str_eq(path_render(&arena, &empty).ptr, "spec[]");
}

Test(finding, carry_the_rule_and_severity_of_the_list) {
    struct path spec = path_field(NULL, TEXT("spec"));
    finding_add(&list, FINDING_REQUIRED, &spec, TEXT(""), TEXT("must be set"));
    cr_expect_str_eq(list.items[0].rule, "schema");
    cr_expect(finding_list_denies(&list));
    list.rule = "unit-suspicious";
    list.severity = SEVERITY_WARN;
    struct finding *second = finding_addf(&list, FINDING_INVALID, &spec, TEXT("4"), "is %d bytes", 4);
    finding_hint(second, TEXT("did you mean 4Mi?"));
    finding_hint(NULL, TEXT("x"));
    cr_expect_str_eq(second->detail.ptr, "is 4 bytes");
    cr_expect_str_eq(second->rule, "unit-suspicious");
    cr_expect_eq(second->severity, SEVERITY_WARN);
    cr_expect_str_eq(finding_type_reason(FINDING_TOO_MANY), "FieldValueTooMany");
    cr_expect_str_eq(finding_type_words(FINDING_INVALID), "Invalid value");
    cr_expect_str_eq(severity_name(SEVERITY_AUDIT), "audit");
}

Test(finding, a_full_list_can_still_deny) {
    list.severity = SEVERITY_WARN;
    for (size_t i = 0; i < FINDING_LIST_LIMIT + 5; i++)
        finding_add(&list, FINDING_INVALID, NULL, TEXT(""), TEXT("w"));
    cr_expect_eq(list.count, FINDING_LIST_LIMIT);
    cr_expect_eq(list.dropped_count, 5);
    cr_expect_not(finding_list_denies(&list));
    list.severity = SEVERITY_DENY;
    cr_expect_not_null(finding_add(&list, FINDING_INVALID, NULL, TEXT(""), TEXT("d")));
    cr_expect(finding_list_denies(&list));
    cr_expect_null(finding_add(&list, FINDING_INVALID, NULL, TEXT(""), TEXT("d")));
    cr_expect(finding_list_is_sound(&list));
}

Test(finding, a_lost_finding_poisons_the_list) {
    arena.fail_after = 1;
    cr_expect_null(finding_add(&list, FINDING_INVALID, NULL, TEXT(""), TEXT("x")));
    cr_expect_null(finding_addf(&list, FINDING_INVALID, NULL, TEXT(""), "x"));
    cr_expect_not(finding_list_is_sound(&list));
    cr_expect_eq(list.count, 0);
}

Test(finding, sorting_is_by_path_rule_and_type_and_stable) {
    static const char *const paths[] = {"b", "a", "b", "a"};
    for (size_t i = 0; i < 4; i++) {
        struct path path = path_field(NULL, text_of(paths[i]));
        list.rule = i == 3 ? "a-rule" : "schema";
        finding_addf(&list, i == 0 ? FINDING_TOO_MANY : FINDING_INVALID, &path, TEXT(""), "%zu", i);
    }
    finding_list_sort(&list);
    static const char order[] = "3120";
    for (size_t i = 0; i < 4; i++) cr_expect_eq(list.items[i].detail.ptr[0], order[i], "%zu", i);
}
