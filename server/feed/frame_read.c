// SPDX-License-Identifier: Apache-2.0
// Reading frames, pages of lists and Status objects.
// Source: k8s.io/apimachinery v0.36.3 pkg/apis/meta/v1/types.go, WatchEvent, ListMeta, Status; the annotation
// is metav1.InitialEventsAnnotationKey.
#include "server/codec/decode.h"
#include "server/feed/frames.h"

#define INITIAL_END "k8s.io/initial-events-end"

// --- Status ---

enum { STATUS_CODE, STATUS_REASON, STATUS_MESSAGE, STATUS_DETAILS };
static const struct json_name status_names[] = {JSON_NAME("code"), JSON_NAME("reason"), JSON_NAME("message"),
                                                JSON_NAME("details")};
static const struct json_fields status_fields = JSON_FIELDS(status_names);

enum { DETAILS_RETRY, DETAILS_CAUSES };
static const struct json_name details_names[] = {JSON_NAME("retryAfterSeconds"), JSON_NAME("causes")};
static const struct json_fields details_fields = JSON_FIELDS(details_names);

enum { CAUSE_REASON };
static const struct json_name cause_names[] = {JSON_NAME("reason")};
static const struct json_fields cause_fields = JSON_FIELDS(cause_names);

static void read_causes(struct json_reader *reader, struct frame_status *status) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        struct text reason = {NULL, 0};
        while (json_field(reader, &cause_fields, &seen, &field)) json_text(reader, &reason);
        if (text_equal(reason, TEXT("ResourceVersionTooLarge"))) status->too_large = true;
    }
}

static void read_details(struct json_reader *reader, struct frame_status *status) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &details_fields, &seen, &field)) {
        if (field == DETAILS_RETRY)
            json_int64(reader, &status->retry_after_s);
        else
            read_causes(reader, status);
    }
}

void frame_read_status(struct arena *arena, struct text json, struct frame_status *ret_status) {
    struct json_reader reader;
    struct finding_list ignored;
    struct frame_status status = {.code = 0};
    struct fault fault;
    finding_list_init(&ignored, arena);
    json_init(&reader, json, arena, &ignored, JSON_WIRE);
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(&reader, &status_fields, &seen, &field)) switch (field) {
        case STATUS_CODE: json_int64(&reader, &status.code); break;
        case STATUS_REASON: json_text(&reader, &status.reason); break;
        case STATUS_MESSAGE: json_text(&reader, &status.message); break;
        default: read_details(&reader, &status); break;
        }
    *ret_status = json_finish(&reader, &fault) ? status : (struct frame_status){.code = 0};
}

// --- Objects ---

enum { HEAD_API_VERSION, HEAD_KIND, HEAD_METADATA };
static const struct json_name head_names[] = {JSON_NAME("apiVersion"), JSON_NAME("kind"),
                                              JSON_NAME("metadata")};
static const struct json_fields head_fields = JSON_FIELDS(head_names);

enum { META_VERSION, META_ANNOTATIONS, META_CONTINUE };
static const struct json_name meta_names[] = {JSON_NAME("resourceVersion"), JSON_NAME("annotations"),
                                              JSON_NAME("continue")};
static const struct json_fields meta_fields = JSON_FIELDS(meta_names);

// What a bookmark or a list says of itself.
struct meta {
    struct text version;
    struct text next;
    bool initial_end;
};

static void read_meta(struct json_reader *reader, struct meta *meta) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &meta_fields, &seen, &field)) {
        struct json_iterator iterator = {0};
        struct text key, value = {NULL, 0};
        if (field == META_VERSION)
            json_text(reader, &meta->version);
        else if (field == META_CONTINUE)
            json_text(reader, &meta->next);
        else
            while (json_member(reader, &iterator, &key)) {
                json_text(reader, &value);
                if (text_equal(key, TEXT(INITIAL_END)) && text_equal(value, TEXT("true")))
                    meta->initial_end = true;
            }
    }
}

static bool read_version(struct text text, int64_t *ret_version, struct fault *fault) {
    if (text_to_int64(text, ret_version) && *ret_version >= 0) return true;
    return fault_set(fault, FAULT_INPUT, "resourceVersion \"%.*s\" is no number", TEXT_ARG(text));
}

// Which version of resource.k8s.io the object is of; objects in lists do not say, rows of theirs are v1.
static enum resource_version version_of(struct arena *arena, struct text json, const struct feed_kind *row) {
    enum resource_version version = RESOURCE_V1;
    struct json_reader reader;
    struct finding_list ignored;
    struct text words[2] = {{NULL, 0}};
    if (row->kind != KIND_DEVICE_TAINT_RULE) return version;
    finding_list_init(&ignored, arena);
    json_init(&reader, json, arena, &ignored, JSON_WIRE);
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(&reader, &head_fields, &seen, &field)) {
        if (field == HEAD_METADATA)
            json_skip(&reader);
        else
            json_text(&reader, &words[field]);
    }
    (void)decode_kind(words[HEAD_API_VERSION], words[HEAD_KIND], &version);
    return version;
}

bool frame_read_object(struct arena *arena, struct text json, const struct feed_kind *row, int minor,
                       struct frame *ret_frame, struct fault *fault) {
    struct json_reader reader;
    struct finding_list findings;
    enum resource_version version = version_of(arena, json, row);
    struct object *object = arena_zalloc(arena, 1, sizeof *object);
    if (object == NULL) return fault_set(fault, FAULT_MEMORY, "no memory for an object");
    finding_list_init(&findings, arena);
    json_init(&reader, json, arena, &findings, JSON_WIRE);
    reader.when = decode_when(minor, version);
    decode_object_at(&reader, row->kind, version, object);
    if (!json_finish(&reader, fault)) return false;
    if (!finding_list_is_sound(&findings)) return fault_set(fault, FAULT_MEMORY, "no memory for an object");
    const struct object_meta *metadata = object_metadata(object);
    if (findings.count > 0)
        return fault_set(fault, FAULT_INPUT, "%s %.*s: %.*s: %.*s", row->resource, TEXT_ARG(metadata->name),
                         TEXT_ARG(findings.items[0].path), TEXT_ARG(findings.items[0].detail));
    if (metadata->name.len == 0 || metadata->uid.len == 0)
        return fault_set(fault, FAULT_INPUT, "%s: an object without name or UID", row->resource);
    struct frame frame = {.type = FRAME_ADDED, .object = object, .json = json};
    if (!read_version(metadata->resource_version, &frame.resource_version, fault)) return false;
    *ret_frame = frame;
    return true;
}

static bool read_bookmark(struct arena *arena, struct text json, const struct feed_kind *row,
                          struct frame *frame, struct fault *fault) {
    struct json_reader reader;
    struct finding_list ignored;
    struct meta meta = {.initial_end = false};
    frame->object = arena_zalloc(arena, 1, sizeof *frame->object);
    if (frame->object == NULL) return fault_set(fault, FAULT_MEMORY, "no memory for a bookmark");
    frame->object->kind = row->kind;
    finding_list_init(&ignored, arena);
    json_init(&reader, json, arena, &ignored, JSON_WIRE);
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(&reader, &head_fields, &seen, &field)) {
        if (field == HEAD_METADATA)
            read_meta(&reader, &meta);
        else
            json_skip(&reader);
    }
    frame->initial_end = meta.initial_end;
    return json_finish(&reader, fault) && read_version(meta.version, &frame->resource_version, fault);
}

// --- Frames ---

enum { FRAME_FIELD_TYPE, FRAME_FIELD_OBJECT };
static const struct json_name frame_names[] = {JSON_NAME("type"), JSON_NAME("object")};
static const struct json_fields frame_fields = JSON_FIELDS(frame_names);

static enum frame_type type_of(struct text word) {
    static const struct text words[] = {[FRAME_ADDED] = TEXT_INIT("ADDED"),
                                        [FRAME_MODIFIED] = TEXT_INIT("MODIFIED"),
                                        [FRAME_DELETED] = TEXT_INIT("DELETED"),
                                        [FRAME_BOOKMARK] = TEXT_INIT("BOOKMARK"),
                                        [FRAME_ERROR] = TEXT_INIT("ERROR")};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (text_equal(word, words[i])) return (enum frame_type)i;
    return FRAME_UNKNOWN;
}

bool frame_read(struct arena *arena, struct text line, const struct feed_kind *row, int minor,
                struct frame *ret_frame, struct fault *fault) {
    struct json_reader reader;
    struct finding_list ignored;
    struct text word = {NULL, 0};
    struct text json = {NULL, 0};
    finding_list_init(&ignored, arena);
    json_init(&reader, line, arena, &ignored, JSON_WIRE);
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(&reader, &frame_fields, &seen, &field)) {
        if (field == FRAME_FIELD_TYPE)
            json_text(&reader, &word);
        else
            json_raw(&reader, &json);
    }
    if (!json_finish(&reader, fault)) return fault_wrap(fault, "frame");
    struct frame frame = {.type = type_of(word), .json = json};
    if (word.len == 0 || json.len == 0) return fault_set(fault, FAULT_INPUT, "no type or object in a frame");
    switch (frame.type) {
    case FRAME_UNKNOWN: break;
    case FRAME_ERROR: frame_read_status(arena, json, &frame.status); break;
    case FRAME_BOOKMARK:
        if (!read_bookmark(arena, json, row, &frame, fault)) return false;
        break;
    default: {
        enum frame_type type = frame.type;
        if (!frame_read_object(arena, json, row, minor, &frame, fault)) return false;
        frame.type = type;
        break;
    }
    }
    *ret_frame = frame;
    return true;
}

// --- Lists ---

enum { LIST_METADATA, LIST_ITEMS };
static const struct json_name list_names[] = {JSON_NAME("metadata"), JSON_NAME("items")};
static const struct json_fields list_fields = JSON_FIELDS(list_names);

bool frame_read_list(struct arena *arena, struct text body,
                     bool (*take)(void *context, struct text item, struct fault *fault), void *context,
                     struct frame_list *ret_list, struct fault *fault) {
    struct json_reader reader;
    struct finding_list ignored;
    struct meta meta = {.initial_end = false};
    finding_list_init(&ignored, arena);
    json_init(&reader, body, arena, &ignored, JSON_WIRE);
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(&reader, &list_fields, &seen, &field)) {
        struct json_iterator iterator = {0};
        struct text item;
        if (field == LIST_METADATA)
            read_meta(&reader, &meta);
        else
            while (json_element(&reader, &iterator))
                if (json_raw(&reader, &item) && !take(context, item, fault)) return false;
    }
    if (!json_finish(&reader, fault)) return fault_wrap(fault, "list");
    if (!JSON_SEEN(seen, LIST_METADATA)) return fault_set(fault, FAULT_INPUT, "no metadata in a list");
    struct frame_list list = {.next = meta.next};
    if (!read_version(meta.version, &list.resource_version, fault)) return false;
    *ret_list = list;
    return true;
}
