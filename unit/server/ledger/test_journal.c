// SPDX-License-Identifier: Apache-2.0
// The journal beside a store: what the store was told is in the file, whatever ends the process; what cannot
// be taken is missed visibly; damaged files are set aside; nothing here fails the store.
#include <criterion/criterion.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/ledger/journal.h"
#include "server/ledger/journal_file.h"
#include "server/ledger/journal_lock.h"
#include "server/ledger/journal_read.h"
#include "server/ledger/report.h"
#include "server/log.h"
#include "unit/lib/temp_folder.h"

#define WAIT_MS 10000

struct rig {
    struct temp_folder folder;
    struct store *store;
    struct journal *journal;
    _Atomic unsigned relists;
};

static void count_relist(void *context) {
    ((struct rig *)context)->relists++;
}

static void open_rig(struct rig *rig, struct journal_options options) {
    const struct ledger_options ledger = {.minor = MINOR_36, .seed = {1, 2}};
    struct fault fault;
    rig->store = store_new(&ledger, &fault);
    cr_assert_not_null(rig->store);
    options.folder = rig->folder.path;
    options.relist = count_relist;
    options.context = rig;
    cr_assert(journal_new(&options, &rig->journal, &fault), "%s", fault.text);
    journal_attach(rig->journal, rig->store);
}

static void close_rig(struct rig *rig) {
    journal_detach(rig->store);
    journal_free(rig->journal);
    store_free(rig->store);
}

// A Node with this much allocatable, by its number.
static enum ledger_outcome tell(struct store *store, enum event_type type, unsigned number, int64_t version,
                                size_t pad) {
    static char json[1 << 16];
    char name[16], uid[16];
    struct fault fault;
    snprintf(name, sizeof name, "n%u", number);
    snprintf(uid, sizeof uid, "u%u", number);
    struct object object = {.kind = KIND_NODE, .api_version = TEXT("v1")};
    object.node.metadata.name = text_of(name);
    object.node.metadata.uid = text_of(uid);
    int len =
        snprintf(json, sizeof json,
                 "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"%s\",\"uid\":\"%s\","
                 "\"resourceVersion\":\"%lld\",\"labels\":{\"pad\":\"%0*d\"}},"
                 "\"status\":{\"allocatable\":{\"cpu\":\"%lld\"},\"images\":[{\"names\":[\"secret\"]}]}}",
                 name, uid, (long long)version, (int)pad, 1, (long long)version);
    const struct ledger_event event = {.type = type, .object = &object, .resource_version = version};
    return store_apply(store, &event, (struct text){json, (size_t)len}, &fault);
}

struct contents {
    size_t counts[JOURNAL_TYPE_COUNT];
    size_t rows;
    int64_t newest_version;
    bool secret;
    int64_t last_id; // of the last batch
};

static bool count_row(void *context, const struct journal_row *row, struct fault *fault) {
    struct contents *contents = context;
    (void)fault;
    contents->counts[row->type]++;
    contents->rows++;
    if (row->version > contents->newest_version) contents->newest_version = row->version;
    if (memmem(row->json.ptr, row->json.len, "secret", 6) != NULL) contents->secret = true;
    return true;
}

static bool note_batch(void *context, const struct journal_batch *batch) {
    ((struct contents *)context)->last_id = batch->last_id;
    return true;
}

static struct contents read_contents(const struct temp_folder *folder) {
    struct contents contents = {.rows = 0};
    struct journal_file *file;
    struct fault fault;
    const struct journal_visitor visitor = {.row = count_row, .batch = note_batch, .context = &contents};
    cr_assert(journal_file_open(temp_path(folder, JOURNAL_FILE_NAME), false, &file, &fault), "%s",
              fault.text);
    cr_assert(journal_file_scan(file, &visitor, &fault), "%s", fault.text);
    journal_file_close(file);
    return contents;
}

static size_t live_nodes(const struct temp_folder *folder, struct journal_reading *ret_reading) {
    const struct ledger_options options = {.minor = MINOR_36, .seed = {3, 4}};
    struct fault fault;
    struct arena arena;
    struct text_list names;
    struct ledger *ledger = ledger_new(&options, &fault);
    cr_assert(journal_replay(folder->path, MINOR_36, ledger, ret_reading, &fault), "%s", fault.text);
    arena_init(&arena, 16 << 20);
    cr_assert(ledger_nodes(ledger, &arena, &names));
    size_t count = names.count;
    arena_release(&arena);
    ledger_free(ledger);
    return count;
}

Test(journal, what_the_store_is_told_is_in_the_file) {
    struct rig rig = {.folder = temp_folder_new()};
    open_rig(&rig, (struct journal_options){0});
    for (unsigned i = 1; i <= 1500; i++) cr_expect_eq(tell(rig.store, EVENT_ADDED, i, i, 1), LEDGER_APPLIED);
    cr_expect_eq(tell(rig.store, EVENT_MODIFIED, 3, 3, 1), LEDGER_REPEATED);
    cr_expect_eq(tell(rig.store, EVENT_DELETED, 5, 2000, 1), LEDGER_APPLIED);
    journal_audit(rig.journal, TEXT("{\"what\":\"freeze\"}"));
    cr_assert(journal_flush(rig.journal, WAIT_MS));
    struct contents contents = read_contents(&rig.folder);
    cr_expect_eq(contents.counts[JOURNAL_START], 1);
    cr_expect_eq(contents.counts[JOURNAL_ADDED], 1500);
    cr_expect_eq(contents.counts[JOURNAL_MODIFIED], 0, "a repeat is no event");
    cr_expect_eq(contents.counts[JOURNAL_DELETED], 1);
    cr_expect_eq(contents.counts[JOURNAL_AUDIT], 1);
    cr_expect_not(contents.secret, "what the ledger does not read is not kept");
    struct journal_counts counts;
    journal_counts(rig.journal, &counts);
    cr_expect_eq(counts.rows, contents.rows);
    cr_expect_eq(counts.dropped_rows, 0);
    struct journal_reading reading;
    cr_expect_eq(live_nodes(&rig.folder, &reading), 1499);
    cr_expect_not(reading.incomplete);
    close_rig(&rig);
    int minor;
    struct fault fault;
    cr_assert(journal_minor(rig.folder.path, &minor, &fault));
    cr_expect_eq(minor, MINOR_36);
    temp_folder_remove(&rig.folder);
}

struct audits {
    size_t records, gaps;
    char last[64];
};

static bool note_audit(void *context, int64_t at_ms, struct text json, struct fault *fault) {
    struct audits *audits = context;
    (void)fault;
    cr_expect_gt(at_ms, 0);
    bool gap = memmem(json.ptr, json.len, "\"gap\"", 5) != NULL;
    ++*(gap ? &audits->gaps : &audits->records);
    snprintf(audits->last, sizeof audits->last, "%.*s", TEXT_ARG(json));
    return true;
}

// Whoever causes many audit records takes no room of what the store is told.
Test(journal, audit_records_have_a_share_of_the_queue) {
    static char json[64 * 1024];
    struct rig rig = {.folder = temp_folder_new()};
    struct audits audits = {.records = 0};
    struct journal_counts counts;
    struct fault fault;
    size_t taken = 0;
    memset(json, ' ', sizeof json);
    memcpy(json, "{}", 2);
    open_rig(&rig, (struct journal_options){.queue_bytes = 1 << 20});
    for (int i = 0; i < 100; i++) taken += journal_audit(rig.journal, (struct text){json, sizeof json});
    cr_expect_lt(taken, 100u, "an eighth of the room");
    cr_expect_gt(taken, 0u);
    for (unsigned i = 1; i <= 100; i++) tell(rig.store, EVENT_ADDED, i, i, 1);
    cr_assert(journal_flush(rig.journal, WAIT_MS));
    journal_counts(rig.journal, &counts);
    cr_expect_eq(counts.dropped_rows, 0, "no row of the ledger is lost");
    cr_assert(journal_audits(rig.folder.path, 0, note_audit, &audits, &fault), "%s", fault.text);
    cr_expect_eq(audits.records, taken);
    close_rig(&rig);
    temp_folder_remove(&rig.folder);
}

Test(journal, audit_records_are_read_since_a_time_and_of_all_sessions) {
    struct rig rig = {.folder = temp_folder_new()};
    struct audits audits = {.records = 0};
    struct fault fault;
    open_rig(&rig, (struct journal_options){.queue_bytes = 4096});
    cr_expect(journal_audit(rig.journal, TEXT("{\"n\":1}")));
    close_rig(&rig);
    open_rig(&rig, (struct journal_options){.queue_bytes = 4096});
    tell(rig.store, EVENT_ADDED, 1, 1, 8000); // too long for the queue
    cr_expect(journal_audit(rig.journal, TEXT("{\"n\":2}")));
    close_rig(&rig);
    cr_assert(journal_audits(rig.folder.path, 0, note_audit, &audits, &fault), "%s", fault.text);
    cr_expect_eq(audits.records, 2u);
    cr_expect_eq(audits.gaps, 1u);
    cr_expect_str_eq(audits.last, "{\"n\":2}");
    audits = (struct audits){.records = 0};
    cr_assert(journal_audits(rig.folder.path, INT64_MAX, note_audit, &audits, &fault));
    cr_expect_eq(audits.records + audits.gaps, 0u);
    temp_folder_remove(&rig.folder);
}

Test(journal, a_session_begins_with_an_empty_ledger) {
    struct rig rig = {.folder = temp_folder_new()};
    open_rig(&rig, (struct journal_options){0});
    for (unsigned i = 1; i <= 9; i++) tell(rig.store, EVENT_ADDED, i, i, 1);
    close_rig(&rig);
    open_rig(&rig, (struct journal_options){0});
    for (unsigned i = 1; i <= 4; i++) tell(rig.store, EVENT_ADDED, i, i, 1);
    close_rig(&rig);
    struct journal_reading reading;
    cr_expect_eq(live_nodes(&rig.folder, &reading), 4);
    cr_expect_eq(read_contents(&rig.folder).counts[JOURNAL_START], 2);
    temp_folder_remove(&rig.folder);
}

Test(journal, lists_delete_what_they_do_not_have) {
    struct rig rig = {.folder = temp_folder_new()};
    open_rig(&rig, (struct journal_options){0});
    for (unsigned i = 1; i <= 9; i++) tell(rig.store, EVENT_ADDED, i, i, 1);
    store_list_begin(rig.store, KIND_NODE);
    tell(rig.store, EVENT_ADDED, 2, 2, 1);
    tell(rig.store, EVENT_ADDED, 3, 33, 1);
    tell(rig.store, EVENT_ADDED, 10, 34, 1);
    store_list_end(rig.store, KIND_NODE);
    store_list_begin(rig.store, KIND_NODE);
    tell(rig.store, EVENT_ADDED, 11, 35, 1);
    store_list_cancel(rig.store, KIND_NODE);
    close_rig(&rig);
    struct journal_reading reading;
    cr_expect_eq(live_nodes(&rig.folder, &reading), 4);
    struct contents contents = read_contents(&rig.folder);
    cr_expect_eq(contents.counts[JOURNAL_SEEN], 1);
    cr_expect_eq(contents.counts[JOURNAL_LIST_BEGIN], 2);
    temp_folder_remove(&rig.folder);
}

// A child writes and is killed; the parent reads what is there. The journal may be behind by what was in the
// queue, never broken.
static void write_for_ever(const struct temp_folder *folder, int ready_fd) {
    struct rig rig = {.folder = *folder};
    // So small that it is cut at each start: the end may come in the middle of that too.
    open_rig(&rig, (struct journal_options){.file_bytes = 500000});
    if (write(ready_fd, "x", 1) != 1) _exit(1);
    for (unsigned i = 1;; i++) {
        tell(rig.store, EVENT_MODIFIED, i % 50, i, i % 700);
        if (i % 8 == 0) usleep(1000);
    }
}

Test(journal, a_kill_at_any_moment_leaves_whole_batches, .timeout = 240) {
    struct temp_folder folder = temp_folder_new();
    unsigned seed = 20261130;
    int64_t last_id = 0;
    for (unsigned round = 0; round < 200; round++) {
        int ready[2];
        char byte;
        cr_assert_eq(pipe(ready), 0);
        pid_t child = fork();
        cr_assert_geq(child, 0);
        if (child == 0) write_for_ever(&folder, ready[1]);
        close(ready[1]);
        cr_assert_eq(read(ready[0], &byte, 1), 1);
        close(ready[0]);
        usleep((unsigned)rand_r(&seed) % 200000);
        cr_assert_eq(kill(child, SIGKILL), 0);
        cr_assert_eq(waitpid(child, NULL, 0), child);
        struct contents contents = read_contents(&folder);
        cr_assert_geq(contents.last_id, last_id, "nothing that was written is lost");
        last_id = contents.last_id;
        cr_assert_eq(temp_count(&folder, "corrupt-"), 0);
    }
    cr_expect_gt(last_id, 1000);
    struct rig rig = {.folder = folder};
    open_rig(&rig, (struct journal_options){0});
    close_rig(&rig);
    cr_expect_eq(temp_count(&folder, "corrupt-"), 0);
    temp_folder_remove(&folder);
}

Test(journal, the_second_process_is_refused_and_told_who_is_there) {
    struct rig rig = {.folder = temp_folder_new()};
    open_rig(&rig, (struct journal_options){0});
    struct journal *second = NULL;
    struct fault fault;
    char pid[32];
    const struct journal_options options = {.folder = rig.folder.path};
    snprintf(pid, sizeof pid, "pid %ld", (long)getpid());
    cr_expect_not(journal_new(&options, &second, &fault));
    cr_expect_eq(fault.code, FAULT_STATE);
    cr_expect(strstr(fault.text, pid) != NULL, "%s", fault.text);
    tell(rig.store, EVENT_ADDED, 1, 1, 1);
    cr_expect(journal_flush(rig.journal, WAIT_MS), "the first one goes on");
    close_rig(&rig);
    cr_expect(journal_new(&options, &second, &fault), "%s", fault.text);
    journal_free(second);
    temp_folder_remove(&rig.folder);
}

static bool refuse(const char *folder, enum fault_code code) {
    struct journal *journal = NULL;
    struct fault fault = {0};
    const struct journal_options options = {.folder = folder};
    if (journal_new(&options, &journal, &fault)) {
        journal_free(journal);
        return false;
    }
    return fault.code == code;
}

Test(journal, a_folder_that_cannot_be_used) {
    struct temp_folder folder = temp_folder_new();
    temp_write(temp_path(&folder, "file"), TEXT("x"));
    cr_expect(refuse(temp_path(&folder, "file"), FAULT_IO));
    cr_expect(refuse(temp_path(&folder, "no/such"), FAULT_IO));
    cr_expect(refuse("", FAULT_USAGE));
    temp_folder_remove(&folder);
}

Test(journal, a_full_queue_leaves_a_gap_and_asks_for_a_list) {
    struct rig rig = {.folder = temp_folder_new()};
    open_rig(&rig, (struct journal_options){.queue_bytes = 200000});
    for (unsigned i = 1; i <= 3000; i++)
        cr_expect_eq(tell(rig.store, EVENT_ADDED, i, i, 30000), LEDGER_APPLIED);
    cr_assert(journal_flush(rig.journal, WAIT_MS));
    struct journal_counts counts;
    struct journal_reading reading;
    for (unsigned i = 0; i < 300 && rig.relists == 0; i++) usleep(20000);
    cr_expect_eq(rig.relists, 1, "the feed is asked once");
    journal_counts(rig.journal, &counts);
    cr_expect_gt(counts.dropped_rows, 0);
    cr_expect_geq(counts.gaps, 1);
    cr_expect_leq(counts.queue_bytes, 200000 + 1000);
    cr_expect_lt(live_nodes(&rig.folder, &reading), 3000);
    cr_expect(reading.incomplete);
    cr_expect_geq(reading.gaps, 1);
    // The feed lists again; the store knows all of it already, the journal does not.
    store_list_begin(rig.store, KIND_NODE);
    for (unsigned i = 1; i <= 3000; i++) {
        cr_expect_eq(tell(rig.store, EVENT_ADDED, i, i, 10), LEDGER_REPEATED);
        if (i % 100 == 0) cr_assert(journal_flush(rig.journal, WAIT_MS));
    }
    store_list_end(rig.store, KIND_NODE);
    cr_assert(journal_flush(rig.journal, WAIT_MS));
    cr_expect_eq(live_nodes(&rig.folder, &reading), 3000);
    struct contents contents = read_contents(&rig.folder);
    cr_expect_gt(contents.counts[JOURNAL_GAP], 0);
    close_rig(&rig);
    temp_folder_remove(&rig.folder);
}

static void spoil(const struct temp_folder *folder, const char *sql) {
    sqlite3 *db;
    cr_assert_eq(sqlite3_open(temp_path(folder, JOURNAL_FILE_NAME), &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

static void expect_set_aside(const char *sql, const char *prefix) {
    struct rig rig = {.folder = temp_folder_new()};
    struct journal_counts counts;
    open_rig(&rig, (struct journal_options){0});
    for (unsigned i = 1; i <= 20; i++) tell(rig.store, EVENT_ADDED, i, i, 1);
    close_rig(&rig);
    spoil(&rig.folder, sql);
    open_rig(&rig, (struct journal_options){0});
    tell(rig.store, EVENT_ADDED, 1, 1, 1);
    cr_assert(journal_flush(rig.journal, WAIT_MS));
    journal_counts(rig.journal, &counts);
    cr_expect_eq(counts.set_aside, 1, "%s", sql);
    cr_expect_geq(temp_count(&rig.folder, prefix), 1, "%s", sql);
    cr_expect_eq(read_contents(&rig.folder).counts[JOURNAL_ADDED], 1);
    close_rig(&rig);
    temp_folder_remove(&rig.folder);
}

Test(journal, what_cannot_be_used_is_set_aside) {
    expect_set_aside("UPDATE row SET json = '{}' WHERE id = 7", "corrupt-");
    expect_set_aside("PRAGMA user_version = 2", "schema-");
    expect_set_aside("DROP TABLE batch", "corrupt-");
}

Test(journal, few_files_that_were_set_aside_are_kept) {
    struct rig rig = {.folder = temp_folder_new()};
    for (unsigned i = 0; i < JOURNAL_ASIDE_LIMIT + 3; i++) {
        temp_write(temp_path(&rig.folder, JOURNAL_FILE_NAME),
                   TEXT("this is no journal but it is long enough"));
        open_rig(&rig, (struct journal_options){0});
        close_rig(&rig);
        unlink(temp_path(&rig.folder, JOURNAL_FILE_NAME));
        usleep(2000);
    }
    cr_expect_eq(temp_count(&rig.folder, "corrupt-"), JOURNAL_ASIDE_LIMIT);
    temp_folder_remove(&rig.folder);
}

// The file is damaged under a running server: rows go on in a new one, from a new start, with a gap.
Test(journal, damage_while_running) {
    struct rig rig = {.folder = temp_folder_new()};
    open_rig(&rig, (struct journal_options){0});
    tell(rig.store, EVENT_ADDED, 1, 1, 1);
    cr_assert(journal_flush(rig.journal, WAIT_MS));
    spoil(&rig.folder, "DROP TABLE row");
    cr_expect_eq(tell(rig.store, EVENT_ADDED, 2, 2, 1), LEDGER_APPLIED);
    cr_assert(journal_flush(rig.journal, WAIT_MS));
    tell(rig.store, EVENT_ADDED, 3, 3, 1);
    cr_assert(journal_flush(rig.journal, WAIT_MS));
    usleep(200000);
    cr_assert(journal_flush(rig.journal, WAIT_MS));
    struct journal_counts counts;
    journal_counts(rig.journal, &counts);
    cr_expect_eq(counts.set_aside, 1);
    cr_expect_geq(counts.gaps, 1);
    struct journal_reading reading;
    cr_expect_eq(live_nodes(&rig.folder, &reading), 2);
    cr_expect(reading.incomplete);
    close_rig(&rig);
    temp_folder_remove(&rig.folder);
}

Test(journal, a_cut_keeps_the_session) {
    struct rig rig = {.folder = temp_folder_new()};
    open_rig(&rig, (struct journal_options){.file_bytes = 300000});
    store_list_begin(rig.store, KIND_NODE);
    for (unsigned i = 1; i <= 10; i++) tell(rig.store, EVENT_ADDED, i, i, 1);
    store_list_end(rig.store, KIND_NODE);
    for (int64_t i = 11; i < 600; i++) {
        tell(rig.store, EVENT_MODIFIED, (unsigned)(i % 10 + 1), i, 3000);
        if (i % 10 == 0) cr_assert(journal_flush(rig.journal, WAIT_MS));
    }
    close_rig(&rig);
    open_rig(&rig, (struct journal_options){.file_bytes = 300000});
    cr_assert(journal_flush(rig.journal, WAIT_MS));
    usleep(300000);
    close_rig(&rig);
    cr_expect_lt(read_contents(&rig.folder).rows, 300);
    cr_expect_eq(temp_count(&rig.folder, "corrupt-"), 0);
    temp_folder_remove(&rig.folder);
}

static bool always_the_same(void *context, char *ret_json, size_t json_bytes) {
    (void)context;
    return snprintf(ret_json, json_bytes, "{\"digest\":\"none\"}") > 0;
}

Test(journal, state_rows_are_checked_by_a_replay) {
    struct rig rig = {.folder = temp_folder_new()};
    open_rig(&rig, (struct journal_options){.state = always_the_same, .state_ms = 1});
    tell(rig.store, EVENT_ADDED, 1, 1, 1);
    cr_assert(journal_flush(rig.journal, WAIT_MS));
    usleep(1300000);
    cr_assert(journal_flush(rig.journal, WAIT_MS));
    struct journal_reading reading;
    live_nodes(&rig.folder, &reading);
    cr_expect_geq(reading.states, 1);
    cr_expect_eq(reading.states_different, reading.states, "no ledger has that digest");
    close_rig(&rig);
    temp_folder_remove(&rig.folder);
}
