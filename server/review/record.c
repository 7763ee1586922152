// SPDX-License-Identifier: Apache-2.0
// Judgement → record.
#include "server/review/record.h"

#include "validators/registry/message.h"

#define RECORD_RULE_COUNT 8u

bool record_is_wanted(const struct judgement *judgement) {
    return judgement->http_status == 200 && judgement->decision != DECISION_ALLOWED &&
           !judgement->review.dry_run;
}

static enum severity severity_of(enum decision decision) {
    static const enum severity severities[DECISION_COUNT] = {
        [DECISION_DENIED] = SEVERITY_DENY,
        [DECISION_WARNED] = SEVERITY_WARN,
        [DECISION_AUDITED] = SEVERITY_AUDIT,
    };
    return severities[decision];
}

struct text record_message(struct judgement *judgement, struct arena *arena) {
    if (judgement->decision == DECISION_FAILED)
        return TEXT("drawbridge could not judge: memory ran out or a bound was reached");
    return message_for_people(arena, &judgement->findings, severity_of(judgement->decision));
}

static void write_text(struct out *out, const char *name, struct text text, size_t limit_bytes) {
    if (text.len == 0) return;
    out_format(out, ",\"%s\":", name);
    out_json_string(out, text, limit_bytes);
}

// The rules that decided, each once.
static void write_rules(struct out *out, const struct finding_list *findings, enum severity severity) {
    size_t written = 0;
    OUT_LITERAL(out, ",\"rules\":[");
    for (size_t i = 0; i < findings->count && written < RECORD_RULE_COUNT; i++) {
        if (findings->items[i].severity != severity || finding_is_repeated(findings, i)) continue;
        if (written++ > 0) OUT_LITERAL(out, ",");
        out_json_string(out, text_of(findings->items[i].rule), 0);
    }
    OUT_LITERAL(out, "]");
}

void record_write(struct judgement *judgement, struct arena *arena, struct out *out) {
    const struct review *review = &judgement->review;
    const struct object_meta *metadata =
        review->object_set && review->object.kind != KIND_OTHER ? object_metadata(&review->object) : NULL;
    struct text uid = metadata == NULL ? (struct text){NULL, 0} : metadata->uid;
    bool is_claim = review->object.kind == KIND_RESOURCE_CLAIM;
    out_format(out, "{\"action\":\"review\",\"decision\":\"%s\",\"operation\":\"%s\",\"resource\":\"%s\"",
               decision_name(judgement->decision), review_operation_name(review->operation),
               review_resource_name(review->resource));
    write_text(out, "subresource", review->subresource, RECORD_NAME_BYTES);
    write_text(out, "namespace", review->namespace, RECORD_NAME_BYTES);
    write_text(out, "name", review->name, RECORD_NAME_BYTES);
    write_text(out, is_claim ? "claimUID" : "objectUID", uid, REVIEW_UID_LIMIT_BYTES);
    write_text(out, "by", review->user_name, RECORD_NAME_BYTES);
    write_text(out, "uid", review->uid, REVIEW_UID_LIMIT_BYTES);
    if (judgement->decision == DECISION_FAILED)
        out_format(out, ",\"answer\":\"%s\"", judgement->answer_allowed ? "allowed" : "denied");
    else
        write_rules(out, &judgement->findings, severity_of(judgement->decision));
    if (judgement->code != 0) out_format(out, ",\"code\":%u", judgement->code);
    write_text(out, "reason", record_message(judgement, arena), RECORD_MESSAGE_BYTES);
    OUT_LITERAL(out, "}");
}
