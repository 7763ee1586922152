// SPDX-License-Identifier: Apache-2.0
// Reading a suite. Everything is looked at before anything runs.
#include "server/cli/suite.h"

#include "server/cli/options.h"
#include "server/codec/decode.h"
#include "server/kube_version.h"
#include "validators/registry/registry.h"

#define SUITE_API_VERSION "drawbridge.dev/v1alpha1"
#define POLICY_SPEC_PATH  "policy"

static bool complain(struct suite_reading *reading, struct text path, const char *what) {
    reading->error_count++;
    reading->complain(reading->state, path, what);
    return false;
}

static const char *say(struct suite_reading *reading, const char *before, struct text value,
                       const char *behind) {
    struct text shown = text_printable(reading->arena, value, 64);
    struct text text = text_format(reading->arena, "%s\"%.*s\"%s", before, TEXT_ARG(shown), behind);
    return text.len == 0 ? "out of memory" : text.ptr;
}

// Findings of the reader, each with the place of what was read before it.
static void tell_findings(struct suite_reading *reading, struct text prefix,
                          const struct finding_list *findings) {
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        bool in_list = finding->path.len > 0 && finding->path.ptr[0] == '[';
        struct text path = text_format(reading->arena, "%.*s%s%.*s", TEXT_ARG(prefix),
                                       prefix.len > 0 && finding->path.len > 0 && !in_list ? "." : "",
                                       TEXT_ARG(finding->path));
        struct text value = text_printable(reading->arena, finding->value, 64);
        struct text what =
            text_format(reading->arena, "%s%s%.*s%s%s%.*s%s%.*s", finding_type_words(finding->type),
                        value.len > 0 ? " \"" : "", TEXT_ARG(value), value.len > 0 ? "\"" : "",
                        finding->detail.len > 0 ? ": " : "", TEXT_ARG(finding->detail),
                        finding->hint.len > 0 ? "; " : "", TEXT_ARG(finding->hint));
        complain(reading, path, what.ptr == NULL ? "out of memory" : what.ptr);
    }
}

// --- Objects ---

// Kinds that are read strictly: drawbridge knows every field of theirs.
static bool is_known_whole(enum object_kind kind) {
    return kind == KIND_RESOURCE_SLICE || kind == KIND_RESOURCE_CLAIM ||
           kind == KIND_RESOURCE_CLAIM_TEMPLATE || kind == KIND_DEVICE_CLASS || kind == KIND_LEDGER_POLICY;
}

enum { TYPE_API_VERSION, TYPE_KIND };
static const struct json_name type_names[] = {JSON_NAME("apiVersion"), JSON_NAME("kind")};
static const struct json_fields type_fields = JSON_FIELDS(type_names);

static void read_type(struct arena *arena, struct text json, struct text *ret_api_version,
                      struct text *ret_kind) {
    struct json_reader reader;
    struct finding_list ignored;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    finding_list_init(&ignored, arena);
    json_init(&reader, json, arena, &ignored, JSON_WIRE);
    while (json_field(&reader, &type_fields, &seen, &field))
        json_text(&reader, field == TYPE_KIND ? ret_kind : ret_api_version);
}

bool suite_object_look(struct suite_reading *reading, struct text json, struct text path,
                       struct suite_object *ret_object) {
    struct suite_object found = {.json = json, .path = path, .kind = KIND_OTHER};
    read_type(reading->arena, json, &found.api_version, &found.kind_name);
    found.kind = decode_kind(found.api_version, found.kind_name, &found.version);
    if (found.kind == KIND_OTHER || found.kind > KIND_NODE_LEDGER)
        return complain(reading, path,
                        say(reading, "an object of kind ", found.kind_name,
                            " is none that drawbridge follows; apiVersion and kind tell what it is"));
    struct json_reader *reader = arena_alloc(reading->arena, sizeof *reader);
    struct object *object = arena_alloc(reading->arena, sizeof *object);
    struct finding_list findings;
    struct fault fault;
    if (reader == NULL || object == NULL) return complain(reading, path, "out of memory");
    finding_list_init(&findings, reading->arena);
    json_init(reader, json, reading->arena, &findings, is_known_whole(found.kind) ? JSON_STRICT : JSON_WIRE);
    // A case may well show the fields of one minor to the other.
    reader->when = decode_when(MINOR_36, found.version) | decode_when(MINOR_37, found.version);
    decode_object_at(reader, found.kind, found.version, object);
    if (!json_finish(reader, &fault))
        return complain(reading, path, text_copy(reading->arena, text_of(fault.text)).ptr);
    tell_findings(reading, path, &findings);
    found.metadata = *object_metadata(object);
    *ret_object = found;
    return findings.count == 0;
}

static bool is_object_next(struct json_reader *reader) {
    if (json_peek(reader) == JSON_OBJECT) return true;
    json_note(reader, FINDING_TYPE_INVALID, (struct text){NULL, 0}, TEXT("must be an object"));
    json_skip(reader);
    return false;
}

static void read_object(struct suite_reading *reading, struct json_reader *reader,
                        struct suite_object *ret_object) {
    struct text path = json_path(reader);
    struct text json;
    if (is_object_next(reader) && json_raw(reader, &json) &&
        !suite_object_look(reading, json, path, ret_object))
        return;
}

static void read_objects(struct suite_reading *reading, struct json_reader *reader,
                         struct suite_object_list *list) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct suite_object *object = JSON_APPEND(reader, list);
        if (object == NULL) return;
        read_object(reading, reader, object);
    }
}

static void read_texts(struct json_reader *reader, struct text_list *list) {
    struct json_iterator iterator = {0};
    list->set = json_peek(reader) == JSON_ARRAY;
    while (json_element(reader, &iterator)) {
        struct text *text = JSON_APPEND(reader, list);
        if (text == NULL) return;
        json_text(reader, text);
    }
}

// --- Steps ---

bool suite_event_type(struct text text, enum event_type *ret_type) {
    static const struct text words[] = {[EVENT_ADDED] = TEXT_INIT("ADDED"),
                                        [EVENT_MODIFIED] = TEXT_INIT("MODIFIED"),
                                        [EVENT_DELETED] = TEXT_INIT("DELETED"),
                                        [EVENT_BOOKMARK] = TEXT_INIT("BOOKMARK")};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!text_equal(text, words[i])) continue;
        *ret_type = (enum event_type)i;
        return true;
    }
    return false;
}

enum { EVENT_FIELD_TYPE, EVENT_FIELD_OBJECT };
static const struct json_name event_names[] = {JSON_NAME("type"), JSON_NAME("object")};
static const struct json_fields event_fields = JSON_FIELDS(event_names);

static void read_event(struct suite_reading *reading, struct json_reader *reader, struct suite_event *event) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    struct text type = {NULL, 0};
    event->path = json_path(reader);
    while (json_field(reader, &event_fields, &seen, &field)) {
        if (field == EVENT_FIELD_TYPE)
            json_text(reader, &type);
        else
            read_object(reading, reader, &event->object);
    }
    if (!suite_event_type(type, &event->type))
        complain(
            reading, event->path,
            say(reading, "no event has the type ", type, "; it is ADDED, MODIFIED, DELETED or BOOKMARK"));
    if (!JSON_SEEN(seen, EVENT_FIELD_OBJECT)) complain(reading, event->path, "the event has no object");
}

static void read_events(struct suite_reading *reading, struct json_reader *reader,
                        struct suite_event_list *list) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct suite_event *event = JSON_APPEND(reader, list);
        if (event == NULL) return;
        read_event(reading, reader, event);
    }
}

static void read_advance(struct suite_reading *reading, struct json_reader *reader, struct suite_step *step) {
    struct text text = {NULL, 0};
    struct text path = json_path(reader);
    struct fault fault;
    const struct option_row row = {.kind = OPTION_IS_DURATION};
    if (!json_text(reader, &text)) return;
    struct text copy = text_copy(reading->arena, text);
    if (copy.ptr == NULL || !option_parse_number(&row, copy.ptr, &step->advance_ms, &fault))
        complain(reading, path, say(reading, "", text, " is no duration; write it as 500ms, 30s or 2m"));
}

enum review_field {
    REVIEW_OPERATION,
    REVIEW_SUBRESOURCE,
    REVIEW_USER,
    REVIEW_DRY_RUN,
    REVIEW_SCOPE,
    REVIEW_MUTATE,
    REVIEW_OBJECT,
    REVIEW_OLD_OBJECT,
};
static const struct json_name review_names[] = {
    JSON_NAME("operation"), JSON_NAME("subresource"), JSON_NAME("user"),   JSON_NAME("dryRun"),
    JSON_NAME("scope"),     JSON_NAME("mutate"),      JSON_NAME("object"), JSON_NAME("oldObject"),
};
static const struct json_fields review_fields = JSON_FIELDS(review_names);

static void read_review(struct suite_reading *reading, struct json_reader *reader,
                        struct suite_review *review) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    struct text path = json_path(reader);
    while (json_field(reader, &review_fields, &seen, &field)) switch ((enum review_field)field) {
        case REVIEW_OPERATION: json_text(reader, &review->operation); break;
        case REVIEW_SUBRESOURCE: json_text(reader, &review->subresource); break;
        case REVIEW_USER: json_text(reader, &review->user); break;
        case REVIEW_DRY_RUN: json_bool(reader, &review->dry_run); break;
        case REVIEW_SCOPE: json_bool(reader, &review->scope); break;
        case REVIEW_MUTATE: json_bool(reader, &review->mutate); break;
        case REVIEW_OBJECT: read_object(reading, reader, &review->object); break;
        case REVIEW_OLD_OBJECT:
            review->old_set = true;
            read_object(reading, reader, &review->old);
            break;
        }
    if (!text_equal(review->operation, TEXT("CREATE")) && !text_equal(review->operation, TEXT("UPDATE")) &&
        !text_equal(review->operation, TEXT("DELETE")))
        complain(reading, path,
                 say(reading, "the operation is ", review->operation, "; it is CREATE, UPDATE or DELETE"));
    if (!JSON_SEEN(seen, REVIEW_OBJECT)) complain(reading, path, "the review has no object");
}

enum want_field { WANT_ALLOWED, WANT_CODE, WANT_RULES, WANT_MESSAGE, WANT_WARNINGS, WANT_PATCH };
static const struct json_name want_names[] = {JSON_NAME("allowed"),  JSON_NAME("code"),
                                              JSON_NAME("rules"),    JSON_NAME("message"),
                                              JSON_NAME("warnings"), JSON_NAME("patch")};
static const struct json_fields want_fields = JSON_FIELDS(want_names);

static void read_want(struct json_reader *reader, struct suite_want *want) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &want_fields, &seen, &field)) switch ((enum want_field)field) {
        case WANT_ALLOWED: want->allowed.set = json_bool(reader, &want->allowed.value); break;
        case WANT_CODE: want->code.set = json_int64(reader, &want->code.value); break;
        case WANT_RULES: read_texts(reader, &want->rules); break;
        case WANT_MESSAGE: want->message.set = json_text(reader, &want->message.value); break;
        case WANT_WARNINGS: read_texts(reader, &want->warnings); break;
        case WANT_PATCH: json_raw(reader, &want->patch); break;
        }
}

enum step_field { FIELD_EVENTS, FIELD_EVENTS_FILE, FIELD_ADVANCE, FIELD_REVIEW, FIELD_LEDGER, FIELD_WANT };
static const struct json_name step_names[] = {JSON_NAME("events"),  JSON_NAME("eventsFile"),
                                              JSON_NAME("advance"), JSON_NAME("review"),
                                              JSON_NAME("ledger"),  JSON_NAME("want")};
static const struct json_fields step_fields = JSON_FIELDS(step_names);

static void read_step(struct suite_reading *reading, struct json_reader *reader, struct suite_step *step) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    unsigned kind_count = 0;
    step->path = json_path(reader);
    while (json_field(reader, &step_fields, &seen, &field)) {
        if (field == FIELD_WANT) {
            read_want(reader, &step->want);
            continue;
        }
        kind_count++;
        step->kind = (enum suite_step_kind)field;
        switch ((enum step_field)field) {
        case FIELD_EVENTS: read_events(reading, reader, &step->events); break;
        case FIELD_EVENTS_FILE: json_text(reader, &step->events_file); break;
        case FIELD_ADVANCE: read_advance(reading, reader, step); break;
        case FIELD_REVIEW: read_review(reading, reader, &step->review); break;
        case FIELD_LEDGER: json_raw(reader, &step->ledger); break;
        case FIELD_WANT: break;
        }
    }
    bool wants = JSON_SEEN(seen, FIELD_WANT);
    if (kind_count != 1)
        complain(reading, step->path,
                 "a step is exactly one of events, eventsFile, advance, review (with want) and ledger");
    else if (wants != (step->kind == STEP_REVIEW))
        complain(reading, step->path,
                 wants ? "only a review has a want" : "a review needs a want, or it would test nothing");
}

// --- Cases and the suite ---

enum case_field { CASE_NAME, CASE_NOT_SYNCED, CASE_OBJECTS, CASE_STEPS };
static const struct json_name case_names[] = {JSON_NAME("name"), JSON_NAME("notSynced"), JSON_NAME("objects"),
                                              JSON_NAME("steps")};
static const struct json_fields case_fields = JSON_FIELDS(case_names);

static void read_case(struct suite_reading *reading, struct json_reader *reader, struct suite_case *one) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    one->path = json_path(reader);
    while (json_field(reader, &case_fields, &seen, &field)) switch ((enum case_field)field) {
        case CASE_NAME: json_text(reader, &one->name); break;
        case CASE_NOT_SYNCED: read_texts(reader, &one->not_synced); break;
        case CASE_OBJECTS: read_objects(reading, reader, &one->objects); break;
        case CASE_STEPS: {
            struct json_iterator iterator = {0};
            while (json_element(reader, &iterator)) {
                struct suite_step *step = JSON_APPEND(reader, &one->steps);
                if (step == NULL) return;
                read_step(reading, reader, step);
            }
            break;
        }
        }
    if (one->name.len == 0) complain(reading, one->path, "the case has no name");
    if (one->steps.count == 0) complain(reading, one->path, "the case has no steps");
}

static void read_cases(struct suite_reading *reading, struct json_reader *reader,
                       struct suite_case_list *list) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct suite_case *one = JSON_APPEND(reader, list);
        if (one == NULL) return;
        read_case(reading, reader, one);
        for (size_t i = 0; i + 1 < list->count; i++)
            if (text_equal(list->items[i].name, list->items[list->count - 1].name))
                complain(reading, list->items[list->count - 1].path,
                         say(reading, "the name ", list->items[i].name, " is taken by another case"));
    }
}

static void read_version(struct suite_reading *reading, struct json_reader *reader, struct suite *suite) {
    struct text text = {NULL, 0};
    struct text path = json_path(reader);
    struct fault fault;
    if (json_text(reader, &text) && !kube_version_parse(text, &suite->minor, &fault))
        complain(reading, path, text_copy(reading->arena, text_of(fault.text)).ptr);
}

// A rule that does not exist, or that no policy changes, is a mistake.
static void check_policy(struct suite_reading *reading, const struct suite *suite) {
    struct decode_options options = {JSON_WIRE, suite->minor};
    struct object *object = arena_alloc(reading->arena, sizeof *object);
    struct finding_list findings;
    struct fault fault;
    finding_list_init(&findings, reading->arena);
    if (object == NULL || !decode_object(reading->arena, suite->policy, &options, object, &findings, &fault))
        return;
    for (size_t i = 0; i < object->policy.rules.count; i++) {
        struct text id = object->policy.rules.items[i].id;
        struct text path = text_format(reading->arena, POLICY_SPEC_PATH ".rules[%zu].id", i);
        const struct rule *rule = registry_find(id);
        if (rule == NULL)
            complain(reading, path, say(reading, "there is no rule ", id, "; drawbridge explain lists them"));
        else if (rule->locked)
            complain(reading, path, say(reading, "rule ", id, " is locked: no policy changes it"));
    }
}

// The policy is read as the object that it would be.
static void read_policy(struct suite_reading *reading, struct json_reader *reader, struct suite *suite) {
    struct text spec;
    struct suite_object object;
    if (!is_object_next(reader) || !json_raw(reader, &spec)) return;
    suite->policy =
        text_format(reading->arena,
                    "{\"apiVersion\":\"" SUITE_API_VERSION
                    "\",\"kind\":\"LedgerPolicy\",\"metadata\":{\"name\":\"default\"},\"spec\":%.*s}",
                    TEXT_ARG(spec));
    if (suite_object_look(reading, suite->policy, TEXT(POLICY_SPEC_PATH), &object))
        check_policy(reading, suite);
}

enum suite_field {
    SUITE_VERSION,
    SUITE_KIND,
    SUITE_NAME,
    SUITE_KUBERNETES_VERSION,
    SUITE_POLICY,
    SUITE_OBJECTS,
    SUITE_CASES,
};
static const struct json_name suite_names[] = {
    JSON_NAME("apiVersion"), JSON_NAME("kind"),    JSON_NAME("name"),  JSON_NAME("kubernetesVersion"),
    JSON_NAME("policy"),     JSON_NAME("objects"), JSON_NAME("cases"),
};
static const struct json_fields suite_fields = JSON_FIELDS(suite_names);

static void read_suite(struct suite_reading *reading, struct json_reader *reader, struct suite *suite) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &suite_fields, &seen, &field)) switch ((enum suite_field)field) {
        case SUITE_VERSION:
        case SUITE_KIND: json_skip(reader); break;
        case SUITE_NAME: json_text(reader, &suite->name); break;
        case SUITE_KUBERNETES_VERSION: read_version(reading, reader, suite); break;
        case SUITE_POLICY: read_policy(reading, reader, suite); break;
        case SUITE_OBJECTS: read_objects(reading, reader, &suite->objects); break;
        case SUITE_CASES: read_cases(reading, reader, &suite->cases); break;
        }
}

bool suite_read(struct suite_reading *reading, const struct document *document, struct suite *ret_suite) {
    struct suite suite = {.file = document->file, .minor = KUBE_MINOR_DEFAULT};
    const struct text nowhere = {NULL, 0};
    if (!text_equal(document->kind, TEXT("Suite")))
        return complain(reading, nowhere, say(reading, "the kind is ", document->kind, ", not Suite"));
    if (document->api_version.len > 0 && !text_equal(document->api_version, TEXT(SUITE_API_VERSION)))
        return complain(reading, nowhere,
                        say(reading, "the apiVersion is ", document->api_version,
                            "; it is " SUITE_API_VERSION ", or absent"));
    struct json_reader *reader = arena_alloc(reading->arena, sizeof *reader);
    if (reader == NULL) return complain(reading, nowhere, "out of memory");
    struct finding_list findings;
    struct fault fault;
    finding_list_init(&findings, reading->arena);
    json_init(reader, document->json, reading->arena, &findings, JSON_STRICT);
    read_suite(reading, reader, &suite);
    if (!json_finish(reader, &fault))
        return complain(reading, nowhere, text_copy(reading->arena, text_of(fault.text)).ptr);
    tell_findings(reading, nowhere, &findings);
    if (suite.cases.count == 0) return complain(reading, nowhere, "the suite has no cases");
    if (!finding_list_is_sound(&findings)) return complain(reading, nowhere, "out of memory");
    *ret_suite = suite;
    return reading->error_count == 0;
}
