// SPDX-License-Identifier: Apache-2.0
// Finding and reading the files behind a name on the command line.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/codec/documents.h"

#define FIRST_READ_BYTES ((size_t)64 * 1024)
#define ERROR_BYTES      512u

// The folders that we are in, so that a loop of links is noticed.
struct folder {
    const struct folder *parent;
    dev_t device;
    ino_t inode;
    unsigned depth;
};

struct name_list {
    char **items; // a folder's name ends with a slash, so that byte order is that of the paths
    size_t count;
    size_t capacity;
};

struct search {
    const struct document_options *options;
    const struct document_visitor *visitor;
};

static void tell(const struct search *search, const char *file, const char *text) {
    struct document_error error = {.file = file, .text = text};
    search->visitor->on_error(search->visitor->state, &error);
}

static void tell_errno(const struct search *search, const char *file, const char *what) {
    char text[ERROR_BYTES];
    snprintf(text, sizeof text, "%s: %s", what, strerror(errno));
    tell(search, file, text);
}

static size_t file_bytes(const struct search *search) {
    return search->options->file_bytes == 0 ? DOCUMENTS_FILE_BYTES : search->options->file_bytes;
}

// All of a file that is open. Owner: the caller, with free. NULL: told.
static char *read_all(const struct search *search, const char *file, int fd, size_t guess_bytes,
                      size_t *ret_len) {
    size_t limit = file_bytes(search);
    size_t capacity = guess_bytes < limit ? guess_bytes + 1 : limit + 1;
    if (capacity < FIRST_READ_BYTES) capacity = FIRST_READ_BYTES;
    char *bytes = malloc(capacity);
    size_t len = 0;
    while (bytes != NULL) {
        ssize_t count = read(fd, bytes + len, capacity - len);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) {
            tell_errno(search, file, "cannot be read");
            break;
        }
        len += (size_t)count;
        if (len > limit) {
            char text[ERROR_BYTES];
            snprintf(text, sizeof text, "longer than %zu bytes; --max-file-bytes raises the bound", limit);
            tell(search, file, text);
            break;
        }
        if (count == 0) {
            *ret_len = len;
            return bytes;
        }
        if (len < capacity) continue;
        char *grown = realloc(bytes, capacity * 2);
        if (grown == NULL) {
            tell(search, file, "cannot be read: out of memory");
            break;
        }
        bytes = grown;
        capacity *= 2;
    }
    if (bytes == NULL) tell(search, file, "cannot be read: out of memory");
    free(bytes);
    return NULL;
}

static void visit_fd(const struct search *search, const char *file, int fd, size_t guess_bytes) {
    size_t len;
    char *bytes = read_all(search, file, fd, guess_bytes, &len);
    if (bytes == NULL) return;
    // A command that failed before the pipe must not look like objects that are fine.
    if (len == 0 && strcmp(file, "-") == 0) tell(search, file, "nothing came in: standard input is empty");
    documents_visit_text(file, (struct text){bytes, len}, search->options, search->visitor);
    free(bytes);
}

static const char *refuse_words(mode_t mode) {
    if (S_ISFIFO(mode))
        return "a pipe with a name is not read, because it may never end; use -f - and a plain pipe";
    if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device is not read";
    if (S_ISSOCK(mode)) return "a socket is not read";
    return "neither a file nor a folder";
}

// Whether the name stands for what the caller has opened for us, as the shell's <(COMMAND) does.
static bool is_open_already(const char *name) {
    struct text text = text_of(name);
    return text_equal(text, TEXT("/dev/stdin")) || text_starts_with(text, TEXT("/dev/fd/")) ||
           text_starts_with(text, TEXT("/proc/self/fd/"));
}

static void visit_open_pipe(const struct search *search, const char *file) {
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        tell_errno(search, file, "cannot be opened");
        return;
    }
    visit_fd(search, file, fd, 0);
    close(fd);
}

static void visit_file(const struct search *search, const char *file) {
    // Not to wait for a writer, should the file have become a pipe since it was looked at.
    int fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    struct stat status;
    if (fd < 0) {
        tell_errno(search, file, "cannot be opened");
        return;
    }
    if (fstat(fd, &status) != 0)
        tell_errno(search, file, "cannot be read");
    else if (!S_ISREG(status.st_mode))
        tell(search, file, refuse_words(status.st_mode));
    else
        visit_fd(search, file, fd, (size_t)status.st_size);
    close(fd);
}

// --- Folders ---

static void release_names(struct name_list *names) {
    for (size_t i = 0; i < names->count; i++) free(names->items[i]);
    free(names->items);
}

// Up to three texts in one. Owner: the caller, with free. NULL when memory ran out.
static char *join(struct text first, const char *second, struct text third) {
    size_t second_len = strlen(second);
    char *joined = malloc(first.len + second_len + third.len + 1);
    if (joined == NULL) return NULL;
    memcpy(joined, first.ptr, first.len);
    memcpy(joined + first.len, second, second_len);
    memcpy(joined + first.len + second_len, third.ptr, third.len);
    joined[first.len + second_len + third.len] = '\0';
    return joined;
}

static bool add_name(struct name_list *names, const char *name, bool is_folder) {
    if (names->count == names->capacity) {
        size_t capacity = names->capacity == 0 ? 64 : names->capacity * 2;
        char **grown = realloc(names->items, capacity * sizeof *grown);
        if (grown == NULL) return false;
        names->items = grown;
        names->capacity = capacity;
    }
    char *copy = join(text_of(name), is_folder ? "/" : "", TEXT(""));
    if (copy == NULL) return false;
    names->items[names->count++] = copy;
    return true;
}

static int compare_names(const void *left, const void *right) {
    const char *const *a = left;
    const char *const *b = right;
    return strcmp(*a, *b);
}

static bool is_manifest(const char *name) {
    struct text text = text_of(name);
    return text_ends_with(text, TEXT(".yaml")) || text_ends_with(text, TEXT(".yml")) ||
           text_ends_with(text, TEXT(".json"));
}

// The names in a folder that matter. False: told.
static bool list_names(const struct search *search, const char *folder, DIR *stream,
                       struct name_list *names) {
    struct dirent *entry;
    while ((errno = 0, entry = readdir(stream)) != NULL) {
        struct stat status;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        bool known = fstatat(dirfd(stream), entry->d_name, &status, 0) == 0;
        bool is_folder = known && S_ISDIR(status.st_mode);
        if (is_folder ? !search->options->recursive : !is_manifest(entry->d_name)) continue;
        if (names->count == DOCUMENTS_FOLDER_ENTRIES) {
            tell(search, folder, "too many files in one folder");
            return false;
        }
        if (!add_name(names, entry->d_name, is_folder)) {
            tell(search, folder, "cannot be listed: out of memory");
            return false;
        }
    }
    if (errno != 0) {
        tell_errno(search, folder, "cannot be listed");
        return false;
    }
    if (names->count > 1) qsort(names->items, names->count, sizeof *names->items, compare_names);
    return true;
}

static bool is_loop(const struct folder *parent, const struct stat *status) {
    for (; parent != NULL; parent = parent->parent)
        if (parent->device == status->st_dev && parent->inode == status->st_ino) return true;
    return false;
}

static void visit_folder(const struct search *search, const char *path, const struct folder *parent);

static void visit_names(const struct search *search, const char *path, const struct name_list *names,
                        const struct folder *folder) {
    struct text folder_path = text_of(path);
    while (folder_path.len > 1 && path[folder_path.len - 1] == '/') folder_path.len--;
    const char *slash = text_equal(folder_path, TEXT("/")) ? "" : "/";
    for (size_t i = 0; i < names->count; i++) {
        struct text name = text_of(names->items[i]);
        bool is_folder = text_ends_with(name, TEXT("/"));
        char *full = join(folder_path, slash, text_slice(name, 0, name.len - is_folder));
        if (full == NULL) {
            tell(search, path, "cannot be listed: out of memory");
            return;
        }
        if (is_folder)
            visit_folder(search, full, folder);
        else
            documents_visit(full, search->options, search->visitor);
        free(full);
    }
}

static void visit_folder(const struct search *search, const char *path, const struct folder *parent) {
    struct stat status;
    struct name_list names = {0};
    DIR *stream = opendir(path);
    if (stream == NULL || fstat(dirfd(stream), &status) != 0) {
        tell_errno(search, path, "cannot be listed");
        if (stream != NULL) closedir(stream);
        return;
    }
    struct folder folder = {parent, status.st_dev, status.st_ino, parent == NULL ? 1 : parent->depth + 1};
    bool fine = false;
    if (is_loop(parent, &status))
        tell(search, path, "the folder contains itself through a link");
    else if (folder.depth > DOCUMENTS_FOLDER_DEPTH)
        tell(search, path, "folders are nested too deeply");
    else
        fine = list_names(search, path, stream, &names);
    // Closed before going deeper: the number of open folders stays one.
    closedir(stream);
    if (fine && names.count == 0 && parent == NULL)
        tell(search, path,
             search->options->recursive
                 ? "no .yaml, .yml or .json file is in the folder"
                 : "no .yaml, .yml or .json file is in the folder; -R goes into folders of it");
    if (fine) visit_names(search, path, &names, &folder);
    release_names(&names);
}

void documents_visit(const char *name, const struct document_options *options,
                     const struct document_visitor *visitor) {
    struct search search = {options, visitor};
    struct stat status;
    if (strcmp(name, "-") == 0)
        visit_fd(&search, name, STDIN_FILENO, 0);
    else if (stat(name, &status) != 0)
        tell_errno(&search, name, "cannot be opened");
    else if (S_ISDIR(status.st_mode))
        visit_folder(&search, name, NULL);
    else if (S_ISFIFO(status.st_mode) && is_open_already(name))
        visit_open_pipe(&search, name);
    else if (!S_ISREG(status.st_mode))
        tell(&search, name, refuse_words(status.st_mode));
    else
        visit_file(&search, name);
}
