// SPDX-License-Identifier: Apache-2.0
// Verdict → AdmissionReview. Never a status below 400 for a denial, and only the codes 422 (schema and units)
// and 403 (policy). Source: k8s.io/apiserver v0.36.3 pkg/admission/plugin/webhook/request/admissionreview.go
// and pkg/admission/plugin/webhook/errors/statuserror.go, for what the API server makes of it.
#ifndef DRAWBRIDGE_REVIEW_RESPONSE_H
#define DRAWBRIDGE_REVIEW_RESPONSE_H

#include "server/out.h"
#include "server/review/review.h"

// Every answer fits in here: ten findings, each cut to its limit, escaped.
#define RESPONSE_BYTES ((size_t)64 * 1024)

enum decision {
    DECISION_ALLOWED,
    DECISION_WARNED,  // allowed, with warnings
    DECISION_AUDITED, // allowed, with an audit annotation only
    DECISION_DENIED,
    DECISION_FAILED, // our own failure, answered as --failure-policy says
    DECISION_COUNT
};

// "allowed", "warned", … : the value of a metric's label (static text).
const char *decision_name(enum decision decision);

// What it does: the plain answer, allowed without a word.
void response_allowed(struct out *out, struct text uid);

// What it does: allowed, with a JSON patch.
void response_patched(struct out *out, struct text uid, struct text patch);

// What it does: the answer for what was found. Sorts the findings. *ret_code is the status code of a denial,
// 0 otherwise. Errors: sticky in the arena and in out->full; the caller must then answer response_failed.
enum decision response_verdict(struct out *out, struct arena *arena, const struct review *review,
                               struct finding_list *findings, unsigned *ret_code);

// What it does: the answer when drawbridge could not judge. Nothing of the cause is in it.
void response_failed(struct out *out, struct text uid, bool allowed);

// The words for a body that is not a review, for a caller that is not an API server (static text).
const char *response_error_words(enum review_error error);

// What it does: a warning of at most 120 bytes without line breaks: the end of the path, what is wrong, the
// rule. Owner: the arena. Errors: empty, arena poisoned.
struct text response_warning(struct arena *arena, const struct finding *finding);

#endif
