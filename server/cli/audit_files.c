// SPDX-License-Identifier: Apache-2.0
// Manifests as the cluster: what an API server would have put into them is filled in.
#include "server/cli/audit.h"
#include "server/codec/decode.h"
#include "server/codec/documents.h"
#include "server/feed/kinds.h"
#include "server/feed/stamp.h"

#define STAMP_BYTES ((size_t)512 << 20)

struct reading {
    struct audit_world *world;
    size_t object_count;
};

static void complain(struct reading *reading, const char *file, size_t document, const char *text) {
    reading->world->unreadable_count++;
    if (document > 0)
        fprintf(stderr, "drawbridge audit: %s, document %zu: %s\n", file, document, text);
    else
        fprintf(stderr, "drawbridge audit: %s: %s\n", file, text);
}

static void on_error(void *state, const struct document_error *error) {
    complain(state, error->file, error->document, error->text);
}

// The object as a server would hold it. Roles need no more than they say.
static struct text stamped(struct reading *reading, const struct document *document, enum object_kind kind,
                           struct arena *arena, struct fault *fault) {
    const struct decode_options options = {.mode = JSON_WIRE, .minor = reading->world->minor};
    const struct feed_kind *row = feed_kind_of(kind);
    struct finding_list findings;
    struct text none = {NULL, 0};
    finding_list_init(&findings, arena);
    struct object *object = arena_zalloc(arena, 1, sizeof *object);
    if (object == NULL || !decode_object(arena, document->json, &options, object, &findings, fault))
        return none;
    const struct object_meta *meta = object_metadata(object);
    if (row == NULL) return document->json;
    if (meta->name.len == 0) {
        fault_set(fault, FAULT_INPUT, "the object has no metadata.name");
        return none;
    }
    struct stamp stamp = {.uid = meta->uid, .resource_version = ++reading->world->newest_version};
    if (row->namespaced) stamp.namespace = meta->namespace.len > 0 ? meta->namespace : TEXT("default");
    if (stamp.uid.len == 0)
        stamp.uid = text_format(arena, "%s:%.*s/%.*s", row->resource, TEXT_ARG(stamp.namespace),
                                TEXT_ARG(meta->name));
    struct text json = stamp_object(arena, document->json, &stamp);
    if (json.len == 0) fault_set(fault, FAULT_MEMORY, "no memory for the object");
    return json;
}

static void on_document(void *state, const struct document *document) {
    struct reading *reading = state;
    enum resource_version ignored;
    struct arena arena;
    struct fault fault = {0};
    enum object_kind kind = decode_kind(document->api_version, document->kind, &ignored);
    if (kind == KIND_OTHER) return;
    reading->object_count++;
    arena_init(&arena, STAMP_BYTES);
    struct text json = stamped(reading, document, kind, &arena, &fault);
    struct text file = text_copy(&reading->world->arena, text_of(document->file));
    if (json.len == 0 || file.ptr == NULL || !audit_world_add(reading->world, json, file.ptr, &fault))
        complain(reading, document->file, document->number, fault.text);
    arena_release(&arena);
}

bool audit_read_files(struct audit_world *world, const struct options *options, struct fault *fault) {
    struct reading reading = {.world = world};
    const struct document_visitor visitor = {on_document, on_error, &reading};
    const struct document_options how = {options_switch(options, OPTION_RECURSIVE),
                                         (size_t)options_int(options, OPTION_MAX_FILE_BYTES)};
    const char *feed = options_text(options, OPTION_POLICY_FEED);
    size_t count;
    const char *const *names = options_list(options, OPTION_FILENAME, &count);
    for (size_t i = 0; i < count; i++) documents_visit(names[i], &how, &visitor);
    if (options_given(options, OPTION_POLICY_FEED)) documents_visit(feed + strlen("dir:"), &how, &visitor);
    return reading.object_count > 0 || world->unreadable_count > 0 ||
           fault_set(fault, FAULT_IO, "there is no object that drawbridge knows");
}
