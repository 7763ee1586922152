// SPDX-License-Identifier: Apache-2.0
// A table of objects by kind, namespace and name.
#include "server/ledger/journal_fold.h"

#include <stdlib.h>

#include "server/codec/decode.h"

#define FIRST_ROOM    1024u
#define SCRATCH_BYTES ((size_t)64 << 20)
#define FNV_OFFSET    0xcbf29ce484222325u
#define FNV_PRIME     0x100000001b3u
#define EXPORT_ORDER(X)                                                                                      \
    X(LEDGER_POLICY)                                                                                         \
    X(NODE_LEDGER)                                                                                           \
    X(NODE)                                                                                                  \
    X(NAMESPACE)                                                                                             \
    X(DEVICE_CLASS)                                                                                          \
    X(RESOURCE_SLICE) X(RESOURCE_CLAIM_TEMPLATE) X(RESOURCE_CLAIM) X(POD) X(DEVICE_TAINT_RULE) X(LEASE)

void journal_fold_init(struct journal_fold *fold) {
    *fold = (struct journal_fold){.items = NULL};
    arena_init(&fold->scratch, SCRATCH_BYTES);
}

static void forget_all(struct journal_fold *fold) {
    for (size_t i = 0; i < fold->room_count; i++) {
        free(fold->items[i].key);
        free(fold->items[i].uid);
    }
    free(fold->items);
    fold->items = NULL;
    fold->room_count = fold->used_count = 0;
}

void journal_fold_release(struct journal_fold *fold) {
    forget_all(fold);
    arena_release(&fold->scratch);
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t len) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < len; i++) hash = (hash ^ at[i]) * FNV_PRIME;
    return hash;
}

static uint64_t hash_of(enum object_kind kind, struct text key) {
    const unsigned char byte = (unsigned char)kind;
    return hash_bytes(hash_bytes(FNV_OFFSET, &byte, 1), key.ptr, key.len);
}

static struct journal_live *slot_of(const struct journal_fold *fold, uint64_t hash, enum object_kind kind,
                                    struct text key) {
    size_t at = (size_t)hash & (fold->room_count - 1);
    for (;; at = (at + 1) & (fold->room_count - 1)) {
        struct journal_live *item = &fold->items[at];
        if (item->key == NULL) return item;
        if (item->hash == hash && item->kind == kind && item->key_len == key.len &&
            memcmp(item->key, key.ptr, key.len) == 0)
            return item;
    }
}

static bool make_room(struct journal_fold *fold) {
    if (fold->used_count * 2 < fold->room_count) return true;
    struct journal_fold next = {.room_count = fold->room_count == 0 ? FIRST_ROOM : fold->room_count * 2};
    next.items = calloc(next.room_count, sizeof *next.items);
    if (next.items == NULL) return false;
    for (size_t i = 0; i < fold->room_count; i++) {
        const struct journal_live *item = &fold->items[i];
        if (item->key != NULL)
            *slot_of(&next, item->hash, item->kind, (struct text){item->key, item->key_len}) = *item;
    }
    free(fold->items);
    fold->items = next.items;
    fold->room_count = next.room_count;
    return true;
}

static char *copy_bytes(struct text text) {
    char *copy = malloc(text.len + 1);
    if (copy == NULL) return NULL;
    if (text.len > 0) memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return copy;
}

static struct text key_of(struct journal_fold *fold, const struct journal_row *row) {
    char *key = arena_alloc(&fold->scratch, row->namespace.len + row->name.len + 1);
    if (key == NULL) return (struct text){NULL, 0};
    if (row->namespace.len > 0) memcpy(key, row->namespace.ptr, row->namespace.len);
    key[row->namespace.len] = '\0';
    if (row->name.len > 0) memcpy(key + row->namespace.len + 1, row->name.ptr, row->name.len);
    return (struct text){key, row->namespace.len + row->name.len + 1};
}

static bool is_allocated(struct journal_fold *fold, const struct journal_row *row) {
    const struct decode_options options = {JSON_WIRE, MINOR_NEWEST};
    struct object *object = arena_zalloc(&fold->scratch, 1, sizeof *object);
    struct finding_list findings;
    struct fault ignored;
    finding_list_init(&findings, &fold->scratch);
    return object != NULL &&
           decode_object(&fold->scratch, row->json, &options, object, &findings, &ignored) &&
           object->kind == KIND_RESOURCE_CLAIM && object->claim.allocation.set;
}

// A new object under its name, or the same one again.
static bool take_identity(struct journal_fold *fold, struct journal_live *item, const struct journal_row *row,
                          struct text key, uint64_t hash) {
    bool same = item->key != NULL && item->live && item->uid_len == row->uid.len &&
                (row->uid.len == 0 || memcmp(item->uid, row->uid.ptr, row->uid.len) == 0);
    if (same) return true;
    char *uid = copy_bytes(row->uid);
    char *name = item->key != NULL ? item->key : copy_bytes(key);
    if (uid == NULL || name == NULL) {
        free(uid);
        if (item->key == NULL) free(name);
        return false;
    }
    if (item->key == NULL) fold->used_count++;
    free(item->uid);
    *item = (struct journal_live){.key = name, .key_len = key.len, .uid = uid, .uid_len = row->uid.len};
    item->kind = row->kind;
    item->hash = hash;
    item->first_id = row->id;
    return true;
}

static void take_sighting(struct journal_fold *fold, const struct journal_row *row) {
    arena_clear(&fold->scratch);
    struct text key = key_of(fold, row);
    if (key.ptr == NULL || fold->room_count == 0) return;
    struct journal_live *item = slot_of(fold, hash_of(row->kind, key), row->kind, key);
    if (item->key != NULL && item->live) item->list_round = fold->list_rounds[row->kind];
}

static bool take_event(struct journal_fold *fold, const struct journal_row *row) {
    arena_clear(&fold->scratch);
    struct text key = key_of(fold, row);
    if (key.ptr == NULL || !make_room(fold)) return false;
    uint64_t hash = hash_of(row->kind, key);
    struct journal_live *item = slot_of(fold, hash, row->kind, key);
    if (row->type == JOURNAL_DELETED) {
        if (item->key != NULL) item->live = false;
        return true;
    }
    if (!take_identity(fold, item, row, key, hash)) return false;
    bool allocated = row->kind == KIND_RESOURCE_CLAIM && is_allocated(fold, row);
    if (allocated != item->allocated) item->first_id = row->id;
    item->allocated = allocated;
    item->last_id = row->id;
    item->live = true;
    item->list_round = fold->list_rounds[row->kind];
    return !fold->scratch.poisoned;
}

static void end_list(struct journal_fold *fold, enum object_kind kind, int64_t id) {
    fold->list_end_ids[kind] = id;
    if (!fold->listing[kind]) return;
    fold->listing[kind] = false;
    fold->lacking[kind] = false;
    for (size_t i = 0; i < fold->room_count; i++) {
        struct journal_live *item = &fold->items[i];
        if (item->key != NULL && item->kind == kind && item->list_round != fold->list_rounds[kind])
            item->live = false;
    }
}

static void start(struct journal_fold *fold, int64_t id) {
    forget_all(fold);
    memset(fold->listing, 0, sizeof fold->listing);
    memset(fold->lacking, 0, sizeof fold->lacking);
    memset(fold->list_end_ids, 0, sizeof fold->list_end_ids);
    fold->gap_count = 0;
    fold->gap_id = 0;
    fold->start_id = id;
}

bool journal_fold_row(struct journal_fold *fold, const struct journal_row *row, struct fault *fault) {
    bool fine = true;
    switch (row->type) {
    case JOURNAL_START: start(fold, row->id); break;
    case JOURNAL_LIST_BEGIN:
        fold->listing[row->kind] = true;
        fold->list_rounds[row->kind]++;
        break;
    case JOURNAL_LIST_END: end_list(fold, row->kind, row->id); break;
    case JOURNAL_SEEN: take_sighting(fold, row); break;
    case JOURNAL_LIST_CANCEL: fold->listing[row->kind] = false; break;
    case JOURNAL_GAP:
        fold->gap_count++;
        fold->gap_id = row->id;
        // A list that lost rows is no list.
        memset(fold->listing, 0, sizeof fold->listing);
        for (size_t i = 0; i < sizeof fold->lacking / sizeof fold->lacking[0]; i++) fold->lacking[i] = true;
        break;
    default:
        if (journal_is_event(row->type)) fine = take_event(fold, row);
        break;
    }
    return fine || fault_set(fault, FAULT_MEMORY, "no memory for the journal's objects");
}

bool journal_fold_is_listing(const struct journal_fold *fold) {
    for (size_t i = 0; i < sizeof fold->listing / sizeof fold->listing[0]; i++)
        if (fold->listing[i]) return true;
    return false;
}

static int compare_ids(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return left < right ? -1 : left > right;
}

bool journal_fold_kept(const struct journal_fold *fold, int64_t **ret_ids, size_t *ret_count,
                       struct fault *fault) {
    int64_t *ids = calloc(2 * fold->used_count + KIND_NODE_LEDGER + 3, sizeof *ids);
    size_t count = 0;
    if (ids == NULL) return fault_set(fault, FAULT_MEMORY, "no memory for the journal's objects");
    if (fold->start_id > 0) ids[count++] = fold->start_id;
    if (fold->gap_id > 0) ids[count++] = fold->gap_id;
    for (size_t i = 0; i <= KIND_NODE_LEDGER; i++)
        if (fold->list_end_ids[i] > 0) ids[count++] = fold->list_end_ids[i];
    for (size_t i = 0; i < fold->room_count; i++) {
        const struct journal_live *item = &fold->items[i];
        if (item->key == NULL || !item->live) continue;
        ids[count++] = item->last_id;
        if (item->first_id != item->last_id) ids[count++] = item->first_id;
    }
    qsort(ids, count, sizeof *ids, compare_ids);
    *ret_ids = ids;
    *ret_count = count;
    return true;
}

static int rank_of(enum object_kind kind) {
#define X(name) KIND_##name,
    static const enum object_kind order[] = {EXPORT_ORDER(X)};
#undef X
    int rank = 0;
    while (rank < (int)(sizeof order / sizeof order[0]) && order[rank] != kind) rank++;
    return rank;
}

static int compare_live(const void *a, const void *b) {
    const struct journal_live *left = *(const struct journal_live *const *)a;
    const struct journal_live *right = *(const struct journal_live *const *)b;
    if (left->kind != right->kind) return rank_of(left->kind) - rank_of(right->kind);
    return compare_ids(&left->first_id, &right->first_id);
}

bool journal_fold_order(const struct journal_fold *fold, const struct journal_live ***ret_items,
                        size_t *ret_count, struct fault *fault) {
    const struct journal_live **items = calloc(fold->used_count + 1, sizeof *items);
    size_t count = 0;
    if (items == NULL) return fault_set(fault, FAULT_MEMORY, "no memory for the journal's objects");
    for (size_t i = 0; i < fold->room_count; i++)
        if (fold->items[i].key != NULL && fold->items[i].live) items[count++] = &fold->items[i];
    qsort(items, count, sizeof *items, compare_live);
    *ret_items = items;
    *ret_count = count;
    return true;
}
