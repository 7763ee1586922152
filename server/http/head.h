// SPDX-License-Identifier: Apache-2.0
// What is decided from the request line and the headers alone, before a byte of the body is read. Pure.
#ifndef DRAWBRIDGE_HTTP_HEAD_H
#define DRAWBRIDGE_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>

#include "validators/core/text.h"

enum route { ROUTE_NONE, ROUTE_VALIDATE, ROUTE_SCOPE, ROUTE_MUTATE };

// Routes look at the path only, never at the query: the API server appends `?timeout=`.
enum route route_of(struct text path);

// Gathered header by header with head_add.
struct head {
    struct text method;
    enum route route;
    bool malformed_name; // a header whose name is not a word: others may read another name in it
    bool transfer_encoding;
    bool content_encoding; // one that is not "identity"
    unsigned content_length_count;
    struct text content_length; // the last one
    unsigned content_type_count;
    struct text content_type;
};

// What it does: notes a header if it matters. Names are compared without regard to case.
void head_add(struct head *head, struct text name, struct text value);

enum refusal {
    REFUSED_NOT,
    REFUSED_PATH,             // 404
    REFUSED_METHOD,           // 405, with Allow
    REFUSED_LENGTH_MISSING,   // 411: no Content-Length, or a Transfer-Encoding
    REFUSED_HEADER,           // 400: a header whose name is not a word
    REFUSED_LENGTH,           // 400: two lengths, a length beside a Transfer-Encoding, not a number
    REFUSED_CONTENT_TYPE,     // 415
    REFUSED_CONTENT_ENCODING, // 415
    REFUSED_TOO_LARGE,        // 413
    REFUSED_SHED,             // 503: too many bytes in flight
    REFUSED_CLIENT,           // 403: the caller's certificate
    REFUSED_MEMORY,           // 503: our own
    REFUSAL_COUNT
};

// The status and the words of an answer (static text).
unsigned refusal_status(enum refusal refusal);
const char *refusal_words(enum refusal refusal);

// What it does: judges a gathered head. REFUSED_NOT sets *ret_length_bytes to the body's length.
enum refusal head_judge(const struct head *head, size_t max_bytes, size_t *ret_length_bytes);

#endif
