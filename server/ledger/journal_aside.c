// SPDX-License-Identifier: Apache-2.0
// Renames within one folder.
#include "server/ledger/journal_aside.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "server/ledger/journal_file.h"

static const char *const companions[] = {"", "-wal", "-shm"};
#define COMPANION_COUNT (sizeof companions / sizeof companions[0])

static bool path_in(char path[PATH_MAX], const char *folder, const char *name, const char *companion) {
    return snprintf(path, PATH_MAX, "%s/%s%s", folder, name, companion) < PATH_MAX;
}

// Without its companions, whose names follow on the file's own.
static bool is_aside(const char *name, const char *prefix) {
    struct text text = text_of(name);
    return text_starts_with(text, text_of(prefix)) && text_ends_with(text, TEXT("-" JOURNAL_FILE_NAME));
}

// The oldest of a prefix, by name: the names have the time in them. How many there are.
static size_t find_oldest(const char *folder, const char *prefix, char ret_name[JOURNAL_ASIDE_NAME_BYTES]) {
    DIR *dir = opendir(folder);
    size_t count = 0;
    if (dir == NULL) return 0;
    for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        if (!is_aside(entry->d_name, prefix)) continue;
        if (count++ == 0 || strcmp(entry->d_name, ret_name) < 0)
            snprintf(ret_name, JOURNAL_ASIDE_NAME_BYTES, "%.*s", JOURNAL_ASIDE_NAME_BYTES - 1, entry->d_name);
    }
    closedir(dir);
    return count;
}

static void keep_few(const char *folder, const char *prefix, size_t limit) {
    char name[JOURNAL_ASIDE_NAME_BYTES];
    char path[PATH_MAX];
    size_t before = SIZE_MAX;
    for (size_t count = find_oldest(folder, prefix, name); count > limit && count < before;
         count = find_oldest(folder, prefix, name)) {
        before = count;
        for (size_t i = 0; i < COMPANION_COUNT; i++)
            if (path_in(path, folder, name, companions[i])) unlink(path);
    }
}

bool journal_set_aside(const char *folder, const char *prefix, long long now_ms, size_t limit,
                       char ret_name[JOURNAL_ASIDE_NAME_BYTES], struct fault *fault) {
    char from[PATH_MAX], to[PATH_MAX];
    snprintf(ret_name, JOURNAL_ASIDE_NAME_BYTES, "%s-%015lld-%s", prefix, now_ms, JOURNAL_FILE_NAME);
    for (size_t i = 0; i < COMPANION_COUNT; i++) {
        if (!path_in(from, folder, JOURNAL_FILE_NAME, companions[i]) ||
            !path_in(to, folder, ret_name, companions[i]))
            return fault_set(fault, FAULT_IO, "the path of the folder is too long");
        if (rename(from, to) != 0 && errno != ENOENT)
            return fault_set(fault, FAULT_IO, "\"%s\" cannot be renamed: %s", from, strerror(errno));
    }
    keep_few(folder, prefix, limit);
    return true;
}
