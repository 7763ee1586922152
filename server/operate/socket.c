// SPDX-License-Identifier: Apache-2.0
// The server's side of the control socket.
#include "server/operate/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/log.h"
#include "server/operate/socket_address.h"

#define BACKLOG 8

struct control_socket {
    struct control_options options;
    int listen_fd;
    int end_fd; // readable once the end has come
    pthread_t thread;
    bool started;
    _Atomic bool ending;
    char folder[PATH_MAX];
};

struct control_answer {
    struct control_socket *socket;
    int fd;
    int64_t deadline_ms;
    bool lost; // the client is gone or late
};

static bool send_all(struct control_answer *answer, const char *bytes, size_t len) {
    while (len > 0 && !answer->lost) {
        ssize_t sent = send(answer->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) {
            bytes += sent;
            len -= (size_t)sent;
            continue;
        }
        if (sent < 0 && errno == EINTR) continue;
        int64_t stall_ms = socket_now_ms() + answer->socket->options.stall_ms;
        if (stall_ms > answer->deadline_ms) stall_ms = answer->deadline_ms;
        bool full = sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
        if (!full || !socket_wait(answer->fd, POLLOUT, stall_ms)) answer->lost = true;
    }
    return !answer->lost;
}

bool control_line(struct control_answer *answer, struct text line) {
    if (atomic_load(&answer->socket->ending) || socket_now_ms() >= answer->deadline_ms) answer->lost = true;
    return send_all(answer, line.ptr, line.len) && send_all(answer, "\n", 1);
}

static void send_error(struct control_answer *answer, const char *text) {
    json_t *error = json_pack("{s:s}", "error", text);
    char *line = error == NULL ? NULL : json_dumps(error, JSON_COMPACT);
    if (!control_line(answer, line == NULL ? TEXT("{\"error\":\"out of memory\"}") : text_of(line)))
        log_info(1, "control", "A client of the control socket went away");
    free(line);
    json_decref(error);
}

// The request's line, without its end. Errors: false and the fault.
static bool read_request(struct control_answer *answer, char *buffer, size_t *ret_len, struct fault *fault) {
    int64_t deadline_ms = socket_now_ms() + answer->socket->options.request_ms;
    size_t len = 0;
    for (;;) {
        if (!socket_wait(answer->fd, POLLIN, deadline_ms))
            return fault_set(fault, FAULT_LIMIT, "no request came in time");
        ssize_t got = recv(answer->fd, buffer + len, CONTROL_REQUEST_BYTES - len, MSG_DONTWAIT);
        if (got == 0) return fault_set(fault, FAULT_INPUT, "the request is cut short");
        if (got < 0 && errno != EAGAIN && errno != EINTR)
            return fault_set(fault, FAULT_IO, "%s", strerror(errno));
        if (got < 0) continue;
        char *end = memchr(buffer + len, '\n', (size_t)got);
        len += (size_t)got;
        if (end != NULL) {
            *ret_len = (size_t)(end - buffer);
            return true;
        }
        if (len == CONTROL_REQUEST_BYTES)
            return fault_set(fault, FAULT_LIMIT, "a request has at most %u bytes", CONTROL_REQUEST_BYTES);
    }
}

static bool run_command(struct control_answer *answer, const json_t *request, struct fault *fault) {
    const struct control_options *options = &answer->socket->options;
    const char *name = json_string_value(json_object_get(request, "command"));
    if (name == NULL) return fault_set(fault, FAULT_INPUT, "a request is an object with a \"command\"");
    for (size_t i = 0; i < options->command_count; i++)
        if (strcmp(options->commands[i].name, name) == 0)
            return options->commands[i].run(options->context, request, answer, fault);
    return fault_set(fault, FAULT_INPUT, "this server knows no command \"%.64s\"", name);
}

static void serve_client(struct control_socket *socket, int fd) {
    struct control_answer answer = {
        .socket = socket, .fd = fd, .deadline_ms = socket_now_ms() + socket->options.answer_ms};
    struct fault fault = {0};
    char buffer[CONTROL_REQUEST_BYTES];
    size_t len = 0;
    json_error_t wrong;
    json_t *request = NULL;
    bool fine = read_request(&answer, buffer, &len, &fault);
    if (fine) {
        request = json_loadb(buffer, len, JSON_REJECT_DUPLICATES, &wrong);
        fine =
            request != NULL || fault_set(&fault, FAULT_INPUT, "the request is no JSON: %.150s", wrong.text);
    }
    if (fine) fine = run_command(&answer, request, &fault);
    json_decref(request);
    if (answer.lost) {
        log_info(1, "control", "A client of the control socket was late or went away");
    } else if (!fine) {
        send_error(&answer, fault.code == FAULT_NONE ? "the command failed" : fault.text);
    } else if (!control_line(&answer, TEXT("{\"end\":true}"))) {
        log_info(1, "control", "A client of the control socket went away");
    }
}

static void *run(void *context) {
    struct control_socket *socket = context;
    while (!atomic_load(&socket->ending)) {
        struct pollfd wanted[] = {{.fd = socket->listen_fd, .events = POLLIN},
                                  {.fd = socket->end_fd, .events = POLLIN}};
        if (poll(wanted, 2, -1) < 0 && errno != EINTR) break;
        if (wanted[1].revents != 0) break;
        if (wanted[0].revents == 0) continue;
        int fd = accept4(socket->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) continue;
        serve_client(socket, fd);
        close(fd);
    }
    return NULL;
}

static bool listen_there(struct control_socket *control, struct fault *fault) {
    struct sockaddr_un address;
    int folder_fd;
    if (!socket_address(control->folder, &address, &folder_fd, fault)) return false;
    unlink(address.sun_path);
    control->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    // The mode is set before the name is there, so that nobody else ever finds it open.
    bool fine = control->listen_fd >= 0 && fchmod(control->listen_fd, S_IRUSR | S_IWUSR) == 0 &&
                bind(control->listen_fd, (struct sockaddr *)&address, sizeof address) == 0 &&
                listen(control->listen_fd, BACKLOG) == 0;
    if (!fine)
        fault_set(fault, FAULT_IO, "\"%s/%s\" cannot be listened on: %s", control->folder,
                  CONTROL_SOCKET_NAME, strerror(errno));
    close(folder_fd);
    return fine;
}

static bool start(struct control_socket *control, struct fault *fault) {
    if (!listen_there(control, fault)) return false;
    control->end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (control->end_fd < 0) return fault_set(fault, FAULT_IO, "%s", strerror(errno));
    int error = pthread_create(&control->thread, NULL, run, control);
    if (error != 0)
        return fault_set(fault, FAULT_IO, "no thread for the control socket: %s", strerror(error));
    control->started = true;
    return true;
}

bool control_socket_new(const struct control_options *options, struct control_socket **ret_socket,
                        struct fault *fault) {
    struct control_socket *control = calloc(1, sizeof *control);
    if (control == NULL) return fault_set(fault, FAULT_MEMORY, "no memory for the control socket");
    control->options = *options;
    control->listen_fd = control->end_fd = -1;
    if (control->options.request_ms == 0) control->options.request_ms = CONTROL_REQUEST_MS;
    if (control->options.stall_ms == 0) control->options.stall_ms = CONTROL_STALL_MS;
    if (control->options.answer_ms == 0) control->options.answer_ms = CONTROL_ANSWER_MS;
    bool fits = snprintf(control->folder, sizeof control->folder, "%s", options->folder) < PATH_MAX;
    if (!fits) fault_set(fault, FAULT_USAGE, "the path of the folder is too long");
    if (!fits || !start(control, fault)) {
        control_socket_free(control);
        return false;
    }
    *ret_socket = control;
    return true;
}

static void remove_name(const struct control_socket *control) {
    struct sockaddr_un address;
    int folder_fd;
    struct fault ignored;
    if (control->listen_fd < 0 || !socket_address(control->folder, &address, &folder_fd, &ignored)) return;
    unlink(address.sun_path);
    close(folder_fd);
}

void control_socket_free(struct control_socket *control) {
    if (control == NULL) return;
    atomic_store(&control->ending, true);
    if (control->started) {
        eventfd_write(control->end_fd, 1);
        pthread_join(control->thread, NULL);
    }
    remove_name(control);
    if (control->listen_fd >= 0) close(control->listen_fd);
    if (control->end_fd >= 0) close(control->end_fd);
    free(control);
}
