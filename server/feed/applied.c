// SPDX-License-Identifier: Apache-2.0
// Comparing files with what was told, and telling the difference.
#include "server/feed/applied.h"

#include <stdlib.h>

#include "server/codec/decode.h"
#include "server/feed/stamp.h"
#include "server/log.h"

#define TELL_MEMORY_FACTOR 24u
#define TELL_MEMORY_BYTES  ((size_t)4 * 1024 * 1024)

// An object as a file has it, with the file for the log.
struct wanted {
    const struct manifest *manifest;
    const char *file;
    size_t order;
};

struct update {
    struct applied *applied;
    int minor;
    struct store *store;
    struct feed_state *state;
    struct arena arena;
    struct fault *fault;
};

static void applied_object_free(struct applied_object *object) {
    free(object);
}

void applied_release(struct applied *applied) {
    for (size_t i = 0; i < applied->count; i++) applied_object_free(applied->items[i]);
    free(applied->items);
    *applied = (struct applied){.items = NULL};
}

static void place(char **at, struct text text, struct text *ret_text) {
    if (text.len > 0) memcpy(*at, text.ptr, text.len);
    *ret_text = (struct text){*at, text.len};
    *at += text.len;
}

static struct applied_object *applied_object_new(const struct manifest *manifest) {
    size_t text_bytes = manifest->namespace.len + manifest->name.len + manifest->uid.len + manifest->json.len;
    struct applied_object *object = malloc(sizeof *object + text_bytes);
    if (object == NULL) return NULL;
    *object = (struct applied_object){.manifest = {.row = manifest->row}};
    char *at = (char *)(object + 1);
    place(&at, manifest->namespace, &object->manifest.namespace);
    place(&at, manifest->name, &object->manifest.name);
    place(&at, manifest->uid, &object->manifest.uid);
    place(&at, manifest->json, &object->manifest.json);
    return object;
}

// Tells the store of one object. Errors: false, the store is as it was.
static bool tell(struct update *update, enum event_type type, const struct manifest *manifest,
                 int64_t version) {
    arena_clear(&update->arena);
    update->arena.cap_bytes = manifest->json.len * TELL_MEMORY_FACTOR + TELL_MEMORY_BYTES;
    const struct stamp stamp = {
        .uid = manifest->uid, .namespace = manifest->namespace, .resource_version = version};
    const struct decode_options options = {.mode = JSON_WIRE, .minor = update->minor};
    struct finding_list findings;
    finding_list_init(&findings, &update->arena);
    struct text json = stamp_object(&update->arena, manifest->json, &stamp);
    struct object *object = arena_zalloc(&update->arena, 1, sizeof *object);
    if (json.len == 0 || object == NULL)
        return fault_set(update->fault, FAULT_MEMORY, "no memory for an object");
    if (!decode_object(&update->arena, json, &options, object, &findings, update->fault)) return false;
    const struct ledger_event event = {.type = type, .object = object, .resource_version = version};
    return store_apply(update->store, &event, json, update->fault) != LEDGER_FAILED;
}

static void count_object(struct update *update, const struct manifest *manifest, int64_t difference) {
    atomic_fetch_add_explicit(&update->state->kinds[feed_kind_index(manifest->row)].objects, difference,
                              memory_order_relaxed);
}

static int wanted_compare(const void *a, const void *b) {
    const struct wanted *left = a;
    const struct wanted *right = b;
    int order = manifest_compare(left->manifest, right->manifest);
    if (order != 0) return order;
    return left->order < right->order ? -1 : 1;
}

// All objects of the files in order, without repetitions.
static struct wanted *gather(const struct folder_files *files, struct feed_state *state, size_t *ret_count) {
    size_t count = 0;
    for (size_t i = 0; i < files->count; i++) count += files->items[i].objects.count;
    struct wanted *wanted = calloc(count + 1, sizeof *wanted);
    if (wanted == NULL) return NULL;
    count = 0;
    for (size_t i = 0; i < files->count; i++)
        for (size_t k = 0; k < files->items[i].objects.count; k++, count++)
            wanted[count] = (struct wanted){&files->items[i].objects.items[k], files->items[i].name, count};
    if (count > 0) qsort(wanted, count, sizeof *wanted, wanted_compare);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct wanted *last = kept == 0 ? NULL : &wanted[kept - 1];
        if (last == NULL || manifest_compare(last->manifest, wanted[i].manifest) != 0) {
            wanted[kept++] = wanted[i];
            continue;
        }
        feed_count_error(state, FEED_ERROR_DUPLICATE);
        log_info(0, "feed", "An object is there twice, the first one counts",
                 LOG_STRING("resource", last->manifest->row->resource),
                 LOG_OBJECT("object", last->manifest->namespace, last->manifest->name),
                 LOG_STRING("file", last->file), LOG_STRING("otherFile", wanted[i].file));
    }
    *ret_count = kept;
    return wanted;
}

// What is gone. The objects that stay move together.
static bool remove_gone(struct update *update, const struct wanted *wanted, size_t count) {
    struct applied *applied = update->applied;
    size_t kept = 0;
    size_t at = 0;
    bool fine = true;
    for (size_t i = 0; i < applied->count; i++) {
        struct applied_object *object = applied->items[i];
        while (at < count && manifest_compare(wanted[at].manifest, &object->manifest) < 0) at++;
        bool same_name = at < count && manifest_compare(wanted[at].manifest, &object->manifest) == 0;
        // Another UID under the same name is another object: the old one is gone.
        bool stays = same_name && text_equal(wanted[at].manifest->uid, object->manifest.uid);
        if (!stays && fine) fine = tell(update, EVENT_DELETED, &object->manifest, applied->next_version++);
        if (stays || !fine) {
            applied->items[kept++] = object;
            continue;
        }
        count_object(update, &object->manifest, -1);
        applied_object_free(object);
    }
    applied->count = kept;
    return fine;
}

// What is new or changed. Builds the next list beside the present one, so that nothing is lost half-way.
static bool add_new(struct update *update, const struct wanted *wanted, size_t count) {
    struct applied *applied = update->applied;
    struct applied_object **next = calloc(count + applied->count + 1, sizeof(struct applied_object *));
    if (next == NULL) return fault_set(update->fault, FAULT_MEMORY, "out of memory");
    size_t next_count = 0;
    size_t at = 0;
    bool fine = true;
    for (size_t i = 0; i < count; i++) {
        while (at < applied->count && manifest_compare(&applied->items[at]->manifest, wanted[i].manifest) < 0)
            next[next_count++] = applied->items[at++];
        struct applied_object *known = NULL;
        if (at < applied->count && manifest_compare(&applied->items[at]->manifest, wanted[i].manifest) == 0)
            known = applied->items[at++];
        bool same = known != NULL && text_equal(known->manifest.json, wanted[i].manifest->json);
        struct applied_object *fresh = same || !fine ? NULL : applied_object_new(wanted[i].manifest);
        if (fresh != NULL) {
            fresh->resource_version = applied->next_version++;
            enum event_type type = known == NULL ? EVENT_ADDED : EVENT_MODIFIED;
            fine = tell(update, type, &fresh->manifest, fresh->resource_version);
        } else if (!same && fine) {
            fine = fault_set(update->fault, FAULT_MEMORY, "out of memory");
        }
        if (fresh != NULL && !fine) {
            applied_object_free(fresh);
            fresh = NULL;
        }
        if (fresh != NULL && known == NULL) count_object(update, &fresh->manifest, 1);
        if (fresh != NULL) applied_object_free(known);
        if (fresh == NULL) fresh = known;
        if (fresh != NULL) next[next_count++] = fresh;
    }
    while (at < applied->count) next[next_count++] = applied->items[at++];
    free(applied->items);
    applied->items = next;
    applied->count = next_count;
    return fine;
}

static void begin_list(struct update *update, const struct folder_files *files) {
    struct applied *applied = update->applied;
    for (size_t i = 0; i < files->count; i++)
        if (files->items[i].objects.written_version >= applied->next_version)
            applied->next_version = files->items[i].objects.written_version + 1;
    if (applied->next_version == 0) applied->next_version = 1;
    for (size_t i = 0; i < FEED_KIND_COUNT; i++) store_list_begin(update->store, feed_kinds[i].kind);
}

static void end_list(struct update *update) {
    for (size_t i = 0; i < FEED_KIND_COUNT; i++) {
        store_list_end(update->store, feed_kinds[i].kind);
        store_set_synced(update->store, feed_kinds[i].kind, true);
        atomic_store_explicit(&update->state->kinds[i].synced, true, memory_order_relaxed);
    }
    update->applied->listed = true;
}

bool applied_update(struct applied *applied, const struct folder_files *files, bool complete, int minor,
                    struct store *store, struct feed_state *state, struct fault *fault) {
    struct update update = {
        .applied = applied, .minor = minor, .store = store, .state = state, .fault = fault};
    size_t count = 0;
    struct wanted *wanted = gather(files, state, &count);
    if (wanted == NULL) return fault_set(fault, FAULT_MEMORY, "out of memory");
    if (applied->next_version == 0) begin_list(&update, files);
    arena_init(&update.arena, TELL_MEMORY_BYTES);
    bool fine = remove_gone(&update, wanted, count) && add_new(&update, wanted, count);
    arena_release(&update.arena);
    free(wanted);
    if (fine && complete && !applied->listed) end_list(&update);
    return fine;
}

bool applied_list_again(struct applied *applied, int minor, struct store *store, struct feed_state *state,
                        struct fault *fault) {
    struct update update = {
        .applied = applied, .minor = minor, .store = store, .state = state, .fault = fault};
    bool fine = true;
    for (size_t i = 0; i < FEED_KIND_COUNT; i++) store_list_begin(store, feed_kinds[i].kind);
    arena_init(&update.arena, TELL_MEMORY_BYTES);
    for (size_t i = 0; i < applied->count && fine; i++)
        fine = tell(&update, EVENT_ADDED, &applied->items[i]->manifest, applied->items[i]->resource_version);
    arena_release(&update.arena);
    if (fine)
        end_list(&update);
    else
        for (size_t i = 0; i < FEED_KIND_COUNT; i++) store_list_cancel(store, feed_kinds[i].kind);
    return fine;
}
