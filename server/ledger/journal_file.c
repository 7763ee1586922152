// SPDX-License-Identifier: Apache-2.0
// Opening, writing and reading the journal's file.
#include "server/ledger/journal_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/ledger/journal_chain.h"

#define APPLICATION_ID  0x64726177 // "draw"
#define BUSY_WAIT_MS    2000
#define WAL_LIMIT_BYTES "16777216"
#define ROW_OVERHEAD    64 // bytes of a row beside its texts, roughly

// The statements, prepared once.
enum statement {
    INSERT_ROW,
    INSERT_BATCH,
    READ_BATCHES,
    READ_ROWS,
    READ_JSON,
    READ_ROWS_UP_TO,
    STATEMENT_COUNT
};

#define ROW_COLUMNS   "id, at_ms, type, kind, version, namespace, name, uid, json"
#define BATCH_COLUMNS "seq, base, first_id, last_id, row_count, bytes, at_ms, previous, digest"

static const char *const statements[STATEMENT_COUNT] = {
    [INSERT_ROW] = "INSERT INTO row(" ROW_COLUMNS ") VALUES(?,?,?,?,?,?,?,?,?)",
    [INSERT_BATCH] = "INSERT INTO batch(" BATCH_COLUMNS ") VALUES(?,?,?,?,?,?,?,?,?)",
    [READ_BATCHES] = "SELECT " BATCH_COLUMNS " FROM batch ORDER BY seq",
    [READ_ROWS] = "SELECT " ROW_COLUMNS " FROM row ORDER BY id",
    [READ_JSON] = "SELECT json FROM row WHERE id = ?",
    [READ_ROWS_UP_TO] = "SELECT " ROW_COLUMNS " FROM row WHERE id <= ? ORDER BY id",
};

static const char schema[] =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE batch(seq INTEGER PRIMARY KEY, base INTEGER NOT NULL, first_id INTEGER NOT NULL,"
    " last_id INTEGER NOT NULL, row_count INTEGER NOT NULL, bytes INTEGER NOT NULL, at_ms INTEGER NOT NULL,"
    " previous BLOB NOT NULL, digest BLOB NOT NULL);"
    "CREATE TABLE row(id INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, type TEXT NOT NULL, kind TEXT NOT NULL,"
    " version INTEGER NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL, uid TEXT NOT NULL,"
    " json TEXT NOT NULL);"
    "PRAGMA application_id = 1685217655;"
    "PRAGMA user_version = 1;"
    "COMMIT";
_Static_assert(APPLICATION_ID == 1685217655 && JOURNAL_SCHEMA_VERSION == 1, "as the text of the schema says");

struct journal_file {
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENT_COUNT];
    struct journal_chain *chain;
    struct journal_batch last; // the newest batch; seq 0: none
};

// The library's error as a fault: what the file says wrongly is FAULT_INPUT, the rest is the system's.
static bool sql_fault(const struct journal_file *file, struct fault *fault) {
    int code = sqlite3_errcode(file->db);
    enum fault_code kind = FAULT_IO;
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR ||
        code == SQLITE_CONSTRAINT || code == SQLITE_MISMATCH || code == SQLITE_FORMAT)
        kind = FAULT_INPUT;
    if (code == SQLITE_NOMEM) kind = FAULT_MEMORY;
    return fault_set(fault, kind, "%s", sqlite3_errmsg(file->db));
}

static bool execute(struct journal_file *file, const char *sql, struct fault *fault) {
    return sqlite3_exec(file->db, sql, NULL, NULL, NULL) == SQLITE_OK || sql_fault(file, fault);
}

// Begins a transaction. One that could not even be ended for want of memory ends here.
static bool begin(struct journal_file *file, const char *sql, struct fault *fault) {
    if (sqlite3_get_autocommit(file->db) == 0 && !execute(file, "ROLLBACK", fault)) return false;
    return execute(file, sql, fault);
}

// One number that a statement answers.
static bool ask(struct journal_file *file, const char *sql, int64_t *ret_value, struct fault *fault) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(file->db, sql, -1, &statement, NULL) != SQLITE_OK) return sql_fault(file, fault);
    bool found = sqlite3_step(statement) == SQLITE_ROW;
    if (found)
        *ret_value = sqlite3_column_int64(statement, 0);
    else
        sql_fault(file, fault);
    sqlite3_finalize(statement);
    return found;
}

static bool prepare(struct journal_file *file, bool for_writing, struct fault *fault) {
    for (unsigned i = 0; i < STATEMENT_COUNT; i++) {
        if (!for_writing && (i == INSERT_ROW || i == INSERT_BATCH)) continue;
        if (sqlite3_prepare_v3(file->db, statements[i], -1, SQLITE_PREPARE_PERSISTENT, &file->statements[i],
                               NULL) != SQLITE_OK)
            return sql_fault(file, fault);
    }
    return true;
}

static struct text column_text(sqlite3_stmt *statement, int column) {
    const char *ptr = (const char *)sqlite3_column_text(statement, column);
    return (struct text){ptr, ptr == NULL ? 0 : (size_t)sqlite3_column_bytes(statement, column)};
}

static void column_digest(sqlite3_stmt *statement, int column,
                          unsigned char ret_digest[JOURNAL_DIGEST_BYTES]) {
    memset(ret_digest, 0, JOURNAL_DIGEST_BYTES);
    const void *blob = sqlite3_column_blob(statement, column);
    int len = sqlite3_column_bytes(statement, column);
    // A digest of another length is none: it will not be the right one.
    if (blob != NULL && len == (int)JOURNAL_DIGEST_BYTES) memcpy(ret_digest, blob, JOURNAL_DIGEST_BYTES);
}

static struct journal_batch read_batch(sqlite3_stmt *statement) {
    struct journal_batch batch = {
        .seq = sqlite3_column_int64(statement, 0),
        .base = sqlite3_column_int64(statement, 1) != 0,
        .first_id = sqlite3_column_int64(statement, 2),
        .last_id = sqlite3_column_int64(statement, 3),
        .row_count = sqlite3_column_int64(statement, 4),
        .bytes = sqlite3_column_int64(statement, 5),
        .at_ms = sqlite3_column_int64(statement, 6),
    };
    column_digest(statement, 7, batch.previous);
    column_digest(statement, 8, batch.digest);
    return batch;
}

// Errors: false when the row says what no row says.
static bool read_row(sqlite3_stmt *statement, struct journal_row *ret_row) {
    struct text kind = column_text(statement, 3);
    *ret_row = (struct journal_row){
        .id = sqlite3_column_int64(statement, 0),
        .at_ms = sqlite3_column_int64(statement, 1),
        .kind = journal_kind_find(kind),
        .version = sqlite3_column_int64(statement, 4),
        .namespace = column_text(statement, 5),
        .name = column_text(statement, 6),
        .uid = column_text(statement, 7),
        .json = column_text(statement, 8),
    };
    return journal_type_find(column_text(statement, 2), &ret_row->type) &&
           (kind.len == 0 || ret_row->kind != KIND_OTHER);
}

static bool check_version(struct journal_file *file, bool for_writing, struct fault *fault) {
    int64_t version, application, tables;
    if (!ask(file, "PRAGMA user_version", &version, fault) ||
        !ask(file, "PRAGMA application_id", &application, fault) ||
        !ask(file, "SELECT count(*) FROM sqlite_schema", &tables, fault))
        return false;
    if (version == 0 && application == 0 && tables == 0) {
        if (!for_writing) return fault_set(fault, FAULT_STATE, "it is empty");
        return execute(file, schema, fault);
    }
    if (application != APPLICATION_ID) return fault_set(fault, FAULT_INPUT, "it is no journal");
    if (version != JOURNAL_SCHEMA_VERSION)
        return fault_set(fault, FAULT_STATE, "its schema has version %lld, this program knows %d",
                         (long long)version, JOURNAL_SCHEMA_VERSION);
    return true;
}

static bool use_settings(struct journal_file *file, bool for_writing, struct fault *fault) {
    sqlite3_busy_timeout(file->db, BUSY_WAIT_MS);
    if (!for_writing) return true;
    return execute(file, "PRAGMA journal_mode = WAL", fault) &&
           execute(file, "PRAGMA synchronous = NORMAL", fault) &&
           execute(file, "PRAGMA journal_size_limit = " WAL_LIMIT_BYTES, fault);
}

static bool note_last(void *context, const struct journal_batch *batch) {
    ((struct journal_file *)context)->last = *batch;
    return true;
}

// The whole of the file: its structure, then the chain, which leads to the last batch.
static bool check_contents(struct journal_file *file, struct fault *fault) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(file->db, "PRAGMA quick_check(1)", -1, &statement, NULL) != SQLITE_OK)
        return sql_fault(file, fault);
    bool answered = sqlite3_step(statement) == SQLITE_ROW;
    bool sound = answered && text_equal(column_text(statement, 0), TEXT("ok"));
    if (!answered)
        sql_fault(file, fault);
    else if (!sound)
        fault_set(fault, FAULT_INPUT, "%.*s", TEXT_ARG(column_text(statement, 0)));
    sqlite3_finalize(statement);
    const struct journal_visitor visitor = {.batch = note_last, .context = file};
    return sound && journal_file_scan(file, &visitor, fault);
}

// Made before SQLite makes it, so that nobody else may read it; its companions take the same rights.
static bool make_file(const char *path, struct fault *fault) {
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0) return fault_set(fault, FAULT_IO, "%s", strerror(errno));
    close(fd);
    return true;
}

static bool open_database(struct journal_file *file, const char *path, bool for_writing,
                          struct fault *fault) {
    int flags = SQLITE_OPEN_NOMUTEX | (for_writing ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY);
    if (for_writing && !make_file(path, fault)) return false;
    int code = sqlite3_open_v2(path, &file->db, flags, NULL);
    if (code == SQLITE_OK) return true;
    return file->db != NULL ? sql_fault(file, fault) : fault_set(fault, FAULT_MEMORY, "out of memory");
}

bool journal_file_open(const char *path, bool for_writing, struct journal_file **ret_file,
                       struct fault *fault) {
    struct journal_file *file = calloc(1, sizeof *file);
    if (file == NULL) return fault_set(fault, FAULT_MEMORY, "out of memory");
    file->chain = journal_chain_new();
    bool opened = file->chain != NULL || fault_set(fault, FAULT_MEMORY, "out of memory");
    opened = opened && open_database(file, path, for_writing, fault) &&
             use_settings(file, for_writing, fault) && check_version(file, for_writing, fault) &&
             prepare(file, for_writing, fault) && (!for_writing || check_contents(file, fault));
    if (!opened) {
        journal_file_close(file);
        return fault_wrap(fault, "journal \"%s\"", path);
    }
    *ret_file = file;
    return true;
}

void journal_file_close(struct journal_file *file) {
    if (file == NULL) return;
    for (unsigned i = 0; i < STATEMENT_COUNT; i++) sqlite3_finalize(file->statements[i]);
    sqlite3_close(file->db);
    journal_chain_free(file->chain);
    free(file);
}

static void bind_text(sqlite3_stmt *statement, int column, struct text text) {
    sqlite3_bind_text64(statement, column, text.ptr == NULL ? "" : text.ptr, text.len, SQLITE_STATIC,
                        SQLITE_UTF8);
}

// A statement that answers nothing, once.
static bool finish_step(struct journal_file *file, sqlite3_stmt *statement, struct fault *fault) {
    bool done = sqlite3_step(statement) == SQLITE_DONE;
    if (!done) sql_fault(file, fault);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return done;
}

static bool insert_row(struct journal_file *file, const struct journal_row *row, struct fault *fault) {
    sqlite3_stmt *statement = file->statements[INSERT_ROW];
    sqlite3_bind_int64(statement, 1, row->id);
    sqlite3_bind_int64(statement, 2, row->at_ms);
    bind_text(statement, 3, text_of(journal_type_name(row->type)));
    bind_text(statement, 4, text_of(journal_kind_name(row->kind)));
    sqlite3_bind_int64(statement, 5, row->version);
    bind_text(statement, 6, row->namespace);
    bind_text(statement, 7, row->name);
    bind_text(statement, 8, row->uid);
    bind_text(statement, 9, row->json);
    return finish_step(file, statement, fault);
}

static bool insert_batch(struct journal_file *file, const struct journal_batch *batch, struct fault *fault) {
    sqlite3_stmt *statement = file->statements[INSERT_BATCH];
    sqlite3_bind_int64(statement, 1, batch->seq);
    sqlite3_bind_int64(statement, 2, batch->base);
    sqlite3_bind_int64(statement, 3, batch->first_id);
    sqlite3_bind_int64(statement, 4, batch->last_id);
    sqlite3_bind_int64(statement, 5, batch->row_count);
    sqlite3_bind_int64(statement, 6, batch->bytes);
    sqlite3_bind_int64(statement, 7, batch->at_ms);
    sqlite3_bind_blob(statement, 8, batch->previous, JOURNAL_DIGEST_BYTES, SQLITE_STATIC);
    sqlite3_bind_blob(statement, 9, batch->digest, JOURNAL_DIGEST_BYTES, SQLITE_STATIC);
    return finish_step(file, statement, fault);
}

static int64_t row_bytes(const struct journal_row *row) {
    return (int64_t)(row->namespace.len + row->name.len + row->uid.len + row->json.len) + ROW_OVERHEAD;
}

static bool chain_fault(struct fault *fault) {
    return fault_set(fault, FAULT_MEMORY, "no digest could be made");
}

// Rows, their digest, the batch: within the caller's transaction.
static bool write_batch(struct journal_file *file, const struct journal_row *rows, size_t count,
                        struct journal_batch *batch, struct fault *fault) {
    if (!journal_chain_begin(file->chain, batch->previous)) return chain_fault(fault);
    for (size_t i = 0; i < count; i++) {
        struct journal_row row = rows[i];
        row.id = batch->first_id + (int64_t)i;
        batch->bytes += row_bytes(&row);
        if (!journal_chain_row(file->chain, &row)) return chain_fault(fault);
        if (!insert_row(file, &row, fault)) return false;
    }
    return journal_chain_end(file->chain, batch, batch->digest) ? insert_batch(file, batch, fault)
                                                                : chain_fault(fault);
}

bool journal_file_append(struct journal_file *file, const struct journal_row *rows, size_t count,
                         int64_t at_ms, struct fault *fault) {
    struct journal_batch batch = {
        .seq = file->last.seq + 1,
        .first_id = file->last.last_id + 1,
        .last_id = file->last.last_id + (int64_t)count,
        .row_count = (int64_t)count,
        .at_ms = at_ms,
    };
    memcpy(batch.previous, file->last.digest, JOURNAL_DIGEST_BYTES);
    if (file->last.base) memcpy(batch.previous, file->last.previous, JOURNAL_DIGEST_BYTES);
    if (!begin(file, "BEGIN IMMEDIATE", fault)) return false;
    if (!write_batch(file, rows, count, &batch, fault) || !execute(file, "COMMIT", fault)) {
        sqlite3_exec(file->db, "ROLLBACK", NULL, NULL, NULL);
        return false;
    }
    file->last = batch;
    return true;
}

// ---- reading

struct scan {
    struct journal_file *file;
    sqlite3_stmt *batches;
    sqlite3_stmt *rows;
    struct journal_batch before; // seq 0: none yet
};

static bool broken(const struct journal_batch *batch, const char *what, struct fault *fault) {
    return fault_set(fault, FAULT_INPUT, "the chain breaks at batch %lld: %s", (long long)batch->seq, what);
}

// Whether a batch follows on the one before it.
static bool follows(const struct scan *scan, const struct journal_batch *batch, struct fault *fault) {
    static const unsigned char zeros[JOURNAL_DIGEST_BYTES];
    const struct journal_batch *before = &scan->before;
    if (batch->base) return before->seq == 0 || broken(batch, "a base that is not the first", fault);
    const unsigned char *digest = before->seq == 0 ? zeros : before->base ? before->previous : before->digest;
    if (batch->seq != before->seq + 1) return broken(batch, "batches before it are missing", fault);
    if (batch->first_id != before->last_id + 1 || batch->row_count != batch->last_id - batch->first_id + 1)
        return broken(batch, "rows are missing", fault);
    if (memcmp(digest, batch->previous, JOURNAL_DIGEST_BYTES) != 0)
        return broken(batch, "the digest before it is another", fault);
    return true;
}

static bool scan_row(struct scan *scan, const struct journal_batch *batch, int64_t index, int64_t *last_id,
                     const struct journal_visitor *visitor, struct fault *fault) {
    struct journal_row row;
    int step = sqlite3_step(scan->rows);
    if (step == SQLITE_DONE) return broken(batch, "rows are missing", fault);
    if (step != SQLITE_ROW) return sql_fault(scan->file, fault);
    if (!read_row(scan->rows, &row)) return broken(batch, "a row is of no known kind", fault);
    bool in_place =
        batch->base ? row.id > *last_id && row.id <= batch->last_id : row.id == batch->first_id + index;
    if (!in_place) return broken(batch, "rows are out of place", fault);
    *last_id = row.id;
    if (!journal_chain_row(scan->file->chain, &row)) return chain_fault(fault);
    return visitor == NULL || visitor->row == NULL || visitor->row(visitor->context, &row, fault);
}

static bool scan_batch(struct scan *scan, const struct journal_batch *batch,
                       const struct journal_visitor *visitor, struct fault *fault) {
    if (!follows(scan, batch, fault)) return false;
    if (!journal_chain_begin(scan->file->chain, batch->previous)) return chain_fault(fault);
    int64_t last_id = 0;
    for (int64_t i = 0; i < batch->row_count; i++)
        if (!scan_row(scan, batch, i, &last_id, visitor, fault)) return false;
    unsigned char digest[JOURNAL_DIGEST_BYTES];
    if (!journal_chain_end(scan->file->chain, batch, digest)) return chain_fault(fault);
    if (memcmp(digest, batch->digest, sizeof digest) != 0)
        return broken(batch, "its digest is another", fault);
    scan->before = *batch;
    return true;
}

static bool scan_all(struct scan *scan, const struct journal_visitor *visitor, struct fault *fault) {
    int step;
    while ((step = sqlite3_step(scan->batches)) == SQLITE_ROW) {
        struct journal_batch batch = read_batch(scan->batches);
        if (!scan_batch(scan, &batch, visitor, fault)) return false;
        if (visitor != NULL && visitor->batch != NULL && !visitor->batch(visitor->context, &batch))
            return true;
    }
    if (step != SQLITE_DONE) return sql_fault(scan->file, fault);
    step = sqlite3_step(scan->rows);
    if (step == SQLITE_ROW) return broken(&scan->before, "rows follow that are of no batch", fault);
    return step == SQLITE_DONE || sql_fault(scan->file, fault);
}

bool journal_file_scan(struct journal_file *file, const struct journal_visitor *visitor,
                       struct fault *fault) {
    struct scan scan = {
        .file = file, .batches = file->statements[READ_BATCHES], .rows = file->statements[READ_ROWS]};
    if (!begin(file, "BEGIN", fault)) return false; // both statements see one moment
    bool whole = scan_all(&scan, visitor, fault);
    sqlite3_reset(scan.batches);
    sqlite3_reset(scan.rows);
    sqlite3_exec(file->db, "COMMIT", NULL, NULL, NULL);
    return whole;
}

bool journal_file_json(struct journal_file *file, int64_t id, struct arena *arena, struct text *ret_json,
                       struct fault *fault) {
    sqlite3_stmt *statement = file->statements[READ_JSON];
    sqlite3_bind_int64(statement, 1, id);
    int step = sqlite3_step(statement);
    bool found = step == SQLITE_ROW;
    if (found)
        *ret_json = text_copy(arena, column_text(statement, 0));
    else if (step == SQLITE_DONE)
        fault_set(fault, FAULT_STATE, "row %lld was cut meanwhile", (long long)id);
    else
        sql_fault(file, fault);
    sqlite3_reset(statement);
    if (found && arena->poisoned) return fault_set(fault, FAULT_MEMORY, "out of memory");
    return found;
}

bool journal_file_last_start(struct journal_file *file, int64_t *ret_id, struct fault *fault) {
    return ask(file, "SELECT coalesce(max(id), 0) FROM row WHERE type = 'START'", ret_id, fault);
}

int64_t journal_file_bytes(struct journal_file *file) {
    int64_t pages = 0, idle = 0, size = 0;
    if (!ask(file, "PRAGMA page_count", &pages, NULL) || !ask(file, "PRAGMA freelist_count", &idle, NULL) ||
        !ask(file, "PRAGMA page_size", &size, NULL))
        return 0;
    return (pages - idle) * size;
}

void journal_file_head(const struct journal_file *file, unsigned char ret_digest[JOURNAL_DIGEST_BYTES]) {
    memcpy(ret_digest, file->last.base ? file->last.previous : file->last.digest, JOURNAL_DIGEST_BYTES);
}

// ---- cutting

int64_t journal_file_over(struct journal_file *file, int64_t limit_bytes, int64_t oldest_ms) {
    int64_t used_bytes = journal_file_bytes(file);
    int64_t excess_bytes = used_bytes > limit_bytes ? used_bytes - limit_bytes / 4 * 3 : 0;
    sqlite3_stmt *statement = file->statements[READ_BATCHES];
    int64_t over = 0, gone_bytes = 0;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        struct journal_batch batch = read_batch(statement);
        // A base is what was live once; what of it still is, a cut behind it tells.
        if (batch.base) continue;
        if ((gone_bytes >= excess_bytes && batch.at_ms >= oldest_ms) || batch.seq == file->last.seq) break;
        gone_bytes += batch.bytes;
        over = batch.seq;
    }
    sqlite3_reset(statement);
    return over;
}

static bool delete_rest(struct journal_file *file, const struct journal_batch *last, const int64_t *kept_ids,
                        size_t kept_count, struct fault *fault) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(file->db, "DELETE FROM row WHERE id > ? AND id < ?", -1, &statement, NULL) !=
        SQLITE_OK)
        return sql_fault(file, fault);
    bool fine = true;
    int64_t before = -1;
    for (size_t i = 0; i <= kept_count && fine; i++) {
        int64_t next = i < kept_count ? kept_ids[i] : last->last_id + 1;
        sqlite3_bind_int64(statement, 1, before);
        sqlite3_bind_int64(statement, 2, next);
        if (next > before + 1) fine = finish_step(file, statement, fault);
        before = next;
    }
    sqlite3_finalize(statement);
    sqlite3_stmt *batches;
    if (!fine) return false;
    if (sqlite3_prepare_v2(file->db, "DELETE FROM batch WHERE seq <= ?", -1, &batches, NULL) != SQLITE_OK)
        return sql_fault(file, fault);
    sqlite3_bind_int64(batches, 1, last->seq);
    fine = finish_step(file, batches, fault);
    sqlite3_finalize(batches);
    return fine;
}

// The base batch over the rows that are left up to its end.
static bool write_base(struct journal_file *file, struct journal_batch *base, struct fault *fault) {
    sqlite3_stmt *statement = file->statements[READ_ROWS_UP_TO];
    sqlite3_bind_int64(statement, 1, base->last_id);
    struct journal_row row;
    bool fine = journal_chain_begin(file->chain, base->previous);
    int step = SQLITE_DONE;
    while (fine && (step = sqlite3_step(statement)) == SQLITE_ROW) {
        fine = read_row(statement, &row) && journal_chain_row(file->chain, &row);
        if (base->row_count++ == 0) base->first_id = row.id;
        base->bytes += row_bytes(&row);
    }
    sqlite3_reset(statement);
    if (!fine || step != SQLITE_DONE) return chain_fault(fault);
    return journal_chain_end(file->chain, base, base->digest) ? insert_batch(file, base, fault)
                                                              : chain_fault(fault);
}

bool journal_file_rebase(struct journal_file *file, const struct journal_batch *last, const int64_t *kept_ids,
                         size_t kept_count, struct fault *fault) {
    struct journal_batch base = {
        .seq = last->seq, .base = true, .last_id = last->last_id, .at_ms = last->at_ms};
    memcpy(base.previous, last->base ? last->previous : last->digest, JOURNAL_DIGEST_BYTES);
    if (!begin(file, "BEGIN IMMEDIATE", fault)) return false;
    if (!delete_rest(file, last, kept_ids, kept_count, fault) || !write_base(file, &base, fault) ||
        !execute(file, "COMMIT", fault)) {
        sqlite3_exec(file->db, "ROLLBACK", NULL, NULL, NULL);
        return false;
    }
    if (file->last.seq == base.seq) file->last = base;
    return true;
}
