// SPDX-License-Identifier: Apache-2.0
// flock on a file that holds the pid.
#include "server/ledger/journal_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PID_BYTES 32

// Who holds the lock, as the file says; an empty text when it does not.
static void read_holder(int fd, char ret_pid[PID_BYTES]) {
    ssize_t got = pread(fd, ret_pid, PID_BYTES - 1, 0);
    ret_pid[got > 0 ? got : 0] = '\0';
    ret_pid[strspn(ret_pid, "0123456789")] = '\0';
}

static bool write_holder(int fd, struct fault *fault) {
    char pid[PID_BYTES];
    int len = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) == 0 && pwrite(fd, pid, (size_t)len, 0) == len) return true;
    return fault_set(fault, FAULT_IO, "%s cannot be written: %s", JOURNAL_LOCK_NAME, strerror(errno));
}

bool journal_lock_take(const char *folder, int *ret_fd, struct fault *fault) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", folder, JOURNAL_LOCK_NAME) >= (int)sizeof path)
        return fault_set(fault, FAULT_USAGE, "the path of the folder is too long");
    if (mkdir(folder, S_IRWXU) != 0 && errno != EEXIST)
        return fault_set(fault, FAULT_IO, "\"%s\" cannot be made: %s", folder, strerror(errno));
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
    if (fd < 0) return fault_set(fault, FAULT_IO, "\"%s\" cannot be opened: %s", path, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        char pid[PID_BYTES];
        int error = errno;
        read_holder(fd, pid);
        close(fd);
        if (error != EWOULDBLOCK)
            return fault_set(fault, FAULT_IO, "\"%s\" cannot be locked: %s", path, strerror(error));
        return fault_set(fault, FAULT_STATE,
                         "\"%s\" is in use by the process with pid %s; give each server a folder of its own",
                         folder, pid[0] == '\0' ? "unknown" : pid);
    }
    if (!write_holder(fd, fault)) {
        close(fd);
        return false;
    }
    *ret_fd = fd;
    return true;
}

void journal_lock_release(int fd) {
    if (fd >= 0) close(fd);
}
