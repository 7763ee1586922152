// SPDX-License-Identifier: Apache-2.0
// Quantities against values that apimachinery produced.
#include "validators/core/quantity.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>

#include "unit/lib/corpus.h"

static struct arena arena;

static void start(void) {
    arena_init(&arena, 64u << 20);
}
static void stop(void) {
    arena_release(&arena);
}

TestSuite(quantity, .init = start, .fini = stop);

static struct quantity parsed(const char *text) {
    struct quantity q;
    const char *why = "";
    cr_assert(quantity_parse(text_of(text), &q, &why), "%s: %s", text, why);
    return q;
}

static const char *canonical(struct quantity q) {
    return quantity_canonical(&arena, q).ptr;
}

// What Go wraps or leaves to chance when a value does not fit is not compared; that it does not fit is.
static bool compare_number(const char *in, const char *what, bool fits, int64_t got, json_t *want) {
    if (!fits) return true;
    if (got == json_integer_value(want)) return true;
    printf("%s: %s is %lld, want %lld\n", in, what, (long long)got, (long long)json_integer_value(want));
    return false;
}

Test(quantity, agrees_with_every_line_of_the_corpus) {
    struct text file = test_corpus_read("quantities.jsonl");
    struct text line;
    size_t bad = 0;
    size_t count = 0;
    size_t unfit = 0;
    for (size_t at = 0; test_next_line(file, &at, &line);) {
        json_t *row = json_loadb(line.ptr, line.len, JSON_ALLOW_NUL, NULL);
        cr_assert_not_null(row);
        const char *in = json_string_value(json_object_get(row, "in"));
        struct quantity q = {0};
        bool ok = quantity_parse(text_of(in), &q, NULL);
        count++;
        if (ok != json_is_true(json_object_get(row, "ok"))) {
            printf("%s: parsed %d\n", in, ok);
            bad++;
        } else if (ok) {
            const char *want = json_string_value(json_object_get(row, "canonical"));
            struct text got = quantity_text(&arena, q);
            if (!q.digits_lost && !text_equal(got, text_of(want)))
                bad++, printf("%s: prints %s, want %s\n", in, got.ptr, want);
            if (quantity_sign(q) != json_integer_value(json_object_get(row, "sign")))
                bad++, printf("%s: sign\n", in);
            int64_t value = 0;
            bool fits = quantity_value(q, &value);
            cr_expect(fits || q.out_of_range || quantity_sign(q) < 0, "%s: does not fit but is not marked",
                      in);
            // A big decimal below -2^63 nano is read by Go through its low 64 bits: nothing to agree with.
            bool wraps = q.decimal && quantity_sign(q) < 0 && value < INT64_MIN / 1000000000;
            bad += !compare_number(in, "value", fits && !wraps, value, json_object_get(row, "value"));
            fits = quantity_milli(q, &value);
            bad +=
                !compare_number(in, "milliValue", fits && !wraps, value, json_object_get(row, "milliValue"));
            unfit += q.out_of_range;
        }
        json_decref(row);
    }
    test_file_free(file);
    cr_assert_eq(bad, 0, "%zu of %zu lines differ", bad, count);
    cr_assert(count >= 100 && unfit > 0);
}

Test(quantity, arithmetic_agrees_with_every_line_of_the_corpus) {
    struct text file = test_corpus_read("quantity-arithmetic.jsonl");
    struct text line;
    size_t bad = 0;
    size_t compared = 0;
    for (size_t at = 0; test_next_line(file, &at, &line);) {
        json_t *row = json_loadb(line.ptr, line.len, 0, NULL);
        cr_assert_not_null(row);
        const char *left = json_string_value(json_object_get(row, "a"));
        const char *right = json_string_value(json_object_get(row, "b"));
        struct quantity a = parsed(left);
        struct quantity b = parsed(right);
        if (quantity_compare(a, b) != json_integer_value(json_object_get(row, "cmp")))
            bad++, printf("%s cmp %s: %d\n", left, right, quantity_compare(a, b));
        struct quantity results[] = {quantity_add(a, b), quantity_multiply(a, b)};
        const char *const names[] = {"sum", "product"};
        for (size_t i = 0; i < 2; i++) {
            const char *want = json_string_value(json_object_get(row, names[i]));
            if (results[i].out_of_range) continue;
            compared++;
            struct text got = quantity_canonical(&arena, results[i]);
            // The corpus has lost the format of a, so the values are compared; where Go drops a suffix that
            // it has no letter for, the text must be the same.
            struct quantity value;
            bool same = text_equal(got, text_of(want)) || (quantity_parse(text_of(want), &value, NULL) &&
                                                           quantity_compare(value, results[i]) == 0);
            if (!same) bad++, printf("%s and %s: %s is %s, want %s\n", left, right, names[i], got.ptr, want);
        }
        json_decref(row);
    }
    test_file_free(file);
    cr_assert_eq(bad, 0, "%zu differences", bad);
    cr_assert(compared > 50);
}

Test(quantity, out_of_range_is_marked_and_never_wrapped) {
    int64_t value = 7;
    static const char *const beyond[] = {
        "9223372036854775808",  "1e19",
        "9223372036854775807E", "10E",
        "1e2147483647",         "99999999999999999999999999999999999999999999"};
    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++) {
        struct quantity q = parsed(beyond[i]);
        cr_expect(q.out_of_range, "%s", beyond[i]);
        cr_expect(!quantity_value(q, &value), "%s", beyond[i]);
        cr_expect_eq(quantity_sign(q), 1);
    }
    cr_expect_eq(value, 7, "a failed call leaves its target untouched");
    cr_expect(!parsed("9223372036854775807").out_of_range);
    cr_expect(!quantity_milli(parsed("9223372036854775807"), &value));
    // Binary quantities are capped by apimachinery, so they are in range.
    cr_expect(quantity_value(parsed("9223372036854775807Ei"), &value) && value == INT64_MAX);
    cr_expect(quantity_add(parsed("9223372036854775807"), parsed("1")).out_of_range);
    cr_expect(quantity_multiply(parsed("9E"), parsed("9E")).out_of_range);
}

Test(quantity, compares_values_whose_digits_are_lost) {
    struct quantity large = parsed("999999999999999999999999999999999999999999999");
    struct quantity larger = parsed("9999999999999999999999999999999999999999999991");
    cr_expect(large.digits_lost && larger.digits_lost);
    cr_expect_eq(quantity_compare(large, larger), -1);
    cr_expect_eq(quantity_compare(larger, large), 1);
    cr_expect_eq(quantity_compare(large, large), 0);
    cr_expect_eq(quantity_compare(large, parsed("1")), 1);
    cr_expect_eq(quantity_compare(parsed("1Ki"), large), -1);
    cr_expect_eq(quantity_compare(large, parsed("1e50")), -1);
    cr_expect_eq(quantity_compare(parsed("-999999999999999999999999999999999999999999999"), parsed("-1e50")),
                 1);
    cr_expect_str_eq(canonical(large), "999999999999999999999999999999999999999999999");
    struct quantity sum = quantity_add(large, parsed("1"));
    cr_expect(sum.out_of_range);
    cr_expect_str_eq(canonical(sum), "out of range");
    cr_expect(quantity_multiply(large, parsed("2")).digits_lost);
    cr_expect_eq(quantity_sign(quantity_multiply(large, parsed("0"))), 0);
    cr_expect(!quantity_is_whole(large));
    cr_expect(!quantity_is_multiple(large, parsed("1")));
}

Test(quantity, whole_and_multiple) {
    cr_expect(quantity_is_whole(parsed("1.5Gi")));
    cr_expect(!quantity_is_whole(parsed("1.1Gi")));
    cr_expect(!quantity_is_whole(parsed("500m")));
    cr_expect(quantity_is_whole(parsed("1500m")) == false);
    cr_expect(quantity_is_whole(parsed("2000m")));
    cr_expect(quantity_is_whole_milli(parsed("500m")));
    cr_expect(!quantity_is_whole_milli(parsed("500u")));
    cr_expect(quantity_is_multiple(parsed("4Mi"), parsed("2Mi")));
    cr_expect(!quantity_is_multiple(parsed("5Mi"), parsed("2Mi")));
    cr_expect(quantity_is_multiple(parsed("0"), parsed("2Mi")));
    cr_expect(quantity_is_multiple(parsed("1"), parsed("500m")));
    cr_expect(!quantity_is_multiple(parsed("1"), parsed("0")));
    cr_expect(!quantity_is_multiple(parsed("1n"), parsed("1e30")));
}

Test(quantity, sums_and_differences_print_as_go_prints_them) {
    cr_expect_str_eq(canonical(quantity_add(parsed("1Gi"), parsed("1Gi"))), "2Gi");
    cr_expect_str_eq(canonical(quantity_subtract(parsed("4"), parsed("500m"))), "3500m");
    cr_expect_str_eq(canonical(quantity_add(parsed("0"), parsed("1Gi"))), "1Gi");
    cr_expect_str_eq(canonical(quantity_from_int64(2048, QUANTITY_BINARY_SI)), "2Ki");
    cr_expect_str_eq(canonical(quantity_from_int64(1000, QUANTITY_BINARY_SI)), "1k");
    cr_expect_str_eq(canonical(quantity_from_milli(1500, QUANTITY_DECIMAL_SI)), "1500m");
    cr_expect_str_eq(canonical(quantity_multiply(parsed("8"), parsed("1e3"))), "8k");
}

Test(quantity, refuses_with_upstreams_words) {
    struct quantity q = {.unscaled = 5};
    const char *why = NULL;
    static const char *const format_errors[] = {"", "1.2.3", "1 ", "Ki1x", "1e1e1", "\x80"};
    for (size_t i = 0; i < sizeof format_errors / sizeof format_errors[0]; i++) {
        cr_expect(!quantity_parse(text_of(format_errors[i]), &q, &why), "%s", format_errors[i]);
        cr_expect(strstr(why, "regular expression") != NULL, "%s: %s", format_errors[i], why);
    }
    static const char *const suffix_errors[] = {
        "1K", "--1", "1ki", "1e", "1ee1", "1Kii", "1e99999999999999999999"};
    for (size_t i = 0; i < sizeof suffix_errors / sizeof suffix_errors[0]; i++) {
        cr_expect(!quantity_parse(text_of(suffix_errors[i]), &q, &why), "%s", suffix_errors[i]);
        cr_expect(strstr(why, "suffix") != NULL, "%s: %s", suffix_errors[i], why);
    }
    cr_expect(!quantity_parse(text_of(".Ei"), &q, &why));
    cr_expect(strstr(why, "numeric") != NULL);
    cr_expect(q.unscaled == 5, "a failed parse leaves its target untouched");
}
