// SPDX-License-Identifier: Apache-2.0
// Looking at a folder.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "server/feed/folder.h"

#define FIRST_READ_BYTES ((size_t)64 * 1024)

static bool is_manifest(const char *name) {
    static const struct text endings[] = {TEXT_INIT(".yaml"), TEXT_INIT(".yml"), TEXT_INIT(".json")};
    if (name[0] == '.') return false;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (text_ends_with(text_of(name), endings[i])) return true;
    return false;
}

static int by_name(const void *a, const void *b) {
    const struct folder_file *left = a;
    const struct folder_file *right = b;
    return strcmp(left->name, right->name);
}

static bool add_file(struct folder_files *files, const char *name, const struct stat *status,
                     struct fault *fault) {
    if (files->count >= FOLDER_FILES_LIMIT)
        return fault_set(fault, FAULT_LIMIT, "more than %u manifests", FOLDER_FILES_LIMIT);
    if ((files->count & (files->count - 1)) == 0) {
        size_t room = files->count == 0 ? 1 : files->count * 2;
        struct folder_file *grown = realloc(files->items, room * sizeof *grown);
        if (grown == NULL) return fault_set(fault, FAULT_MEMORY, "out of memory");
        files->items = grown;
    }
    struct folder_file file = {.name = strndup(name, NAME_MAX), .status = *status};
    if (file.name == NULL) return fault_set(fault, FAULT_MEMORY, "out of memory");
    files->items[files->count++] = file;
    return true;
}

static bool look(DIR *open_folder, struct folder_files *files, struct fault *fault) {
    size_t total_bytes = 0;
    for (size_t seen = 0;; seen++) {
        errno = 0;
        const struct dirent *entry = readdir(open_folder);
        if (entry == NULL && errno != 0) return fault_set(fault, FAULT_IO, "%s", strerror(errno));
        if (entry == NULL) return true;
        if (seen > FOLDER_NAMES_LIMIT)
            return fault_set(fault, FAULT_LIMIT, "more than %u names", FOLDER_NAMES_LIMIT);
        struct stat status;
        // A file that is gone by now, or a link to nothing, is not there.
        if (!is_manifest(entry->d_name) || fstatat(dirfd(open_folder), entry->d_name, &status, 0) != 0 ||
            !S_ISREG(status.st_mode))
            continue;
        total_bytes += (size_t)status.st_size;
        if (total_bytes > FOLDER_TOTAL_BYTES)
            return fault_set(fault, FAULT_LIMIT, "manifests of more than %zu bytes", FOLDER_TOTAL_BYTES);
        if (!add_file(files, entry->d_name, &status, fault)) return false;
    }
}

bool folder_look(const char *folder, struct folder_files *ret_files, struct fault *fault) {
    DIR *open_folder = opendir(folder);
    if (open_folder == NULL) return fault_set(fault, FAULT_IO, "folder %.100s: %s", folder, strerror(errno));
    struct folder_files files = {.items = NULL};
    bool fine = look(open_folder, &files, fault);
    closedir(open_folder);
    if (!fine) {
        folder_files_release(&files);
        return fault_wrap(fault, "folder %.100s", folder);
    }
    if (files.count > 0) qsort(files.items, files.count, sizeof *files.items, by_name);
    *ret_files = files;
    return true;
}

void folder_files_release(struct folder_files *files) {
    for (size_t i = 0; i < files->count; i++) {
        free(files->items[i].name);
        manifest_list_release(&files->items[i].objects);
    }
    free(files->items);
    *files = (struct folder_files){.items = NULL};
}

bool folder_status_same(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

bool folder_files_same(const struct folder_files *a, const struct folder_files *b) {
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->items[i].name, b->items[i].name) != 0 ||
            !folder_status_same(&a->items[i].status, &b->items[i].status))
            return false;
    return true;
}

static bool read_fd(int fd, char **ret_bytes, size_t *ret_len, struct fault *fault) {
    size_t room = FIRST_READ_BYTES;
    size_t len = 0;
    char *bytes = malloc(room);
    while (bytes != NULL) {
        ssize_t got = read(fd, bytes + len, room - len);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 || len + (size_t)got > FOLDER_FILE_BYTES) {
            free(bytes);
            return got < 0 ? fault_set(fault, FAULT_IO, "%s", strerror(errno))
                           : fault_set(fault, FAULT_LIMIT, "longer than %zu bytes", FOLDER_FILE_BYTES);
        }
        len += (size_t)got;
        if (got == 0) {
            *ret_bytes = bytes;
            *ret_len = len;
            return true;
        }
        if (len < room) continue;
        char *grown = realloc(bytes, room * 2);
        if (grown == NULL) break;
        bytes = grown;
        room *= 2;
    }
    free(bytes);
    return fault_set(fault, FAULT_MEMORY, "out of memory");
}

bool folder_read(const char *folder, const char *name, char **ret_bytes, size_t *ret_len,
                 unsigned char ret_digest[FOLDER_DIGEST_BYTES], struct fault *fault) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return fault_set(fault, FAULT_LIMIT, "%.100s: the path is too long", name);
    // Not to wait, should it have become a pipe.
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return fault_set(fault, FAULT_IO, "%.100s: %s", name, strerror(errno));
    struct stat status;
    char *bytes = NULL;
    size_t len = 0;
    bool fine = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    if (!fine) fault_set(fault, FAULT_IO, "not a file");
    fine = fine && read_fd(fd, &bytes, &len, fault);
    close(fd);
    if (!fine) return fault_wrap(fault, "%.100s", name);
    if (EVP_Digest(bytes, len, ret_digest, NULL, EVP_sha256(), NULL) != 1) {
        free(bytes);
        return fault_set(fault, FAULT_MEMORY, "%.100s: no digest could be made", name);
    }
    *ret_bytes = bytes;
    *ret_len = len;
    return true;
}
