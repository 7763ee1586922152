// SPDX-License-Identifier: Apache-2.0
// From the bytes of a file to objects with an identity.
#include "server/feed/manifests.h"

#include <openssl/evp.h>

#include "server/codec/decode.h"
#include "server/codec/documents.h"
#include "server/feed/stamp.h"

#define OBJECT_MEMORY_FACTOR 16u
#define OBJECT_MEMORY_BYTES  ((size_t)4 * 1024 * 1024)
#define KEEP_FACTOR          8u

struct reading {
    const char *file;
    int minor;
    struct manifest_list *list;
    struct arena arena; // of one object
    struct fault *fault;
    bool failed;
};

static bool fail_at(struct reading *reading, enum fault_code code, uint32_t line, const char *what) {
    if (!reading->failed && line > 0)
        fault_set(reading->fault, code, "%s:%u: %s", reading->file, line, what);
    else if (!reading->failed)
        fault_set(reading->fault, code, "%s: %s", reading->file, what);
    reading->failed = true;
    return false;
}

static uint32_t line_of(struct reading *reading, const struct document *document, struct text path) {
    struct locator locator;
    locator_init(&locator, document->json, &reading->arena);
    return document_place(document, &locator, path, false).line;
}

static bool fail_in(struct reading *reading, const struct document *document, struct text path,
                    const char *what) {
    return fail_at(reading, FAULT_INPUT, line_of(reading, document, path), what);
}

// Names end in paths, queries and log lines, and are put into JSON as they are.
static bool is_plain(struct text text) {
    if (text.len > MANIFEST_NAME_BYTES) return false;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        if (byte <= ' ' || byte >= 0x7f || byte == '"' || byte == '\\') return false;
    }
    return true;
}

// The same object always has the same UID, also after a restart.
static struct text uid_of(struct arena *arena, const struct feed_kind *row, struct text namespace,
                          struct text name) {
    unsigned char d[EVP_MAX_MD_SIZE] = {0};
    struct text key = text_format(arena, "%s/%.*s/%.*s", row->resource, TEXT_ARG(namespace), TEXT_ARG(name));
    if (key.ptr == NULL || EVP_Digest(key.ptr, key.len, d, NULL, EVP_sha256(), NULL) != 1)
        return (struct text){NULL, 0};
    return text_format(arena, "%02x%02x%02x%02x-%02x%02x-8%x%02x-8%x%02x-%02x%02x%02x%02x%02x%02x", d[0],
                       d[1], d[2], d[3], d[4], d[5], d[6] & 15u, d[7], d[8] & 15u, d[9], d[10], d[11], d[12],
                       d[13], d[14], d[15]);
}

static bool decode(struct reading *reading, const struct document *document, struct object *object) {
    const struct decode_options options = {.mode = JSON_WIRE, .minor = reading->minor};
    struct finding_list findings;
    struct fault fault;
    finding_list_init(&findings, &reading->arena);
    if (!decode_object(&reading->arena, document->json, &options, object, &findings, &fault))
        return fail_in(reading, document, (struct text){NULL, 0}, fault.text);
    if (!finding_list_is_sound(&findings)) return fail_at(reading, FAULT_MEMORY, 0, "out of memory");
    if (findings.count == 0) return true;
    char what[FAULT_TEXT_BYTES];
    snprintf(what, sizeof what, "%.*s: %.*s", TEXT_ARG(findings.items[0].path),
             TEXT_ARG(findings.items[0].detail));
    return fail_in(reading, document, findings.items[0].path, what);
}

// Keeps a copy of the object with its identity.
static bool keep(struct reading *reading, const struct document *document, const struct feed_kind *row,
                 const struct object_meta *metadata) {
    struct manifest_list *list = reading->list;
    struct arena *arena = &list->arena;
    struct text namespace = (struct text){"", 0};
    if (row->namespaced) namespace = metadata->namespace.len == 0 ? TEXT("default") : metadata->namespace;
    struct manifest manifest = {
        .row = row, .namespace = text_copy(arena, namespace), .name = text_copy(arena, metadata->name)};
    manifest.uid = metadata->uid.len > 0 ? text_copy(arena, metadata->uid)
                                         : uid_of(arena, row, manifest.namespace, manifest.name);
    const struct stamp stamp = {.uid = manifest.uid, .namespace = manifest.namespace};
    manifest.json = text_copy(arena, stamp_object(&reading->arena, document->json, &stamp));
    struct manifest *place = LIST_APPEND(arena, list);
    if (place == NULL || manifest.json.len == 0 || manifest.uid.len == 0)
        return fail_at(reading, FAULT_MEMORY, 0, "out of memory");
    *place = manifest;
    int64_t version;
    if (text_to_int64(metadata->resource_version, &version) && version > list->written_version)
        list->written_version = version;
    return true;
}

static void on_document(void *state, const struct document *document) {
    struct reading *reading = state;
    enum resource_version version;
    if (reading->failed) return;
    const struct feed_kind *row = feed_kind_of(decode_kind(document->api_version, document->kind, &version));
    if (row == NULL) return;
    arena_clear(&reading->arena);
    struct object *object = arena_zalloc(&reading->arena, 1, sizeof *object);
    if (object == NULL) {
        fail_at(reading, FAULT_MEMORY, 0, "out of memory");
        return;
    }
    if (!decode(reading, document, object)) return;
    const struct object_meta *metadata = object_metadata(object);
    if (metadata->name.len == 0)
        fail_in(reading, document, TEXT("metadata"), "metadata.name: an object of the cluster has a name");
    else if (!is_plain(metadata->name) || !is_plain(metadata->namespace) || !is_plain(metadata->uid))
        fail_in(reading, document, TEXT("metadata"), "metadata: no name, namespace or uid of a cluster");
    else if (row->namespace[0] == '\0' || text_equal(metadata->namespace, text_of(row->namespace)))
        (void)keep(reading, document, row, metadata);
}

static void on_error(void *state, const struct document_error *error) {
    (void)fail_at(state, FAULT_INPUT, error->line, error->text);
}

bool manifests_read(const char *file, struct text bytes, int minor, struct manifest_list *ret_list,
                    struct fault *fault) {
    struct manifest_list list = {.items = NULL};
    struct reading reading = {.file = file, .minor = minor, .list = &list, .fault = fault};
    const struct document_visitor visitor = {
        .on_document = on_document, .on_error = on_error, .state = &reading};
    const struct document_options options = {.file_bytes = bytes.len};
    arena_init(&list.arena, bytes.len * KEEP_FACTOR + OBJECT_MEMORY_BYTES);
    arena_init(&reading.arena, bytes.len * OBJECT_MEMORY_FACTOR + OBJECT_MEMORY_BYTES);
    documents_visit_text(file, bytes, &options, &visitor);
    arena_release(&reading.arena);
    if (reading.failed) {
        manifest_list_release(&list);
        return false;
    }
    *ret_list = list;
    return true;
}

void manifest_list_release(struct manifest_list *list) {
    arena_release(&list->arena);
    *list = (struct manifest_list){.items = NULL};
}

int manifest_compare(const struct manifest *a, const struct manifest *b) {
    if (a->row != b->row) return a->row < b->row ? -1 : 1;
    int order = text_compare(a->namespace, b->namespace);
    return order != 0 ? order : text_compare(a->name, b->name);
}
