// SPDX-License-Identifier: Apache-2.0
// Temporary folders.
#include "unit/lib/temp_folder.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <ftw.h>
#include <stdlib.h>
#include <unistd.h>

struct temp_folder temp_folder_new(void) {
    struct temp_folder folder;
    const char *base = getenv("TMPDIR");
    snprintf(folder.path, sizeof folder.path, "%s/drawbridge-test-XXXXXX", base == NULL ? "/tmp" : base);
    cr_assert_not_null(mkdtemp(folder.path));
    return folder;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *place) {
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

void temp_folder_remove(const struct temp_folder *folder) {
    nftw(folder->path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *temp_path(const struct temp_folder *folder, const char *name) {
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder->path, name);
    return path;
}

void temp_write(const char *path, struct text bytes) {
    FILE *file = fopen(path, "wb");
    cr_assert_not_null(file, "%s", path);
    cr_assert_eq(fwrite(bytes.ptr, 1, bytes.len, file), bytes.len);
    cr_assert_eq(fclose(file), 0);
}

size_t temp_count(const struct temp_folder *folder, const char *prefix) {
    DIR *dir = opendir(folder->path);
    size_t count = 0;
    cr_assert_not_null(dir);
    for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir))
        count += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    closedir(dir);
    return count;
}
