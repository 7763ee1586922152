// SPDX-License-Identifier: Apache-2.0
// Body → answer.
#include "server/review/judge.h"

#define SCHEDULING_GATE "drawbridge.dev/ledger"

#define HTTP_OK          200u
#define HTTP_BAD_REQUEST 400u
#define HTTP_UNAVAILABLE 503u

// Ours to answer for: the caller may well be an API server.
static bool is_our_failure(enum review_error error) {
    return error == REVIEW_TOO_COMPLEX || error == REVIEW_NO_MEMORY;
}

static void answer_failed(const struct judge *judge, struct out *out, struct judgement *judgement) {
    judgement->http_status = HTTP_OK;
    judgement->decision = DECISION_FAILED;
    judgement->answer_allowed = atomic_load_explicit(&judge->fail_open, memory_order_relaxed);
    out->len = 0;
    out->full = false;
    response_failed(out, judgement->review.uid, judgement->answer_allowed);
}

static void answer_error(const struct judge *judge, struct out *out, struct judgement *judgement) {
    const struct text uid = judgement->review.uid;
    if (is_our_failure(judgement->error) && uid.len > 0 && uid.len <= REVIEW_UID_LIMIT_BYTES) {
        answer_failed(judge, out, judgement);
        return;
    }
    judgement->http_status = judgement->error == REVIEW_NO_MEMORY ? HTTP_UNAVAILABLE : HTTP_BAD_REQUEST;
    out_text(out, text_of(response_error_words(judgement->error)));
}

static bool has_gate(const struct pod *pod) {
    for (size_t i = 0; i < pod->scheduling_gates.count; i++)
        if (text_equal(pod->scheduling_gates.items[i], TEXT(SCHEDULING_GATE))) return true;
    return false;
}

// The only patch there is: the scheduling gate of a Pod that would find no fresh node. Asked again, it is
// there already and nothing is added.
static void mutate(const struct judge *judge, struct arena *arena, struct out *out,
                   struct judgement *judgement) {
    const struct review *review = &judgement->review;
    bool add;
    if (!gate_holds_pod(&judge->gate, review, arena, &add)) {
        answer_failed(judge, out, judgement);
        return;
    }
    if (!add || has_gate(&review->object.pod))
        response_allowed(out, review->uid);
    else if (review->object.pod.scheduling_gates.set)
        response_patched(out, review->uid,
                         TEXT("[{\"op\":\"add\",\"path\":\"/spec/schedulingGates/-\",\"value\":"
                              "{\"name\":\"" SCHEDULING_GATE "\"}}]"));
    else
        response_patched(out, review->uid,
                         TEXT("[{\"op\":\"add\",\"path\":\"/spec/schedulingGates\",\"value\":"
                              "[{\"name\":\"" SCHEDULING_GATE "\"}]}]"));
    if (out->full) answer_failed(judge, out, judgement);
}

void review_judge(const struct judge *judge, enum review_path path, struct text body, struct arena *arena,
                  struct out *out, struct judgement *ret_judgement) {
    struct judgement *judgement = ret_judgement;
    judgement->http_status = HTTP_OK;
    judgement->decision = DECISION_ALLOWED;
    judgement->answer_allowed = true;
    judgement->unexpected = false;
    judgement->code = 0;
    out->len = 0;
    out->full = false;
    finding_list_init(&judgement->findings, arena);
    judgement->error = review_decode(arena, body, judge->gate.minor, path != PATH_MUTATE, &judgement->review,
                                     &judgement->findings);
    if (judgement->error != REVIEW_FINE) {
        answer_error(judge, out, judgement);
        return;
    }
    if (path == PATH_MUTATE) {
        mutate(judge, arena, out, judgement);
        return;
    }
    if (!review_is_judged(&judgement->review)) {
        judgement->unexpected = true;
        response_allowed(out, judgement->review.uid);
        return;
    }
    judgement->review.scope_only = path == PATH_SCOPE;
    gate_judge(&judge->gate, &judgement->review, arena, &judgement->findings);
    judgement->decision =
        response_verdict(out, arena, &judgement->review, &judgement->findings, &judgement->code);
    judgement->answer_allowed = judgement->decision != DECISION_DENIED;
    // Asked once, at the end: an empty list from a poisoned arena is no verdict.
    if (!finding_list_is_sound(&judgement->findings) || out->full) answer_failed(judge, out, judgement);
}
