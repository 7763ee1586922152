// SPDX-License-Identifier: Apache-2.0
// The control socket: requests and answers, bounds on both, clients that are late or go away, names left
// over.
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/operate/socket.h"
#include "server/operate/socket_address.h"
#include "unit/lib/temp_folder.h"

#define MANY_LINES 20000

static bool echo(void *context, const json_t *request, struct control_answer *answer, struct fault *fault) {
    (void)context;
    const char *word = json_string_value(json_object_get(request, "word"));
    if (word == NULL) return fault_set(fault, FAULT_INPUT, "no \"word\"");
    return control_line(answer, text_of(word));
}

static bool many(void *context, const json_t *request, struct control_answer *answer, struct fault *fault) {
    (void)context;
    (void)request;
    (void)fault;
    for (int i = 0; i < MANY_LINES; i++)
        if (!control_line(answer, TEXT("{\"line\":\"0123456789012345678901234567890123456789\"}")))
            return false;
    return true;
}

static bool fail(void *context, const json_t *request, struct control_answer *answer, struct fault *fault) {
    (void)context;
    (void)request;
    (void)answer;
    (void)fault;
    return false;
}

// Goes on for ever, until the client's time is over or the end comes.
static bool endless(void *context, const json_t *request, struct control_answer *answer,
                    struct fault *fault) {
    (void)request;
    (void)fault;
    *(_Atomic bool *)context = true;
    while (control_line(answer, TEXT("{}"))) usleep(1000);
    return false;
}

static const struct control_command commands[] = {
    {"echo", echo}, {"many", many}, {"fail", fail}, {"endless", endless}};

static _Atomic bool endless_began;

static struct control_socket *open_socket(const char *folder) {
    const struct control_options options = {.folder = folder,
                                            .commands = commands,
                                            .command_count = sizeof commands / sizeof commands[0],
                                            .context = &endless_began,
                                            .request_ms = 300,
                                            .stall_ms = 300,
                                            .answer_ms = 3000};
    struct control_socket *control = NULL;
    struct fault fault;
    cr_assert(control_socket_new(&options, &control, &fault), "%s", fault.text);
    return control;
}

struct lines {
    size_t count;
    char last[128];
};

static bool keep(void *context, struct text line, struct fault *fault) {
    struct lines *lines = context;
    (void)fault;
    lines->count++;
    snprintf(lines->last, sizeof lines->last, "%.*s", TEXT_ARG(line));
    return true;
}

static enum fault_code call(const char *folder, struct text request, struct lines *ret_lines,
                            char ret_why[256]) {
    struct fault fault = {0};
    *ret_lines = (struct lines){0};
    ret_why[0] = '\0';
    if (control_call(folder, request, keep, ret_lines, &fault)) return FAULT_NONE;
    snprintf(ret_why, 256, "%s", fault.text);
    return fault.code;
}

Test(socket, requests_and_answers) {
    struct temp_folder folder = temp_folder_new();
    struct control_socket *control = open_socket(folder.path);
    struct lines lines;
    char why[256];
    struct stat status;
    cr_assert_eq(stat(temp_path(&folder, CONTROL_SOCKET_NAME), &status), 0);
    cr_expect_eq(status.st_mode & 0777, 0600);
    cr_expect_eq(call(folder.path, TEXT("{\"command\":\"echo\",\"word\":\"hello\"}"), &lines, why),
                 FAULT_NONE);
    cr_expect_eq(lines.count, 1);
    cr_expect_str_eq(lines.last, "hello");
    cr_expect_eq(call(folder.path, TEXT("{\"command\":\"many\"}"), &lines, why), FAULT_NONE, "%s", why);
    cr_expect_eq(lines.count, MANY_LINES);
    control_socket_free(control);
    cr_expect_neq(stat(temp_path(&folder, CONTROL_SOCKET_NAME), &status), 0, "the name is gone");
    cr_expect_eq(call(folder.path, TEXT("{\"command\":\"echo\"}"), &lines, why), FAULT_UNREACHABLE);
    temp_folder_remove(&folder);
}

Test(socket, bad_requests_are_told_why) {
    static const struct {
        const char *request;
        const char *words;
    } cases[] = {
        {"{\"command\":\"echo\"}", "no \"word\""},
        {"{\"command\":\"fail\"}", "the command failed"},
        {"{\"command\":\"what\"}", "knows no command \"what\""},
        {"{\"command\":7}", "with a \"command\""},
        {"[]", "with a \"command\""},
        {"", "no JSON"},
        {"{\"command\":\"echo\",\"command\":\"many\"}", "no JSON"},
        {"{\"command\":\"echo\",\"word\":\"\xff\"}", "no JSON"},
    };
    struct temp_folder folder = temp_folder_new();
    struct control_socket *control = open_socket(folder.path);
    struct lines lines;
    char why[256];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_expect_eq(call(folder.path, text_of(cases[i].request), &lines, why), FAULT_STATE, "%s",
                     cases[i].request);
        cr_expect(strstr(why, cases[i].words) != NULL, "%s: %s", cases[i].request, why);
    }
    control_socket_free(control);
    temp_folder_remove(&folder);
}

static int reach(const char *folder) {
    struct sockaddr_un address;
    int folder_fd;
    struct fault fault;
    cr_assert(socket_address(folder, &address, &folder_fd, &fault));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_eq(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(folder_fd);
    return fd;
}

// What the server says to one who sends just these bytes, up to its end.
static void raw_call(const char *folder, const char *bytes, size_t len, char answer[512]) {
    int fd = reach(folder);
    size_t got = 0;
    cr_assert_eq(send(fd, bytes, len, MSG_NOSIGNAL), (ssize_t)len);
    for (ssize_t more = 1; more > 0 && got<511; got += more> 0 ? (size_t)more : 0)
        more = recv(fd, answer + got, 511 - got, 0);
    answer[got] = '\0';
    close(fd);
}

Test(socket, late_and_long_requests, .timeout = 20) {
    struct temp_folder folder = temp_folder_new();
    struct control_socket *control = open_socket(folder.path);
    char answer[512];
    static char flood[CONTROL_REQUEST_BYTES];
    memset(flood, ' ', sizeof flood);
    int64_t begin_ms = socket_now_ms();
    raw_call(folder.path, "{\"command\":", 11, answer);
    cr_expect(strstr(answer, "no request came in time") != NULL, "%s", answer);
    cr_expect_lt(socket_now_ms() - begin_ms, 3000);
    raw_call(folder.path, flood, sizeof flood, answer);
    cr_expect(strstr(answer, "at most 4096 bytes") != NULL, "%s", answer);
    control_socket_free(control);
    temp_folder_remove(&folder);
}

// One who does not read holds the next one for no longer than the stall.
Test(socket, a_client_that_does_not_read_is_cut, .timeout = 20) {
    struct temp_folder folder = temp_folder_new();
    struct control_socket *control = open_socket(folder.path);
    struct lines lines;
    char why[256];
    int stuck = reach(folder.path);
    const char request[] = "{\"command\":\"many\"}\n";
    cr_assert_gt(send(stuck, request, sizeof request - 1, MSG_NOSIGNAL), 0);
    int64_t begin_ms = socket_now_ms();
    cr_expect_eq(call(folder.path, TEXT("{\"command\":\"echo\",\"word\":\"a\"}"), &lines, why), FAULT_NONE,
                 "%s", why);
    cr_expect_lt(socket_now_ms() - begin_ms, 2500);
    close(stuck);
    int gone = reach(folder.path);
    cr_assert_gt(send(gone, request, sizeof request - 1, MSG_NOSIGNAL), 0);
    close(gone);
    cr_expect_eq(call(folder.path, TEXT("{\"command\":\"echo\",\"word\":\"b\"}"), &lines, why), FAULT_NONE,
                 "%s", why);
    control_socket_free(control);
    temp_folder_remove(&folder);
}

Test(socket, the_end_comes_in_the_middle_of_an_answer, .timeout = 20) {
    struct temp_folder folder = temp_folder_new();
    struct control_socket *control = open_socket(folder.path);
    int fd = reach(folder.path);
    const char request[] = "{\"command\":\"endless\"}\n";
    endless_began = false;
    cr_assert_gt(send(fd, request, sizeof request - 1, MSG_NOSIGNAL), 0);
    while (!endless_began) usleep(1000);
    int64_t begin_ms = socket_now_ms();
    control_socket_free(control);
    cr_expect_lt(socket_now_ms() - begin_ms, 1000);
    close(fd);
    temp_folder_remove(&folder);
}

Test(socket, an_answer_has_an_end, .timeout = 20) {
    struct temp_folder folder = temp_folder_new();
    struct control_socket *control = open_socket(folder.path);
    struct lines lines;
    char why[256];
    int64_t begin_ms = socket_now_ms();
    cr_expect_eq(call(folder.path, TEXT("{\"command\":\"endless\"}"), &lines, why), FAULT_UNREACHABLE);
    cr_expect(strstr(why, "ended before its answer") != NULL, "%s", why);
    cr_expect_lt(socket_now_ms() - begin_ms, 6000);
    control_socket_free(control);
    temp_folder_remove(&folder);
}

Test(socket, names_left_over_and_long_folders) {
    struct temp_folder folder = temp_folder_new();
    char deep[512];
    snprintf(deep, sizeof deep, "%s/%0120d", folder.path, 1);
    cr_assert_eq(mkdir(deep, 0700), 0);
    struct lines lines;
    char why[256];
    // A server that was killed leaves the name behind.
    char path[700];
    snprintf(path, sizeof path, "%s/%s", deep, CONTROL_SOCKET_NAME);
    temp_write(path, TEXT("x"));
    struct control_socket *control = open_socket(deep);
    cr_expect_eq(call(deep, TEXT("{\"command\":\"echo\",\"word\":\"deep\"}"), &lines, why), FAULT_NONE, "%s",
                 why);
    cr_expect_str_eq(lines.last, "deep");
    control_socket_free(control);
    const struct control_options options = {.folder = temp_path(&folder, "none")};
    struct fault fault;
    cr_expect_not(control_socket_new(&options, &control, &fault));
    cr_expect_eq(fault.code, FAULT_IO);
    cr_expect_eq(call(temp_path(&folder, "none"), TEXT("{}"), &lines, why), FAULT_UNREACHABLE);
    temp_folder_remove(&folder);
}
