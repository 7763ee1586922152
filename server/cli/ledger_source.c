// SPDX-License-Identifier: Apache-2.0
// Three sources, one form.
#include "server/cli/ledger_source.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/ledger/journal_read.h"
#include "server/ledger/replay.h"
#include "server/operate/socket.h"
#include "validators/registry/device_judge.h"

// ---- a running server

static bool make_request(const char *output, const char *node, bool all, char **ret_request,
                         struct fault *fault) {
    json_t *request = json_pack("{s:s,s:s,s:b}", "command", "show", "output", output, "all", (int)all);
    if (request != NULL && node != NULL && json_object_set_new(request, "node", json_string(node)) != 0) {
        json_decref(request);
        return fault_set(fault, FAULT_USAGE, "the node's name is no UTF-8");
    }
    *ret_request = request == NULL ? NULL : json_dumps(request, JSON_COMPACT);
    json_decref(request);
    return *ret_request != NULL || fault_set(fault, FAULT_MEMORY, "out of memory");
}

struct live {
    FILE *out;
    size_t nodes;
    size_t divergences;
    bool rest;
};

// The bytes within {"HEAD":…}; false when the line has another head.
static bool inside(struct text line, struct text head, struct text *ret_inside) {
    if (!text_starts_with(line, head) || !text_ends_with(line, TEXT("}"))) return false;
    *ret_inside = text_slice(line, head.len, line.len - 1);
    return true;
}

static size_t count_divergences(struct text node) {
    json_t *object = json_loadb(node.ptr, node.len, 0, NULL);
    size_t count = json_array_size(json_object_get(object, "divergence"));
    json_decref(object);
    return count;
}

static bool take_json(void *context, struct text line, struct fault *fault) {
    struct live *live = context;
    struct text part;
    if (inside(line, TEXT("{\"node\":"), &part)) {
        fputs(live->nodes++ > 0 ? ",\n    " : "", live->out);
        fwrite(part.ptr, 1, part.len, live->out);
        live->divergences += count_divergences(part);
    } else if (inside(line, TEXT("{\"rest\":{"), &part)) {
        fputs("],\n ", live->out);
        fwrite(part.ptr, 1, part.len, live->out);
        live->rest = true;
    } else if (inside(line, TEXT("{\"kubernetesVersion\":"), &part)) {
        fprintf(live->out, "{\"kubernetesVersion\":%.*s,\n \"nodes\":[\n    ", TEXT_ARG(part));
    } else {
        return fault_set(fault, FAULT_STATE, "the server answers what this program does not know");
    }
    return true;
}

bool source_live_json(const char *folder, const char *node, bool all, FILE *out, size_t *ret_divergences,
                      struct fault *fault) {
    struct live live = {.out = out};
    char *request;
    if (!make_request("json", node, all, &request, fault)) return false;
    bool fine = control_call(folder, text_of(request), take_json, &live, fault);
    if (fine && !live.rest) fputs("]}", out);
    if (fine) putc('\n', out);
    free(request);
    *ret_divergences = live.divergences;
    return fine;
}

static bool take_text(void *context, struct text line, struct fault *fault) {
    json_t *object = json_loadb(line.ptr, line.len, JSON_ALLOW_NUL, NULL);
    const json_t *text = json_object_get(object, "text");
    bool fine = json_is_string(text);
    if (fine) fwrite(json_string_value(text), 1, json_string_length(text), context);
    json_decref(object);
    return fine || fault_set(fault, FAULT_STATE, "the server answers what this program does not know");
}

bool source_live_text(const char *folder, const char *node, bool all, FILE *out, struct fault *fault) {
    char *request;
    if (!make_request("text", node, all, &request, fault)) return false;
    bool fine = control_call(folder, text_of(request), take_text, out, fault);
    free(request);
    return fine;
}

// ---- a new ledger

static struct ledger *new_ledger(int minor, struct fault *fault) {
    struct ledger_options options = {.minor = minor, .judge = registry_device_judge()};
    if (getrandom(options.seed, sizeof options.seed, 0) == (ssize_t)sizeof options.seed)
        return ledger_new(&options, fault);
    fault_set(fault, FAULT_IO, "no random numbers: %s", strerror(errno));
    return NULL;
}

struct ledger *source_journal(const char *folder, struct fault *fault) {
    struct journal_reading reading;
    int minor;
    if (!journal_minor(folder, &minor, fault)) return NULL;
    struct ledger *ledger = new_ledger(minor, fault);
    if (ledger == NULL) return NULL;
    if (!journal_replay(folder, minor, ledger, &reading, fault)) {
        ledger_free(ledger);
        return NULL;
    }
    if (reading.incomplete)
        fprintf(stderr, "drawbridge ledger: rows are missing in the journal of \"%s\" (%llu gaps)\n", folder,
                (unsigned long long)reading.gaps);
    if (reading.states_different > 0)
        fprintf(
            stderr,
            "drawbridge ledger: %llu of %llu checkpoints in the journal of \"%s\" say something else than "
            "its replay\n",
            (unsigned long long)reading.states_different, (unsigned long long)reading.states, folder);
    return ledger;
}

// ---- a file

static bool map_file(const char *name, struct text *ret_bytes, struct fault *fault) {
    struct stat status;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0) {
        fault_set(fault, FAULT_IO, "\"%s\" cannot be read: %s", name, strerror(errno));
        if (fd >= 0) close(fd);
        return false;
    }
    *ret_bytes = (struct text){NULL, 0};
    bool fine = S_ISREG(status.st_mode) || fault_set(fault, FAULT_IO, "\"%s\" is not a file", name);
    if (fine && status.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        fine = bytes != MAP_FAILED ||
               fault_set(fault, FAULT_IO, "\"%s\" cannot be read: %s", name, strerror(errno));
        if (fine) *ret_bytes = (struct text){bytes, (size_t)status.st_size};
    }
    close(fd);
    return fine;
}

struct ledger *source_file(const char *name, int otherwise, struct fault *fault) {
    struct text bytes;
    if (!map_file(name, &bytes, fault)) return NULL;
    int minor = replay_minor(bytes);
    if (minor == 0) minor = otherwise;
    struct ledger *ledger = new_ledger(minor, fault);
    struct replay replay;
    replay_init(&replay, ledger, minor);
    bool fine = ledger != NULL;
    if (fine) {
        fine = replay_lines(&replay, bytes, fault);
        if (fine)
            replay_end(&replay);
        else
            fault_wrap(fault, "\"%s\"", name);
    }
    replay_release(&replay);
    if (bytes.len > 0) munmap((void *)(uintptr_t)bytes.ptr, bytes.len);
    if (fine) return ledger;
    ledger_free(ledger);
    return NULL;
}
