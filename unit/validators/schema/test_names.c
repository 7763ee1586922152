// SPDX-License-Identifier: Apache-2.0
// The forms of names.
#include <criterion/criterion.h>

#include "validators/schema/names.h"

#define X63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define X64 X63 "a"

typedef const char *why_not(struct text text);

static void expect_all(why_not *why, const char *const *texts, size_t count, bool fine) {
    for (size_t i = 0; i < count; i++) {
        const char *said = why(text_of(texts[i]));
        cr_expect(fine == (said == NULL), "\"%s\": %s", texts[i], said == NULL ? "is fine" : said);
        cr_expect(fine || strlen(said) > 10);
    }
}

#define FINE(why, ...)                                                                                       \
    expect_all(why, (const char *const[]){__VA_ARGS__},                                                      \
               sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), true)
#define BAD(why, ...)                                                                                        \
    expect_all(why, (const char *const[]){__VA_ARGS__},                                                      \
               sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), false)

Test(names, labels) {
    FINE(why_not_dns1123_label, "a", "0", "a-b", "a--b", "1-2", X63);
    BAD(why_not_dns1123_label, "", "-", "a-", "-a", "A", "a.b", "a_b", "a b", "a\n", "\xC3\xA4", X64, "a/b");
    cr_expect_str_eq(why_not_dns1123_label(TEXT("a.b")), "must not contain dots");
    cr_expect_str_eq(why_not_dns1123_label(TEXT(X64)), "must be no more than 63 bytes");
    cr_expect_not_null(why_not_dns1123_label((struct text){"a\0b", 3}));
}

Test(names, subdomains) {
    char longest[255];
    memset(longest, 'a', sizeof longest);
    longest[100] = '.';
    FINE(why_not_dns1123_subdomain, "a", "a.b", "a-b.c-d", "0.1", X64);
    BAD(why_not_dns1123_subdomain, "", ".", "a.", ".a", "a..b", "a-.b", "a.-b", "-a", "a-", "A", "a_b",
        "\xE2\x84\xAA");
    cr_expect_null(why_not_dns1123_subdomain((struct text){longest, 253}));
    cr_expect_str_eq(why_not_dns1123_subdomain((struct text){longest, 254}),
                     "must be no more than 253 bytes");
    cr_expect_not_null(why_not_dns1123_subdomain_caseless((struct text){longest, 254}));
    cr_expect_not_null(why_not_dns1123_subdomain_lowered((struct text){longest, 254}));
    cr_expect_null(why_not_dns1123_subdomain_lowered((struct text){longest, 253}));
}

// U+212A Kelvin, U+017F long s, U+0130 I with dot.
Test(names, subdomains_of_other_case) {
    FINE(why_not_dns1123_subdomain_caseless, "a", "A.b", "Z9", "\xE2\x84\xAA.b", "a\xC5\xBF");
    BAD(why_not_dns1123_subdomain_caseless, "", "A.", "-A", "\xC4\xB0", "\xE2\x84", "\xC5", "A_B");
    FINE(why_not_dns1123_subdomain_lowered, "a", "A.b", "Z9", "\xE2\x84\xAA.b", "a\xC4\xB0");
    BAD(why_not_dns1123_subdomain_lowered, "", "A.", "-A", "a\xC5\xBF", "\xE2\x84", "\xC4", "A_B");
}

Test(names, identifiers) {
    FINE(why_not_c_identifier, "a", "_", "A1", "a_b", "_9");
    BAD(why_not_c_identifier, "", "1", "a-b", "a.b", "a b", "\xC3\xA4");
}

Test(names, label_keys_and_values) {
    FINE(why_not_label_key, "a", "A.b_c-d", "example.com/a", "1/2", X63);
    BAD(why_not_label_key, "", "/a", "a/", "a/b/c", "A.b/c", "-a", "a-", "a/-", "a b", X64, "a..b/c");
    FINE(why_not_prefixed_label_key, "a/b");
    BAD(why_not_prefixed_label_key, "a", "a/");
    FINE(why_not_label_value, "", "a", "A_b.c-d", X63);
    BAD(why_not_label_value, "-", "a/b", "a-", ".a", X64, "\xC3\xA4");
}

Test(names, uuids) {
    FINE(why_not_uuid, "01234567-89ab-cdef-0123-456789abcdef");
    BAD(why_not_uuid, "", "01234567-89ab-cdef-0123-456789abcde", "01234567-89AB-cdef-0123-456789abcdef",
        "0123456789ab-cdef-0123-456789abcdef--", "01234567-89ab-cdef-0123_456789abcdef",
        "g1234567-89ab-cdef-0123-456789abcdef");
}

Test(names, path_segments) {
    cr_expect_null(why_not_path_segment(TEXT("a.b"), false));
    cr_expect_null(why_not_path_segment(TEXT(".."), true));
    cr_expect_not_null(why_not_path_segment(TEXT(".."), false));
    cr_expect_not_null(why_not_path_segment(TEXT("."), false));
    cr_expect_not_null(why_not_path_segment(TEXT("a/b"), false));
    cr_expect_not_null(why_not_path_segment(TEXT("a%"), true));
}

Test(names, extended_resources) {
    char domain[300];
    FINE(why_not_extended_resource, "example.com/gpu", "a/B_c.d-e", "dom/requests.x");
    BAD(why_not_extended_resource, "gpu", "kubernetes.io/gpu", "x.kubernetes.io/gpu", "requests.a/b", "a/b/c",
        "A/b", "a/", "/a", "a/-b", "a/" X64);
    memset(domain, 'a', sizeof domain);
    memcpy(domain + 244, "/x", 2);
    cr_expect_null(why_not_extended_resource((struct text){domain, 246}));
    memset(domain, 'a', sizeof domain);
    memcpy(domain + 245, "/x", 2);
    cr_expect_not_null(why_not_extended_resource((struct text){domain, 247}));
    cr_expect(name_is_native_resource(TEXT("cpu")));
    cr_expect(name_is_native_resource(TEXT("a.kubernetes.io/b")));
    cr_expect_not(name_is_native_resource(TEXT("a/b")));
}

// Findings of the checks that can give several reasons, as "Reason Reason".
struct checked {
    char reasons[256];
};

static struct checked reasons_of(const struct finding_list *findings) {
    struct checked checked = {""};
    size_t len = 0;
    for (size_t i = 0; i < findings->count; i++)
        len += (size_t)snprintf(checked.reasons + len, sizeof checked.reasons - len, "%s%s", i > 0 ? " " : "",
                                finding_type_reason(findings->items[i].type) + strlen("FieldValue"));
    return checked;
}

enum checks { DRIVER, DRIVER_DECLARED, POOL, QUALIFIED, FULLY, FULLY_DECLARED };

static struct checked check(enum checks what, struct text name) {
    struct arena arena;
    struct finding_list findings;
    struct path path = path_field(NULL, TEXT("x"));
    arena_init(&arena, 1 << 20);
    finding_list_init(&findings, &arena);
    switch (what) {
    case DRIVER: schema_driver_name(name, false, &path, &findings); break;
    case DRIVER_DECLARED: schema_driver_name(name, true, &path, &findings); break;
    case POOL: schema_pool_name(name, &path, &findings); break;
    case QUALIFIED: schema_qualified_name(name, &path, &findings); break;
    case FULLY: schema_fully_qualified_name(name, false, &path, &findings); break;
    case FULLY_DECLARED: schema_fully_qualified_name(name, true, &path, &findings); break;
    }
    struct checked checked = reasons_of(&findings);
    arena_release(&arena);
    return checked;
}

#define EXPECT_REASONS(what, text, want)                                                                     \
    do {                                                                                                     \
        struct checked got = check(what, TEXT(text));                                                        \
        cr_expect_str_eq(got.reasons, want, "%s: found \"%s\", want \"%s\"", text, got.reasons, want);       \
    } while (0)

Test(names, drivers) {
    EXPECT_REASONS(DRIVER, "", "Required");
    EXPECT_REASONS(DRIVER, "a.example.com", "");
    EXPECT_REASONS(DRIVER, "A.example.com", "");
    EXPECT_REASONS(DRIVER, "a_b", "Invalid");
    EXPECT_REASONS(DRIVER, X64, "TooLong");
    EXPECT_REASONS(DRIVER, X64 "_", "TooLong Invalid");
    EXPECT_REASONS(DRIVER, "\xC4\xB0", "");
    EXPECT_REASONS(DRIVER_DECLARED, "\xC4\xB0", "Invalid");
    EXPECT_REASONS(DRIVER_DECLARED, "A.b", "");
}

Test(names, pools) {
    char name[256];
    memset(name, 'a', sizeof name);
    EXPECT_REASONS(POOL, "", "Required");
    EXPECT_REASONS(POOL, "a", "");
    EXPECT_REASONS(POOL, "a/b.c/d", "");
    EXPECT_REASONS(POOL, "/", "Invalid");
    EXPECT_REASONS(POOL, "a/", "Invalid");
    EXPECT_REASONS(POOL, "a//b", "Invalid");
    EXPECT_REASONS(POOL, "a/B", "Invalid");
    struct checked got = check(POOL, (struct text){name, 254});
    cr_expect_str_eq(got.reasons, "TooLong Invalid");
    name[100] = '/';
    got = check(POOL, (struct text){name, 254});
    cr_expect_str_eq(got.reasons, "TooLong");
}

Test(names, qualified) {
    EXPECT_REASONS(QUALIFIED, "a", "");
    EXPECT_REASONS(QUALIFIED, "d.com/a", "");
    EXPECT_REASONS(QUALIFIED, "D.com/a", "");
    EXPECT_REASONS(QUALIFIED, "a/b/c", "");
    EXPECT_REASONS(QUALIFIED, "", "Invalid");
    EXPECT_REASONS(QUALIFIED, "/a", "Invalid");
    EXPECT_REASONS(QUALIFIED, "a/", "Invalid");
    EXPECT_REASONS(QUALIFIED, "a-b", "Invalid");
    EXPECT_REASONS(QUALIFIED, "d_/a", "Invalid");
    EXPECT_REASONS(QUALIFIED, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "");
    EXPECT_REASONS(QUALIFIED, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "TooLong");
    EXPECT_REASONS(QUALIFIED, X64 "/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-", "TooLong TooLong Invalid");
    EXPECT_REASONS(FULLY, "d.com/a", "");
    EXPECT_REASONS(FULLY, "a", "Invalid");
    EXPECT_REASONS(FULLY, "a-", "Invalid");
    EXPECT_REASONS(FULLY, "a/b/c", "");
    EXPECT_REASONS(FULLY, "D/a", "");
    EXPECT_REASONS(FULLY_DECLARED, "D/a", "Invalid");
    EXPECT_REASONS(FULLY_DECLARED, "d/a", "");
    EXPECT_REASONS(FULLY_DECLARED, "D/b/c", "");
    cr_expect(name_is_fully_qualified(TEXT("d.com/a")));
    cr_expect(name_is_fully_qualified(TEXT("a/b/c")));
    cr_expect_not(name_is_fully_qualified(TEXT("a")));
    cr_expect_not(name_is_fully_qualified(TEXT(X64 "/a")));
    cr_expect_not(name_is_fully_qualified(TEXT("d/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")));
    cr_expect_not(name_is_fully_qualified(TEXT("d/-")));
}
