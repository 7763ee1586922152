// SPDX-License-Identifier: Apache-2.0
// Review → verdict. Whatever the bytes are: the answer is whole, a 200 is a well-formed AdmissionReview that
// carries the uid, and judging twice gives the same answer.
#include <stdint.h>
#include <stdlib.h>

#include "server/review/judge.h"

#define ARENA_BYTES ((size_t)16 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Ends the run, so that the input is kept.
static void demand(bool holds) {
    if (!holds) abort();
}

enum { ANSWER_UID, ANSWER_ALLOWED, ANSWER_STATUS, ANSWER_WARNINGS, ANSWER_ANNOTATIONS };
static const struct json_name answer_names[] = {JSON_NAME("uid"), JSON_NAME("allowed"), JSON_NAME("status"),
                                                JSON_NAME("warnings"), JSON_NAME("auditAnnotations")};
static const struct json_fields answer_fields = JSON_FIELDS(answer_names);
enum { FIELD_KIND, FIELD_API_VERSION, FIELD_RESPONSE };
static const struct json_name review_names[] = {JSON_NAME("kind"), JSON_NAME("apiVersion"),
                                                JSON_NAME("response")};
static const struct json_fields review_fields = JSON_FIELDS(review_names);

// Reads an answer strictly: nothing unknown, nothing twice.
static void check_answer(struct text answer, struct text uid, bool allowed) {
    static struct json_reader reader;
    struct arena arena;
    struct finding_list findings;
    struct text echoed = {NULL, 0};
    bool said = false;
    struct fault fault;
    arena_init(&arena, ARENA_BYTES);
    finding_list_init(&findings, &arena);
    json_init(&reader, answer, &arena, &findings, JSON_STRICT);
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(&reader, &review_fields, &seen, &field)) {
        uint64_t inner = JSON_BEGIN;
        if (field != FIELD_RESPONSE) {
            json_skip(&reader);
            continue;
        }
        while (json_field(&reader, &answer_fields, &inner, &field)) {
            if (field == ANSWER_UID)
                json_text(&reader, &echoed);
            else if (field == ANSWER_ALLOWED)
                json_bool(&reader, &said);
            else
                json_skip(&reader);
        }
        demand(JSON_SEEN(inner, ANSWER_STATUS) == !allowed);
    }
    demand(json_finish(&reader, &fault) && findings.count == 0);
    demand(said == allowed && text_equal(echoed, uid));
    arena_release(&arena);
}

static void judge_twice(enum review_path path, struct text body) {
    static struct judge judge;
    static struct judgement judgement;
    static char answers[2][RESPONSE_BYTES];
    size_t lens[2];
    struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    judge.gate.minor = body.len % 2 == 0 ? MINOR_36 : MINOR_37;
    for (int i = 0; i < 2; i++) {
        struct out out = out_of(answers[i], RESPONSE_BYTES);
        arena_clear(&arena);
        review_judge(&judge, path, body, &arena, &out, &judgement);
        demand(!out.full && out.len > 0);
        lens[i] = out.len;
        if (judgement.http_status == 200)
            check_answer((struct text){out.ptr, out.len}, judgement.review.uid, judgement.answer_allowed);
        else
            demand(judgement.http_status == 400 && judgement.error != REVIEW_FINE);
    }
    demand(lens[0] == lens[1] && memcmp(answers[0], answers[1], lens[0]) == 0);
    arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct text body = {(const char *)data, size};
    judge_twice(PATH_VALIDATE, body);
    judge_twice(PATH_MUTATE, body);
    return 0;
}
