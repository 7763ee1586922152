// SPDX-License-Identifier: Apache-2.0
// Selectors and tolerations.
#include "validators/schema/device_selector.h"

#include <criterion/criterion.h>

#include "unit/lib/found.h"

static const struct path ROOT = {.kind = PATH_FIELD, .name = TEXT_INIT("s")};

Test(device_selector, expressions) {
    struct found found;
    found_init(&found);
    char *long_text = arena_zalloc(&found.arena, 1, CEL_EXPRESSION_MAX_BYTES + 1);
    memset(long_text, 'x', CEL_EXPRESSION_MAX_BYTES + 1);
    struct device_selector items[] = {
        {.cel_set = true, .expression = TEXT("true")},
        {.cel_set = false},
        {.cel_set = true},
        {.cel_set = true, .expression = TEXT(" \t\r\n\f")},
        {.cel_set = true, .expression = {long_text, CEL_EXPRESSION_MAX_BYTES}},
        {.cel_set = true, .expression = {long_text, CEL_EXPRESSION_MAX_BYTES + 1}},
    };
    struct device_selector_list list = {items, sizeof items / sizeof items[0]};
    const char *want = "s[1].cel Required, s[2].cel.expression Invalid, s[3].cel.expression Invalid, "
                       "s[5].cel.expression TooLong";
    schema_device_selectors(&list, 36, false, &ROOT, &found.findings);
    FOUND(&found, want);
    schema_device_selectors(&list, 37, false, &ROOT, &found.findings);
    FOUND(&found, want);
    schema_device_selectors(&list, 36, true, &ROOT, &found.findings);
    FOUND(&found, want);
    schema_device_selectors(&list, 37, true, &ROOT, &found.findings);
    FOUND(&found, "s[1].cel Required");
    found_release(&found);
}

Test(device_selector, too_many_are_not_looked_at) {
    struct found found;
    found_init(&found);
    struct device_selector items[DEVICE_SELECTORS_MAX_COUNT + 1] = {0};
    struct device_selector_list list = {items, DEVICE_SELECTORS_MAX_COUNT + 1};
    schema_device_selectors(&list, 36, false, &ROOT, &found.findings);
    cr_assert(text_equal(found.findings.items[0].value, TEXT("33")));
    FOUND(&found, "s TooMany");
    found_release(&found);
}

static void expect_toleration(int line, struct device_toleration toleration, const char *declared,
                              const char *value) {
    struct found found;
    found_init(&found);
    schema_toleration_declared(&toleration, &ROOT, &found.findings);
    found_expect(&found, line, declared);
    schema_toleration_value(&toleration, &ROOT, &found.findings);
    found_expect(&found, line, value);
    found_release(&found);
}
#define TOLERATION(declared, value_want, ...)                                                                \
    expect_toleration(__LINE__, (struct device_toleration){__VA_ARGS__}, declared, value_want)

Test(device_selector, tolerations) {
    TOLERATION("", "", .key = TEXT(""));
    TOLERATION("", "", .key = TEXT("example.com/k"), .value = TEXT("v"), .effect = TEXT("NoSchedule"));
    TOLERATION("", "", .key = TEXT("k"), .operator= TEXT("Exists"), .effect = TEXT("NoExecute"));
    TOLERATION("s.key Invalid", "s.value Invalid", .key = TEXT("a b"), .operator= TEXT("Exists"),
               .value = TEXT("v"));
    TOLERATION("s.effect NotSupported", "s.value Invalid", .operator= TEXT("Equal"), .value = TEXT("-"),
               .effect = TEXT("PreferNoSchedule"));
    TOLERATION("", "s.value Invalid", .value = TEXT("a b"), .effect = TEXT("None"));
    TOLERATION("s.operator NotSupported", "", .operator= TEXT("Gt"), .value = TEXT("a b"));
}
