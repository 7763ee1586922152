// SPDX-License-Identifier: Apache-2.0
// What headers alone decide.
#include <criterion/criterion.h>

#include "server/http/head.h"

struct header {
    const char *name;
    const char *value;
};

#define HEAD(method, path, ...) judge((method), (path), (const struct header[]){__VA_ARGS__, {NULL, NULL}})

static size_t length_bytes;

static enum refusal judge(const char *method, const char *path, const struct header *headers) {
    struct head head = {.method = text_of(method), .route = route_of(text_of(path))};
    for (; headers->name != NULL; headers++) head_add(&head, text_of(headers->name), text_of(headers->value));
    length_bytes = 4711;
    return head_judge(&head, 1000, &length_bytes);
}

static const struct header json = {"Content-Type", "application/json"};

Test(head, a_review_is_taken) {
    cr_expect_eq(HEAD("POST", "/validate", json, {"Content-Length", "7"}), REFUSED_NOT);
    cr_expect_eq(length_bytes, 7);
    cr_expect_eq(HEAD("POST", "/validate/scope", json, {"Content-Length", "7"}), REFUSED_NOT);
    cr_expect_eq(HEAD("POST", "/mutate", json, {"content-length", " 0 "}), REFUSED_NOT);
    cr_expect_eq(length_bytes, 0);
    cr_expect_eq(HEAD("POST", "/validate", {"CONTENT-TYPE", "Application/JSON; charset=utf-8"},
                      {"Content-Length", "1000"}, {"X-Other", "y"}),
                 REFUSED_NOT);
    cr_expect_eq(HEAD("POST", "/validate", json, {"Content-Length", "7"}, {"Content-Encoding", "identity"}),
                 REFUSED_NOT);
}

Test(head, other_paths_are_not_found) {
    static const char *const paths[] = {
        "/", "/validate/", "/validate/x", "/Validate", "/metrics", "/debug/pprof", ""};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        cr_expect_eq(HEAD("POST", paths[i], json, {"Content-Length", "7"}), REFUSED_PATH, "%s", paths[i]);
    cr_expect_eq(HEAD("GET", "/livez", json), REFUSED_PATH);
}

Test(head, other_methods_are_refused) {
    static const char *const methods[] = {"GET",     "PUT",   "DELETE", "HEAD",
                                          "OPTIONS", "TRACE", "post",   "POST "};
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        cr_expect_eq(HEAD(methods[i], "/validate", json, {"Content-Length", "7"}), REFUSED_METHOD, "%s",
                     methods[i]);
    cr_expect_eq(refusal_status(REFUSED_METHOD), 405);
}

Test(head, names_that_another_reader_would_read_otherwise) {
    static const char *const bad[] = {"Transfer-Encoding ", "Content-Length\t", "", "X Y", "X:", "\x01X"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_expect_eq(HEAD("POST", "/validate", json, {"Content-Length", "7"}, {bad[i], "chunked"}),
                     REFUSED_HEADER, "%s", bad[i]);
    cr_expect_eq(HEAD("POST", "/validate", json, {"Content-Length", "7"}, {"x-_.~!#$%&'*+^`|1A", "b"}),
                 REFUSED_NOT);
    cr_expect_eq(refusal_status(REFUSED_HEADER), 400);
}

Test(head, lengths) {
    cr_expect_eq(HEAD("POST", "/validate", json), REFUSED_LENGTH_MISSING);
    cr_expect_eq(HEAD("POST", "/validate", json, {"Transfer-Encoding", "chunked"}), REFUSED_LENGTH_MISSING);
    cr_expect_eq(HEAD("POST", "/validate", json, {"Transfer-Encoding", "identity"}), REFUSED_LENGTH_MISSING);
    cr_expect_eq(HEAD("POST", "/validate", json, {"Transfer-Encoding", "x"}, {"Content-Length", "7"}),
                 REFUSED_LENGTH);
    cr_expect_eq(HEAD("POST", "/validate", json, {"Content-Length", "7"}, {"Content-Length", "7"}),
                 REFUSED_LENGTH);
    static const char *const bad[] = {
        "", "-1", "+7", "7, 7", "7 7", "0x7", "7.", "18446744073709551616", "99999999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_expect_eq(HEAD("POST", "/validate", json, {"Content-Length", bad[i]}), REFUSED_LENGTH, "%s",
                     bad[i]);
    cr_expect_eq(HEAD("POST", "/validate", json, {"Content-Length", "1001"}), REFUSED_TOO_LARGE);
    cr_expect_eq(HEAD("POST", "/validate", json, {"Content-Length", "18446744073709551615"}),
                 REFUSED_TOO_LARGE);
    cr_expect_eq(length_bytes, 4711, "untouched");
    cr_expect_eq(refusal_status(REFUSED_LENGTH_MISSING), 411);
    cr_expect_eq(refusal_status(REFUSED_LENGTH), 400);
    cr_expect_eq(refusal_status(REFUSED_TOO_LARGE), 413);
}

Test(head, types) {
    static const char *const bad[] = {"text/plain",
                                      "application/yaml",
                                      "application/vnd.kubernetes.protobuf",
                                      "",
                                      "application/json-patch+json",
                                      "application/jsonx",
                                      "json"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_expect_eq(HEAD("POST", "/validate", {"Content-Type", bad[i]}, {"Content-Length", "7"}),
                     REFUSED_CONTENT_TYPE, "%s", bad[i]);
    cr_expect_eq(HEAD("POST", "/validate", {"Content-Length", "7"}), REFUSED_CONTENT_TYPE);
    cr_expect_eq(HEAD("POST", "/validate", json, json, {"Content-Length", "7"}), REFUSED_CONTENT_TYPE);
    cr_expect_eq(HEAD("POST", "/validate", json, {"Content-Length", "7"}, {"Content-Encoding", "gzip"}),
                 REFUSED_CONTENT_ENCODING);
    cr_expect_eq(refusal_status(REFUSED_CONTENT_TYPE), 415);
    cr_expect_eq(refusal_status(REFUSED_CONTENT_ENCODING), 415);
}

Test(head, every_refusal_has_words_and_no_redirect) {
    for (int i = 0; i < REFUSAL_COUNT; i++) {
        const char *words = refusal_words((enum refusal)i);
        cr_expect_gt(strlen(words), 2);
        cr_expect_eq(words[strlen(words) - 1], '\n');
        unsigned status = refusal_status((enum refusal)i);
        cr_expect(status == 200 || status >= 400, "%u", status);
    }
}
