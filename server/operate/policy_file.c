// SPDX-License-Identifier: Apache-2.0
// Written beside its place under a hidden name, which the feed passes over, then moved there.
#include "server/operate/policy_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/feed/folder.h"
#include "server/operate/policy_text.h"

#define LOCK_WAIT_MS 5000
#define LOCK_STEP_MS 20

// The folder is locked, so that of two people neither loses what the other did.
static bool lock_folder(const char *folder, int *ret_fd, struct fault *fault) {
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return fault_set(fault, FAULT_IO, "%.120s: %s", folder, strerror(errno));
    for (int waited_ms = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; waited_ms += LOCK_STEP_MS) {
        if (errno != EWOULDBLOCK || waited_ms >= LOCK_WAIT_MS) {
            close(fd);
            return fault_set(fault, FAULT_STATE, "%.120s: somebody else is changing the policy", folder);
        }
        usleep(LOCK_STEP_MS * 1000);
    }
    *ret_fd = fd;
    return true;
}

static bool write_all(int fd, const char *bytes, size_t len) {
    while (len > 0) {
        ssize_t written = write(fd, bytes, len);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        bytes += written;
        len -= (size_t)written;
    }
    return true;
}

// A link is followed: the file behind it is replaced, the link stays.
static bool replace_file(const char *folder, const char *name, struct text bytes, struct fault *fault) {
    char path[PATH_MAX], real[PATH_MAX], beside[PATH_MAX];
    struct stat status = {.st_mode = 0644};
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return fault_set(fault, FAULT_IO, "%.120s: the path is too long", folder);
    if (stat(path, &status) == 0 && realpath(path, real) == NULL)
        return fault_set(fault, FAULT_IO, "%.120s: %s", path, strerror(errno));
    if (access(path, F_OK) != 0) snprintf(real, sizeof real, "%s", path);
    const char *slash = strrchr(real, '/');
    if (snprintf(beside, sizeof beside, "%.*s/.%s.new", (int)(slash - real), real, slash + 1) >=
        (int)sizeof beside)
        return fault_set(fault, FAULT_IO, "%.120s: the path is too long", real);
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, status.st_mode & 0777);
    if (fd < 0) return fault_set(fault, FAULT_IO, "%.120s: %s", beside, strerror(errno));
    bool fine =
        fchmod(fd, status.st_mode & 0777) == 0 && write_all(fd, bytes.ptr, bytes.len) && fsync(fd) == 0;
    fine = close(fd) == 0 && fine;
    if (fine && rename(beside, real) == 0) return true;
    fault_set(fault, FAULT_IO, "%.120s: %s", real, strerror(errno));
    (void)unlink(beside);
    return false;
}

// A file that holds the policy, or none.
struct holder {
    char name[NAME_MAX + 1]; // "": none
    char *bytes;
    size_t len;
    json_t *policy;
};

static void holder_release(struct holder *holder) {
    free(holder->bytes);
    json_decref(holder->policy);
}

static bool look_into(const char *folder, const char *name, struct holder *holder, struct fault *fault) {
    unsigned char digest[FOLDER_DIGEST_BYTES];
    char *bytes;
    size_t len;
    json_t *policy = NULL;
    if (!folder_read(folder, name, &bytes, &len, digest, fault)) return false;
    struct text text = {bytes, len};
    // Files without the word are not even parsed: they may be half written, and are none of our business.
    bool named = memmem(bytes, len, "LedgerPolicy", sizeof "LedgerPolicy" - 1) != NULL;
    bool fine = !named || policy_text_find(name, text, &policy, fault);
    if (fine && policy != NULL && holder->policy != NULL)
        fine = fault_set(fault, FAULT_STATE, "the LedgerPolicy default is in two files, %.80s and %.80s",
                         holder->name, name);
    if (!fine || policy == NULL) {
        free(bytes);
        json_decref(policy);
        return fine;
    }
    snprintf(holder->name, sizeof holder->name, "%s", name);
    holder->bytes = bytes;
    holder->len = len;
    holder->policy = policy;
    return true;
}

static bool find_holder(const char *folder, struct holder *ret_holder, struct fault *fault) {
    struct folder_files files;
    struct holder holder = {.bytes = NULL};
    bool fine = true, taken = false;
    if (!folder_look(folder, &files, fault)) return false;
    for (size_t i = 0; i < files.count && fine; i++) {
        taken = taken || strcmp(files.items[i].name, POLICY_FILE_NEW) == 0;
        fine = look_into(folder, files.items[i].name, &holder, fault);
    }
    folder_files_release(&files);
    if (fine && holder.policy == NULL && taken)
        fine = fault_set(fault, FAULT_STATE,
                         "%.100s/" POLICY_FILE_NEW " is there but holds no LedgerPolicy "
                         "default; add one or take the file away",
                         folder);
    if (!fine) {
        holder_release(&holder);
        return false;
    }
    *ret_holder = holder;
    return true;
}

static bool write_policy(const char *folder, const struct holder *holder, const struct policy_edit *edit,
                         struct fault *fault) {
    char *bytes;
    size_t len;
    bool is_new = holder->policy == NULL;
    bool fine = is_new ? policy_text_new(edit, &bytes, &len, fault)
                       : policy_text_edit(holder->name, (struct text){holder->bytes, holder->len}, edit,
                                          &bytes, &len, fault);
    if (!fine) return false;
    fine = replace_file(folder, is_new ? POLICY_FILE_NEW : holder->name, (struct text){bytes, len}, fault);
    free(bytes);
    return fine;
}

static bool change_locked(const char *folder, const struct policy_change *change,
                          struct policy_edit *ret_edit, char ret_file[NAME_MAX + 1], struct fault *fault) {
    struct holder holder;
    struct policy_edit edit;
    if (!find_holder(folder, &holder, fault)) return false;
    bool fine = policy_edit_make(holder.policy, change, &edit, fault);
    if (fine && !write_policy(folder, &holder, &edit, fault)) {
        policy_edit_release(&edit);
        fine = false;
    }
    if (fine) {
        *ret_edit = edit;
        snprintf(ret_file, NAME_MAX + 1, "%s", holder.policy == NULL ? POLICY_FILE_NEW : holder.name);
    }
    holder_release(&holder);
    return fine;
}

bool policy_file_change(const char *folder, const struct policy_change *change, struct policy_edit *ret_edit,
                        char ret_file[NAME_MAX + 1], struct fault *fault) {
    int fd = -1;
    if (!lock_folder(folder, &fd, fault)) return false;
    bool fine = change_locked(folder, change, ret_edit, ret_file, fault);
    close(fd);
    return fine;
}
