// SPDX-License-Identifier: Apache-2.0
// The status port: health and metrics, plain HTTP, GET and HEAD only.
#include "server/http/server_internal.h"

#define WATCHDOG_BUSY_MS  20000 // one judging that takes this long hangs
#define WATCHDOG_STUCK_MS 15000 // a socket that was shut this long ago and is not closed: its thread hangs
#define WATCHDOG_BEAT_MS  10000 // the sweeper walks ten times a second

static bool check_workers(void *state, char ret_why[HEALTH_WHY_BYTES]) {
    struct http_server *server = state;
    int64_t now_ms = sweeper_now_ms();
    int64_t busy_ms = workspace_busy_ms(&server->workspace, now_ms);
    int64_t stuck_ms = atomic_load_explicit(&server->sweeper.stuck_ms, memory_order_relaxed);
    int64_t silent_ms = now_ms - atomic_load_explicit(&server->sweeper.beat_ms, memory_order_relaxed);
    if (busy_ms > WATCHDOG_BUSY_MS)
        snprintf(ret_why, HEALTH_WHY_BYTES, "one review has been judged for %lld ms", (long long)busy_ms);
    else if (stuck_ms > WATCHDOG_STUCK_MS)
        snprintf(ret_why, HEALTH_WHY_BYTES, "a connection was not closed for %lld ms", (long long)stuck_ms);
    else if (silent_ms > WATCHDOG_BEAT_MS)
        snprintf(ret_why, HEALTH_WHY_BYTES, "deadlines were not looked at for %lld ms", (long long)silent_ms);
    else
        return true;
    return false;
}

static bool check_certificate(void *state, char ret_why[HEALTH_WHY_BYTES]) {
    struct http_server *server = state;
    struct source_facts facts;
    source_facts(server->options.source, &facts);
    if (!facts.usable) {
        snprintf(ret_why, HEALTH_WHY_BYTES, "no serving certificate: %.200s", facts.why);
        return false;
    }
    if (facts.not_after <= time(NULL)) {
        snprintf(ret_why, HEALTH_WHY_BYTES, "the serving certificate has expired%s",
                 facts.of_files ? "; renewing its files is the work of who wrote them, drawbridge never does"
                                : " and no new one could be issued");
        return false;
    }
    return true;
}

static void gauge(struct exposition *out, const char *name, const char *help, double value) {
    exposition_family(out, name, "gauge", help);
    exposition_sample(out, name, NULL, 0, value);
}

static void collect_certificate(struct http_server *server, struct exposition *out) {
    struct source_facts facts;
    source_facts(server->options.source, &facts);
    exposition_family(out, "drawbridge_certificate_not_after_timestamp_seconds", "gauge",
                      "When a certificate ends, since the epoch.");
    struct exposition_label leaf = {"cert", TEXT("leaf")};
    struct exposition_label chain = {"cert", TEXT("chain")};
    if (facts.usable) {
        exposition_sample(out, "drawbridge_certificate_not_after_timestamp_seconds", &leaf, 1,
                          (double)facts.not_after);
        exposition_sample(out, "drawbridge_certificate_not_after_timestamp_seconds", &chain, 1,
                          (double)facts.chain_not_after);
    }
    exposition_family(out, "drawbridge_certificate_rotations_total", "counter",
                      "Changed certificate files, by whether they were taken.");
    struct exposition_label taken = {"result", TEXT("ok")};
    struct exposition_label refused = {"result", TEXT("failed")};
    exposition_count(out, "drawbridge_certificate_rotations_total", &taken, 1, facts.rotations_ok_count);
    exposition_count(out, "drawbridge_certificate_rotations_total", &refused, 1,
                     facts.rotations_failed_count);
}

static void collect_connections(void *state, struct exposition *out) {
    struct http_server *server = state;
    struct sweeper *sweeper = &server->sweeper;
    gauge(out, "drawbridge_admission_in_flight_bytes", "Bytes of request bodies that are charged now.",
          (double)account_used(&server->account));
    gauge(out, "drawbridge_connections", "Open connections of callers.",
          (double)atomic_load_explicit(&sweeper->count, memory_order_relaxed));
    exposition_family(out, "drawbridge_deadline_closes_total", "counter",
                      "Connections shut down because they were late, by what they were in.");
    for (int i = 0; i < PHASE_COUNT; i++) {
        struct exposition_label label = {"phase", text_of(connection_phase_name((enum connection_phase)i))};
        exposition_count(out, "drawbridge_deadline_closes_total", &label, 1,
                         atomic_load_explicit(&sweeper->closed_counts[i], memory_order_relaxed));
    }
    collect_certificate(server, out);
}

bool status_prepare(struct http_server *server) {
    struct health *health = server->options.health;
    struct collectors *collectors = server->options.collectors;
    return health_add(health, "workers", HEALTH_LIVE, check_workers, server) &&
           health_add(health, "certificate", HEALTH_READY, check_certificate, server) &&
           collectors_add(collectors, metrics_collect, &server->metrics) &&
           collectors_add(collectors, collect_connections, server) &&
           collectors_add(collectors, process_collect, &server->status_fd);
}

void status_release(struct http_server *server) {
    health_remove(server->options.health, server);
    collectors_remove(server->options.collectors, &server->metrics);
    collectors_remove(server->options.collectors, server);
    collectors_remove(server->options.collectors, &server->status_fd);
}

static enum MHD_Result send_text(struct MHD_Connection *connection, unsigned status, const char *type,
                                 struct text text) {
    struct MHD_Response *response =
        MHD_create_response_from_buffer(text.len, (void *)(uintptr_t)text.ptr, MHD_RESPMEM_MUST_COPY);
    if (response == NULL) return MHD_NO;
    bool fine = MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type) == MHD_YES &&
                (status != MHD_HTTP_METHOD_NOT_ALLOWED ||
                 MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD") == MHD_YES) &&
                MHD_add_response_header(response, "X-Content-Type-Options", "nosniff") == MHD_YES;
    enum MHD_Result result = fine ? MHD_queue_response(connection, status, response) : MHD_NO;
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result send_metrics(struct http_server *server, struct MHD_Connection *connection) {
    struct exposition exposition;
    collectors_collect(server->options.collectors, &exposition);
    enum MHD_Result result =
        exposition.failed ? send_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "text/plain; charset=utf-8",
                                      TEXT("no memory for the metrics\n"))
                          : send_text(connection, MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8",
                                      (struct text){exposition.ptr, exposition.len});
    exposition_release(&exposition);
    return result;
}

static enum MHD_Result send_health(struct http_server *server, struct MHD_Connection *connection,
                                   enum health_kind kind) {
    char page[HEALTH_PAGE_BYTES];
    struct out out = out_of(page, sizeof page);
    bool verbose =
        MHD_lookup_connection_value_n(connection, MHD_GET_ARGUMENT_KIND, "verbose", 7, NULL, NULL) == MHD_YES;
    bool all = health_page(server->options.health, kind, verbose, &out);
    return send_text(connection, all ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE,
                     "text/plain; charset=utf-8", (struct text){page, out.len});
}

enum MHD_Result status_call(void *cls, struct MHD_Connection *connection, const char *url, const char *method,
                            const char *version, const char *upload_data, size_t *upload_data_size,
                            void **request_context) {
    (void)version;
    (void)upload_data;
    (void)upload_data_size;
    (void)request_context;
    struct http_server *server = cls;
    struct connection *record = connection_of(connection);
    struct text path = text_of(url);
    if (record == NULL) return MHD_NO;
    struct deadlines deadlines;
    sweeper_get_deadlines(&server->sweeper, &deadlines);
    sweeper_request_began(record, sweeper_now_ms(), deadlines.request_ms);
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return send_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain; charset=utf-8",
                         TEXT("method not allowed\n"));
    if (text_equal(path, TEXT("/livez")) || text_equal(path, TEXT("/healthz")))
        return send_health(server, connection, HEALTH_LIVE);
    if (text_equal(path, TEXT("/readyz"))) return send_health(server, connection, HEALTH_READY);
    if (text_equal(path, TEXT("/metrics"))) return send_metrics(server, connection);
    return send_text(connection, MHD_HTTP_NOT_FOUND, "text/plain; charset=utf-8",
                     TEXT("not found: /livez, /readyz, /metrics\n"));
}

void status_completed(void *cls, struct MHD_Connection *connection, void **request_context,
                      enum MHD_RequestTerminationCode code) {
    (void)request_context;
    (void)code;
    struct http_server *server = cls;
    struct connection *record = connection_of(connection);
    if (record != NULL) sweeper_request_ended(&server->sweeper, record, sweeper_now_ms());
}
