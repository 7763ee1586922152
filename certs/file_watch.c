// SPDX-License-Identifier: Apache-2.0
// One thread that sleeps until a folder changes or the time to compare has come.
#include "certs/file_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "validators/core/banned.h"

#define WATCHED_EVENTS                                                                                       \
    (IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_CLOSE_WRITE | IN_DELETE | IN_ATTRIB | IN_DELETE_SELF |     \
     IN_MOVE_SELF)
#define SETTLE_ROUNDS 20

struct digest {
    unsigned char bytes[EVP_MAX_MD_SIZE];
};

struct file_watch {
    char *paths[FILE_WATCH_PATHS_LIMIT];
    char *folders[FILE_WATCH_PATHS_LIMIT];
    size_t path_count;
    size_t limit_bytes;
    int64_t poll_ms;
    void (*changed)(void *context);
    void (*tick)(void *context);
    void *context;
    struct digest seen;
    int notify_fd; // -1: none to be had
    int stop_fd;
    bool started;
    pthread_t thread;
};

// Adds the file's contents, or the reason why there are none, to the digest.
static void digest_file(EVP_MD_CTX *digest, const char *path, size_t limit_bytes) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    int error = fd < 0 ? errno : 0;
    if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))) error = EINVAL;
    char block[16384];
    size_t total = 0;
    while (error == 0 && total <= limit_bytes) {
        ssize_t got = read(fd, block, sizeof block);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) error = errno;
        if (got <= 0) break;
        EVP_DigestUpdate(digest, block, (size_t)got);
        total += (size_t)got;
    }
    EVP_DigestUpdate(digest, &total, sizeof total); // parts the files from each other
    EVP_DigestUpdate(digest, &error, sizeof error);
    OPENSSL_cleanse(block, sizeof block);
    if (fd >= 0) close(fd);
}

// Errors: where a digest cannot be made it is all zero, which counts as a change, and as one more afterwards.
static struct digest digest_files(const struct file_watch *watch) {
    struct digest result = {{0}};
    EVP_MD_CTX *digest = EVP_MD_CTX_new();
    if (digest != NULL && EVP_DigestInit_ex(digest, EVP_sha256(), NULL) == 1) {
        for (size_t i = 0; i < watch->path_count; i++)
            digest_file(digest, watch->paths[i], watch->limit_bytes);
        EVP_DigestFinal_ex(digest, result.bytes, NULL);
    }
    EVP_MD_CTX_free(digest);
    return result;
}

static bool digest_equal(const struct digest *a, const struct digest *b) {
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

// A folder that was removed and made anew has lost its watch; adding it again is harmless where it has not.
static void watch_folders(const struct file_watch *watch) {
    if (watch->notify_fd < 0) return;
    for (size_t i = 0; i < watch->path_count; i++)
        (void)!inotify_add_watch(watch->notify_fd, watch->folders[i], WATCHED_EVENTS);
}

static void drain(int fd) {
    char events[4096] __attribute__((aligned(8)));
    while (read(fd, events, sizeof events) > 0) {
    }
}

// Sleeps. True when the watch is to end.
static bool pause_ms(const struct file_watch *watch, int64_t milliseconds, bool until_notified) {
    struct pollfd fds[2] = {{.fd = watch->stop_fd, .events = POLLIN},
                            {.fd = watch->notify_fd, .events = POLLIN}};
    nfds_t count = until_notified && watch->notify_fd >= 0 ? 2 : 1;
    if (poll(fds, count, (int)milliseconds) < 0) return false;
    return (fds[0].revents & POLLIN) != 0;
}

// Compares, and tells when the contents have changed and have stopped changing.
static bool compare(struct file_watch *watch) {
    struct digest now = digest_files(watch);
    if (digest_equal(&now, &watch->seen)) return false;
    for (int i = 0; i < SETTLE_ROUNDS; i++) {
        if (pause_ms(watch, FILE_WATCH_SETTLE_MS, false)) return true;
        struct digest again = digest_files(watch);
        bool settled = digest_equal(&again, &now);
        now = again;
        if (settled) break;
    }
    watch->seen = now; // before the call: what changes while it reads is noticed next time
    watch->changed(watch->context);
    return false;
}

static void *run(void *argument) {
    struct file_watch *watch = argument;
    for (;;) {
        // The second pause gathers what one writer does into one look, however busy the folder is.
        if (pause_ms(watch, watch->poll_ms, true) || pause_ms(watch, FILE_WATCH_SETTLE_MS, false))
            return NULL;
        if (watch->notify_fd >= 0) drain(watch->notify_fd);
        watch_folders(watch);
        if (compare(watch)) return NULL;
        if (watch->tick != NULL) watch->tick(watch->context);
    }
}

static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    if (slash == NULL) return strndup(".", 1);
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

static bool start_thread(struct file_watch *watch, struct fault *fault) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&watch->thread, NULL, run, watch);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) return fault_set(fault, FAULT_IO, "a thread to follow files: %s", strerror(error));
    watch->started = true;
    return true;
}

bool file_watch_new(const struct file_watch_request *request, struct file_watch **ret_watch,
                    struct fault *fault) {
    if (request->path_count == 0 || request->path_count > FILE_WATCH_PATHS_LIMIT)
        return fault_set(fault, FAULT_USAGE, "%zu files to follow; from 1 to %d are allowed",
                         request->path_count, FILE_WATCH_PATHS_LIMIT);
    struct file_watch *watch = calloc(1, sizeof *watch);
    if (watch == NULL) return fault_set(fault, FAULT_MEMORY, "out of memory");
    watch->limit_bytes = request->limit_bytes;
    watch->poll_ms = request->poll_ms == 0 ? FILE_WATCH_POLL_MS : request->poll_ms;
    watch->changed = request->changed;
    watch->tick = request->tick;
    watch->context = request->context;
    watch->notify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    watch->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    bool fine = watch->stop_fd >= 0;
    if (!fine) fault_set(fault, FAULT_IO, "an event to follow files: %s", strerror(errno));
    for (size_t i = 0; fine && i < request->path_count; i++) {
        watch->path_count++;
        watch->paths[i] = strndup(request->paths[i], strlen(request->paths[i]));
        watch->folders[i] = folder_of(request->paths[i]);
        fine = watch->paths[i] != NULL && watch->folders[i] != NULL;
        if (!fine) fault_set(fault, FAULT_MEMORY, "out of memory");
    }
    if (fine) {
        // In this order: a change between the reading and the first call shows as a difference later.
        watch_folders(watch);
        watch->seen = digest_files(watch);
        watch->changed(watch->context);
        fine = start_thread(watch, fault);
    }
    if (!fine) {
        file_watch_free(watch);
        return false;
    }
    *ret_watch = watch;
    return true;
}

void file_watch_free(struct file_watch *watch) {
    if (watch == NULL) return;
    if (watch->started) {
        uint64_t one = 1;
        (void)!write(watch->stop_fd, &one, sizeof one);
        pthread_join(watch->thread, NULL);
    }
    if (watch->notify_fd >= 0) close(watch->notify_fd);
    if (watch->stop_fd >= 0) close(watch->stop_fd);
    for (size_t i = 0; i < watch->path_count; i++) {
        free(watch->paths[i]);
        free(watch->folders[i]);
    }
    free(watch);
}
