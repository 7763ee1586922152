// SPDX-License-Identifier: Apache-2.0
// Folders and files that live as long as one test.
#include "unit/lib/temp_files.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

const char *test_folder_new(void) {
    static char folders[8][128];
    static unsigned turn;
    char *folder = folders[turn++ % 8];
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folders[0], "%s/drawbridge-test-XXXXXX", base == NULL ? "/tmp" : base);
    cr_assert_not_null(mkdtemp(folder), "no folder for the test");
    return folder;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at) {
    (void)status;
    (void)kind;
    (void)at;
    return remove(path);
}

void test_folder_remove(const char *folder) {
    cr_assert_eq(nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0, "the test's folder stays: %s",
                 folder);
}

const char *test_path(const char *folder, const char *name) {
    static char paths[16][512];
    static unsigned turn;
    char *path = paths[turn++ % 16];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

void test_write(const char *folder, const char *name, const char *bytes, size_t len) {
    FILE *file = fopen(test_path(folder, name), "w");
    cr_assert_not_null(file, "cannot write %s/%s", folder, name);
    cr_assert_eq(fwrite(bytes, 1, len, file), len);
    cr_assert_eq(fclose(file), 0);
}

void test_write_text(const char *folder, const char *name, const char *text) {
    test_write(folder, name, text, strlen(text));
}

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool test_eventually(bool (*holds)(void *context), void *context, int64_t limit_ms) {
    int64_t end = now_ms() + limit_ms;
    while (!holds(context)) {
        if (now_ms() > end) return false;
        usleep(10000);
    }
    return true;
}
