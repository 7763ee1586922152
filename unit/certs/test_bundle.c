// SPDX-License-Identifier: Apache-2.0
// Merging caBundles, and base64.
#include <criterion/criterion.h>

#include <stdlib.h>

#include "certs/authority.h"
#include "certs/base64.h"
#include "certs/bundle.h"
#include "certs/pem.h"

#define NOW ((time_t)1800000000)

static struct authority *make(time_t now, int64_t life_s) {
    struct authority *authority = NULL;
    struct fault fault = {0};
    cr_assert(authority_new(KEY_ECDSA_P256, now, life_s, &authority, &fault), "%s", fault.text);
    return authority;
}

static STACK_OF(X509) * list(struct authority *const *authorities, size_t count) {
    STACK_OF(X509) *bundle = sk_X509_new_null();
    for (size_t i = 0; i < count; i++) {
        X509 *certificate = authority_certificate(authorities[i]);
        X509_up_ref(certificate);
        cr_assert_gt(sk_X509_push(bundle, certificate), 0);
    }
    return bundle;
}

// Merges and compares with what is expected, in order; merging the result again must change nothing.
static void expect_merged(STACK_OF(X509) * present, STACK_OF(X509) * wanted, time_t now,
                          STACK_OF(X509) * expected, bool changes) {
    STACK_OF(X509) *merged = NULL, *again = NULL;
    struct fault fault = {0};
    bool changed;
    cr_assert(bundle_merge(present, wanted, now, &merged, &changed, &fault), "%s", fault.text);
    cr_expect_eq(changed, changes);
    cr_assert_eq(sk_X509_num(merged), sk_X509_num(expected));
    for (int i = 0; i < sk_X509_num(merged); i++)
        cr_expect_eq(X509_cmp(sk_X509_value(merged, i), sk_X509_value(expected, i)), 0, "place %d", i);
    cr_assert(bundle_merge(merged, wanted, now, &again, &changed, &fault), "%s", fault.text);
    cr_expect_not(changed, "a second merge must find nothing to do");
    pem_chain_free(merged);
    pem_chain_free(again);
    pem_chain_free(present);
    pem_chain_free(wanted);
    pem_chain_free(expected);
}

Test(bundle, the_live_stay_the_ended_go_and_the_new_comes_behind) {
    struct authority *live = make(NOW, 1000), *ended = make(NOW - 5000, 1000), *new = make(NOW, 2000);
    struct authority *both[] = {live, ended}, *result[] = {live, new};
    expect_merged(list(both, 2), list(&new, 1), NOW, list(result, 2), true);
    struct authority *other[] = {ended, live};
    expect_merged(list(other, 2), list(&new, 1), NOW, list(result, 2), true);
    authority_free(live);
    authority_free(ended);
    authority_free(new);
}

Test(bundle, nothing_is_there_twice_and_the_order_stays) {
    struct authority *a = make(NOW, 1000), *b = make(NOW, 1000);
    struct authority *ab[] = {a, b}, *ba[] = {b, a}, *aba[] = {a, b, a};
    expect_merged(list(ab, 2), list(ba, 2), NOW, list(ab, 2), false);
    expect_merged(list(ba, 2), list(ab, 2), NOW, list(ba, 2), false);
    expect_merged(list(aba, 3), list(&a, 1), NOW, list(ab, 2), true);
    expect_merged(list(NULL, 0), list(aba, 3), NOW, list(ab, 2), true);
    authority_free(a);
    authority_free(b);
}

Test(bundle, an_end_is_an_end_to_the_second) {
    struct authority *a = make(NOW, 1000);
    expect_merged(list(&a, 1), list(NULL, 0), NOW + 999, list(&a, 1), false);
    expect_merged(list(&a, 1), list(NULL, 0), NOW + 1000, list(NULL, 0), true);
    expect_merged(list(NULL, 0), list(&a, 1), NOW + 1000, list(NULL, 0), false);
    authority_free(a);
}

Test(bundle, beyond_the_limit_the_unwanted_that_end_first_go) {
    struct authority *many[BUNDLE_COUNT_LIMIT + 1], *kept[BUNDLE_COUNT_LIMIT + 1];
    for (size_t i = 0; i < BUNDLE_COUNT_LIMIT + 1; i++) many[i] = make(NOW, i == 3 ? 500 : 1000);
    struct authority *new = make(NOW, 100);
    size_t count = 0;
    // One too many, and one more that is wanted: the one that ends first and then the first of the others go.
    for (size_t i = 1; i < BUNDLE_COUNT_LIMIT + 1; i++)
        if (i != 3) kept[count++] = many[i];
    kept[count++] = new;
    expect_merged(list(many, BUNDLE_COUNT_LIMIT + 1), list(&new, 1), NOW, list(kept, count), true);
    for (size_t i = 0; i < BUNDLE_COUNT_LIMIT + 1; i++) authority_free(many[i]);
    authority_free(new);
}

Test(bundle, what_is_no_bundle_is_an_empty_one) {
    static const char *const texts[] = {"", "x", "-----BEGIN CERTIFICATE-----\n",
                                        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        STACK_OF(X509) *bundle = NULL;
        struct fault fault = {0};
        cr_assert(bundle_read(text_of(texts[i]), &bundle, &fault), "%s", fault.text);
        cr_expect_eq(sk_X509_num(bundle), 0);
        pem_chain_free(bundle);
    }
}

Test(bundle, written_and_read_it_is_the_same) {
    struct authority *a = make(NOW, 1000), *b = make(NOW, 1000), *ab[] = {a, b};
    STACK_OF(X509) *bundle = list(ab, 2), *back = NULL;
    struct fault fault = {0};
    char *pem = NULL;
    size_t len = 0;
    cr_assert(bundle_write(bundle, &pem, &len, &fault), "%s", fault.text);
    cr_assert_eq(strlen(pem), len);
    cr_assert(bundle_read((struct text){pem, len}, &back, &fault));
    cr_assert_eq(sk_X509_num(back), 2);
    cr_expect(bundle_has(back, authority_certificate(a)));
    cr_expect(bundle_has(back, authority_certificate(b)));
    free(pem);
    pem_chain_free(back);
    pem_chain_free(bundle);
    authority_free(a);
    authority_free(b);
}

Test(base64, goes_there_and_back) {
    static const struct {
        const char *bytes, *text;
    } cases[] = {{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct secret_bytes text = {0}, bytes = {0};
        struct fault fault = {0};
        cr_assert(base64_encode(text_of(cases[i].bytes), &text, &fault));
        cr_expect_str_eq(text.ptr, cases[i].text);
        cr_assert(base64_decode(text_of(cases[i].text), 6, &bytes, &fault), "%s", fault.text);
        cr_expect_str_eq(bytes.ptr, cases[i].bytes);
        cr_expect_eq(bytes.len, strlen(cases[i].bytes));
        secret_bytes_release(&text);
        secret_bytes_release(&bytes);
    }
}

Test(base64, refuses_what_is_none_and_what_is_too_much) {
    static const char *const texts[] = {"Z",    "Zg",   "Zg=",  "Z===",         "====", "Zm9v\n", "Zm 9",
                                        "Zm9-", "Zg=g", "=Zg=", "Zm9vZg==Zm9v", " Zg=", "Zm9\x80"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct secret_bytes bytes = {0};
        struct fault fault = {0};
        cr_expect_not(base64_decode(text_of(texts[i]), 100, &bytes, &fault), "%s", texts[i]);
        cr_expect_eq(fault.code, FAULT_INPUT, "%s", texts[i]);
    }
    struct secret_bytes bytes = {0};
    struct fault fault = {0};
    cr_expect_not(base64_decode(text_of("Zm9vYmFyZm9v"), 6, &bytes, &fault));
    cr_expect_eq(fault.code, FAULT_LIMIT);
}
