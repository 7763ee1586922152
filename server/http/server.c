// SPDX-License-Identifier: Apache-2.0
// Starting, draining and ending the two daemons.
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "server/http/server_internal.h"
#include "server/log.h"

#define STATUS_CONNECTIONS  64u
#define STATUS_MEMORY_BYTES ((size_t)16 * 1024)
#define FILES_FOR_OURSELVES 48u // files, ports, threads' own descriptors, the status port
#define FILES_WANTED        4096u
#define DRAIN_POLL_MS       20

#define THREADS_LIMIT 256u

// MHD's own lines: they tell of callers that go away, so they are wanted only when somebody looks.
__attribute__((format(printf, 2, 0))) static void log_mhd(void *cls, const char *format, va_list args) {
    (void)cls;
    if (!log_wants(3)) return;
    char line[512];
    int len = vsnprintf(line, sizeof line, format, args);
    if (len < 0) return;
    if ((size_t)len >= sizeof line) len = (int)sizeof line - 1;
    while (len > 0 && line[len - 1] == '\n') len--;
    line[len] = '\0';
    log_info(3, "http", "Connection", LOG_FIELD("detail", ((struct text){line, (size_t)len})));
}

static unsigned processor_count(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int count = CPU_COUNT(&set);
    return count < 1 ? 1 : (unsigned)count;
}

// As many connections as the limit of open files leaves; MHD then stops to accept before files run out.
static unsigned fitting_connections(unsigned wanted) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return wanted;
    rlim_t enough = (rlim_t)wanted + FILES_WANTED;
    if (files.rlim_cur < enough) {
        files.rlim_cur = files.rlim_max < enough ? files.rlim_max : enough;
        if (setrlimit(RLIMIT_NOFILE, &files) != 0 && getrlimit(RLIMIT_NOFILE, &files) != 0) return wanted;
    }
    rlim_t room = files.rlim_cur > FILES_FOR_OURSELVES + 2 ? files.rlim_cur - FILES_FOR_OURSELVES : 2;
    if (room >= wanted) return wanted;
    log_error("http", "Fewer connections than asked for", "the limit of open files is low",
              LOG_NUMBER("connections", room), LOG_NUMBER("wanted", wanted));
    return (unsigned)room;
}

// MHD_quiesce_daemon would stop listening, but not while another thread runs the daemon. Turning callers away
// at the accept tells them the same.
static enum MHD_Result accept_policy(void *cls, const struct sockaddr *address, socklen_t address_bytes) {
    (void)address;
    (void)address_bytes;
    struct http_server *server = cls;
    return atomic_load_explicit(&server->refusing, memory_order_relaxed) ? MHD_NO : MHD_YES;
}

// More threads than processors would hold each other up.
static void fit_threads(struct http_options *options) {
    options->connections = fitting_connections(options->connections);
    if (options->threads == 0) options->threads = processor_count();
    if (options->threads > THREADS_LIMIT) options->threads = THREADS_LIMIT;
    if (options->threads > options->connections) options->threads = options->connections;
}

// The connections are parted among the threads; each has the listening socket as a file of its own, because
// MHD closes what it was given.
static struct MHD_Daemon *open_worker(void *context, unsigned number) {
    struct http_server *server = context;
    const struct http_options *options = &server->options;
    unsigned connections = options->connections / options->threads;
    if (number < options->connections % options->threads) connections++;
    int listen_fd = fcntl(server->listen_fd, F_DUPFD_CLOEXEC, 0);
    if (listen_fd < 0) return NULL;
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_TLS | MHD_USE_ERROR_LOG, 0, accept_policy, server, handler_call, server,
        MHD_OPTION_EXTERNAL_LOGGER, log_mhd, NULL, MHD_OPTION_LISTEN_SOCKET, listen_fd,
        MHD_OPTION_HTTPS_PRIORITIES, TLS_PRIORITIES, MHD_OPTION_HTTPS_CERT_CALLBACK, tls_certificate,
        MHD_OPTION_NOTIFY_CONNECTION, connection_changed, server, MHD_OPTION_NOTIFY_COMPLETED,
        handler_completed, server, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, options->connection_bytes, MHD_OPTION_CONNECTION_TIMEOUT, 0u,
        MHD_OPTION_END);
    return daemon; // MHD has closed the socket when it could not start
}

static bool start_workers(struct http_server *server, struct fault *fault) {
    const struct http_options *options = &server->options;
    if (!listen_open(options->bind_address, options->port, &server->listen_fd, fault)) return false;
    listen_describe(server->listen_fd, server->address);
    server->port = listen_port(server->listen_fd);
    bool fine = workers_start(&server->workers, options->threads, open_worker, server, fault);
    close(server->listen_fd);
    server->listen_fd = -1;
    return fine || fault_wrap(fault, "%s", server->address);
}

static bool start_status(struct http_server *server, struct fault *fault) {
    const char *where = server->options.status_bind_address;
    if (strcmp(where, "0") == 0) return true;
    char address[LISTEN_ADDRESS_BYTES];
    uint16_t port;
    if (!listen_parse(where, address, &port, fault) || !listen_open(address, port, &server->status_fd, fault))
        return fault_wrap(fault, "--status-bind-address");
    listen_describe(server->status_fd, server->status_address);
    server->status_port = listen_port(server->status_fd);
    server->status_daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_USE_ERROR_LOG, 0, NULL, NULL, status_call, server,
        MHD_OPTION_EXTERNAL_LOGGER, log_mhd, NULL, MHD_OPTION_LISTEN_SOCKET, server->status_fd,
        MHD_OPTION_NOTIFY_CONNECTION, status_connection_changed, server, MHD_OPTION_NOTIFY_COMPLETED,
        status_completed, server, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_CONNECTION_LIMIT,
        STATUS_CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, STATUS_MEMORY_BYTES, MHD_OPTION_END);
    server->status_fd = -1;
    if (server->status_daemon == NULL)
        return fault_set(fault, FAULT_IO, "the status port cannot start on %s", server->status_address);
    return true;
}

// The parts in the order in which they need each other.
static bool start(struct http_server *server, struct fault *fault) {
    const struct http_options *options = &server->options;
    if (!workspace_init(&server->workspace, options->threads, options->review_memory_bytes, RESPONSE_BYTES) ||
        !handler_prepare(server))
        return fault_set(fault, FAULT_MEMORY, "no memory for the server");
    if (!status_prepare(server))
        return fault_set(fault, FAULT_LIMIT, "too many health checks or collectors of metrics");
    if (!sweeper_start(&server->sweeper, &options->deadlines, fault)) return false;
    return start_workers(server, fault) && start_status(server, fault);
}

bool http_server_new(const struct http_options *options, struct http_server **ret_server,
                     struct fault *fault) {
    struct http_server *server = calloc(1, sizeof *server);
    if (server == NULL) return fault_set(fault, FAULT_MEMORY, "no memory for the server");
    server->options = *options;
    server->listen_fd = -1;
    server->status_fd = -1;
    atomic_init(&server->verifier, options->verifier);
    metrics_init(&server->metrics);
    fit_threads(&server->options);
    account_init(&server->account, options->in_flight_bytes, options->small_review_bytes,
                 server->options.connections);
    if (!start(server, fault)) {
        http_server_free(server);
        return false;
    }
    *ret_server = server;
    return true;
}

void http_server_address(const struct http_server *server, char *ret_text, size_t text_bytes) {
    snprintf(ret_text, text_bytes, "%s", server->address);
}

void http_server_status_address(const struct http_server *server, char *ret_text, size_t text_bytes) {
    snprintf(ret_text, text_bytes, "%s", server->status_address);
}

uint16_t http_server_port(const struct http_server *server) {
    return server->port;
}

uint16_t http_server_status_port(const struct http_server *server) {
    return server->status_port;
}

void http_server_set_verifier(struct http_server *server, struct client_verifier *verifier) {
    atomic_store_explicit(&server->verifier, verifier, memory_order_release);
}

void http_server_set_deadlines(struct http_server *server, const struct deadlines *deadlines) {
    sweeper_set_deadlines(&server->sweeper, deadlines);
}

void http_server_tick(struct http_server *server) {
    if (atomic_load_explicit(&server->metrics.in_flight, memory_order_relaxed) != 0) return;
    if (atomic_exchange_explicit(&server->workspace.large_freed, false, memory_order_relaxed)) malloc_trim(0);
}

void http_server_begin_drain(struct http_server *server) {
    atomic_store_explicit(&server->options.health->draining, true, memory_order_relaxed);
    atomic_store_explicit(&server->closing, true, memory_order_relaxed);
}

bool http_server_drain(struct http_server *server, int64_t wait_ms) {
    http_server_begin_drain(server);
    atomic_store_explicit(&server->refusing, true, memory_order_relaxed);
    sweeper_close_idle(&server->sweeper);
    int64_t end_ms = sweeper_now_ms() + wait_ms;
    const struct timespec pause = {.tv_nsec = DRAIN_POLL_MS * 1000000L};
    while (atomic_load_explicit(&server->sweeper.count, memory_order_relaxed) > 0) {
        if (sweeper_now_ms() >= end_ms) return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

void http_server_free(struct http_server *server) {
    if (server == NULL) return;
    if (server->status_daemon != NULL) MHD_stop_daemon(server->status_daemon);
    workers_stop(&server->workers);
    if (server->status_fd >= 0) close(server->status_fd);
    if (server->listen_fd >= 0) close(server->listen_fd);
    sweeper_stop(&server->sweeper);
    status_release(server);
    handler_release(server);
    workspace_release(&server->workspace);
    free(server);
}
