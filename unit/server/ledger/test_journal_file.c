// SPDX-License-Identifier: Apache-2.0
// The journal's file: batches come back as they went in, a crash takes whole batches, and no byte changes
// unseen.
#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/ledger/journal_cut.h"
#include "server/ledger/journal_file.h"
#include "unit/lib/corpus.h"
#include "unit/lib/temp_folder.h"

#define BATCH_ROWS 3u

static struct journal_file *open_file(const struct temp_folder *folder, bool for_writing) {
    struct journal_file *file = NULL;
    struct fault fault;
    cr_assert(journal_file_open(temp_path(folder, JOURNAL_FILE_NAME), for_writing, &file, &fault), "%s",
              fault.text);
    return file;
}

// Batch n has rows that tell their number; every text is different.
static void append(struct journal_file *file, int64_t number) {
    struct journal_row rows[BATCH_ROWS];
    char json[BATCH_ROWS][600];
    char name[BATCH_ROWS][32];
    struct fault fault;
    for (unsigned i = 0; i < BATCH_ROWS; i++) {
        int len = snprintf(json[i], sizeof json[i], "{\"n\":%lld,\"pad\":\"%0*lld\"}",
                           (long long)number * BATCH_ROWS + i, (int)(number * 37 % 500), (long long)number);
        snprintf(name[i], sizeof name[i], "n%lld-%u", (long long)number, i);
        rows[i] = (struct journal_row){.type = number == 1 && i == 0 ? JOURNAL_START : JOURNAL_MODIFIED,
                                       .at_ms = number,
                                       .kind = number == 1 && i == 0 ? KIND_OTHER : KIND_NODE,
                                       .version = number,
                                       .name = text_of(name[i]),
                                       .uid = text_of(name[i]),
                                       .json = {json[i], (size_t)len}};
    }
    cr_assert(journal_file_append(file, rows, BATCH_ROWS, number, &fault), "%s", fault.text);
}

// Everything that a scan shows, in one number, and how many batches.
struct seen {
    uint64_t sum;
    size_t rows;
    size_t batches;
    uint64_t sums[512]; // after each batch
};

static void add(struct seen *seen, struct text text) {
    for (size_t i = 0; i < text.len; i++) seen->sum = seen->sum * 1099511628211u + (unsigned char)text.ptr[i];
    seen->sum = seen->sum * 1099511628211u + 256;
}

static bool see_row(void *context, const struct journal_row *row, struct fault *fault) {
    struct seen *seen = context;
    (void)fault;
    seen->rows++;
    seen->sum += (uint64_t)(row->id * 31 + row->at_ms * 7 + row->version * 5 + row->type * 3 + row->kind);
    add(seen, row->namespace);
    add(seen, row->name);
    add(seen, row->uid);
    add(seen, row->json);
    return true;
}

static bool see_batch(void *context, const struct journal_batch *batch) {
    struct seen *seen = context;
    (void)batch;
    cr_assert_lt(seen->batches, 512);
    seen->sums[seen->batches++] = seen->sum;
    return true;
}

static bool scan(struct journal_file *file, struct seen *ret_seen, struct fault *fault) {
    *ret_seen = (struct seen){.sum = 1};
    const struct journal_visitor visitor = {see_row, see_batch, ret_seen};
    return journal_file_scan(file, &visitor, fault);
}

static struct seen scan_whole(struct journal_file *file) {
    struct seen seen;
    struct fault fault;
    cr_assert(scan(file, &seen, &fault), "%s", fault.text);
    return seen;
}

Test(journal_file, what_goes_in_comes_out) {
    struct temp_folder folder = temp_folder_new();
    struct journal_file *file = open_file(&folder, true);
    for (int64_t i = 1; i <= 20; i++) append(file, i);
    struct seen before = scan_whole(file);
    cr_expect_eq(before.rows, 20 * BATCH_ROWS);
    cr_expect_eq(before.batches, 20);
    struct journal_file *reader = open_file(&folder, false);
    cr_expect_eq(scan_whole(reader).sum, before.sum, "a reader beside the writer");
    journal_file_close(reader);
    journal_file_close(file);
    struct stat status;
    cr_assert_eq(stat(temp_path(&folder, JOURNAL_FILE_NAME), &status), 0);
    cr_expect_eq(status.st_mode & 0777, 0600);
    file = open_file(&folder, true);
    cr_expect_eq(scan_whole(file).sum, before.sum);
    append(file, 21);
    cr_expect_eq(scan_whole(file).batches, 21);
    journal_file_close(file);
    temp_folder_remove(&folder);
}

Test(journal_file, texts_of_every_kind) {
    struct temp_folder folder = temp_folder_new();
    struct journal_file *file = open_file(&folder, true);
    const struct journal_row row = {.type = JOURNAL_AUDIT, .json = TEXT("a\0b\xff\xc3")};
    struct fault fault;
    cr_assert(journal_file_append(file, &row, 1, 5, &fault), "%s", fault.text);
    struct seen seen = scan_whole(file);
    cr_expect_eq(seen.rows, 1);
    struct arena arena;
    struct text json;
    arena_init(&arena, 4096);
    cr_assert(journal_file_json(file, 1, &arena, &json, &fault), "%s", fault.text);
    cr_expect(text_equal(json, row.json));
    cr_expect_not(journal_file_json(file, 2, &arena, &json, &fault));
    cr_expect_eq(fault.code, FAULT_STATE);
    arena_release(&arena);
    journal_file_close(file);
    temp_folder_remove(&folder);
}

// A file with its write-ahead log still beside it, as a crash leaves it: copied while it is open.
static void crash_image(struct text *ret_database, struct text *ret_log, struct seen *ret_seen) {
    struct temp_folder folder = temp_folder_new();
    struct journal_file *file = open_file(&folder, true);
    for (int64_t i = 1; i <= 12; i++) append(file, i);
    *ret_seen = scan_whole(file);
    *ret_database = test_file_read(temp_path(&folder, JOURNAL_FILE_NAME));
    *ret_log = test_file_read(temp_path(&folder, JOURNAL_FILE_NAME "-wal"));
    cr_assert_gt(ret_log->len, 4096, "the rows are in the log");
    journal_file_close(file);
    temp_folder_remove(&folder);
}

Test(journal_file, a_log_cut_anywhere_opens_to_the_last_whole_batch, .timeout = 120) {
    struct text database, log;
    struct seen whole;
    crash_image(&database, &log, &whole);
    size_t most = 0;
    for (size_t at = 0; at < log.len + 512; at += 512) {
        size_t len = at < log.len ? at : log.len;
        struct temp_folder folder = temp_folder_new();
        temp_write(temp_path(&folder, JOURNAL_FILE_NAME), database);
        temp_write(temp_path(&folder, JOURNAL_FILE_NAME "-wal"), text_slice(log, 0, len));
        struct journal_file *file = open_file(&folder, true);
        struct seen seen = scan_whole(file);
        cr_assert_leq(seen.batches, whole.batches);
        cr_assert_geq(seen.batches, most, "a longer log has no less");
        cr_assert_eq(seen.rows, seen.batches * BATCH_ROWS);
        if (seen.batches > 0) cr_assert_eq(seen.sum, whole.sums[seen.batches - 1]);
        most = seen.batches;
        append(file, 99);
        cr_assert_eq(scan_whole(file).batches, most + 1);
        journal_file_close(file);
        temp_folder_remove(&folder);
    }
    cr_expect_eq(most, whole.batches);
    test_file_free(database);
    test_file_free(log);
}

// One changed byte is found, or it was in none of the rows: never does a scan show something else.
static void flip(const struct text *database, const struct text *log, size_t at, bool in_log,
                 const struct seen *whole, size_t *found) {
    struct temp_folder folder = temp_folder_new();
    struct text file_bytes = in_log ? *log : *database;
    char *bytes = malloc(file_bytes.len);
    cr_assert_not_null(bytes);
    memcpy(bytes, file_bytes.ptr, file_bytes.len);
    bytes[at] = (char)(bytes[at] ^ 0x5a);
    struct text changed = {bytes, file_bytes.len};
    temp_write(temp_path(&folder, JOURNAL_FILE_NAME), in_log ? *database : changed);
    if (log != NULL) temp_write(temp_path(&folder, JOURNAL_FILE_NAME "-wal"), in_log ? changed : *log);
    free(bytes);
    struct journal_file *file;
    struct fault fault = {0};
    if (!journal_file_open(temp_path(&folder, JOURNAL_FILE_NAME), true, &file, &fault)) {
        cr_assert(fault.code == FAULT_INPUT || fault.code == FAULT_STATE, "byte %zu: %s", at, fault.text);
        (*found)++;
    } else {
        struct seen seen = scan_whole(file);
        if (seen.batches > 0) cr_assert_eq(seen.sum, whole->sums[seen.batches - 1], "byte %zu", at);
        if (!in_log) cr_assert_eq(seen.batches, whole->batches, "byte %zu", at);
        journal_file_close(file);
    }
    temp_folder_remove(&folder);
}

Test(journal_file, no_changed_byte_goes_unseen, .timeout = 240) {
    struct temp_folder folder = temp_folder_new();
    struct journal_file *file = open_file(&folder, true);
    for (int64_t i = 1; i <= 60; i++) append(file, i);
    struct seen whole = scan_whole(file);
    journal_file_close(file);
    struct text database = test_file_read(temp_path(&folder, JOURNAL_FILE_NAME));
    temp_folder_remove(&folder);
    cr_assert_gt(database.len, 8 * 4096);
    size_t found = 0, tried = 0;
    for (size_t page = 0; page < database.len; page += 4096)
        for (size_t at = 0; at < 4096; at += 409 + page / 4096 % 7, tried++)
            flip(&database, NULL, page + at, false, &whole, &found);
    cr_expect_gt(found * 2, tried, "only %zu of %zu were found: most bytes are of rows", found, tried);
    test_file_free(database);
}

Test(journal_file, no_changed_byte_of_the_log_goes_unseen, .timeout = 240) {
    struct text database, log;
    struct seen whole;
    crash_image(&database, &log, &whole);
    size_t found = 0;
    for (size_t at = 7; at < log.len; at += 1031) flip(&database, &log, at, true, &whole, &found);
    test_file_free(database);
    test_file_free(log);
}

static bool sql(const struct temp_folder *folder, const char *text) {
    sqlite3 *db;
    cr_assert_eq(sqlite3_open(temp_path(folder, JOURNAL_FILE_NAME), &db), SQLITE_OK);
    bool done = sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK;
    cr_assert(done, "%s: %s", text, sqlite3_errmsg(db));
    sqlite3_close(db);
    return done;
}

static void expect_refused(const char *change, enum fault_code code, const char *words) {
    struct temp_folder folder = temp_folder_new();
    struct journal_file *file = open_file(&folder, true);
    struct fault fault = {0};
    for (int64_t i = 1; i <= 5; i++) append(file, i);
    journal_file_close(file);
    sql(&folder, change);
    cr_assert_not(journal_file_open(temp_path(&folder, JOURNAL_FILE_NAME), true, &file, &fault), "%s",
                  change);
    cr_expect_eq(fault.code, code, "%s: %s", change, fault.text);
    cr_expect(strstr(fault.text, words) != NULL, "%s: %s", change, fault.text);
    temp_folder_remove(&folder);
}

Test(journal_file, forgery_breaks_the_chain) {
    expect_refused("UPDATE row SET json = '{}' WHERE id = 5", FAULT_INPUT, "the chain breaks at batch 2");
    expect_refused("UPDATE row SET version = 9 WHERE id = 7", FAULT_INPUT, "the chain breaks at batch 3");
    expect_refused("UPDATE row SET type = 'NONE' WHERE id = 7", FAULT_INPUT, "a row is of no known kind");
    expect_refused("UPDATE row SET kind = 'Pod' WHERE id = 7", FAULT_INPUT, "the chain breaks at batch 3");
    expect_refused("DELETE FROM row WHERE id = 8", FAULT_INPUT, "the chain breaks at batch 3");
    expect_refused("DELETE FROM batch WHERE seq = 2", FAULT_INPUT, "batches before it are missing");
    expect_refused("DELETE FROM row WHERE id BETWEEN 4 AND 6; DELETE FROM batch WHERE seq = 2;"
                   "UPDATE batch SET seq = seq - 1 WHERE seq > 2",
                   FAULT_INPUT, "the chain breaks at batch 2");
    expect_refused(
        "INSERT INTO row SELECT 99, at_ms, type, kind, version, namespace, name, uid, json FROM row "
        "WHERE id = 2",
        FAULT_INPUT, "rows follow that are of no batch");
    expect_refused("UPDATE batch SET at_ms = 77 WHERE seq = 1", FAULT_INPUT, "the chain breaks at batch 1");
    expect_refused("UPDATE batch SET base = 1 WHERE seq = 4", FAULT_INPUT, "the chain breaks at batch 4");
    expect_refused("DROP TABLE row", FAULT_INPUT, "no such table");
    expect_refused("PRAGMA user_version = 7", FAULT_STATE, "its schema has version 7");
    expect_refused("PRAGMA application_id = 7", FAULT_INPUT, "it is no journal");
}

Test(journal_file, other_files_are_refused) {
    struct temp_folder folder = temp_folder_new();
    struct journal_file *file;
    struct fault fault;
    temp_write(temp_path(&folder, JOURNAL_FILE_NAME),
               TEXT("this is no database, whatever its name says: no"));
    cr_assert_not(journal_file_open(temp_path(&folder, JOURNAL_FILE_NAME), true, &file, &fault));
    cr_expect_eq(fault.code, FAULT_INPUT);
    cr_assert_not(journal_file_open(temp_path(&folder, "none/journal.db"), true, &file, &fault));
    cr_expect_eq(fault.code, FAULT_IO);
    cr_assert_not(journal_file_open(temp_path(&folder, "none"), false, &file, &fault));
    temp_folder_remove(&folder);
}

Test(journal_file, a_cut_keeps_what_is_live_and_the_chain) {
    struct temp_folder folder = temp_folder_new();
    struct journal_file *file = open_file(&folder, true);
    struct fault fault;
    for (int64_t i = 1; i <= 40; i++) append(file, i);
    unsigned char head[JOURNAL_DIGEST_BYTES], after[JOURNAL_DIGEST_BYTES];
    journal_file_head(file, head);
    cr_assert(journal_cut(file, INT64_MAX, 0, &fault), "%s", fault.text);
    cr_expect_eq(scan_whole(file).batches, 40, "nothing to cut");
    cr_assert(journal_cut(file, INT64_MAX, 31, &fault), "%s", fault.text);
    struct seen seen = scan_whole(file);
    cr_expect_eq(seen.batches, 11, "a base and ten batches, not %zu", seen.batches);
    // All objects have names of their own, so all of them are live.
    cr_expect_eq(seen.rows, 40 * BATCH_ROWS);
    journal_file_head(file, after);
    cr_expect_arr_eq(head, after, sizeof head);
    append(file, 41);
    journal_file_close(file);
    file = open_file(&folder, true);
    cr_expect_eq(scan_whole(file).batches, 12);
    cr_assert(journal_cut(file, INT64_MAX, INT64_MAX, &fault), "%s", fault.text);
    cr_expect_eq(scan_whole(file).batches, 2, "the newest batch stays");
    append(file, 42);
    journal_file_close(file);
    file = open_file(&folder, true);
    cr_expect_eq(scan_whole(file).batches, 3);
    journal_file_close(file);
    temp_folder_remove(&folder);
}

Test(journal_file, a_size_limit_holds) {
    struct temp_folder folder = temp_folder_new();
    struct journal_file *file = open_file(&folder, true);
    struct fault fault;
    char pad[4000];
    memset(pad, 'x', sizeof pad);
    const struct journal_row start = {.type = JOURNAL_START, .json = TEXT("{}")};
    cr_assert(journal_file_append(file, &start, 1, 1, &fault));
    for (int64_t i = 1; i <= 400; i++) {
        // One object that changes all the time.
        const struct journal_row row = {.type = JOURNAL_MODIFIED,
                                        .kind = KIND_NODE,
                                        .name = TEXT("a"),
                                        .uid = TEXT("u"),
                                        .version = i,
                                        .json = {pad, sizeof pad}};
        cr_assert(journal_file_append(file, &row, 1, i, &fault), "%s", fault.text);
        if (i % 20 == 0) cr_assert(journal_cut(file, 256 << 10, 0, &fault), "%s", fault.text);
        cr_assert_lt(journal_file_bytes(file), 512 << 10);
    }
    struct seen seen = scan_whole(file);
    cr_expect_lt(seen.rows, 100);
    journal_file_close(file);
    struct stat status;
    cr_assert_eq(stat(temp_path(&folder, JOURNAL_FILE_NAME), &status), 0);
    cr_expect_lt(status.st_size, 1 << 20, "%lld", (long long)status.st_size);
    temp_folder_remove(&folder);
}
