// SPDX-License-Identifier: Apache-2.0
// Sends reviews at a steady pace, whether or not the server keeps up, and tells how long they took from the
// time at which they were due.
//
//   paced PORT FILE RATE SECONDS CONNECTIONS
//
// FILE has one review a line; they are sent in turn to https://127.0.0.1:PORT/validate. Prints one line of
// JSON. One thread: the pace is kept by a timer, and a review that is due takes the connection that has
// waited longest.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <openssl/ssl.h>

#define NANO         INT64_C(1000000000)
#define ANSWER_BYTES 65536
#define HEAD_FORM                                                                                            \
    "POST /validate?timeout=10s HTTP/1.1\r\nHost: localhost\r\nContent-Type: "                               \
    "application/json\r\nContent-Length: %zu\r\n\r\n"
#define CONNECTION_MAX 128

struct connection {
    SSL *ssl;
    int fd;
    bool busy;
    int64_t due_ns;
    int64_t sent_ns;
    size_t len;
    char answer[ANSWER_BYTES];
    struct connection *next; // idle
};

struct request {
    char *bytes;
    size_t len;
};

static struct connection connections[CONNECTION_MAX];
static struct connection *idle_first, *idle_last;
static struct request *requests;
static size_t request_count, next_request;
static int64_t *from_due, *from_sent; // nanoseconds
static size_t answered, allowed, denied, waited;

static void fail(const char *what) {
    fprintf(stderr, "paced: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NANO + now.tv_nsec;
}

static void read_requests(const char *name) {
    FILE *file = fopen(name, "r");
    char *line = NULL;
    size_t cap = 0;
    if (file == NULL) fail(name);
    for (ssize_t len; (len = getline(&line, &cap, file)) > 0;) {
        requests = realloc(requests, (request_count + 1) * sizeof *requests);
        struct request *request = &requests[request_count++];
        request->bytes = malloc(sizeof HEAD_FORM + 32 + (size_t)len);
        if (request->bytes == NULL) fail("memory");
        size_t head = (size_t)sprintf(request->bytes, HEAD_FORM, (size_t)len);
        memcpy(request->bytes + head, line, (size_t)len);
        request->len = head + (size_t)len;
    }
    free(line);
    fclose(file);
    if (request_count == 0) fail("no reviews");
}

static void put_idle(struct connection *connection) {
    connection->busy = false;
    connection->next = NULL;
    if (idle_first == NULL)
        idle_first = connection;
    else
        idle_last->next = connection;
    idle_last = connection;
}

static void open_connection(struct connection *connection, SSL_CTX *context, int port) {
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int on = 1;
    connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(connection->fd, (const struct sockaddr *)&address, sizeof address) != 0) fail("connect");
    setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    connection->ssl = SSL_new(context);
    SSL_set_fd(connection->ssl, connection->fd);
    if (SSL_connect(connection->ssl) != 1) fail("TLS");
    fcntl(connection->fd, F_SETFL, fcntl(connection->fd, F_GETFL) | O_NONBLOCK);
    put_idle(connection);
}

static void send_request(struct connection *connection, int64_t due_ns) {
    const struct request *request = &requests[next_request++ % request_count];
    connection->busy = true;
    connection->due_ns = due_ns;
    connection->sent_ns = now_ns();
    connection->len = 0;
    for (int written; (written = SSL_write(connection->ssl, request->bytes, (int)request->len)) <= 0;) {
        if (SSL_get_error(connection->ssl, written) != SSL_ERROR_WANT_WRITE) fail("write");
        struct pollfd wait = {.fd = connection->fd, .events = POLLOUT};
        poll(&wait, 1, 1000);
    }
}

// True when an answer is whole.
static bool is_whole(struct connection *connection) {
    connection->answer[connection->len] = '\0';
    const char *body = strstr(connection->answer, "\r\n\r\n");
    if (body == NULL) return false;
    const char *length = strcasestr(connection->answer, "content-length:");
    if (length == NULL || length > body) fail("an answer without a length");
    size_t wanted = strtoul(length + strlen("content-length:"), NULL, 10);
    if (connection->len < (size_t)(body + 4 - connection->answer) + wanted) return false;
    if (strstr(body, "\"allowed\":true") != NULL)
        allowed++;
    else if (denied++ == 0)
        fprintf(stderr, "paced: %.600s\n", body);
    return true;
}

static void take_answer(struct connection *connection) {
    for (;;) {
        int got = SSL_read(connection->ssl, connection->answer + connection->len,
                           (int)(ANSWER_BYTES - 1 - connection->len));
        if (got <= 0) {
            if (SSL_get_error(connection->ssl, got) != SSL_ERROR_WANT_READ)
                fail("the server ends the connection");
            return;
        }
        connection->len += (size_t)got;
        if (!is_whole(connection)) continue;
        int64_t now = now_ns();
        from_due[answered] = now - connection->due_ns;
        from_sent[answered++] = now - connection->sent_ns;
        put_idle(connection);
        return;
    }
}

static int compare(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static double micros(const int64_t *sorted, double share) {
    if (answered == 0) return 0;
    return (double)sorted[(size_t)(share * (double)(answered - 1))] / 1000;
}

// Sends what is due; counts what found no connection at its time.
static void send_due(int64_t began_ns, int64_t step_ns, size_t total, size_t *sent) {
    for (int64_t now = now_ns(); *sent < total && began_ns + (int64_t)*sent * step_ns <= now; (*sent)++) {
        struct connection *connection = idle_first;
        if (connection == NULL) return;
        idle_first = connection->next;
        int64_t due_ns = began_ns + (int64_t)*sent * step_ns;
        if (now - due_ns > NANO / 1000) waited++;
        send_request(connection, due_ns);
    }
}

static void run(int64_t step_ns, size_t total) {
    struct epoll_event events[CONNECTION_MAX];
    int epoll = epoll_create1(EPOLL_CLOEXEC),
        timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    for (size_t i = 0; i < CONNECTION_MAX && connections[i].ssl != NULL; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &connections[i]};
        epoll_ctl(epoll, EPOLL_CTL_ADD, connections[i].fd, &event);
    }
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &event);
    int64_t began_ns = now_ns() + NANO / 10;
    const struct itimerspec pace = {.it_value = {began_ns / NANO, began_ns % NANO},
                                    .it_interval = {0, step_ns}};
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &pace, NULL);
    int64_t end_ns = began_ns + (int64_t)total * step_ns + 5 * NANO;
    for (size_t sent = 0; answered < total && now_ns() < end_ns;) {
        int count = epoll_wait(epoll, events, CONNECTION_MAX, 1000);
        for (int i = 0; i < count; i++) {
            uint64_t ticks;
            struct connection *connection = events[i].data.ptr;
            if (connection != NULL)
                take_answer(connection);
            else if (read(timer, &ticks, sizeof ticks) < 0 && errno != EAGAIN)
                fail("timer");
        }
        send_due(began_ns, step_ns, total, &sent);
    }
    close(timer);
    close(epoll);
}

int main(int argc, char **argv) {
    if (argc != 6) return fprintf(stderr, "usage: paced PORT FILE RATE SECONDS CONNECTIONS\n"), 2;
    int rate = atoi(argv[3]), count = atoi(argv[5]);
    size_t total = (size_t)rate * (size_t)atoi(argv[4]);
    if (rate < 2 || count < 1 || count > CONNECTION_MAX) return 2;
    read_requests(argv[2]);
    from_due = calloc(total, sizeof *from_due);
    from_sent = calloc(total, sizeof *from_sent);
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (from_due == NULL || from_sent == NULL || context == NULL) fail("memory");
    for (int i = 0; i < count; i++) open_connection(&connections[i], context, atoi(argv[1]));
    run(NANO / rate, total);
    qsort(from_due, answered, sizeof *from_due, compare);
    qsort(from_sent, answered, sizeof *from_sent, compare);
    printf("{\"due\":%zu,\"answered\":%zu,\"allowed\":%zu,\"denied\":%zu,\"late\":%zu,\"p50\":%.0f,\"p99\":%."
           "0f,\"p999\":%.0f,"
           "\"most\":%.0f,\"sentP50\":%.0f,\"sentP99\":%.0f}\n",
           total, answered, allowed, denied, waited, micros(from_due, 0.5), micros(from_due, 0.99),
           micros(from_due, 0.999), micros(from_due, 1), micros(from_sent, 0.5), micros(from_sent, 0.99));
    return answered == total && denied == 0 ? 0 : 1;
}
