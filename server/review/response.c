// SPDX-License-Identifier: Apache-2.0
// Answers, written by hand into one buffer: the allowed one is on the hot path.
#include "server/review/response.h"

#include "validators/registry/message.h"
#include "validators/registry/registry.h"

#define WARNING_BYTES         120u
#define WARNING_PATH_BYTES    48u
#define WARNING_COUNT         10u
#define CAUSE_COUNT           10u
#define CAUSE_BYTES           1024u
#define ANNOTATION_RULE_COUNT 8u
#define CODE_INVALID          422u
#define CODE_FORBIDDEN        403u
#define DETAILS_NAME_BYTES    256u

const char *decision_name(enum decision decision) {
    static const char *const names[DECISION_COUNT] = {"allowed", "warned", "audited", "denied", "failed"};
    return names[decision];
}

const char *response_error_words(enum review_error error) {
    static const char *const words[REVIEW_ERROR_COUNT] = {
        [REVIEW_FINE] = "",
        [REVIEW_NOT_JSON] = "bad request: the body is not one well-formed JSON object\n",
        [REVIEW_DUPLICATE_KEY] = "bad request: the body holds a key twice\n",
        [REVIEW_VERSION] =
            "bad request: the body is not an AdmissionReview of admission.k8s.io/v1 with a request\n",
        [REVIEW_NO_REQUEST] = "bad request: the review has no request\n",
        [REVIEW_BAD_UID] = "bad request: request.uid must be a text of 1 to 128 bytes\n",
        [REVIEW_TOO_COMPLEX] = "bad request: the body is nested too deeply or has too many keys\n",
        [REVIEW_NO_MEMORY] = "overloaded: no memory for this review, try again\n",
    };
    return words[error];
}

static void begin(struct out *out, struct text uid) {
    OUT_LITERAL(
        out, "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"response\":{\"uid\":");
    out_json_string(out, uid, 0);
}

void response_allowed(struct out *out, struct text uid) {
    begin(out, uid);
    OUT_LITERAL(out, ",\"allowed\":true}}");
}

static void write_base64(struct out *out, struct text bytes) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t at = 0; at < bytes.len; at += 3) {
        size_t count = bytes.len - at < 3 ? bytes.len - at : 3;
        unsigned bits = 0;
        for (size_t i = 0; i < 3; i++) bits = bits << 8 | (i < count ? (unsigned char)bytes.ptr[at + i] : 0u);
        char four[4];
        for (size_t i = 0; i < 4; i++) four[i] = i <= count ? digits[bits >> (18 - 6 * i) & 63u] : '=';
        out_text(out, (struct text){four, sizeof four});
    }
}

void response_patched(struct out *out, struct text uid, struct text patch) {
    begin(out, uid);
    OUT_LITERAL(out, ",\"allowed\":true,\"patchType\":\"JSONPatch\",\"patch\":\"");
    write_base64(out, patch);
    OUT_LITERAL(out, "\",\"auditAnnotations\":{\"decision\":\"gated\"}}}");
}

void response_failed(struct out *out, struct text uid, bool allowed) {
    begin(out, uid);
    if (allowed)
        OUT_LITERAL(out,
                    ",\"allowed\":true,\"warnings\":[\"drawbridge could not judge this; it was let through "
                    "because the failure policy says so\"]");
    else
        OUT_LITERAL(out,
                    ",\"allowed\":false,\"status\":{\"status\":\"Failure\",\"message\":\"drawbridge could "
                    "not judge this; try again\",\"reason\":\"Forbidden\",\"code\":403}");
    OUT_LITERAL(out, ",\"auditAnnotations\":{\"decision\":\"failed\"}}}");
}

// The last elements of a path that fit, whole ones where there are any.
static struct text path_end(struct arena *arena, struct text path) {
    if (path.len <= WARNING_PATH_BYTES) return path;
    size_t at = path.len - WARNING_PATH_BYTES + 3;
    size_t element = at;
    while (element < path.len && path.ptr[element] != '.' && path.ptr[element] != '[') element++;
    if (element + 1 < path.len) at = element;
    while (at < path.len && ((unsigned char)path.ptr[at] & 0xC0) == 0x80) at++;
    return text_format(arena, "\xE2\x80\xA6%.*s", TEXT_ARG(text_slice(path, at, path.len)));
}

struct text response_warning(struct arena *arena, const struct finding *finding) {
    struct text whole = message_line(arena, finding, CAUSE_BYTES);
    if (whole.len <= WARNING_BYTES) return whole;
    struct text tail = text_format(arena, " [%s]", finding->rule);
    struct text path = path_end(arena, text_printable(arena, finding->path, MESSAGE_PATH_LIMIT_BYTES));
    size_t room_bytes = WARNING_BYTES - tail.len - path.len - 2;
    struct text what = message_what(arena, finding);
    // What to do can be read with `drawbridge explain`; what is wrong must be here.
    struct finding without_hint = *finding;
    without_hint.hint = (struct text){NULL, 0};
    if (what.len > room_bytes) what = message_what(arena, &without_hint);
    if (what.len > room_bytes) {
        size_t at = room_bytes - 3;
        while (at > 0 && ((unsigned char)what.ptr[at] & 0xC0) == 0x80) at--;
        what = text_format(arena, "%.*s\xE2\x80\xA6", (int)at, what.ptr);
    }
    return text_format(arena, "%.*s: %.*s%.*s", TEXT_ARG(path), TEXT_ARG(what), TEXT_ARG(tail));
}

// How many findings have this severity, those that found no room included.
static size_t count_of(const struct finding_list *findings, enum severity severity) {
    size_t count = 0;
    for (size_t i = 0; i < findings->count; i++) count += findings->items[i].severity == severity;
    return count;
}

static void write_warnings(struct out *out, struct arena *arena, const struct finding_list *findings) {
    size_t count = count_of(findings, SEVERITY_WARN);
    if (count == 0) return;
    size_t written = 0;
    OUT_LITERAL(out, ",\"warnings\":[");
    for (size_t i = 0; i < findings->count && written < WARNING_COUNT; i++) {
        if (findings->items[i].severity != SEVERITY_WARN) continue;
        if (written++ > 0) OUT_LITERAL(out, ",");
        out_json_string(out, response_warning(arena, &findings->items[i]), 0);
    }
    if (count > written) out_format(out, ",\"and %zu more findings of drawbridge\"", count - written);
    OUT_LITERAL(out, "]");
}

// Which rules decided, each once.
static void write_annotations(struct out *out, const struct finding_list *findings, enum severity severity) {
    size_t written = 0;
    out_format(out, ",\"auditAnnotations\":{\"decision\":\"%s\",\"rule\":\"", severity_name(severity));
    for (size_t i = 0; i < findings->count && written < ANNOTATION_RULE_COUNT; i++) {
        if (findings->items[i].severity != severity || finding_is_repeated(findings, i)) continue;
        if (written++ > 0) OUT_LITERAL(out, ",");
        out_text(out, text_of(findings->items[i].rule));
    }
    OUT_LITERAL(out, "\"}");
}

static void write_causes(struct out *out, struct arena *arena, const struct finding_list *findings) {
    size_t written = 0;
    OUT_LITERAL(out, ",\"causes\":[");
    for (size_t i = 0; i < findings->count && written < CAUSE_COUNT; i++) {
        const struct finding *finding = &findings->items[i];
        if (finding->severity != SEVERITY_DENY) continue;
        // kubectl prints "field: message" of each cause, so the message is the line without its field.
        struct finding without_path = *finding;
        without_path.path = (struct text){NULL, 0};
        if (written++ > 0) OUT_LITERAL(out, ",");
        out_format(out, "{\"reason\":\"%s\",\"message\":", finding_type_reason(finding->type));
        out_json_string(out, message_line(arena, &without_path, CAUSE_BYTES), 0);
        OUT_LITERAL(out, ",\"field\":");
        out_json_string(out, text_printable(arena, finding->path, MESSAGE_PATH_LIMIT_BYTES), 0);
        OUT_LITERAL(out, "}");
    }
    OUT_LITERAL(out, "]");
}

// 422 when every denying rule judges the object by itself, 403 when one asked the cache.
static unsigned code_of(const struct finding_list *findings) {
    for (size_t i = 0; i < findings->count; i++) {
        if (findings->items[i].severity != SEVERITY_DENY) continue;
        const struct rule *rule = registry_find(text_of(findings->items[i].rule));
        if (rule != NULL && rule->needs_view) return CODE_FORBIDDEN;
    }
    return CODE_INVALID;
}

static void write_denial(struct out *out, struct arena *arena, const struct review *review,
                         struct finding_list *findings, unsigned code) {
    OUT_LITERAL(out, ",\"allowed\":false,\"status\":{\"status\":\"Failure\",\"message\":");
    // What the scheduler is told ends in events of Pods, where only so much is shown.
    bool is_status = review->subresource.len > 0;
    out_json_string(out,
                    is_status ? message_for_scheduler(arena, findings, SEVERITY_DENY)
                              : message_for_people(arena, findings, SEVERITY_DENY),
                    0);
    out_format(out,
               ",\"reason\":\"%s\",\"details\":{\"name\":", code == CODE_INVALID ? "Invalid" : "Forbidden");
    out_json_string(out, review->name, DETAILS_NAME_BYTES);
    OUT_LITERAL(out, ",\"group\":");
    out_json_string(out, review->object_kind.group, DETAILS_NAME_BYTES);
    OUT_LITERAL(out, ",\"kind\":");
    out_json_string(out, review->object_kind.name, DETAILS_NAME_BYTES);
    write_causes(out, arena, findings);
    out_format(out, "},\"code\":%u}", code);
}

enum decision response_verdict(struct out *out, struct arena *arena, const struct review *review,
                               struct finding_list *findings, unsigned *ret_code) {
    *ret_code = 0;
    if (findings->count == 0 && findings->dropped_count == 0) {
        response_allowed(out, review->uid);
        return DECISION_ALLOWED;
    }
    bool denied = finding_list_denies(findings);
    begin(out, review->uid);
    if (denied) {
        *ret_code = code_of(findings);
        write_denial(out, arena, review, findings, *ret_code);
    } else {
        OUT_LITERAL(out, ",\"allowed\":true");
    }
    finding_list_sort(findings);
    write_warnings(out, arena, findings);
    enum decision decision = denied                                  ? DECISION_DENIED
                             : count_of(findings, SEVERITY_WARN) > 0 ? DECISION_WARNED
                                                                     : DECISION_AUDITED;
    static const enum severity severities[DECISION_COUNT] = {
        [DECISION_DENIED] = SEVERITY_DENY,
        [DECISION_WARNED] = SEVERITY_WARN,
        [DECISION_AUDITED] = SEVERITY_AUDIT,
    };
    write_annotations(out, findings, severities[decision]);
    OUT_LITERAL(out, "}}");
    return decision;
}
