// SPDX-License-Identifier: Apache-2.0
// Reading of test data.
#include "unit/lib/corpus.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

struct text test_file_read(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) return (struct text){NULL, 0};
    char *data = NULL;
    size_t len = 0;
    for (size_t capacity = 65536;; capacity *= 2) {
        data = realloc(data, capacity);
        cr_assert_not_null(data);
        len += fread(data + len, 1, capacity - len, file);
        if (len < capacity) break;
    }
    fclose(file);
    return (struct text){data, len};
}

void test_file_free(struct text file) {
    free((void *)(uintptr_t)file.ptr);
}

const char *test_source_path(const char *relative) {
    static char path[4096];
    const char *source = getenv("DRAWBRIDGE_SOURCE");
    snprintf(path, sizeof path, "%s/%s", source == NULL ? "." : source, relative);
    return path;
}

struct text test_corpus_read(const char *name) {
    char relative[512];
    char path[4608];
    const char *folder = getenv("DRAWBRIDGE_CORPUS");
    if (folder != NULL) {
        snprintf(path, sizeof path, "%s/%s", folder, name);
    } else {
        snprintf(relative, sizeof relative, "../shared/corpus/%s", name);
        snprintf(path, sizeof path, "%s", test_source_path(relative));
    }
    struct text file = test_file_read(path);
    if (file.ptr == NULL && folder == NULL) {
        snprintf(relative, sizeof relative, "unit/testdata/corpus/%s", name);
        file = test_file_read(test_source_path(relative));
    }
    cr_assert(file.ptr != NULL && file.len > 0, "no corpus %s: set DRAWBRIDGE_CORPUS", name);
    return file;
}

bool test_next_line(struct text file, size_t *at, struct text *ret_line) {
    if (*at >= file.len) return false;
    size_t end = text_find(file, '\n', *at);
    *ret_line = text_slice(file, *at, end);
    *at = end + 1;
    return true;
}
