// SPDX-License-Identifier: Apache-2.0
// Fuzz target: a journal with any rows, chained as they should be, is replayed, exported and cut; and any
// bytes are opened as a journal. Rows are told by the input: type, kind, number of the object, length of what
// follows as its JSON.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/ledger/journal_cut.h"
#include "server/ledger/journal_file.h"
#include "server/ledger/journal_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ROWS_MOST  64u
#define HEAD_BYTES 5u

static char folder[64];
static char path[128];

static void remove_all(void) {
    static const char *const names[] = {"", "-wal", "-shm", "-journal"};
    char name[160];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(name, sizeof name, "%s%s", path, names[i]);
        unlink(name);
    }
}

static void at_end(void) {
    remove_all();
    rmdir(folder);
}

static void make_folder(void) {
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.32s/drawbridge-fuzz-XXXXXX", base == NULL ? "/tmp" : base);
    if (mkdtemp(folder) == NULL) abort();
    snprintf(path, sizeof path, "%s/%s", folder, JOURNAL_FILE_NAME);
    atexit(at_end);
}

static size_t make_rows(const uint8_t *data, size_t size, struct journal_row *rows,
                        char names[ROWS_MOST][8]) {
    size_t count = 0;
    for (size_t at = 0; at + HEAD_BYTES <= size && count < ROWS_MOST; count++) {
        size_t len = (size_t)data[at + 3] << 8 | data[at + 4];
        if (len > size - at - HEAD_BYTES) len = size - at - HEAD_BYTES;
        snprintf(names[count], sizeof names[0], "o%u", data[at + 2] % 8u);
        rows[count] = (struct journal_row){
            .type = (enum journal_type)(data[at] % JOURNAL_TYPE_COUNT),
            .kind = (enum object_kind)(data[at + 1] % (KIND_NODE_LEDGER + 1)),
            .at_ms = (int64_t)count,
            .version = (int64_t)count + 1,
            .name = text_of(names[count]),
            .uid = text_of(names[count]),
            .json = {(const char *)data + at + HEAD_BYTES, len},
        };
        at += HEAD_BYTES + len;
    }
    return count;
}

static bool take_line(void *context, enum object_kind kind, struct text name, struct text line,
                      struct fault *fault) {
    (void)fault;
    if (kind > KIND_NODE_LEDGER || name.len == 0 || line.len == 0) abort();
    ++*(size_t *)context;
    return true;
}

static void read_back(void) {
    const struct ledger_options options = {.minor = MINOR_36, .seed = {1, 2}};
    struct journal_reading reading;
    struct fault fault = {0};
    size_t lines = 0;
    struct ledger *ledger = ledger_new(&options, &fault);
    if (ledger == NULL) abort();
    if (!journal_replay(folder, MINOR_36, ledger, &reading, &fault) && fault.code == FAULT_NONE) abort();
    ledger_free(ledger);
    if (!journal_export(folder, take_line, &lines, &reading, &fault)) abort();
}

static void as_rows(const uint8_t *data, size_t size) {
    static struct journal_row rows[ROWS_MOST];
    static char names[ROWS_MOST][8];
    struct journal_file *file;
    struct fault fault = {0};
    if (!journal_file_open(path, true, &file, &fault)) abort();
    size_t count = make_rows(data, size, rows, names);
    for (size_t at = 0; at < count; at += 3)
        if (!journal_file_append(file, rows + at, count - at < 3 ? count - at : 3, (int64_t)at, &fault))
            abort();
    read_back();
    if (!journal_cut(file, INT64_MAX, (int64_t)count / 2, &fault)) abort();
    journal_file_close(file);
    // After the cut the chain still holds, and the file opens.
    if (!journal_file_open(path, true, &file, &fault)) abort();
    read_back();
    journal_file_close(file);
}

static void as_file(const uint8_t *data, size_t size) {
    struct journal_file *file;
    struct fault fault = {0};
    FILE *out = fopen(path, "wb");
    if (out == NULL || fwrite(data, 1, size, out) != size || fclose(out) != 0) abort();
    if (journal_file_open(path, true, &file, &fault))
        journal_file_close(file);
    else if (fault.code == FAULT_NONE)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (folder[0] == '\0') make_folder();
    if (size == 0) return 0;
    if (data[0] & 1)
        as_rows(data + 1, size - 1);
    else
        as_file(data + 1, size - 1);
    remove_all();
    return 0;
}
