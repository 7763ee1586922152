// SPDX-License-Identifier: Apache-2.0
// Bodies of AdmissionReviews for tests, as an API server writes them.
#ifndef DRAWBRIDGE_UNIT_REVIEW_BODY_H
#define DRAWBRIDGE_UNIT_REVIEW_BODY_H

#include "validators/core/text.h"

struct review_parts {
    const char *uid; // a JSON value, with its quotes; NULL: "u-1"
    const char *kind;
    const char *resource;
    const char *subresource; // NULL: none
    const char *operation;   // NULL: CREATE
    const char *object;      // JSON; NULL: null
    const char *old_object;  // JSON; NULL: null
    const char *more;        // further members of the request, each with a comma before it
};

// What it does: a whole review. Owner: the arena, NUL-terminated.
struct text review_body(struct arena *arena, const struct review_parts *parts);

// A good claim, and a good slice with one device that has one mapping. `spec_more` goes into spec.
struct text review_claim(struct arena *arena, const char *parameters);
struct text review_slice(struct arena *arena, const char *resource, const char *multiplier);

#endif
