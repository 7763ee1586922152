// SPDX-License-Identifier: Apache-2.0
// Body → answer: what is a review, what is not, and what callers may put into one. Case numbers are those of
// the list of faults and attacks.
#include <criterion/criterion.h>

#include "server/review/judge.h"
#include "unit/lib/parsed.h"
#include "unit/lib/review_body.h"

struct court {
    struct judge judge;
    struct arena bodies; // what tests write
    struct arena arena;  // what judging uses
    char answer[RESPONSE_BYTES];
    struct out out;
    struct judgement judgement;
    struct parsed *review; // the last answer, NULL when it was no review
};

static struct court *court_new(void) {
    struct court *court = calloc(1, sizeof *court);
    court->judge.gate.minor = MINOR_36;
    arena_init(&court->bodies, 64u << 20);
    arena_init(&court->arena, 16u << 20);
    court->out = out_of(court->answer, sizeof court->answer);
    return court;
}

static void court_free(struct court *court) {
    parsed_free(court->review);
    arena_release(&court->bodies);
    arena_release(&court->arena);
    free(court);
}

// Judges and parses the answer, which must be a whole one.
static void ask(struct court *court, enum review_path path, struct text body) {
    parsed_free(court->review);
    court->review = NULL;
    arena_clear(&court->arena);
    review_judge(&court->judge, path, body, &court->arena, &court->out, &court->judgement);
    cr_assert_not(court->out.full);
    if (court->judgement.http_status != 200) return;
    court->review = parsed_new(court->out.ptr, court->out.len);
    cr_expect_str_eq(parsed_text(court->review, "kind", NULL), "AdmissionReview");
    cr_expect_str_eq(parsed_text(court->review, "apiVersion", NULL), "admission.k8s.io/v1");
    cr_expect_not(parsed_has(court->review, "request"));
    cr_expect_not(parsed_has(court->review, "response/patch"));
    cr_expect_not(parsed_has(court->review, "response/patchType"));
}

static bool allowed(const struct court *court) {
    return court->review != NULL && parsed_is_true(court->review, "response/allowed");
}

static const char *text_at(const struct court *court, const char *path) {
    return parsed_text(court->review, path, NULL);
}

static const char *message_of(const struct court *court) {
    return text_at(court, "response/status/message");
}

static void expect_error(struct court *court, struct text body, enum review_error error) {
    ask(court, PATH_VALIDATE, body);
    cr_expect_eq(court->judgement.http_status, 400, "%.*s", TEXT_ARG(body));
    cr_expect_eq(court->judgement.error, error, "%u for %.*s", court->judgement.error, TEXT_ARG(body));
    cr_expect_null(memchr(court->out.ptr, '{', court->out.len), "no review in a 400");
}

static struct text claim_review(struct court *court, const char *parameters, const char *uid) {
    struct review_parts parts = {.kind = "ResourceClaim",
                                 .resource = "resourceclaims",
                                 .object = review_claim(&court->bodies, parameters).ptr,
                                 .uid = uid};
    return review_body(&court->bodies, &parts);
}

static struct text slice_review(struct court *court, const char *resource, const char *multiplier) {
    struct review_parts parts = {.kind = "ResourceSlice",
                                 .resource = "resourceslices",
                                 .object = review_slice(&court->bodies, resource, multiplier).ptr};
    return review_body(&court->bodies, &parts);
}

Test(judge, a_good_claim_is_allowed_without_a_word) {
    struct court *court = court_new();
    ask(court, PATH_VALIDATE, claim_review(court, NULL, NULL));
    cr_expect_eq(court->judgement.http_status, 200);
    cr_expect_eq(court->judgement.decision, DECISION_ALLOWED);
    cr_expect(text_equal((struct text){court->out.ptr, court->out.len},
                         TEXT("{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\","
                              "\"response\":{\"uid\":\"u-1\",\"allowed\":true}}")),
              "%.*s", (int)court->out.len, court->out.ptr);
    cr_expect_eq(court->judgement.review.unknown_count, 0);
    cr_expect(text_equal(court->judgement.review.object.claim.metadata.uid, TEXT("c-1")));
    court_free(court);
}

Test(judge, a_bad_slice_is_denied_with_field_reason_and_rule) {
    struct court *court = court_new();
    ask(court, PATH_VALIDATE, slice_review(court, "memory", "500m"));
    cr_expect_eq(court->judgement.decision, DECISION_DENIED);
    cr_expect_not(allowed(court));
    cr_expect_eq(court->judgement.code, 422);
    cr_expect_eq(parsed_int(court->review, "response/status/code"), 422);
    cr_expect_str_eq(text_at(court, "response/status/status"), "Failure");
    cr_expect_str_eq(text_at(court, "response/status/reason"), "Invalid");
    const char *field = "spec.devices[0].nodeAllocatableResourceMappings[memory].allocationMultiplier";
    const char *message = message_of(court);
    cr_expect_eq(strncmp(message, field, strlen(field)), 0, "%s", message);
    cr_expect_not_null(strstr(message, "500Mi"), "%s", message);
    cr_expect_not_null(strstr(message, "[unit-bytes-fraction]"), "%s", message);
    cr_expect_str_eq(text_at(court, "response/status/details/kind"), "ResourceSlice");
    cr_expect_str_eq(text_at(court, "response/status/details/group"), "resource.k8s.io");
    cr_expect_str_eq(text_at(court, "response/status/details/name"), "thing");
    cr_expect_str_eq(text_at(court, "response/status/details/causes/0/field"), field);
    cr_expect_str_eq(text_at(court, "response/status/details/causes/0/reason"), "FieldValueInvalid");
    cr_expect_str_eq(text_at(court, "response/auditAnnotations/decision"), "deny");
    cr_expect_str_eq(text_at(court, "response/auditAnnotations/rule"), "unit-bytes-fraction");
    court_free(court);
}

Test(judge, c1_what_is_no_json_object_is_a_bad_request) {
    struct court *court = court_new();
    static const char *const bodies[] = {
        "",  " ",   "null",           "[]",      "1",       "true",       "\"x\"",      "{",
        "}", "{}}", "\xEF\xBB\xBF{}", "{\"a\"}", "{'a':1}", "{\"a\":01}", "{\"a\":1,}", "nul"};
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
        expect_error(court, text_of(bodies[i]), REVIEW_NOT_JSON);
    struct text good = claim_review(court, NULL, NULL);
    expect_error(court, text_format(&court->bodies, "%s x", good.ptr), REVIEW_NOT_JSON);
    expect_error(court, text_format(&court->bodies, "%s%s", good.ptr, good.ptr), REVIEW_NOT_JSON);
    court_free(court);
}

Test(judge, c1_a_review_cut_at_any_byte_is_a_bad_request) {
    struct court *court = court_new();
    struct text good = claim_review(court, "{\"a\":[1,\"\\u0000\"]}", NULL);
    for (size_t len = 0; len < good.len; len++) {
        // A copy of its own size, so that a read past the end is seen.
        char *cut = malloc(len + (len == 0));
        memcpy(cut, good.ptr, len);
        expect_error(court, (struct text){cut, len}, REVIEW_NOT_JSON);
        free(cut);
    }
    ask(court, PATH_VALIDATE, good);
    cr_expect(allowed(court), "and the whole one is fine afterwards");
    court_free(court);
}

Test(judge, c2_a_review_without_a_request_is_a_bad_request) {
    struct court *court = court_new();
    static const char *const members[] = {"", ",\"request\":null", ",\"request\":[]", ",\"request\":\"x\"",
                                          ",\"request\":7"};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        expect_error(court,
                     text_format(&court->bodies,
                                 "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\"%s}",
                                 members[i]),
                     REVIEW_NO_REQUEST);
    court_free(court);
}

Test(judge, c3_the_uid_is_echoed_exactly_or_refused) {
    struct court *court = court_new();
    static const char *const unusable[] = {"\"\"", "null", "7", "[]", "{}", "true"};
    for (size_t i = 0; i < sizeof unusable / sizeof unusable[0]; i++)
        expect_error(court, claim_review(court, NULL, unusable[i]), REVIEW_BAD_UID);
    char long_uid[140] = "\"";
    memset(long_uid + 1, 'u', 129);
    long_uid[130] = '"';
    expect_error(court, claim_review(court, NULL, long_uid), REVIEW_BAD_UID);
    long_uid[129] = '"';
    long_uid[130] = '\0';
    ask(court, PATH_VALIDATE, claim_review(court, NULL, long_uid));
    cr_expect_eq(strlen(text_at(court, "response/uid")), 128);

    ask(court, PATH_VALIDATE,
        claim_review(court, NULL, "\"a\\\"\\\\\\n\\u0001\\u0000\xE2\x82\xAC</script>\""));
    cr_assert(allowed(court));
    struct text echoed;
    echoed.ptr = parsed_text(court->review, "response/uid", &echoed.len);
    cr_expect(text_equal(echoed, TEXT("a\"\\\n\x01\0\xE2\x82\xAC</script>")), "%.*s", TEXT_ARG(echoed));
    court_free(court);
}

Test(judge, c4_other_versions_are_never_answered) {
    struct court *court = court_new();
    static const char *const envelopes[] = {
        "\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1beta1\"",
        "\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v2\"",
        "\"kind\":\"AdmissionReview\",\"apiVersion\":\"v1\"",
        "\"kind\":\"AdmissionReview\"",
        "\"apiVersion\":\"admission.k8s.io/v1\"",
        "\"kind\":\"Review\",\"apiVersion\":\"admission.k8s.io/v1\"",
        "\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"response\":{\"uid\":\"u-1\"}",
        "\"kind\":1,\"apiVersion\":\"admission.k8s.io/v1\"",
    };
    for (size_t i = 0; i < sizeof envelopes / sizeof envelopes[0]; i++)
        expect_error(court, text_format(&court->bodies, "{%s,\"request\":{\"uid\":\"u-1\"}}", envelopes[i]),
                     REVIEW_VERSION);
    court_free(court);
}

Test(judge, c5_hostile_parameters_change_nothing) {
    struct court *court = court_new();
    char *deep = calloc(1, 6008);
    memcpy(deep, "{\"a\":", 5);
    memset(deep + 5, '[', 3000);
    memset(deep + 3005, ']', 3000);
    deep[6005] = '}';
    const char *const parameters[] = {
        "{\"a\":9223372036854775808}",
        "{\"a\":1e308}",
        "{\"a\":\"\\u0000\"}",
        "{\"\\u0000\":1}",
        "{\"a\":\"\\ud800\"}",
        "{\"a\":\"\xff\xfe\"}",
        deep,
        "{\"a\":1,\"a\":2}",
        "{\"kind\":\"x\",\"metadata\":1,\"spec\":[]}",
        "{\"a\":-0.0e-0}",
    };
    for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++) {
        ask(court, PATH_VALIDATE, claim_review(court, parameters[i], NULL));
        cr_expect(allowed(court), "%.80s: %.*s", parameters[i], (int)court->out.len, court->out.ptr);
    }
    free(deep);
    court_free(court);
}

Test(judge, c7_duplicate_keys_outside_parameters_are_a_bad_request) {
    struct court *court = court_new();
    struct review_parts parts = {.kind = "ResourceClaim",
                                 .resource = "resourceclaims",
                                 .object = review_claim(&court->bodies, NULL).ptr};
    static const char *const members[] = {",\"uid\":\"u-2\"", ",\"operation\":\"DELETE\"", ",\"dryRun\":true",
                                          ",\"object\":null", ",\"kind\":{}"};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        parts.more = members[i];
        expect_error(court, review_body(&court->bodies, &parts), REVIEW_DUPLICATE_KEY);
    }
    parts.more = NULL;
    // Both orders of one key that is judged.
    static const char *const objects[] = {
        "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"devices\":{}},\"spec\":{\"devices\":{\"requests\":[]}}}",
        "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"devices\":{\"requests\":[]}},\"spec\":{\"devices\":{}}}",
        "{\"metadata\":{\"labels\":{\"a\":\"1\",\"a\":\"2\"}}}",
        "{\"spec\":{\"devices\":{\"requests\":[{\"name\":\"a\",\"n\\u0061me\":\"b\"}]}}}",
    };
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) {
        parts.object = objects[i];
        expect_error(court, review_body(&court->bodies, &parts), REVIEW_DUPLICATE_KEY);
    }
    court_free(court);
}

Test(judge, c9_values_of_a_wrong_type_are_denied_with_their_path) {
    struct court *court = court_new();
    static const struct {
        const char *spec;
        const char *field;
    } cases[] = {
        {"\"driver\":7", "spec.driver"},
        {"\"driver\":[\"a\"]", "spec.driver"},
        {"\"pool\":\"x\"", "spec.pool"},
        {"\"pool\":{\"name\":\"p\",\"generation\":\"1\"}", "spec.pool.generation"},
        {"\"pool\":{\"name\":\"p\",\"generation\":1.5}", "spec.pool.generation"},
        {"\"devices\":{}", "spec.devices"},
        {"\"devices\":[7]", "spec.devices[0]"},
        {"\"devices\":[{\"name\":\"a\",\"nodeAllocatableResourceMappings\":[]}]",
         "spec.devices[0].nodeAllocatableResourceMappings"},
        {"\"devices\":[{\"name\":\"a\",\"capacity\":{\"m\":{\"value\":true}}}]",
         "spec.devices[0].capacity[m].value"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct review_parts parts = {
            .kind = "ResourceSlice",
            .resource = "resourceslices",
            .object = text_format(&court->bodies, "{\"metadata\":{\"name\":\"thing\"},\"spec\":{%s}}",
                                  cases[i].spec)
                          .ptr};
        ask(court, PATH_VALIDATE, review_body(&court->bodies, &parts));
        cr_expect_eq(court->judgement.http_status, 200, "%s", cases[i].spec);
        cr_expect_eq(court->judgement.code, 422, "%s", cases[i].spec);
        cr_expect_not_null(strstr(message_of(court), cases[i].field), "%s: %s", cases[i].field,
                           message_of(court));
    }
    court_free(court);
}

Test(judge, c10_unknown_fields_are_ignored_and_counted) {
    struct court *court = court_new();
    struct review_parts parts = {
        .kind = "ResourceSlice",
        .resource = "resourceslices",
        .object =
            "{\"kind\":\"ResourceSlice\",\"apiVersion\":\"resource.k8s.io/v1\",\"future\":{},\"metadata\":{"
            "\"name\":\"thing\",\"future\":1},\"spec\":{\"driver\":\"gpu.example.com\",\"pool\":{\"name\":"
            "\"node-1\",\"generation\":1,\"resourceSliceCount\":1},\"nodeName\":\"node-1\",\"devices\":[{"
            "\"name\":\"gpu-0\",\"future\":[{}],\"nodeAllocatableResourceMappings\":{\"memory\":{"
            "\"allocationMultiplier\":\"1Gi\",\"roundingMode\":\"up\"}}}]}}",
        .more = ",\"futureMember\":{\"a\":[]}"};
    ask(court, PATH_VALIDATE, review_body(&court->bodies, &parts));
    cr_expect(allowed(court), "%.*s", (int)court->out.len, court->out.ptr);
    cr_expect_eq(court->judgement.review.unknown_count, 5);
    court_free(court);
}

Test(judge, c11_both_forms_in_one_device_are_denied) {
    struct court *court = court_new();
    struct review_parts parts = {
        .kind = "ResourceSlice",
        .resource = "resourceslices",
        .object =
            "{\"metadata\":{\"name\":\"thing\"},\"spec\":{\"driver\":\"gpu.example.com\",\"pool\":{\"name\":"
            "\"node-1\",\"generation\":1,\"resourceSliceCount\":1},\"nodeName\":\"node-1\",\"devices\":[{"
            "\"name\":\"gpu-0\",\"nodeAllocatableResourceMappings\":{\"memory\":{\"allocationMultiplier\":"
            "\"1Gi\"}},\"nodeAllocatableResources\":{\"memory\":{\"mapping\":{\"deviceMultiplier\":"
            "\"1Gi\"}}}}]}}"};
    ask(court, PATH_VALIDATE, review_body(&court->bodies, &parts));
    cr_assert_not(allowed(court));
    cr_expect_not_null(strstr(message_of(court), "[mapping-both-versions]"), "%s", message_of(court));
    court_free(court);
}

Test(judge, c12_c13_what_nobody_judges_is_allowed_and_counted) {
    struct court *court = court_new();
    static const struct {
        const char *resource;
        const char *kind;
        const char *subresource;
        const char *operation;
    } cases[] = {
        {"resourceslices", "ResourceSlice", NULL, "DELETE"},
        {"resourceslices", "ResourceSlice", NULL, "CONNECT"},
        {"resourceslices", "ResourceSlice", NULL, "create"},
        {"resourceslices", "ResourceSlice", NULL, "PATCH"},
        {"resourceslices", "ResourceSlice", "status", "UPDATE"},
        {"resourceclaims", "ResourceClaim", "status", "CREATE"},
        {"resourceclaims", "ResourceClaim", "binding", "UPDATE"},
        {"resourceclaims", "ResourceClaim", "driver", "UPDATE"},
        {"resourceslices", "ResourceSlice", "scale", "UPDATE"},
        {"devicetaintrules", "DeviceTaintRule", NULL, "CREATE"},
        {"resourceslices", "Lease", NULL, "CREATE"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        // The object would be denied if it were judged.
        struct review_parts parts = {.kind = cases[i].kind,
                                     .resource = cases[i].resource,
                                     .subresource = cases[i].subresource,
                                     .operation = cases[i].operation,
                                     .object = "{\"spec\":7}"};
        ask(court, PATH_VALIDATE, review_body(&court->bodies, &parts));
        cr_expect(allowed(court), "%s %s", cases[i].operation, cases[i].resource);
        cr_expect(court->judgement.unexpected, "%s %s", cases[i].operation, cases[i].resource);
        cr_expect_not(court->judgement.review.object_set);
    }
    court_free(court);
}

Test(judge, c15_a_dry_run_has_the_same_verdict) {
    struct court *court = court_new();
    struct review_parts parts = {.kind = "ResourceSlice",
                                 .resource = "resourceslices",
                                 .object = review_slice(&court->bodies, "memory", "500m").ptr};
    ask(court, PATH_VALIDATE, review_body(&court->bodies, &parts));
    char *want = strndup(court->out.ptr, court->out.len);
    struct text body = review_body(&court->bodies, &parts);
    char *dry = strstr(body.ptr, "\"dryRun\":false");
    memcpy(dry, "\"dryRun\":true ", 14);
    ask(court, PATH_VALIDATE, body);
    cr_expect(court->judgement.review.dry_run);
    cr_expect(text_equal((struct text){court->out.ptr, court->out.len}, text_of(want)));
    free(want);
    court_free(court);
}

Test(judge, c16_mutate_answers_without_a_patch) {
    struct court *court = court_new();
    ask(court, PATH_MUTATE, slice_review(court, "memory", "500m"));
    cr_expect(allowed(court));
    cr_expect_not(court->judgement.unexpected);
    cr_expect_not(court->judgement.review.object_set, "objects are not even decoded");
    expect_error(court, TEXT("[]"), REVIEW_NOT_JSON);
    court_free(court);
}

Test(judge, c17_denials_are_bounded_and_harmless) {
    struct court *court = court_new();
    struct text devices = {"", 0};
    for (int i = 0; i < 128; i++)
        devices = text_format(
            &court->bodies,
            "%.*s%s{\"name\":\"gpu-%d\",\"nodeAllocatableResourceMappings\":{\"a\\\"\\n\\u001b[31m%%n%%s"
            "\xE2\x80\xAE%0200d\":{\"allocationMultiplier\":\"500m\"}}}",
            TEXT_ARG(devices), i == 0 ? "" : ",", i, i);
    struct review_parts parts = {
        .kind = "ResourceSlice",
        .resource = "resourceslices",
        .object =
            text_format(
                &court->bodies,
                "{\"metadata\":{\"name\":\"thing\"},\"spec\":{\"driver\":\"gpu.example.com\",\"pool\":{"
                "\"name\":\"node-1\",\"generation\":1,\"resourceSliceCount\":1},\"nodeName\":\"node-1\","
                "\"devices\":[%.*s]}}",
                TEXT_ARG(devices))
                .ptr};
    ask(court, PATH_VALIDATE, review_body(&court->bodies, &parts));
    cr_assert_not(allowed(court));
    const char *message = message_of(court);
    cr_expect_leq(strlen(message), 4096);
    cr_expect_not_null(strstr(message, " more"), "%s", message);
    cr_expect_null(strchr(message, '\x1b'));
    cr_expect_null(strstr(message, "\xE2\x80\xAE"));
    cr_expect_leq(parsed_size(court->review, "response/status/details/causes"), 10);
    char path[80];
    for (size_t i = 0; i < parsed_size(court->review, "response/status/details/causes"); i++) {
        snprintf(path, sizeof path, "response/status/details/causes/%zu/field", i);
        cr_expect_null(strpbrk(text_at(court, path), "\n\x1b"));
    }
    for (size_t i = 0; i < parsed_size(court->review, "response/warnings"); i++) {
        snprintf(path, sizeof path, "response/warnings/%zu", i);
        cr_expect_leq(strlen(text_at(court, path)), 120, "%s", text_at(court, path));
        cr_expect_null(strpbrk(text_at(court, path), "\r\n"));
    }
    court_free(court);
}

Test(judge, the_order_of_members_does_not_matter) {
    struct court *court = court_new();
    struct text slice = review_slice(&court->bodies, "memory", "500m");
    const char *kind =
        "\"kind\":{\"group\":\"resource.k8s.io\",\"version\":\"v1\",\"kind\":\"ResourceSlice\"}";
    const char *resource =
        "\"resource\":{\"group\":\"resource.k8s.io\",\"version\":\"v1\",\"resource\":\"resourceslices\"}";
    ask(court, PATH_VALIDATE,
        text_format(
            &court->bodies,
            "{\"request\":{\"oldObject\":null,\"object\":%s,\"operation\":\"CREATE\",%s,%s,\"uid\":\"u-1\"},"
            "\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\"}",
            slice.ptr, resource, kind));
    cr_expect_not(allowed(court));
    cr_expect_not_null(strstr(message_of(court), "spec.devices[0]"), "%s", message_of(court));
    // What is decoded late is counted too.
    ask(court, PATH_VALIDATE,
        text_format(&court->bodies,
                    "{\"request\":{\"object\":{\"future\":1,\"metadata\":{\"name\":\"a\",\"future\":1}},"
                    "\"operation\":\"CREATE\",%s,%s,\"uid\":\"u-1\"},"
                    "\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\"}",
                    resource, kind));
    cr_expect_eq(court->judgement.review.unknown_count, 2);
    // A subresource that is told last takes the review out of what is judged.
    ask(court, PATH_VALIDATE,
        text_format(
            &court->bodies,
            "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{\"uid\":"
            "\"u-1\",%s,%s,\"operation\":\"UPDATE\",\"object\":%s,\"subResource\":\"status\"}}",
            kind, resource, slice.ptr));
    cr_expect(allowed(court));
    cr_expect(court->judgement.unexpected);
    court_free(court);
}

Test(judge, what_an_update_may_not_change_is_denied) {
    struct court *court = court_new();
    struct text old = review_slice(&court->bodies, "memory", "1Gi");
    char *changed = arena_alloc(&court->bodies, old.len + 1);
    memcpy(changed, old.ptr, old.len + 1);
    char *driver = strstr(changed, "gpu.example.com");
    cr_assert_not_null(driver);
    driver[0] = 'x';
    struct review_parts parts = {.kind = "ResourceSlice",
                                 .resource = "resourceslices",
                                 .operation = "UPDATE",
                                 .object = changed,
                                 .old_object = old.ptr};
    ask(court, PATH_VALIDATE, review_body(&court->bodies, &parts));
    cr_expect_not(allowed(court));
    cr_expect_str_eq(text_at(court, "response/status/details/causes/0/field"), "spec.driver");
    court_free(court);
}

Test(judge, other_versions_of_the_object_are_judged_too) {
    struct court *court = court_new();
    struct text body = slice_review(court, "memory", "500m");
    char *version = strstr(body.ptr, "\"version\":\"v1\",\"kind\"");
    cr_assert_not_null(version);
    struct text beta = text_format(&court->bodies, "%.*s\"version\":\"v1beta2\"%s", (int)(version - body.ptr),
                                   body.ptr, version + strlen("\"version\":\"v1\""));
    ask(court, PATH_VALIDATE, beta);
    cr_expect_not(allowed(court));
    court_free(court);
}

Test(judge, our_own_failure_answers_as_the_policy_says) {
    struct court *court = court_new();
    struct text body = slice_review(court, "memory", "1Gi");
    for (int open = 0; open < 2; open++) {
        atomic_store(&court->judge.fail_open, open == 1);
        arena_clear(&court->arena);
        court->arena.fail_after = 2;
        review_judge(&court->judge, PATH_VALIDATE, body, &court->arena, &court->out, &court->judgement);
        cr_expect_eq(court->judgement.http_status, 200);
        cr_expect_eq(court->judgement.decision, DECISION_FAILED);
        cr_expect_eq(court->judgement.answer_allowed, open == 1);
        struct parsed *review = parsed_new(court->out.ptr, court->out.len);
        cr_expect_str_eq(parsed_text(review, "response/uid", NULL), "u-1");
        cr_expect_eq(parsed_is_true(review, "response/allowed"), open == 1);
        cr_expect_eq(parsed_int(review, "response/status/code"), open == 1 ? -1 : 403);
        cr_expect_eq(parsed_size(review, "response/warnings"), (size_t)open);
        parsed_free(review);
    }
    court_free(court);
}

Test(judge, no_allocation_that_fails_lets_anything_through) {
    struct court *court = court_new();
    struct text body = slice_review(court, "memory", "500m");
    for (size_t n = 1;; n++) {
        cr_assert_lt(n, 100000);
        arena_clear(&court->arena);
        court->arena.fail_after = n;
        review_judge(&court->judge, PATH_VALIDATE, body, &court->arena, &court->out, &court->judgement);
        cr_expect_not(court->judgement.http_status == 200 && court->judgement.answer_allowed,
                      "allocation %zu", n);
        cr_expect(court->judgement.http_status == 200 || court->judgement.http_status == 503, "%u",
                  court->judgement.http_status);
        if (court->arena.fail_after > 0) break; // fewer allocations than that
    }
    cr_expect_eq(court->judgement.decision, DECISION_DENIED);
    court_free(court);
}

Test(judge, an_arena_that_is_full_is_our_failure) {
    struct court *court = court_new();
    arena_release(&court->arena);
    arena_init(&court->arena, 64);
    struct text body = slice_review(court, "memory", "1Gi");
    review_judge(&court->judge, PATH_VALIDATE, body, &court->arena, &court->out, &court->judgement);
    cr_expect_eq(court->judgement.decision, DECISION_FAILED);
    court_free(court);
}

Test(judge, an_answer_that_does_not_fit_is_our_failure) {
    struct court *court = court_new();
    struct text body = slice_review(court, "memory", "500m");
    struct out out = out_of(court->answer, 600);
    review_judge(&court->judge, PATH_VALIDATE, body, &court->arena, &out, &court->judgement);
    cr_expect_eq(court->judgement.decision, DECISION_FAILED);
    cr_expect_not(out.full);
    court_free(court);
}

Test(judge, more_keys_than_our_bound_is_our_failure_not_a_bad_request) {
    struct court *court = court_new();
    size_t room = 120000;
    char *labels = calloc(1, room);
    struct out out = out_of(labels, room - 1);
    for (int i = 0; i < 5000; i++) out_format(&out, "%s\"k%d\":\"\"", i == 0 ? "" : ",", i);
    struct review_parts parts = {
        .kind = "ResourceClaim",
        .resource = "resourceclaims",
        .object = text_format(&court->bodies, "{\"metadata\":{\"name\":\"a\",\"labels\":{%s}}}", labels).ptr};
    ask(court, PATH_VALIDATE, review_body(&court->bodies, &parts));
    cr_expect_eq(court->judgement.error, REVIEW_TOO_COMPLEX);
    cr_expect_eq(court->judgement.decision, DECISION_FAILED);
    cr_expect_str_eq(text_at(court, "response/uid"), "u-1");
    free(labels);
    court_free(court);
}
