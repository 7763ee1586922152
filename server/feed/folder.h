// SPDX-License-Identifier: Apache-2.0
// A folder of manifests: which files there are, whether they look changed, who is writing to them.
#ifndef DRAWBRIDGE_FEED_FOLDER_H
#define DRAWBRIDGE_FEED_FOLDER_H

#include <limits.h>
#include <sys/stat.h>

#include "server/feed/manifests.h"

#define FOLDER_FILES_LIMIT   4096u
#define FOLDER_NAMES_LIMIT   65536u // names of any kind
#define FOLDER_FILE_BYTES    ((size_t)16 * 1024 * 1024)
#define FOLDER_TOTAL_BYTES   ((size_t)128 * 1024 * 1024)
#define FOLDER_DIGEST_BYTES  32u
#define FOLDER_WRITERS_LIMIT 32u
#define FOLDER_WRITER_MS     5000 // a writer that does nothing for so long does not keep its file back

// A file as it was seen last.
struct folder_file {
    char *name;
    struct stat status;
    unsigned char digest[FOLDER_DIGEST_BYTES]; // of its bytes, when they were read last
    bool read;                                 // digest and status mean something
    bool good;                                 // objects are those of the digest
    bool told;                                 // the log says why it is not
    bool objects_set;                          // objects of some good reading are there
    struct manifest_list objects;
};

struct folder_files {
    struct folder_file *items; // by name, in byte order
    size_t count;
};

// What it does: the .yaml, .yml and .json files in a folder, links to files included, subfolders and hidden
// names left out. Only name and status are filled. Owner: the caller, folder_files_release. Errors: FAULT_IO,
// FAULT_LIMIT, FAULT_MEMORY.
bool folder_look(const char *folder, struct folder_files *ret_files, struct fault *fault)
    __attribute__((warn_unused_result));
void folder_files_release(struct folder_files *files);

// True when two looks saw the same names with the same status.
bool folder_files_same(const struct folder_files *a, const struct folder_files *b);
bool folder_status_same(const struct stat *a, const struct stat *b);

// What it does: all bytes of a file, and their digest. Owner: the caller, with free. Errors: FAULT_IO,
// FAULT_LIMIT, FAULT_MEMORY.
bool folder_read(const char *folder, const char *name, char **ret_bytes, size_t *ret_len,
                 unsigned char ret_digest[FOLDER_DIGEST_BYTES], struct fault *fault)
    __attribute__((warn_unused_result));

// Files that are open for writing, as notification tells.
struct folder_writers {
    struct {
        char name[NAME_MAX + 1];
        int64_t last_ms; // when something was written
    } items[FOLDER_WRITERS_LIMIT];
    size_t count;
};

// A notification fd on the folder, or -1 where none can be had.
int folder_notify_open(void);
// Watches the folder; harmless where it is watched already, needed when it was made anew.
void folder_notify_watch(int notify_fd, const char *folder);
// Takes all events that are there.
void folder_notify_read(int notify_fd, struct folder_writers *writers, int64_t now_ms);

// Whether somebody is in the middle of writing this file. Forgets writers that are long silent.
bool folder_is_written(struct folder_writers *writers, const char *name, int64_t now_ms);

#endif
