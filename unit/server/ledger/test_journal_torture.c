// SPDX-License-Identifier: Apache-2.0
// The journal's file when the database runs out of memory at any point: a batch is written whole or not at
// all, the chain holds, and the next batch goes on.
#include <criterion/criterion.h>
#include <sqlite3.h>

#include "server/ledger/journal_cut.h"
#include "server/ledger/journal_file.h"
#include "unit/lib/temp_folder.h"

static sqlite3_mem_methods real;
static long fail_in; // the n-th allocation from now fails, and all after it; 0: none
static bool has_failed;

static bool fails_now(void) {
    if (fail_in > 0 && --fail_in == 0) has_failed = true;
    return has_failed;
}

static void *allocate(int bytes) {
    return fails_now() ? NULL : real.xMalloc(bytes);
}

static void *reallocate(void *block, int bytes) {
    return fails_now() ? NULL : real.xRealloc(block, bytes);
}

static void use_failing_memory(void) {
    cr_assert_eq(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real), SQLITE_OK);
    sqlite3_mem_methods methods = real;
    methods.xMalloc = allocate;
    methods.xRealloc = reallocate;
    cr_assert_eq(sqlite3_config(SQLITE_CONFIG_MALLOC, &methods), SQLITE_OK);
    // Small blocks from the heap too.
    sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
}

static void fail_after(long allocations) {
    fail_in = allocations;
    has_failed = false;
}

static bool count_batch(void *context, const struct journal_batch *batch) {
    (void)batch;
    ++*(size_t *)context;
    return true;
}

static size_t count_batches(const struct temp_folder *folder) {
    struct journal_file *file;
    struct fault fault = {0};
    size_t count = 0;
    const struct journal_visitor visitor = {.batch = count_batch, .context = &count};
    cr_assert(journal_file_open(temp_path(folder, JOURNAL_FILE_NAME), true, &file, &fault), "%s", fault.text);
    cr_assert(journal_file_scan(file, &visitor, &fault), "%s", fault.text);
    journal_file_close(file);
    return count;
}

static bool append(struct journal_file *file, int64_t number, struct fault *fault) {
    static char pad[3000];
    memset(pad, 'x', sizeof pad);
    const struct journal_row rows[] = {
        {.type = JOURNAL_MODIFIED,
         .kind = KIND_NODE,
         .name = TEXT("a"),
         .uid = TEXT("u"),
         .version = number,
         .json = {pad, sizeof pad}},
        {.type = JOURNAL_AUDIT, .json = TEXT("{}")},
    };
    return journal_file_append(file, rows, 2, number, fault);
}

// One life of a file with a failure somewhere. Returns true when it was reached.
static bool live_with_failure(const struct temp_folder *folder, long allocations, size_t before,
                              int64_t number) {
    struct journal_file *file = NULL;
    struct fault fault = {0};
    size_t written = 0;
    fail_after(allocations);
    bool opened = journal_file_open(temp_path(folder, JOURNAL_FILE_NAME), true, &file, &fault);
    if (opened) {
        written += append(file, number, &fault);
        bool cut = journal_cut(file, INT64_MAX, number - 2, &fault);
        bool failed = has_failed;
        fail_after(0);
        if (!cut) cr_assert(failed, "only for want of memory: %s", fault.text);
        bool again = append(file, number + 1, &fault);
        cr_assert(again, "it goes on after %ld: %s", allocations, fault.text);
        written++;
        has_failed = failed;
    } else {
        cr_assert(has_failed, "only for want of memory: %s", fault.text);
    }
    bool reached = has_failed;
    journal_file_close(file);
    fail_after(0);
    size_t after = count_batches(folder);
    // A cut puts batches together; it never makes the file longer than what was written.
    cr_assert_leq(after, before + written);
    cr_assert_geq(after, written < 1 ? before : 1);
    return reached;
}

Test(journal_torture, out_of_memory_anywhere, .timeout = 240) {
    use_failing_memory();
    struct temp_folder folder = temp_folder_new();
    size_t before = count_batches(&folder);
    long allocations = 1;
    int64_t number = 10;
    while (live_with_failure(&folder, allocations, before, number)) {
        before = count_batches(&folder);
        number += 2;
        allocations += 1 + allocations / 40;
        cr_assert_lt(allocations, 1000000);
    }
    cr_expect_gt(allocations, 100, "%ld allocations", allocations);
    temp_folder_remove(&folder);
}
