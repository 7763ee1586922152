// SPDX-License-Identifier: Apache-2.0
// The Secret of the CA as the API server writes and takes it.
#include <criterion/criterion.h>

#include <stdlib.h>

#include "server/operate/serving_secret.h"

#define NOW ((time_t)1800000000)

static const struct rotation_lives lives = {.ca_s = 86400, .leaf_s = 3600, .settle_ms = 1000};

static struct serving_secret read_body(const char *body) {
    struct serving_secret secret;
    struct fault fault = {0};
    cr_assert(serving_secret_read(text_of(body), &secret, &fault), "%s", fault.text);
    return secret;
}

Test(serving_secret, fields_are_decoded_and_others_passed_over) {
    struct serving_secret secret = read_body(
        "{\"kind\":\"Secret\",\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"77\",\"labels\":{\"x\":"
        "\"y\"}},"
        "\"data\":{\"other\":\"Zm9v\",\"tls.crt\":\"Zm9v\",\"next.key\":\"Zg==\"},\"type\":\"Opaque\"}");
    cr_expect(secret.exists);
    cr_expect_str_eq(secret.version, "77");
    cr_expect_str_eq(secret.content.fields[CA_FIELD_CERTIFICATE].ptr, "foo");
    cr_expect_str_eq(secret.content.fields[CA_FIELD_NEXT_KEY].ptr, "f");
    cr_expect_eq(secret.content.fields[CA_FIELD_KEY].len, 0);
    cr_expect_eq(secret.content.refused.code, FAULT_NONE);
    serving_secret_release(&secret);
}

Test(serving_secret, one_without_data_is_empty) {
    static const char *const bodies[] = {
        "{\"metadata\":{\"resourceVersion\":\"1\"}}",
        "{\"metadata\":{\"resourceVersion\":\"1\"},\"data\":null}",
        "{\"metadata\":{\"resourceVersion\":\"1\"},\"data\":{\"tls.crt\":\"\",\"tls.key\":\"\"}}"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct serving_secret secret = read_body(bodies[i]);
        struct ca_set set;
        struct fault fault = {0};
        cr_assert(ca_set_read(&secret.content, NOW, &set, &fault));
        cr_expect_eq(set.state, CA_NONE, "body %zu", i);
        ca_set_release(&set);
        serving_secret_release(&secret);
    }
}

Test(serving_secret, what_cannot_be_decoded_is_unusable_and_says_why) {
    size_t len = 200000;
    char *body = malloc(len + 200);
    int head = snprintf(
        body, 200, "{\"metadata\":{\"resourceVersion\":\"1\"},\"data\":{\"tls.key\":\"Zg==\",\"tls.crt\":\"");
    memset(body + head, 'A', len);
    snprintf(body + head + (int)len, 100, "\"}}");
    const char *const bodies[] = {
        body, "{\"metadata\":{\"resourceVersion\":\"1\"},\"data\":{\"tls.crt\":\"Zg==\",\"tls.key\":\"?\"}}"};
    static const char *const whys[] = {"tls.crt: about 150000 bytes; at most 95000 are read",
                                       "tls.key: no base64"};
    for (size_t i = 0; i < 2; i++) {
        struct serving_secret secret = read_body(bodies[i]);
        struct ca_set set;
        struct fault fault = {0};
        cr_assert(ca_set_read(&secret.content, NOW, &set, &fault));
        cr_expect_eq(set.state, CA_UNUSABLE);
        cr_expect_str_eq(set.why.text, whys[i]);
        ca_set_release(&set);
        serving_secret_release(&secret);
    }
    free(body);
}

Test(serving_secret, what_is_no_secret_is_refused) {
    static const char *const bodies[] = {
        "",
        "[]",
        "{",
        "{\"data\":{}}",
        "{\"metadata\":{\"resourceVersion\":\"1\"}}x",
        "{\"metadata\":{\"resourceVersion\":\"1\"},\"data\":{\"tls.crt\":\"Zg==\",\"tls.crt\":\"Zg==\"}}"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct serving_secret secret;
        struct fault fault = {0};
        cr_expect_not(serving_secret_read(text_of(bodies[i]), &secret, &fault), "%s", bodies[i]);
        cr_expect_neq(fault.text[0], '\0');
    }
}

Test(serving_secret, what_is_made_can_be_read_back) {
    struct serving_secret none = {.exists = false};
    struct ca_set empty, set;
    struct ca_change change;
    struct secret_bytes body = {0};
    struct fault fault = {0};
    cr_assert(ca_set_read(&none.content, NOW, &empty, &fault));
    cr_assert(rotation_change(&empty, ROTATION_FILL, &lives, NOW, &change, &fault), "%s", fault.text);
    cr_assert(serving_secret_write(&none, "guard", "drawbridge-ca", &change, &body, &fault), "%s",
              fault.text);
    cr_expect_not_null(strstr(body.ptr, "\"name\":\"drawbridge-ca\",\"namespace\":\"guard\""));
    cr_expect_not_null(strstr(body.ptr, "\"type\":\"kubernetes.io/tls\""));
    cr_expect_null(strstr(body.ptr, "null"), "nothing is to be taken out of a new one");
    // The server adds a version.
    char *stored = malloc(body.len + 64);
    const char *at = strstr(body.ptr, "\"metadata\":{") + strlen("\"metadata\":{");
    snprintf(stored, body.len + 64, "%.*s\"resourceVersion\":\"9\",%.*s", (int)(at - body.ptr), body.ptr,
             (int)(body.ptr + body.len - at), at);
    struct serving_secret back = read_body(stored);
    cr_assert(ca_set_read(&back.content, NOW, &set, &fault));
    cr_expect_eq(set.state, CA_USABLE);
    ca_set_release(&set);
    ca_set_release(&empty);
    secret_bytes_release(&body);
    // And a patch of it carries the version and takes out what has to go.
    ca_change_release(&change);
    change.set[CA_FIELD_NEXT_KEY] = true;
    cr_assert(serving_secret_write(&back, "guard", "drawbridge-ca", &change, &body, &fault));
    static const char expected[] = "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":"
                                   "\"drawbridge-ca\",\"namespace\":\"guard\","
                                   "\"resourceVersion\":\"9\"},\"data\":{\"next.key\":null}}";
    cr_expect(text_equal(secret_bytes_text(&body), text_of(expected)), "%.*s", (int)body.len, body.ptr);
    secret_bytes_release(&body);
    serving_secret_release(&back);
    free(stored);
}
