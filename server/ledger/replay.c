// SPDX-License-Identifier: Apache-2.0
// Events as JSON Lines.
#include "server/ledger/replay.h"

#include "server/codec/decode.h"
#include "server/ledger/clock.h"

#define LINE_MEMORY_BYTES ((size_t)256 * 1024 * 1024) // reading one line may take so much

void replay_init(struct replay *replay, struct ledger *ledger, int minor) {
    *replay = (struct replay){.ledger = ledger, .minor = minor};
    arena_init(&replay->arena, LINE_MEMORY_BYTES);
}

void replay_release(struct replay *replay) {
    arena_release(&replay->arena);
}

static bool next_line(struct text lines, size_t *at, struct text *ret_line) {
    if (*at >= lines.len) return false;
    size_t end = text_find(lines, '\n', *at);
    *ret_line = text_slice(lines, *at, end);
    *at = end + 1;
    return true;
}

static bool is_blank(struct text line) {
    for (size_t i = 0; i < line.len; i++)
        if (line.ptr[i] != ' ' && line.ptr[i] != '\t' && line.ptr[i] != '\r') return false;
    return true;
}

// ---- one line

struct envelope {
    struct text type;
    struct text time;
    struct text object;
};

enum { LINE_TYPE, LINE_TIME, LINE_OBJECT };
static const struct json_name line_names[] = {
    [LINE_TYPE] = JSON_NAME("type"),
    [LINE_TIME] = JSON_NAME("time"),
    [LINE_OBJECT] = JSON_NAME("object"),
};
static const struct json_fields LINE = JSON_FIELDS(line_names);

static bool first_finding(const struct finding_list *findings, struct fault *fault) {
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        if (finding->type != FINDING_DECODING) continue;
        return fault_set(fault, FAULT_INPUT, "%.*s: %.*s", TEXT_ARG(finding->path),
                         TEXT_ARG(finding->detail));
    }
    return true;
}

static bool read_envelope(struct arena *arena, struct text line, struct envelope *ret, struct fault *fault) {
    struct finding_list findings;
    finding_list_init(&findings, arena);
    struct json_reader reader;
    json_init(&reader, line, arena, &findings, JSON_WIRE);
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(&reader, &LINE, &seen, &field)) switch (field) {
        case LINE_TYPE: json_text(&reader, &ret->type); break;
        case LINE_TIME: json_text(&reader, &ret->time); break;
        case LINE_OBJECT: json_raw(&reader, &ret->object); break;
        }
    if (!json_finish(&reader, fault) || !first_finding(&findings, fault)) return false;
    if (ret->type.len == 0) return fault_set(fault, FAULT_INPUT, "an event has a \"type\"");
    return true;
}

static bool read_type(struct text text, enum event_type *ret_type, bool *ret_ignored, struct fault *fault) {
    static const struct {
        struct text name;
        enum event_type type;
    } types[] = {{TEXT_INIT("ADDED"), EVENT_ADDED},
                 {TEXT_INIT("MODIFIED"), EVENT_MODIFIED},
                 {TEXT_INIT("DELETED"), EVENT_DELETED},
                 {TEXT_INIT("BOOKMARK"), EVENT_BOOKMARK}};
    *ret_ignored = text_equal(text, TEXT("ERROR")); // the end of a watch; nothing happened to an object
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (!text_equal(text, types[i].name)) continue;
        *ret_type = types[i].type;
        return true;
    }
    if (*ret_ignored) return true;
    return fault_set(fault, FAULT_INPUT,
                     "\"%.*s\" is no type of event; there are ADDED, MODIFIED, DELETED and BOOKMARK",
                     TEXT_ARG(text_slice(text, 0, 32)));
}

static bool read_object(struct replay *replay, const struct envelope *envelope, struct object *ret_object,
                        int64_t *ret_version, struct fault *fault) {
    struct finding_list findings;
    finding_list_init(&findings, &replay->arena);
    struct decode_options options = {JSON_WIRE, replay->minor};
    if (envelope->object.len == 0) return fault_set(fault, FAULT_INPUT, "an event has an \"object\"");
    if (!decode_object(&replay->arena, envelope->object, &options, ret_object, &findings, fault))
        return false;
    if (!first_finding(&findings, fault)) return false;
    const struct object_meta *metadata = object_metadata(ret_object);
    if (metadata == NULL) { // of a kind that nobody follows
        *ret_version = 0;
        return ret_object->kind_name.len > 0 || fault_set(fault, FAULT_INPUT, "an object has a \"kind\"");
    }
    if (text_to_int64(metadata->resource_version, ret_version) && *ret_version > 0) return true;
    return fault_set(fault, FAULT_INPUT,
                     "%.*s \"%.*s\" has no resourceVersion that is a positive number; the order of events "
                     "stands on it",
                     TEXT_ARG(ret_object->kind_name), TEXT_ARG(metadata->name));
}

// The last bookmark of a list says that the kind is complete.
static void note_bookmark(struct replay *replay, const struct object *object) {
    const struct object_meta *metadata = object_metadata(object);
    for (size_t i = 0; metadata != NULL && i < metadata->annotations.count; i++)
        if (text_equal(metadata->annotations.items[i].key, TEXT("k8s.io/initial-events-end")) &&
            object->kind <= KIND_NODE_LEDGER)
            ledger_set_synced(replay->ledger, object->kind, true);
}

static bool apply_line(struct replay *replay, struct text line, struct fault *fault) {
    struct envelope envelope = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    struct ledger_event event = {.type = EVENT_BOOKMARK};
    bool ignored;
    arena_clear(&replay->arena);
    if (!read_envelope(&replay->arena, line, &envelope, fault) ||
        !read_type(envelope.type, &event.type, &ignored, fault))
        return false;
    if (envelope.time.len > 0) {
        int64_t now_ms;
        if (!time_read_ms(envelope.time, &now_ms))
            return fault_set(fault, FAULT_INPUT, "\"time\" is not an RFC 3339 time");
        ledger_advance(replay->ledger, now_ms);
    }
    if (ignored) return true;
    struct object *object = arena_zalloc(&replay->arena, 1, sizeof *object);
    if (object == NULL) return fault_set(fault, FAULT_MEMORY, "no memory for the line");
    if (!read_object(replay, &envelope, object, &event.resource_version, fault)) return false;
    event.object = object;
    if (event.type == EVENT_BOOKMARK) note_bookmark(replay, object);
    return ledger_apply(replay->ledger, &event, fault) != LEDGER_FAILED;
}

bool replay_lines(struct replay *replay, struct text lines, struct fault *fault) {
    size_t at = 0;
    struct text line;
    replay->line = 0;
    while (next_line(lines, &at, &line)) {
        replay->line++;
        if (is_blank(line)) continue;
        struct fault found = {0};
        if (apply_line(replay, line, &found)) continue;
        return fault_set(fault, found.code, "line %zu: %s", replay->line, found.text);
    }
    return true;
}

void replay_end(struct replay *replay) {
    for (int kind = KIND_OTHER + 1; kind <= KIND_NODE_LEDGER; kind++)
        ledger_set_synced(replay->ledger, (enum object_kind)kind, true);
}

// ---- which minor

static int minor_of_node(const struct node *node) {
    struct text version = node->kubelet_version;
    int64_t minor;
    size_t dot = text_find(version, '.', 0);
    size_t end = dot + 1;
    while (end < version.len && version.ptr[end] >= '0' && version.ptr[end] <= '9') end++;
    if (dot >= version.len || !text_to_int64(text_slice(version, dot + 1, end), &minor)) return 0;
    return minor >= MINOR_OLDEST && minor < 1000 ? (int)minor : 0;
}

static int minor_of_slice(const struct resource_slice *slice) {
    int minor = 0;
    for (size_t i = 0; i < slice->devices.count; i++) {
        if (slice->devices.items[i].resources_v137.set) return MINOR_37;
        if (slice->devices.items[i].mappings_v136.set) minor = MINOR_36;
    }
    return minor;
}

static int minor_of_pod(const struct pod *pod) {
    int minor = 0;
    for (size_t i = 0; i < pod->allocatable_statuses.count; i++) {
        const struct node_allocatable_claim_status *status = &pod->allocatable_statuses.items[i];
        if (status->mapping.count > 0 || status->overhead.count > 0) return MINOR_37;
        if (status->resources.count > 0) minor = MINOR_36;
    }
    return minor;
}

static int minor_of_line(struct arena *arena, struct text line) {
    struct envelope envelope = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    struct finding_list findings;
    finding_list_init(&findings, arena);
    struct decode_options options = {JSON_WIRE, MINOR_NEWEST};
    struct object *object = arena_zalloc(arena, 1, sizeof *object);
    if (object == NULL || !read_envelope(arena, line, &envelope, NULL) || envelope.object.len == 0 ||
        !decode_object(arena, envelope.object, &options, object, &findings, NULL))
        return 0;
    switch (object->kind) {
    case KIND_NODE: return minor_of_node(&object->node);
    case KIND_RESOURCE_SLICE: return minor_of_slice(&object->slice);
    case KIND_POD: return minor_of_pod(&object->pod);
    default: return 0;
    }
}

// Cheap: only lines that could tell are read.
static bool may_tell(struct text line) {
    static const struct text words[] = {TEXT_INIT("\"kubeletVersion\""),
                                        TEXT_INIT("\"nodeAllocatableResource")};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (memmem(line.ptr, line.len, words[i].ptr, words[i].len) != NULL) return true;
    return false;
}

int replay_minor(struct text lines) {
    struct arena arena;
    arena_init(&arena, LINE_MEMORY_BYTES);
    int newest = 0;
    size_t at = 0;
    struct text line;
    while (newest < MINOR_NEWEST && next_line(lines, &at, &line)) {
        if (!may_tell(line)) continue;
        arena_clear(&arena);
        int minor = minor_of_line(&arena, line);
        if (minor > newest) newest = minor;
    }
    arena_release(&arena);
    return newest;
}
