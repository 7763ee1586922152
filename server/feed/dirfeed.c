// SPDX-License-Identifier: Apache-2.0
// The thread that follows a folder.
#include "server/feed/dirfeed.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "server/feed/applied.h"
#include "server/log.h"

#define SETTLE_MS      50 // two looks that agree, so far apart, make a change settled
#define SETTLE_ROUNDS  20
#define WRITER_LOOK_MS 250 // how soon to look again while somebody writes
#define RETRY_MS       1000

struct dirfeed {
    _Atomic bool list_again; // somebody missed events
    char *folder;
    int minor;
    int64_t poll_ms;
    struct store *store;
    struct feed_state *state;
    struct folder_files files;
    struct folder_writers writers;
    struct applied applied;
    bool told_folder; // the log has a line about a folder that cannot be looked at
    bool retry;       // something could not be told to the store
    int notify_fd;    // -1: none to be had
    int stop_fd;
    bool started;
    pthread_t thread;
};

// Sleeps. True when the feed is to end.
static bool pause_ms(const struct dirfeed *feed, int64_t milliseconds, bool until_notified) {
    struct pollfd fds[2] = {{.fd = feed->stop_fd, .events = POLLIN},
                            {.fd = feed->notify_fd, .events = POLLIN}};
    nfds_t count = until_notified && feed->notify_fd >= 0 ? 2 : 1;
    if (poll(fds, count, (int)milliseconds) < 0) return false;
    return (fds[0].revents & POLLIN) != 0;
}

static void notice(struct dirfeed *feed) {
    folder_notify_watch(feed->notify_fd, feed->folder);
    folder_notify_read(feed->notify_fd, &feed->writers, feed_now_ms());
}

// Looks until two looks agree, or the folder is too busy for that. Errors: false, also when it is to end.
static bool look_settled(struct dirfeed *feed, struct folder_files *ret_files, bool *ret_stop,
                         struct fault *fault) {
    struct folder_files files;
    if (!folder_look(feed->folder, &files, fault)) return false;
    for (int i = 0; i < SETTLE_ROUNDS && !folder_files_same(&files, &feed->files); i++) {
        struct folder_files again;
        *ret_stop = pause_ms(feed, SETTLE_MS, false);
        bool fine = !*ret_stop && folder_look(feed->folder, &again, fault);
        bool settled = fine && folder_files_same(&files, &again);
        folder_files_release(&files);
        if (!fine) return false;
        files = again;
        if (settled) break;
    }
    *ret_files = files;
    return true;
}

static struct folder_file *file_find(struct folder_files *files, const char *name) {
    for (size_t low = 0, high = files->count; low < high;) {
        size_t middle = (low + high) / 2;
        int order = strcmp(files->items[middle].name, name);
        if (order == 0) return &files->items[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

// What was known of a file goes over to the new look at it.
static void carry_over(struct folder_file *fresh, struct folder_file *known) {
    memcpy(fresh->digest, known->digest, sizeof fresh->digest);
    fresh->good = known->good;
    fresh->told = known->told;
    fresh->objects_set = known->objects_set;
    fresh->objects = known->objects;
    known->objects = (struct manifest_list){.items = NULL};
}

static void tell_bad(struct dirfeed *feed, const struct folder_file *file, const struct fault *fault) {
    enum feed_error error = FEED_ERROR_DECODE;
    if (fault->code == FAULT_IO) error = FEED_ERROR_UNREADABLE;
    if (fault->code == FAULT_LIMIT) error = FEED_ERROR_LIMIT;
    if (fault->code == FAULT_MEMORY) error = FEED_ERROR_MEMORY;
    feed_count_error(feed->state, error);
    if (file->told && !file->read) return; // the log has it already
    log_error("feed",
              file->objects_set ? "File waits, what it said last stays in force"
                                : "File waits until it can be read",
              fault->text, LOG_STRING("file", file->name));
}

// Reads a file whose contents may have changed. True when its objects are others than before.
static bool refresh(struct dirfeed *feed, struct folder_file *file, bool known) {
    struct fault fault;
    char *bytes = NULL;
    size_t len = 0;
    unsigned char digest[FOLDER_DIGEST_BYTES];
    struct manifest_list objects;
    bool was_read = folder_read(feed->folder, file->name, &bytes, &len, digest, &fault);
    bool same = was_read && known && memcmp(digest, file->digest, sizeof digest) == 0;
    if (same) {
        free(bytes);
        file->read = true;
        return false;
    }
    if (was_read) memcpy(file->digest, digest, sizeof digest);
    file->read = was_read;
    file->good =
        was_read && manifests_read(file->name, (struct text){bytes, len}, feed->minor, &objects, &fault);
    free(bytes);
    if (!file->good) {
        tell_bad(feed, file, &fault);
        file->told = true;
        feed_set_why(feed->state, fault.text);
        return false;
    }
    manifest_list_release(&file->objects);
    file->objects = objects;
    file->objects_set = true;
    file->told = false;
    return true;
}

// Takes a new look in the place of the old one. True when objects are others than before.
static bool take_look(struct dirfeed *feed, struct folder_files *look, bool compare_all) {
    bool changed = false;
    int64_t now_ms = feed_now_ms();
    for (size_t i = 0; i < look->count; i++) {
        struct folder_file *fresh = &look->items[i];
        struct folder_file *known = file_find(&feed->files, fresh->name);
        bool was_read = known != NULL && known->read;
        bool same = was_read && folder_status_same(&known->status, &fresh->status);
        if (known != NULL) carry_over(fresh, known);
        if (folder_is_written(&feed->writers, fresh->name, now_ms)) {
            // Not what stands there now, but what will: it is read when the writer is done.
            if (known != NULL) fresh->status = known->status;
            fresh->read = was_read;
        } else if (same && !compare_all) {
            fresh->read = true;
        } else if (refresh(feed, fresh, was_read)) {
            changed = true;
        }
    }
    for (size_t i = 0; i < feed->files.count && !changed; i++)
        changed = file_find(look, feed->files.items[i].name) == NULL;
    folder_files_release(&feed->files);
    feed->files = *look;
    return changed;
}

static size_t count_waiting(const struct dirfeed *feed, bool *ret_complete) {
    size_t waiting = 0;
    for (size_t i = 0; i < feed->files.count; i++) {
        if (!feed->files.items[i].good) waiting++;
        if (!feed->files.items[i].objects_set) *ret_complete = false;
    }
    return waiting;
}

static void tell_alive(struct dirfeed *feed) {
    int64_t now_ms = feed_now_ms();
    for (size_t i = 0; i < FEED_KIND_COUNT; i++) {
        store_watch_alive(feed->store, feed_kinds[i].kind);
        atomic_store_explicit(&feed->state->kinds[i].alive_ms, now_ms, memory_order_relaxed);
    }
}

static void tell_no_folder(struct dirfeed *feed, const struct fault *fault) {
    feed_set_why(feed->state, fault->text);
    feed_count_error(feed->state, fault->code == FAULT_LIMIT ? FEED_ERROR_LIMIT : FEED_ERROR_UNREADABLE);
    if (!feed->told_folder) log_error("feed", "Folder not followed, the last state stays", fault->text);
    feed->told_folder = true;
}

// One look at the folder and what follows from it. True when the feed is to end.
static bool follow(struct dirfeed *feed, bool compare_all) {
    struct folder_files look;
    struct fault fault;
    bool stop = false;
    notice(feed);
    if (!look_settled(feed, &look, &stop, &fault)) {
        if (!stop) tell_no_folder(feed, &fault);
        return stop;
    }
    if (feed->told_folder) log_info(0, "feed", "Folder followed again", LOG_STRING("folder", feed->folder));
    feed->told_folder = false;
    notice(feed);
    bool changed = take_look(feed, &look, compare_all);
    bool complete = true;
    size_t waiting = count_waiting(feed, &complete);
    atomic_store_explicit(&feed->state->waiting, (int64_t)waiting, memory_order_relaxed);
    if (waiting == 0) feed_set_why(feed->state, "");
    if (changed || feed->retry || (complete && !feed->applied.listed)) {
        bool was_listed = feed->applied.listed;
        feed->retry = !applied_update(&feed->applied, &feed->files, complete, feed->minor, feed->store,
                                      feed->state, &fault);
        if (feed->retry) {
            feed_count_error(feed->state, FEED_ERROR_MEMORY);
            feed_set_why(feed->state, fault.text);
            log_error("feed", "Not all changes taken, they are tried again", fault.text);
        }
        if (!was_listed && feed->applied.listed)
            log_info(0, "feed", "Folder read", LOG_STRING("folder", feed->folder),
                     LOG_NUMBER("files", feed->files.count), LOG_NUMBER("objects", feed->applied.count));
    }
    if (feed->applied.listed && !feed->retry && atomic_exchange(&feed->list_again, false) &&
        !applied_list_again(&feed->applied, feed->minor, feed->store, feed->state, &fault)) {
        atomic_store(&feed->list_again, true);
        log_error("feed", "Not all objects told again, they are tried again", fault.text);
    }
    if (!feed->retry) tell_alive(feed);
    return false;
}

void dirfeed_list_again(struct dirfeed *feed) {
    atomic_store(&feed->list_again, true);
}

static void *run(void *argument) {
    struct dirfeed *feed = argument;
    int64_t compared_ms = feed_now_ms();
    for (bool stop = follow(feed, true); !stop;) {
        int64_t wait_ms = compared_ms + feed->poll_ms - feed_now_ms();
        if (feed->writers.count > 0 && wait_ms > WRITER_LOOK_MS) wait_ms = WRITER_LOOK_MS;
        if (feed->retry && wait_ms > RETRY_MS) wait_ms = RETRY_MS;
        if (pause_ms(feed, wait_ms > 0 ? wait_ms : 0, true)) break;
        // Hashing all files is for the poll alone; a change that notification tells shows in the status.
        bool compare_all = feed_now_ms() >= compared_ms + feed->poll_ms;
        if (compare_all) compared_ms = feed_now_ms();
        stop = follow(feed, compare_all);
    }
    return NULL;
}

static bool start_thread(struct dirfeed *feed, struct fault *fault) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&feed->thread, NULL, run, feed);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) return fault_set(fault, FAULT_IO, "a thread to follow the folder: %s", strerror(error));
    feed->started = true;
    return true;
}

static bool folder_opens(const char *folder, struct fault *fault) {
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return fault_set(fault, FAULT_USAGE, "folder %.120s: %s", folder, strerror(errno));
    close(fd);
    return true;
}

bool dirfeed_new(const struct dirfeed_options *options, struct dirfeed **ret_feed, struct fault *fault) {
    if (!folder_opens(options->folder, fault)) return false;
    struct dirfeed *feed = calloc(1, sizeof *feed);
    if (feed == NULL) return fault_set(fault, FAULT_MEMORY, "out of memory");
    feed->folder = strndup(options->folder, PATH_MAX);
    feed->minor = options->minor;
    feed->poll_ms = options->poll_ms == 0 ? DIRFEED_POLL_MS : options->poll_ms;
    feed->store = options->store;
    feed->state = options->state;
    feed->notify_fd = folder_notify_open();
    feed->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    bool fine = feed->folder != NULL && feed->stop_fd >= 0;
    if (!fine) fault_set(fault, FAULT_IO, "nothing to follow a folder with: %s", strerror(errno));
    if (!fine || !start_thread(feed, fault)) {
        dirfeed_free(feed);
        return false;
    }
    *ret_feed = feed;
    return true;
}

void dirfeed_free(struct dirfeed *feed) {
    if (feed == NULL) return;
    if (feed->started) {
        uint64_t one = 1;
        (void)!write(feed->stop_fd, &one, sizeof one);
        pthread_join(feed->thread, NULL);
    }
    if (feed->notify_fd >= 0) close(feed->notify_fd);
    if (feed->stop_fd >= 0) close(feed->stop_fd);
    folder_files_release(&feed->files);
    applied_release(&feed->applied);
    free(feed->folder);
    free(feed);
}
