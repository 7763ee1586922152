// SPDX-License-Identifier: Apache-2.0
// Routes, and what headers alone decide.
#include "server/http/head.h"

#include <string.h>
#include <strings.h>

struct refusal_row {
    unsigned status;
    const char *words;
};

static const struct refusal_row refusals[REFUSAL_COUNT] = {
    [REFUSED_NOT] = {200, "ok\n"},
    [REFUSED_PATH] = {404, "not found: reviews go to /validate or /mutate\n"},
    [REFUSED_METHOD] = {405, "method not allowed: send the review with POST\n"},
    [REFUSED_LENGTH_MISSING] = {411, "length required: send a Content-Length and no Transfer-Encoding\n"},
    [REFUSED_HEADER] = {400, "bad request: the name of a header is malformed\n"},
    [REFUSED_LENGTH] = {400, "bad request: send exactly one Content-Length and no Transfer-Encoding\n"},
    [REFUSED_CONTENT_TYPE] = {415, "unsupported media type: send application/json\n"},
    [REFUSED_CONTENT_ENCODING] = {415, "unsupported media type: send the body without Content-Encoding\n"},
    [REFUSED_TOO_LARGE] = {413, "content too large\n"},
    [REFUSED_SHED] = {503, "overloaded: too many bytes of reviews are in flight, try again\n"},
    [REFUSED_CLIENT] = {403, "forbidden: the caller's certificate was not accepted\n"},
    [REFUSED_MEMORY] = {503, "overloaded: no memory for this review, try again\n"},
};

unsigned refusal_status(enum refusal refusal) {
    return refusals[refusal].status;
}

const char *refusal_words(enum refusal refusal) {
    return refusals[refusal].words;
}

enum route route_of(struct text path) {
    if (text_equal(path, TEXT("/validate"))) return ROUTE_VALIDATE;
    if (text_equal(path, TEXT("/validate/scope"))) return ROUTE_SCOPE;
    if (text_equal(path, TEXT("/mutate"))) return ROUTE_MUTATE;
    return ROUTE_NONE;
}

static bool equal_without_case(struct text a, struct text b) {
    return a.len == b.len && (a.len == 0 || strncasecmp(a.ptr, b.ptr, a.len) == 0);
}

static struct text trimmed(struct text text) {
    size_t start = 0;
    size_t end = text.len;
    while (start < end && (text.ptr[start] == ' ' || text.ptr[start] == '\t')) start++;
    while (end > start && (text.ptr[end - 1] == ' ' || text.ptr[end - 1] == '\t')) end--;
    return text_slice(text, start, end);
}

// A word as RFC 9110 has it. MHD takes blanks before the colon as part of the name, so that the name is not
// the one that the next reader sees.
static bool is_word(struct text name) {
    if (name.len == 0) return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool alphanumeric = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!alphanumeric && (c == '\0' || strchr("!#$%&'*+-.^_`|~", c) == NULL)) return false;
    }
    return true;
}

void head_add(struct head *head, struct text name, struct text value) {
    if (!is_word(name)) head->malformed_name = true;
    value = trimmed(value);
    if (equal_without_case(name, TEXT("Content-Length"))) {
        head->content_length_count++;
        head->content_length = value;
    } else if (equal_without_case(name, TEXT("Content-Type"))) {
        head->content_type_count++;
        head->content_type = value;
    } else if (equal_without_case(name, TEXT("Transfer-Encoding"))) {
        head->transfer_encoding = true;
    } else if (equal_without_case(name, TEXT("Content-Encoding"))) {
        if (!equal_without_case(value, TEXT("identity"))) head->content_encoding = true;
    }
}

// Digits only: no sign, no blank inside, no list of equal lengths.
static bool parse_length(struct text text, size_t *ret_length) {
    size_t length = 0;
    if (text.len == 0) return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') return false;
        if (__builtin_mul_overflow(length, 10, &length) ||
            __builtin_add_overflow(length, (size_t)(text.ptr[i] - '0'), &length))
            return false;
    }
    *ret_length = length;
    return true;
}

// application/json, with any parameters.
static bool is_json(struct text content_type) {
    size_t end = text_find(content_type, ';', 0);
    return equal_without_case(trimmed(text_slice(content_type, 0, end)), TEXT("application/json"));
}

enum refusal head_judge(const struct head *head, size_t max_bytes, size_t *ret_length_bytes) {
    size_t length;
    if (head->route == ROUTE_NONE) return REFUSED_PATH;
    if (!text_equal(head->method, TEXT("POST"))) return REFUSED_METHOD;
    if (head->malformed_name) return REFUSED_HEADER;
    if (head->transfer_encoding)
        return head->content_length_count > 0 ? REFUSED_LENGTH : REFUSED_LENGTH_MISSING;
    if (head->content_length_count == 0) return REFUSED_LENGTH_MISSING;
    if (head->content_length_count > 1 || !parse_length(head->content_length, &length)) return REFUSED_LENGTH;
    if (head->content_type_count != 1 || !is_json(head->content_type)) return REFUSED_CONTENT_TYPE;
    if (head->content_encoding) return REFUSED_CONTENT_ENCODING;
    if (length > max_bytes) return REFUSED_TOO_LARGE;
    *ret_length_bytes = length;
    return REFUSED_NOT;
}
