// SPDX-License-Identifier: Apache-2.0
// Reading an AdmissionReview. Go writes kind, resource and operation before the object, so the object is
// usually decoded in place; where it comes first it is taken as it stands and decoded afterwards.
#include "server/review/review.h"

const char *review_resource_name(enum review_resource resource) {
    static const char *const names[RESOURCE_COUNT] = {
        [RESOURCE_OTHER] = "other",
        [RESOURCE_SLICES] = "resourceslices",
        [RESOURCE_CLAIMS] = "resourceclaims",
        [RESOURCE_CLAIM_TEMPLATES] = "resourceclaimtemplates",
        [RESOURCE_DEVICE_CLASSES] = "deviceclasses",
        [RESOURCE_PODS] = "pods",
    };
    return names[resource];
}

const char *review_operation_name(enum review_operation operation) {
    static const char *const names[REVIEW_OPERATION_COUNT] = {"other", "CREATE", "UPDATE", "DELETE",
                                                              "CONNECT"};
    return names[operation];
}

struct resource_row {
    struct text group;
    struct text name;
    enum review_resource resource;
};

static const struct resource_row resources[] = {
    {TEXT_INIT("resource.k8s.io"), TEXT_INIT("resourceclaims"), RESOURCE_CLAIMS},
    {TEXT_INIT("resource.k8s.io"), TEXT_INIT("resourceslices"), RESOURCE_SLICES},
    {TEXT_INIT("resource.k8s.io"), TEXT_INIT("resourceclaimtemplates"), RESOURCE_CLAIM_TEMPLATES},
    {TEXT_INIT("resource.k8s.io"), TEXT_INIT("deviceclasses"), RESOURCE_DEVICE_CLASSES},
    {{NULL, 0}, TEXT_INIT("pods"), RESOURCE_PODS},
};

static enum review_resource resource_of(const struct group_version_name *name) {
    for (size_t i = 0; i < sizeof resources / sizeof resources[0]; i++)
        if (text_equal(resources[i].name, name->name) && text_equal(resources[i].group, name->group))
            return resources[i].resource;
    return RESOURCE_OTHER;
}

static enum review_operation operation_of(struct text name) {
    for (int operation = REVIEW_CREATE; operation < REVIEW_OPERATION_COUNT; operation++)
        if (text_equal(name, text_of(review_operation_name((enum review_operation)operation))))
            return (enum review_operation)operation;
    return REVIEW_OTHER;
}

// The kind that the resource holds; a review whose kind says otherwise is not judged as either.
static enum object_kind kind_of(const struct review *review, enum resource_version *ret_version) {
    static const enum object_kind kinds[RESOURCE_COUNT] = {
        [RESOURCE_SLICES] = KIND_RESOURCE_SLICE,
        [RESOURCE_CLAIMS] = KIND_RESOURCE_CLAIM,
        [RESOURCE_CLAIM_TEMPLATES] = KIND_RESOURCE_CLAIM_TEMPLATE,
        [RESOURCE_DEVICE_CLASSES] = KIND_DEVICE_CLASS,
        [RESOURCE_PODS] = KIND_POD,
    };
    char api_version[64];
    const struct group_version_name *name = &review->object_kind;
    if (name->group.len + name->version.len + 1 > sizeof api_version) return KIND_OTHER;
    struct text joined = {api_version, 0};
    if (name->group.len > 0) {
        memcpy(api_version, name->group.ptr, name->group.len);
        api_version[name->group.len] = '/';
        joined.len = name->group.len + 1;
    }
    if (name->version.len > 0) memcpy(api_version + joined.len, name->version.ptr, name->version.len);
    joined.len += name->version.len;
    enum object_kind kind = decode_kind(joined, name->name, ret_version);
    return kind == kinds[review->resource] ? kind : KIND_OTHER;
}

bool review_is_judged(const struct review *review) {
    enum resource_version version;
    bool creates = review->operation == REVIEW_CREATE;
    bool updates = review->operation == REVIEW_UPDATE;
    if ((!creates && !updates) || kind_of(review, &version) == KIND_OTHER) return false;
    if (review->resource == RESOURCE_PODS) return creates && review->subresource.len == 0;
    // Of statuses only those of claims are judged: allocations and reservations.
    if (text_equal(review->subresource, TEXT("status")))
        return updates && review->resource == RESOURCE_CLAIMS;
    return review->subresource.len == 0 && review->resource != RESOURCE_OTHER;
}

// One body being read.
struct decoding {
    struct json_reader reader;
    struct review *review;
    struct finding_list *findings; // of the objects
    struct finding_list envelope;  // of the review around them
    int minor;
    bool with_objects;
    bool response_set;
    struct text object_raw; // taken as it stood, still to be decoded
    struct text old_raw;
};

enum name_field { NAME_GROUP, NAME_VERSION, NAME_KIND, NAME_RESOURCE };
static const struct json_name name_names[] = {JSON_NAME("group"), JSON_NAME("version"), JSON_NAME("kind"),
                                              JSON_NAME("resource")};
static const struct json_fields name_fields = JSON_FIELDS(name_names);

// GroupVersionKind or GroupVersionResource: last is the field that holds the name.
static void read_name(struct json_reader *reader, enum name_field last, struct group_version_name *name) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &name_fields, &seen, &field)) {
        if (field == NAME_GROUP)
            json_text(reader, &name->group);
        else if (field == NAME_VERSION)
            json_text(reader, &name->version);
        else if (field == last)
            json_text(reader, &name->name);
        else
            json_skip(reader);
    }
}

enum { USER_NAME };
static const struct json_name user_names[] = {JSON_NAME("username"), JSON_NAME("uid"), JSON_NAME("groups"),
                                              JSON_NAME("extra")};
static const struct json_fields user_fields = JSON_FIELDS(user_names);

static void read_user(struct json_reader *reader, struct review *review) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &user_fields, &seen, &field)) {
        if (field == USER_NAME)
            json_text(reader, &review->user_name);
        else
            json_skip(reader);
    }
}

// Decodes the object at hand. What is wrong with it is the tenant's, not the envelope's.
static void decode_here(struct decoding *decoding, struct json_reader *reader, const struct object *like,
                        struct object *object) {
    enum resource_version version = RESOURCE_V1;
    enum object_kind kind = kind_of(decoding->review, &version);
    struct finding_list *findings_before = reader->findings;
    reader->findings = decoding->findings;
    reader->when = decode_when(decoding->minor, version);
    decode_object_like(reader, kind, version, like, object);
    reader->when = 0;
    reader->findings = findings_before;
}

// Pods are the only objects that may be changed, so they are read in either case.
static bool is_wanted(const struct decoding *decoding) {
    return (decoding->with_objects || decoding->review->resource == RESOURCE_PODS) &&
           review_is_judged(decoding->review);
}

// Reads `object` or `oldObject`: in place when what it is was told before it, else as it stands.
static void read_object(struct decoding *decoding, bool is_old) {
    struct review *review = decoding->review;
    struct json_reader *reader = &decoding->reader;
    bool told = review->object_kind.name.len > 0 && review->resource_name.name.len > 0 &&
                review->operation_name.len > 0;
    if (json_null(reader)) return;
    if (told && !is_wanted(decoding)) {
        json_skip(reader);
    } else if (told) {
        *(is_old ? &review->old_set : &review->object_set) = true;
        // Only the new object is judged: what is wrong with the old one is nobody's error now.
        struct finding_list old_findings;
        struct finding_list *findings_before = decoding->findings;
        finding_list_init(&old_findings, reader->arena);
        if (is_old) decoding->findings = &old_findings;
        // An update mostly changes little.
        const struct object *like = is_old && review->object_set ? &review->object : NULL;
        decode_here(decoding, reader, like, is_old ? &review->old : &review->object);
        decoding->findings = findings_before;
    } else {
        json_raw(reader, is_old ? &decoding->old_raw : &decoding->object_raw);
    }
}

enum request_field {
    REQUEST_UID,
    REQUEST_KIND,
    REQUEST_RESOURCE,
    REQUEST_SUBRESOURCE,
    REQUEST_REQUEST_KIND,
    REQUEST_REQUEST_RESOURCE,
    REQUEST_REQUEST_SUBRESOURCE,
    REQUEST_NAME,
    REQUEST_NAMESPACE,
    REQUEST_OPERATION,
    REQUEST_USER_INFO,
    REQUEST_OBJECT,
    REQUEST_OLD_OBJECT,
    REQUEST_DRY_RUN,
    REQUEST_OPTIONS,
};
static const struct json_name request_names[] = {
    JSON_NAME("uid"),
    JSON_NAME("kind"),
    JSON_NAME("resource"),
    JSON_NAME("subResource"),
    JSON_NAME("requestKind"),
    JSON_NAME("requestResource"),
    JSON_NAME("requestSubResource"),
    JSON_NAME("name"),
    JSON_NAME("namespace"),
    JSON_NAME("operation"),
    JSON_NAME("userInfo"),
    JSON_NAME("object"),
    JSON_NAME("oldObject"),
    JSON_NAME("dryRun"),
    JSON_NAME("options"),
};
static const struct json_fields request_fields = JSON_FIELDS(request_names);

static void read_request(struct decoding *decoding) {
    struct json_reader *reader = &decoding->reader;
    struct review *review = decoding->review;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    review->request_set = json_peek(reader) == JSON_OBJECT;
    while (json_field(reader, &request_fields, &seen, &field)) switch ((enum request_field)field) {
        case REQUEST_UID: json_text(reader, &review->uid); break;
        case REQUEST_KIND: read_name(reader, NAME_KIND, &review->object_kind); break;
        case REQUEST_RESOURCE:
            read_name(reader, NAME_RESOURCE, &review->resource_name);
            review->resource = resource_of(&review->resource_name);
            break;
        case REQUEST_SUBRESOURCE: json_text(reader, &review->subresource); break;
        case REQUEST_NAME: json_text(reader, &review->name); break;
        case REQUEST_NAMESPACE: json_text(reader, &review->namespace); break;
        case REQUEST_OPERATION:
            json_text(reader, &review->operation_name);
            review->operation = operation_of(review->operation_name);
            break;
        case REQUEST_USER_INFO: read_user(reader, review); break;
        case REQUEST_OBJECT: read_object(decoding, false); break;
        case REQUEST_OLD_OBJECT: read_object(decoding, true); break;
        case REQUEST_DRY_RUN: json_bool(reader, &review->dry_run); break;
        case REQUEST_REQUEST_KIND:
        case REQUEST_REQUEST_RESOURCE:
        case REQUEST_REQUEST_SUBRESOURCE:
        case REQUEST_OPTIONS: json_skip(reader); break;
        }
}

enum review_field { FIELD_KIND, FIELD_API_VERSION, FIELD_REQUEST, FIELD_RESPONSE };
static const struct json_name review_names[] = {JSON_NAME("kind"), JSON_NAME("apiVersion"),
                                                JSON_NAME("request"), JSON_NAME("response")};
static const struct json_fields review_fields = JSON_FIELDS(review_names);

static void read_review(struct decoding *decoding) {
    struct json_reader *reader = &decoding->reader;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &review_fields, &seen, &field)) switch ((enum review_field)field) {
        case FIELD_KIND: json_text(reader, &decoding->review->kind); break;
        case FIELD_API_VERSION: json_text(reader, &decoding->review->api_version); break;
        case FIELD_REQUEST: read_request(decoding); break;
        case FIELD_RESPONSE:
            decoding->response_set = json_peek(reader) != JSON_NULL;
            json_skip(reader);
            break;
        }
}

// Decodes an object that came before what told of it.
static enum json_error decode_late(struct decoding *decoding, struct text raw, bool is_old) {
    struct review *review = decoding->review;
    if (raw.len == 0 || !is_wanted(decoding)) return JSON_FINE;
    struct json_reader *reader = arena_alloc(decoding->reader.arena, sizeof *reader);
    if (reader == NULL) return JSON_MEMORY;
    struct finding_list old_findings;
    finding_list_init(&old_findings, decoding->reader.arena);
    struct finding_list *findings_before = decoding->findings;
    if (is_old) decoding->findings = &old_findings;
    json_init(reader, raw, decoding->reader.arena, decoding->findings, JSON_WIRE);
    *(is_old ? &review->old_set : &review->object_set) = true;
    decode_here(decoding, reader, NULL, is_old ? &review->old : &review->object);
    decoding->findings = findings_before;
    review->unknown_count += reader->unknown_count;
    struct fault fault;
    return json_finish(reader, &fault) ? JSON_FINE : reader->error;
}

static enum review_error error_of(enum json_error error) {
    switch (error) {
    case JSON_FINE: return REVIEW_FINE;
    case JSON_SYNTAX:
    case JSON_TRUNCATED: return REVIEW_NOT_JSON;
    case JSON_DUPLICATE_KEY: return REVIEW_DUPLICATE_KEY;
    case JSON_DEPTH:
    case JSON_KEYS: return REVIEW_TOO_COMPLEX;
    case JSON_MEMORY: break;
    }
    return REVIEW_NO_MEMORY;
}

static enum review_error check_envelope(const struct decoding *decoding) {
    const struct review *review = decoding->review;
    if (!text_equal(review->kind, TEXT("AdmissionReview")) ||
        !text_equal(review->api_version, TEXT("admission.k8s.io/v1")) || decoding->response_set)
        return REVIEW_VERSION;
    if (!review->request_set) return REVIEW_NO_REQUEST;
    if (review->uid.len == 0 || review->uid.len > REVIEW_UID_LIMIT_BYTES) return REVIEW_BAD_UID;
    return REVIEW_FINE;
}

enum review_error review_decode(struct arena *arena, struct text body, int minor, bool with_objects,
                                struct review *review, struct finding_list *findings) {
    *review = (struct review){.request_set = false};
    // Member by member: the reader is large and json_init sets it up.
    struct decoding decoding;
    decoding.review = review;
    decoding.findings = findings;
    decoding.minor = minor;
    decoding.with_objects = with_objects;
    decoding.response_set = false;
    decoding.object_raw = decoding.old_raw = (struct text){NULL, 0};
    struct fault fault;
    finding_list_init(&decoding.envelope, arena);
    json_init(&decoding.reader, body, arena, &decoding.envelope, JSON_WIRE);
    if (json_peek(&decoding.reader) != JSON_OBJECT) return REVIEW_NOT_JSON;
    read_review(&decoding);
    review->unknown_count = decoding.reader.unknown_count;
    if (!json_finish(&decoding.reader, &fault)) return error_of(decoding.reader.error);
    enum review_error error = check_envelope(&decoding);
    if (error != REVIEW_FINE) return error;
    enum json_error late = decode_late(&decoding, decoding.object_raw, false);
    if (late == JSON_FINE) late = decode_late(&decoding, decoding.old_raw, true);
    return error_of(late);
}
