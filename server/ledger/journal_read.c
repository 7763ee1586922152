// SPDX-License-Identifier: Apache-2.0
// One scan for a replay; a scan and one look-up per object for an export.
#include "server/ledger/journal_read.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/codec/decode.h"
#include "server/ledger/journal_digest.h"
#include "server/ledger/journal_file.h"
#include "server/ledger/journal_fold.h"

#define EVENT_ARENA_BYTES ((size_t)256 << 20)

static bool open_for_reading(const char *folder, struct journal_file **ret_file, struct fault *fault) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", folder, JOURNAL_FILE_NAME) >= (int)sizeof path)
        return fault_set(fault, FAULT_USAGE, "the path of the folder is too long");
    if (access(path, F_OK) != 0)
        return fault_set(fault, FAULT_STATE, "there is no journal in \"%s\"", folder);
    return journal_file_open(path, false, ret_file, fault);
}

bool journal_minor(const char *folder, int *ret_minor, struct fault *fault) {
    struct journal_file *file;
    struct arena arena;
    struct text json = {NULL, 0};
    int64_t id;
    if (!open_for_reading(folder, &file, fault)) return false;
    arena_init(&arena, EVENT_ARENA_BYTES);
    bool fine = journal_file_last_start(file, &id, fault) &&
                (id > 0 || fault_set(fault, FAULT_STATE, "no session has begun")) &&
                journal_file_json(file, id, &arena, &json, fault);
    if (fine) {
        *ret_minor = journal_start_minor(json);
        fine = *ret_minor > 0 || fault_set(fault, FAULT_INPUT, "the last session does not tell its minor");
    }
    arena_release(&arena);
    journal_file_close(file);
    return fine || fault_wrap(fault, "journal of \"%s\"", folder);
}

// ---- replay

struct replay {
    struct ledger *ledger;
    int minor;
    int64_t start_id; // rows of sessions before it are passed over
    int64_t session;  // STARTs from there on
    bool listing[KIND_NODE_LEDGER + 1];
    bool lacking[KIND_NODE_LEDGER + 1];
    struct arena arena;
    struct journal_reading reading;
};

static bool apply(struct replay *replay, const struct journal_row *row, const struct object *object,
                  struct fault *fault) {
    const struct ledger_event event = {
        .type = row->type == JOURNAL_DELETED    ? EVENT_DELETED
                : row->type == JOURNAL_MODIFIED ? EVENT_MODIFIED
                                                : EVENT_ADDED,
        .object = object,
        .resource_version = row->version,
    };
    ledger_watch_alive(replay->ledger, row->kind, row->at_ms);
    return ledger_apply(replay->ledger, &event, fault) != LEDGER_FAILED;
}

static bool replay_event(struct replay *replay, const struct journal_row *row, struct fault *fault) {
    const struct decode_options options = {JSON_WIRE, replay->minor};
    struct object *object = arena_zalloc(&replay->arena, 1, sizeof *object);
    struct finding_list findings;
    finding_list_init(&findings, &replay->arena);
    if (object == NULL) return fault_set(fault, FAULT_MEMORY, "no memory for an object of the journal");
    if (!decode_object(&replay->arena, row->json, &options, object, &findings, fault))
        return fault_wrap(fault, "row %lld", (long long)row->id);
    if (object->kind != row->kind)
        return fault_set(fault, FAULT_INPUT, "row %lld is of another kind than its object",
                         (long long)row->id);
    replay->reading.events++;
    return apply(replay, row, object, fault);
}

// Only the identity is known, and only that is looked at: the version is that of the object that is held.
static bool replay_sighting(struct replay *replay, const struct journal_row *row, struct fault *fault) {
    struct object *object = arena_zalloc(&replay->arena, 1, sizeof *object);
    if (object == NULL) return fault_set(fault, FAULT_MEMORY, "no memory for an object of the journal");
    object->kind = row->kind;
    struct object_meta *meta = (struct object_meta *)object_metadata(object);
    if (meta == NULL) return true;
    meta->namespace = row->namespace;
    meta->name = row->name;
    meta->uid = row->uid;
    return apply(replay, row, object, fault);
}

static void replay_list(struct replay *replay, const struct journal_row *row) {
    enum object_kind kind = row->kind;
    if (row->type == JOURNAL_LIST_BEGIN)
        ledger_list_begin(replay->ledger, kind);
    else if (row->type == JOURNAL_LIST_CANCEL)
        ledger_list_cancel(replay->ledger, kind);
    else if (replay->listing[kind])
        ledger_list_end(replay->ledger, kind);
    else
        ledger_set_synced(replay->ledger, kind, true);
    if (row->type == JOURNAL_LIST_END && replay->listing[kind]) replay->lacking[kind] = false;
    replay->listing[kind] = row->type == JOURNAL_LIST_BEGIN;
    ledger_watch_alive(replay->ledger, kind, row->at_ms);
}

// A list that lost rows is no list: what it did not show may live.
static void replay_gap(struct replay *replay) {
    replay->reading.gaps++;
    for (unsigned i = 0; i <= KIND_NODE_LEDGER; i++) {
        if (replay->listing[i]) ledger_list_cancel(replay->ledger, (enum object_kind)i);
        replay->listing[i] = false;
        replay->lacking[i] = i != KIND_OTHER && i != KIND_LEASE;
    }
}

// The server noted what it showed at this place; the replay must show the same.
static bool check_state(struct replay *replay, const struct journal_row *row, struct fault *fault) {
    char digest[JOURNAL_DIGEST_TEXT_BYTES];
    size_t nodes;
    if (!journal_digest_ledger(replay->ledger, digest, &nodes))
        return fault_set(fault, FAULT_MEMORY, "no memory for the ledger's digest");
    replay->reading.states++;
    if (memmem(row->json.ptr, row->json.len, digest, strlen(digest)) == NULL)
        replay->reading.states_different++;
    return true;
}

static bool replay_row(void *context, const struct journal_row *row, struct fault *fault) {
    struct replay *replay = context;
    if (row->id < replay->start_id) return true;
    arena_clear(&replay->arena);
    replay->reading.newest_ms = row->at_ms;
    ledger_advance(replay->ledger, row->at_ms);
    switch (row->type) {
    case JOURNAL_START:
        if (replay->session++ > 0)
            return fault_set(fault, FAULT_STATE, "a server started while its journal was read; try again");
        return true;
    case JOURNAL_LIST_BEGIN:
    case JOURNAL_LIST_END:
    case JOURNAL_LIST_CANCEL: replay_list(replay, row); return true;
    case JOURNAL_GAP: replay_gap(replay); return true;
    case JOURNAL_STATE: return check_state(replay, row, fault);
    // Where rows are missing the object may not be known; whole ones follow then.
    case JOURNAL_SEEN: return replay->lacking[row->kind] || replay_sighting(replay, row, fault);
    default: return !journal_is_event(row->type) || replay_event(replay, row, fault);
    }
}

static bool is_lacking(const bool lacking[KIND_NODE_LEDGER + 1]) {
    for (unsigned i = 1; i <= KIND_NODE_LEDGER; i++)
        if (lacking[i] && i != KIND_LEASE) return true;
    return false;
}

bool journal_replay(const char *folder, int minor, struct ledger *ledger, struct journal_reading *ret_reading,
                    struct fault *fault) {
    struct journal_file *file;
    if (!open_for_reading(folder, &file, fault)) return false;
    struct replay replay = {.ledger = ledger, .minor = minor};
    arena_init(&replay.arena, EVENT_ARENA_BYTES);
    const struct journal_visitor visitor = {.row = replay_row, .context = &replay};
    bool fine =
        journal_file_last_start(file, &replay.start_id, fault) && journal_file_scan(file, &visitor, fault);
    journal_file_close(file);
    arena_release(&replay.arena);
    if (!fine) return fault_wrap(fault, "journal of \"%s\"", folder);
    replay.reading.incomplete = is_lacking(replay.lacking);
    *ret_reading = replay.reading;
    return true;
}

// ---- export

static bool fold_row(void *context, const struct journal_row *row, struct fault *fault) {
    return journal_fold_row(context, row, fault);
}

static bool export_item(struct journal_file *file, const struct journal_live *item, struct arena *arena,
                        journal_sink *sink, void *context, struct fault *fault) {
    struct text json;
    arena_clear(arena);
    if (!journal_file_json(file, item->last_id, arena, &json, fault)) return false;
    const struct text head = TEXT("{\"type\":\"ADDED\",\"object\":");
    char *line = arena_alloc(arena, head.len + json.len + 1);
    if (line == NULL) return fault_set(fault, FAULT_MEMORY, "no memory for a line of the export");
    memcpy(line, head.ptr, head.len);
    memcpy(line + head.len, json.ptr, json.len);
    line[head.len + json.len] = '}';
    size_t namespace_len = strlen(item->key);
    struct text name = {item->key + namespace_len + 1, item->key_len - namespace_len - 1};
    return sink(context, item->kind, name, (struct text){line, head.len + json.len + 1}, fault);
}

static bool export_all(struct journal_file *file, const struct journal_fold *fold, journal_sink *sink,
                       void *context, struct fault *fault) {
    const struct journal_live **items;
    size_t count;
    struct arena arena;
    if (!journal_fold_order(fold, &items, &count, fault)) return false;
    arena_init(&arena, EVENT_ARENA_BYTES);
    bool fine = true;
    for (size_t i = 0; i < count && fine; i++)
        fine = export_item(file, items[i], &arena, sink, context, fault);
    arena_release(&arena);
    free(items);
    return fine;
}

bool journal_export(const char *folder, journal_sink *sink, void *context,
                    struct journal_reading *ret_reading, struct fault *fault) {
    struct journal_file *file;
    struct journal_fold fold;
    if (!open_for_reading(folder, &file, fault)) return false;
    journal_fold_init(&fold);
    const struct journal_visitor visitor = {.row = fold_row, .context = &fold};
    bool fine = journal_file_scan(file, &visitor, fault) && export_all(file, &fold, sink, context, fault);
    struct journal_reading reading = {
        .events = fold.used_count, .gaps = fold.gap_count, .incomplete = is_lacking(fold.lacking)};
    journal_fold_release(&fold);
    journal_file_close(file);
    if (!fine) return fault_wrap(fault, "journal of \"%s\"", folder);
    *ret_reading = reading;
    return true;
}

// ---- audit records

#define GAP_RECORD_BYTES 64

struct audit_reading {
    int64_t since_ms;
    journal_audit_sink *sink;
    void *context;
};

// A GAP row says {"rows":N,…}.
static bool tell_gap(const struct audit_reading *reading, const struct journal_row *row,
                     struct fault *fault) {
    char text[GAP_RECORD_BYTES];
    const struct text head = TEXT("{\"rows\":");
    size_t end = row->json.len;
    for (size_t i = head.len; i < row->json.len && end == row->json.len; i++)
        if (row->json.ptr[i] < '0' || row->json.ptr[i] > '9') end = i;
    struct text rows = text_starts_with(row->json, head) ? text_slice(row->json, head.len, end) : TEXT("0");
    int len = snprintf(text, sizeof text, "{\"action\":\"gap\",\"rows\":%.*s}", TEXT_ARG(rows));
    return reading->sink(reading->context, row->at_ms, (struct text){text, (size_t)len}, fault);
}

static bool see_audit(void *context, const struct journal_row *row, struct fault *fault) {
    const struct audit_reading *reading = context;
    if (row->at_ms < reading->since_ms) return true;
    if (row->type == JOURNAL_GAP) return tell_gap(reading, row, fault);
    return row->type != JOURNAL_AUDIT || reading->sink(reading->context, row->at_ms, row->json, fault);
}

bool journal_visit(const char *folder, const struct journal_visitor *visitor, struct fault *fault) {
    struct journal_file *file;
    if (!open_for_reading(folder, &file, fault)) return false;
    bool fine = journal_file_scan(file, visitor, fault);
    journal_file_close(file);
    return fine || fault_wrap(fault, "journal of \"%s\"", folder);
}

bool journal_audits(const char *folder, int64_t since_ms, journal_audit_sink *sink, void *context,
                    struct fault *fault) {
    struct audit_reading reading = {.since_ms = since_ms, .sink = sink, .context = context};
    const struct journal_visitor visitor = {.row = see_audit, .context = &reading};
    return journal_visit(folder, &visitor, fault);
}
