// SPDX-License-Identifier: Apache-2.0
// Body → answer: the whole of what the HTTP layer calls. No I/O, no clock, no logging; metrics and log lines
// are made from the judgement by the caller.
#ifndef DRAWBRIDGE_REVIEW_JUDGE_H
#define DRAWBRIDGE_REVIEW_JUDGE_H

#include <stdatomic.h>

#include "server/review/gate.h"
#include "server/review/response.h"

struct judge {
    struct gate gate;
    _Atomic bool fail_open; // --failure-policy=Ignore: what we could not judge is let through
};

// PATH_SCOPE is asked outside of the canary: of the rules only canary-scope judges.
enum review_path { PATH_VALIDATE, PATH_SCOPE, PATH_MUTATE };

struct judgement {
    unsigned http_status; // 200: `out` holds an AdmissionReview; else a line of plain text
    enum review_error error;
    enum decision decision; // meaningful when http_status is 200
    bool answer_allowed;    // what a failed decision was answered with
    bool unexpected;        // not about what we judge: allowed
    unsigned code;          // status code of a denial, else 0
    struct review review;
    struct finding_list findings; // sorted; valid as long as the arena
};

// What it does: judges one body. Everything but the answer lives in the arena, which the caller clears
// afterwards. out should have RESPONSE_BYTES. Once request.uid is readable the answer is 200 with a verdict,
// our own failures included. Thread: any; arena and out belong to one call at a time.
void review_judge(const struct judge *judge, enum review_path path, struct text body, struct arena *arena,
                  struct out *out, struct judgement *ret_judgement);

#endif
