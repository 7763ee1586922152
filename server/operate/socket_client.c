// SPDX-License-Identifier: Apache-2.0
// The client's side of the control socket.
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/operate/socket.h"
#include "server/operate/socket_address.h"

#define FIRST_ROOM_BYTES ((size_t)64 << 10)
#define LINE_LIMIT_BYTES ((size_t)256 << 20)
#define CONNECT_S        10
#define GRACE_MS         5000 // beyond what the server takes at most

// What came and is not handed out yet.
struct incoming {
    char *ptr;
    size_t len;
    size_t room;
    size_t seen; // bytes that hold no line end
};

static bool reach(const char *folder, int *ret_fd, struct fault *fault) {
    struct sockaddr_un address;
    int folder_fd;
    if (!socket_address(folder, &address, &folder_fd, fault)) {
        fault->code = FAULT_UNREACHABLE;
        return false;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    // A server that is busy with another client lets a few more wait.
    const struct timeval wait = {.tv_sec = CONNECT_S};
    if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    bool reached = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    int error = errno;
    close(folder_fd);
    if (reached) {
        *ret_fd = fd;
        return true;
    }
    if (fd >= 0) close(fd);
    return fault_set(fault, FAULT_UNREACHABLE, "no server answers at \"%s/%s\": %s", folder,
                     CONTROL_SOCKET_NAME, strerror(error));
}

static bool send_request(int fd, struct text request, struct fault *fault) {
    char line[CONTROL_REQUEST_BYTES];
    if (request.len + 1 > sizeof line) return fault_set(fault, FAULT_USAGE, "the request is too long");
    memcpy(line, request.ptr, request.len);
    line[request.len] = '\n';
    if (send(fd, line, request.len + 1, MSG_NOSIGNAL) == (ssize_t)request.len + 1) return true;
    return fault_set(fault, FAULT_UNREACHABLE, "the server does not take the request: %s", strerror(errno));
}

static bool make_room(struct incoming *in, struct fault *fault) {
    if (in->len < in->room) return true;
    size_t room = in->room == 0 ? FIRST_ROOM_BYTES : in->room * 2;
    char *grown = room > LINE_LIMIT_BYTES ? NULL : realloc(in->ptr, room);
    if (grown == NULL) return fault_set(fault, FAULT_MEMORY, "a line of the answer is too long");
    in->ptr = grown;
    in->room = room;
    return true;
}

// The next line of the answer. Errors: false when the answer ends before it.
static bool next_line(int fd, struct incoming *in, int64_t deadline_ms, struct text *ret_line,
                      struct fault *fault) {
    for (;;) {
        char *end = in->len > in->seen ? memchr(in->ptr + in->seen, '\n', in->len - in->seen) : NULL;
        if (end != NULL) {
            *ret_line = (struct text){in->ptr, (size_t)(end - in->ptr)};
            return true;
        }
        in->seen = in->len;
        if (!make_room(in, fault)) return false;
        if (!socket_wait(fd, POLLIN, deadline_ms))
            return fault_set(fault, FAULT_UNREACHABLE, "the server does not answer in time");
        ssize_t got = recv(fd, in->ptr + in->len, in->room - in->len, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return fault_set(fault, FAULT_UNREACHABLE, "the server ended before its answer did");
        in->len += (size_t)got;
    }
}

static void drop_line(struct incoming *in, size_t len) {
    memmove(in->ptr, in->ptr + len + 1, in->len - len - 1);
    in->len -= len + 1;
    in->seen = 0;
}

static bool say_error(struct text line, struct fault *fault) {
    json_t *answer = json_loadb(line.ptr, line.len, 0, NULL);
    const char *text = json_string_value(json_object_get(answer, "error"));
    fault_set(fault, FAULT_STATE, "%s", text == NULL ? "the server's answer cannot be read" : text);
    json_decref(answer);
    return false;
}

static bool take_answer(int fd, bool (*receive)(void *context, struct text line, struct fault *fault),
                        void *context, struct fault *fault) {
    struct incoming in = {.ptr = NULL};
    int64_t deadline_ms = socket_now_ms() + CONTROL_REQUEST_MS + CONTROL_ANSWER_MS + GRACE_MS;
    struct text line;
    bool fine = true, ended = false;
    while (fine && !ended) {
        fine = next_line(fd, &in, deadline_ms, &line, fault);
        if (!fine) break;
        ended = text_equal(line, TEXT("{\"end\":true}"));
        if (text_starts_with(line, TEXT("{\"error\":")))
            fine = say_error(line, fault);
        else if (!ended)
            fine = receive(context, line, fault);
        drop_line(&in, line.len);
    }
    free(in.ptr);
    return fine;
}

bool control_call(const char *folder, struct text request,
                  bool (*receive)(void *context, struct text line, struct fault *fault), void *context,
                  struct fault *fault) {
    int fd = -1;
    if (!reach(folder, &fd, fault)) return false;
    bool fine = send_request(fd, request, fault) && take_answer(fd, receive, context, fault);
    close(fd);
    return fine;
}
