// SPDX-License-Identifier: Apache-2.0
// A review of a suite: the bytes that an API server would send go the way of the server's, and the bytes that
// it would answer are compared.
#include "server/cli/suite_run.h"

#include "server/feed/kinds.h"
#include "server/review/gate_ledger.h"
#include "server/review/judge.h"

#define BODY_ROOM_BYTES 2048u // of a review, beside its objects

// What a client is told.
struct answer {
    bool allowed;
    struct text message;
    int64_t code;
    struct text_list warnings;
    struct text patch; // JSON; empty when there is none
};

// --- Asking ---

static void put_member(struct out *out, const char *name, struct text value) {
    out_format(out, ",\"%s\":", name);
    out_json_string(out, value, 0);
}

static void put_type(struct out *out, const struct suite_object *object) {
    size_t slash = text_find(object->api_version, '/', 0);
    bool core = slash == object->api_version.len;
    struct text group = core ? (struct text){NULL, 0} : text_slice(object->api_version, 0, slash);
    struct text version =
        core ? object->api_version : text_slice(object->api_version, slash + 1, object->api_version.len);
    const struct feed_kind *row = feed_kind_of(object->kind);
    OUT_LITERAL(out, ",\"kind\":{\"group\":");
    out_json_string(out, group, 0);
    put_member(out, "version", version);
    put_member(out, "kind", object->kind_name);
    OUT_LITERAL(out, "},\"resource\":{\"group\":");
    out_json_string(out, group, 0);
    put_member(out, "version", version);
    put_member(out, "resource", row == NULL ? (struct text){NULL, 0} : text_of(row->resource));
    OUT_LITERAL(out, "}");
}

static struct text old_of(struct suite_world *world, const struct suite_review *review) {
    if (review->old_set) return suite_world_fill(world, &review->old, true);
    if (text_equal(review->operation, TEXT("CREATE"))) return TEXT("null");
    const struct world_object *known = suite_world_find(world, &review->object);
    return known == NULL ? TEXT("null") : known->json;
}

static struct text body_of(struct suite_world *world, const struct suite_review *review) {
    bool creates = text_equal(review->operation, TEXT("CREATE"));
    bool deletes = text_equal(review->operation, TEXT("DELETE"));
    struct text object = deletes ? TEXT("null") : suite_world_fill(world, &review->object, !creates);
    struct text old = old_of(world, review);
    size_t room_bytes = object.len + old.len + BODY_ROOM_BYTES;
    char *bytes = arena_alloc(world->arena, room_bytes);
    if (bytes == NULL || object.len == 0) return (struct text){NULL, 0};
    struct out out = out_of(bytes, room_bytes);
    OUT_LITERAL(&out, "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{"
                      "\"uid\":\"suite\"");
    put_type(&out, &review->object);
    if (review->subresource.len > 0) put_member(&out, "subResource", review->subresource);
    put_member(&out, "name", review->object.metadata.name);
    put_member(&out, "namespace", suite_world_namespace(&review->object));
    put_member(&out, "operation", review->operation);
    OUT_LITERAL(&out, ",\"userInfo\":{\"username\":");
    out_json_string(&out, review->user.len > 0 ? review->user : TEXT("jane"), 0);
    OUT_LITERAL(&out, "},\"object\":");
    out_text(&out, object);
    OUT_LITERAL(&out, ",\"oldObject\":");
    out_text(&out, old);
    out_format(&out, ",\"dryRun\":%s}}", review->dry_run ? "true" : "false");
    return out.full ? (struct text){NULL, 0} : (struct text){out.ptr, out.len};
}

// --- Reading the answer ---

enum { ROOT_RESPONSE };
static const struct json_name root_names[] = {JSON_NAME("response")};
static const struct json_fields root_fields = JSON_FIELDS(root_names);
enum { RESPONSE_ALLOWED, RESPONSE_STATUS, RESPONSE_WARNINGS, RESPONSE_PATCH };
static const struct json_name response_names[] = {JSON_NAME("allowed"), JSON_NAME("status"),
                                                  JSON_NAME("warnings"), JSON_NAME("patch")};
static const struct json_fields response_fields = JSON_FIELDS(response_names);
enum { STATUS_MESSAGE, STATUS_CODE };
static const struct json_name status_names[] = {JSON_NAME("message"), JSON_NAME("code")};
static const struct json_fields status_fields = JSON_FIELDS(status_names);

static int base64_value(char digit) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = digit == '\0' ? NULL : strchr(digits, digit);
    return found == NULL ? -1 : (int)(found - digits);
}

static struct text base64_decode(struct arena *arena, struct text text) {
    char *out = arena_alloc(arena, text.len);
    size_t len = 0;
    unsigned bits = 0;
    unsigned count = 0;
    for (size_t i = 0; out != NULL && i < text.len && text.ptr[i] != '='; i++) {
        int value = base64_value(text.ptr[i]);
        if (value < 0) return (struct text){NULL, 0};
        bits = (bits << 6 | (unsigned)value) & 0xffffffu;
        count += 6;
        if (count < 8) continue;
        count -= 8;
        out[len++] = (char)(bits >> count & 0xff);
    }
    return (struct text){out, len};
}

static void read_status(struct json_reader *reader, struct answer *answer) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &status_fields, &seen, &field)) {
        if (field == STATUS_MESSAGE)
            json_text(reader, &answer->message);
        else
            json_int64(reader, &answer->code);
    }
}

static void read_response(struct json_reader *reader, struct answer *answer) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    struct text patch = {NULL, 0};
    while (json_field(reader, &response_fields, &seen, &field)) switch (field) {
        case RESPONSE_ALLOWED: json_bool(reader, &answer->allowed); break;
        case RESPONSE_STATUS: read_status(reader, answer); break;
        case RESPONSE_PATCH: json_text(reader, &patch); break;
        case RESPONSE_WARNINGS: {
            struct json_iterator iterator = {0};
            while (json_element(reader, &iterator)) {
                struct text *text = JSON_APPEND(reader, &answer->warnings);
                if (text != NULL) json_text(reader, text);
            }
            break;
        }
        }
    answer->patch = base64_decode(reader->arena, patch);
}

static bool read_answer(struct arena *arena, struct text json, struct answer *answer) {
    struct json_reader *reader = arena_alloc(arena, sizeof *reader);
    struct finding_list findings;
    struct fault fault;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    if (reader == NULL) return false;
    finding_list_init(&findings, arena);
    json_init(reader, json, arena, &findings, JSON_WIRE);
    while (json_field(reader, &root_fields, &seen, &field)) read_response(reader, answer);
    return json_finish(reader, &fault) && JSON_SEEN(seen, ROOT_RESPONSE);
}

// --- Comparing ---

static bool holds(struct text whole, struct text part) {
    return part.len == 0 || (whole.len > 0 && memmem(whole.ptr, whole.len, part.ptr, part.len) != NULL);
}

// What was said, for a message about what was not.
static struct text all_said(struct arena *arena, const struct answer *answer,
                            const struct finding_list *findings) {
    struct text said = answer->message;
    for (size_t i = 0; i < answer->warnings.count; i++)
        said = text_format(arena, "%.*s%swarning: %.*s", TEXT_ARG(said), said.len > 0 ? "\n" : "",
                           TEXT_ARG(answer->warnings.items[i]));
    for (size_t i = 0; i < findings->count; i++)
        if (findings->items[i].severity == SEVERITY_AUDIT)
            said = text_format(arena, "%.*s%saudit: %.*s [%s]", TEXT_ARG(said), said.len > 0 ? "\n" : "",
                               TEXT_ARG(findings->items[i].detail), findings->items[i].rule);
    return said.len > 0 ? said : TEXT("nothing was said");
}

static bool rule_spoke(const struct finding_list *findings, struct text id) {
    for (size_t i = 0; i < findings->count; i++)
        if (text_equal(text_of(findings->items[i].rule), id)) return true;
    return false;
}

static struct text compare_rules(struct arena *arena, const struct suite_want *want,
                                 const struct finding_list *findings) {
    if (want->rules.set && want->rules.count == 0 && findings->count > 0)
        return text_format(arena, "no rule should speak, but %s did", findings->items[0].rule);
    for (size_t i = 0; i < want->rules.count; i++)
        if (!rule_spoke(findings, want->rules.items[i]))
            return text_format(arena, "rule %.*s did not speak", TEXT_ARG(want->rules.items[i]));
    return (struct text){NULL, 0};
}

static struct text compare_warnings(struct arena *arena, const struct suite_want *want,
                                    const struct answer *answer) {
    if (want->warnings.set && want->warnings.count == 0 && answer->warnings.count > 0)
        return TEXT("there should be no warning");
    for (size_t i = 0; i < want->warnings.count; i++) {
        bool found = false;
        for (size_t k = 0; k < answer->warnings.count && !found; k++)
            found = holds(answer->warnings.items[k], want->warnings.items[i]);
        if (!found) return text_format(arena, "no warning has \"%.*s\"", TEXT_ARG(want->warnings.items[i]));
    }
    return (struct text){NULL, 0};
}

static struct text compare_patch(struct arena *arena, const struct suite_want *want,
                                 const struct answer *answer) {
    struct text path;
    if (want->patch.len == 0) return (struct text){NULL, 0};
    if (text_equal(want->patch, TEXT("null")))
        return answer->patch.len == 0
                   ? (struct text){NULL, 0}
                   : text_format(arena, "there should be no patch, but it is %.*s", TEXT_ARG(answer->patch));
    if (answer->patch.len > 0 && suite_json_holds(arena, want->patch, answer->patch, TEXT("patch"), &path) &&
        suite_json_holds(arena, answer->patch, want->patch, TEXT("patch"), &path))
        return (struct text){NULL, 0};
    return text_format(arena, "the patch is %.*s",
                       TEXT_ARG(answer->patch.len == 0 ? TEXT("absent") : answer->patch));
}

static struct text compare(struct arena *arena, const struct suite_want *want, const struct answer *answer,
                           const struct finding_list *findings) {
    if (want->allowed.set && want->allowed.value != answer->allowed)
        return want->allowed.value ? TEXT("it should be allowed") : TEXT("it should be denied");
    if (want->code.set && want->code.value != answer->code)
        return text_format(arena, "the code is %lld, not %lld", (long long)answer->code,
                           (long long)want->code.value);
    if (want->message.set && !holds(answer->message, want->message.value))
        return text_format(arena, "the message has no \"%.*s\"", TEXT_ARG(want->message.value));
    struct text why = compare_rules(arena, want, findings);
    if (why.len == 0) why = compare_warnings(arena, want, answer);
    if (why.len == 0) why = compare_patch(arena, want, answer);
    return why;
}

bool suite_run_review(struct suite_world *world, const struct suite_review *review,
                      const struct suite_want *want, struct text *ret_why) {
    struct arena *arena = world->arena;
    struct gate_store store = gate_store_of_ledger(world->ledger);
    struct judge judge = {.gate = {.minor = world->suite->minor, .store = &store}};
    struct judgement *judgement = arena_alloc(arena, sizeof *judgement);
    char *bytes = arena_alloc(arena, RESPONSE_BYTES);
    struct text body = body_of(world, review);
    struct answer answer = {.allowed = false};
    *ret_why = TEXT("out of memory");
    if (judgement == NULL || bytes == NULL || body.len == 0) return false;
    struct out out = out_of(bytes, RESPONSE_BYTES);
    enum review_path path = review->mutate ? PATH_MUTATE : review->scope ? PATH_SCOPE : PATH_VALIDATE;
    review_judge(&judge, path, body, arena, &out, judgement);
    struct text said = {out.ptr, out.len};
    if (judgement->http_status != 200 || !read_answer(arena, said, &answer)) {
        *ret_why =
            text_format(arena, "the answer is no verdict: %u %.*s", judgement->http_status, TEXT_ARG(said));
        return false;
    }
    struct text why = compare(arena, want, &answer, &judgement->findings);
    if (why.len == 0) return !arena->poisoned;
    *ret_why = text_format(arena, "%.*s: %s %lld\n%.*s", TEXT_ARG(why), answer.allowed ? "allowed" : "denied",
                           (long long)answer.code, TEXT_ARG(all_said(arena, &answer, &judgement->findings)));
    return false;
}
