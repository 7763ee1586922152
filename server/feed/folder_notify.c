// SPDX-License-Identifier: Apache-2.0
// Notification of changes in a folder, and who is writing. The watch is on the folder: a mounted ConfigMap is
// a chain of links whose middle is swapped, and a watch on a file would be lost at the first swap.
#include <limits.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "server/feed/folder.h"

#define WATCHED                                                                                              \
    (IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ATTRIB |          \
     IN_DELETE_SELF | IN_MOVE_SELF)
#define EVENTS_BYTES 16384u

int folder_notify_open(void) {
    return inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
}

void folder_notify_watch(int notify_fd, const char *folder) {
    if (notify_fd >= 0) (void)!inotify_add_watch(notify_fd, folder, WATCHED);
}

static size_t writer_find(const struct folder_writers *writers, const char *name) {
    size_t i = 0;
    while (i < writers->count && strcmp(writers->items[i].name, name) != 0) i++;
    return i;
}

static void writer_forget(struct folder_writers *writers, size_t i) {
    writers->items[i] = writers->items[--writers->count];
}

static void note_event(struct folder_writers *writers, const struct inotify_event *event, int64_t now_ms) {
    if ((event->mask & IN_Q_OVERFLOW) != 0) {
        // Ends of writing may be among what was lost.
        writers->count = 0;
        return;
    }
    if (event->len == 0) return;
    size_t i = writer_find(writers, event->name);
    if ((event->mask & IN_MODIFY) != 0 && i < FOLDER_WRITERS_LIMIT) {
        if (i == writers->count) {
            snprintf(writers->items[i].name, sizeof writers->items[i].name, "%s", event->name);
            writers->count++;
        }
        writers->items[i].last_ms = now_ms;
    } else if ((event->mask & (IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE)) != 0 &&
               i < writers->count) {
        writer_forget(writers, i);
    }
}

void folder_notify_read(int notify_fd, struct folder_writers *writers, int64_t now_ms) {
    char events[EVENTS_BYTES] __attribute__((aligned(__alignof__(struct inotify_event))));
    if (notify_fd < 0) return;
    for (ssize_t got; (got = read(notify_fd, events, sizeof events)) > 0;)
        for (char *at = events; at < events + got;) {
            const struct inotify_event *event = (const struct inotify_event *)(const void *)at;
            note_event(writers, event, now_ms);
            at += sizeof *event + event->len;
        }
}

bool folder_is_written(struct folder_writers *writers, const char *name, int64_t now_ms) {
    size_t i = writer_find(writers, name);
    if (i == writers->count) return false;
    if (now_ms - writers->items[i].last_ms < FOLDER_WRITER_MS) return true;
    writer_forget(writers, i);
    return false;
}
