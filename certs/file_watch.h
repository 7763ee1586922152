// SPDX-License-Identifier: Apache-2.0
// Following the contents of a few small files. Notification is taken on the folders (a mounted Secret is a
// chain of links whose middle is swapped; a watch on the file itself would be lost at the first swap), and
// the contents are compared every few seconds all the same, because a bind mount brings no notification.
#ifndef DRAWBRIDGE_CERTS_FILE_WATCH_H
#define DRAWBRIDGE_CERTS_FILE_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "validators/core/fault.h"

#define FILE_WATCH_PATHS_LIMIT 4
#define FILE_WATCH_POLL_MS     4000
// After a change is seen, reading again until two readings agree: writers replace two files one after the
// other.
#define FILE_WATCH_SETTLE_MS 50

struct file_watch;

struct file_watch_request {
    const char *const *paths; // copied
    size_t path_count;
    size_t limit_bytes; // what lies beyond is not compared
    int64_t poll_ms;    // 0: FILE_WATCH_POLL_MS
    // The contents are not what they were, or a file came or went. The first call is made by file_watch_new
    // itself before it returns, the others by the watch's thread. Must not call file_watch_free.
    void (*changed)(void *context);
    // Each time the thread wakes, at least every poll_ms. May be NULL.
    void (*tick)(void *context);
    void *context;
};

// What it does: begins to watch, then calls `changed` for the first time. The thread takes no signals.
// Owner: the caller, file_watch_free. Errors: FAULT_USAGE, FAULT_MEMORY, FAULT_IO (no thread). Where
// notification cannot be had, it goes on by comparing only.
bool file_watch_new(const struct file_watch_request *request, struct file_watch **ret_watch,
                    struct fault *fault) __attribute__((warn_unused_result));

// Ends the thread. NULL is allowed.
void file_watch_free(struct file_watch *watch);

#endif
