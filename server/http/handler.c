// SPDX-License-Identifier: Apache-2.0
// A request from its headers to its answer. MHD calls first with the headers alone, then with pieces of the
// body, then once more without any. A handler never waits.
#include <netinet/in.h>
#include <time.h>

#include "server/http/server_internal.h"
#include "server/log.h"

#define LOG_RULES_COUNT 8u

static int64_t now_nano(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

struct connection *connection_of(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

bool handler_prepare(struct http_server *server) {
    for (int i = REFUSED_NOT + 1; i < REFUSAL_COUNT; i++) {
        const char *words = refusal_words((enum refusal)i);
        struct MHD_Response *response =
            MHD_create_response_from_buffer(strlen(words), (void *)(uintptr_t)words, MHD_RESPMEM_PERSISTENT);
        if (response == NULL) return false;
        server->refusals[i] = response;
        // The body was not read, so the connection cannot be used again.
        if (MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain; charset=utf-8") !=
                MHD_YES ||
            MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close") != MHD_YES ||
            (i == REFUSED_METHOD &&
             MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "POST") != MHD_YES))
            return false;
    }
    return true;
}

void handler_release(struct http_server *server) {
    for (int i = 0; i < REFUSAL_COUNT; i++)
        if (server->refusals[i] != NULL) MHD_destroy_response(server->refusals[i]);
}

static enum MHD_Result refuse(struct http_server *server, struct MHD_Connection *connection,
                              enum refusal refusal) {
    metrics_count_refusal(&server->metrics, refusal);
    return MHD_queue_response(connection, refusal_status(refusal), server->refusals[refusal]);
}

static enum MHD_Result note_header(void *cls, enum MHD_ValueKind kind, const char *name, const char *value) {
    (void)kind;
    head_add(cls, text_of(name), text_of(value));
    return MHD_YES;
}

static int64_t allowed_ms(struct http_server *server, struct MHD_Connection *connection) {
    const char *timeout = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "timeout");
    struct deadlines deadlines;
    sweeper_get_deadlines(&server->sweeper, &deadlines);
    return deadline_of_request(&deadlines, text_of(timeout == NULL ? "" : timeout));
}

// The first call: everything that can be told from the headers.
static enum MHD_Result begin_request(struct http_server *server, struct MHD_Connection *connection,
                                     const char *url, const char *method, void **request_context) {
    struct connection *record = connection_of(connection);
    if (record == NULL) return MHD_NO;
    int64_t begin_nano = now_nano();
    int64_t now_ms = begin_nano / 1000000;
    sweeper_request_began(record, now_ms, allowed_ms(server, connection));
    if (!tls_caller_is_trusted(server, connection, record, now_ms))
        return refuse(server, connection, REFUSED_CLIENT);
    struct head head = {.method = text_of(method), .route = route_of(text_of(url))};
    MHD_get_connection_values(connection, MHD_HEADER_KIND, note_header, &head);
    size_t length_bytes = 0;
    enum refusal refusal = head_judge(&head, server->options.request_bytes, &length_bytes);
    if (refusal != REFUSED_NOT) return refuse(server, connection, refusal);
    if (!account_charge(&server->account, length_bytes)) return refuse(server, connection, REFUSED_SHED);
    struct request *request = request_take(&server->workspace, length_bytes);
    if (request == NULL) {
        account_release(&server->account, length_bytes);
        return refuse(server, connection, REFUSED_MEMORY);
    }
    request->route = head.route;
    request->begin_nano = begin_nano;
    atomic_fetch_add_explicit(&server->metrics.in_flight, 1, memory_order_relaxed);
    *request_context = request;
    return MHD_YES;
}

// The rules that decided, parted by commas.
static struct text rules_of(const struct judgement *judgement, char *buffer, size_t buffer_bytes) {
    struct out out = out_of(buffer, buffer_bytes);
    const struct finding_list *findings = &judgement->findings;
    size_t written = 0;
    for (size_t i = 0; i < findings->count && written < LOG_RULES_COUNT; i++) {
        if (findings->items[i].severity != SEVERITY_DENY || finding_is_repeated(findings, i)) continue;
        if (written++ > 0) OUT_LITERAL(&out, ",");
        out_text(&out, text_of(findings->items[i].rule));
    }
    return (struct text){buffer, out.len};
}

// What the first finding that denies says; empty when none does.
static struct text first_reason(const struct finding_list *findings) {
    for (size_t i = 0; i < findings->count; i++)
        if (findings->items[i].severity == SEVERITY_DENY) return findings->items[i].detail;
    return (struct text){NULL, 0};
}

static void log_judgement(const struct judgement *judgement) {
    const struct review *review = &judgement->review;
    if (judgement->http_status != MHD_HTTP_OK) {
        log_info(2, "review", "Not a review", LOG_NUMBER("error", judgement->error),
                 LOG_NUMBER("code", judgement->http_status), LOG_FIELD("uid", review->uid));
        return;
    }
    const struct object_meta *metadata =
        review->object_set && review->object.kind != KIND_OTHER ? object_metadata(&review->object) : NULL;
    bool is_claim = metadata != NULL && review->object.kind == KIND_RESOURCE_CLAIM;
    struct text claim_uid = is_claim ? metadata->uid : (struct text){NULL, 0};
    const char *resource = review_resource_name(review->resource);
    const char *operation = review_operation_name(review->operation);
    if (judgement->decision == DECISION_FAILED) {
        log_error("review", "Not judged", "memory ran out or a bound was reached",
                  LOG_FIELD("uid", review->uid), LOG_FIELD(claim_uid.len > 0 ? "claimUID" : NULL, claim_uid),
                  LOG_STRING("operation", operation), LOG_STRING("resource", resource),
                  LOG_OBJECT("object", review->namespace, review->name),
                  LOG_STRING("answer", judgement->answer_allowed ? "allowed" : "denied"));
        return;
    }
    bool denied = judgement->decision == DECISION_DENIED;
    int verbosity = denied ? 0 : 4;
    if (!log_wants(verbosity)) return;
    char rules[256];
    struct text reason = first_reason(&judgement->findings);
    log_info(verbosity, "review", denied ? "Denied" : "Allowed", LOG_FIELD("uid", review->uid),
             LOG_FIELD(claim_uid.len > 0 ? "claimUID" : NULL, claim_uid), LOG_STRING("operation", operation),
             LOG_STRING("resource", resource), LOG_OBJECT("object", review->namespace, review->name),
             LOG_FIELD("user", review->user_name), LOG_STRING("decision", decision_name(judgement->decision)),
             LOG_FIELD("rules", rules_of(judgement, rules, sizeof rules)),
             LOG_FIELD(reason.len > 0 ? "reason" : NULL, reason), LOG_NUMBER("code", judgement->code));
}

static enum MHD_Result send_answer(struct http_server *server, struct MHD_Connection *connection,
                                   const struct request *request, size_t answer_bytes, unsigned status) {
    // The request keeps the bytes until MHD says that it is completed.
    struct MHD_Response *response =
        MHD_create_response_from_buffer(answer_bytes, request->body, MHD_RESPMEM_PERSISTENT);
    if (response == NULL) return MHD_NO;
    bool closing = atomic_load_explicit(&server->closing, memory_order_relaxed);
    const char *type = status == MHD_HTTP_OK ? "application/json" : "text/plain; charset=utf-8";
    bool fine =
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type) == MHD_YES &&
        (!closing || MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close") == MHD_YES);
    enum MHD_Result result = fine ? MHD_queue_response(connection, status, response) : MHD_NO;
    MHD_destroy_response(response);
    return result;
}

static enum review_path path_of(enum route route) {
    if (route == ROUTE_MUTATE) return PATH_MUTATE;
    return route == ROUTE_SCOPE ? PATH_SCOPE : PATH_VALIDATE;
}

// The last call: the body is here.
static enum MHD_Result end_request(struct http_server *server, struct MHD_Connection *connection,
                                   struct request *request) {
    if (request->answered) return MHD_YES;
    struct bench *bench = bench_take(&server->workspace, sweeper_now_ms());
    if (bench == NULL) return refuse(server, connection, REFUSED_MEMORY);
    struct out answer = out_of(bench->answer, server->workspace.answer_bytes);
    struct judgement judgement;
    server->options.judge(server->options.judge_state, path_of(request->route),
                          (struct text){request->body, request->read_bytes}, &bench->arena, &answer,
                          &judgement);
    metrics_count_judgement(&server->metrics, &judgement, now_nano() - request->begin_nano);
    if (judgement.decision != DECISION_ALLOWED || judgement.http_status != MHD_HTTP_OK || log_wants(4))
        log_judgement(&judgement);
    unsigned status = judgement.http_status;
    // What was found are views of the body: the answer takes its place only now.
    bool kept = request_keep_answer(request, (struct text){answer.ptr, answer.len});
    bench_give(&server->workspace, bench);
    if (!kept) return refuse(server, connection, REFUSED_MEMORY);
    request->answered = true;
    return send_answer(server, connection, request, answer.len, status);
}

enum MHD_Result handler_call(void *cls, struct MHD_Connection *connection, const char *url,
                             const char *method, const char *version, const char *upload_data,
                             size_t *upload_data_size, void **request_context) {
    (void)version;
    struct http_server *server = cls;
    struct request *request = *request_context;
    if (request == NULL) return begin_request(server, connection, url, method, request_context);
    if (*upload_data_size == 0) return end_request(server, connection, request);
    size_t room_bytes = request->length_bytes - request->read_bytes;
    if (*upload_data_size > room_bytes) return MHD_NO; // more than was announced and charged
    memcpy(request->body + request->read_bytes, upload_data, *upload_data_size);
    request->read_bytes += *upload_data_size;
    *upload_data_size = 0;
    return MHD_YES;
}

void handler_completed(void *cls, struct MHD_Connection *connection, void **request_context,
                       enum MHD_RequestTerminationCode code) {
    struct http_server *server = cls;
    struct request *request = *request_context;
    struct connection *record = connection_of(connection);
    if (record != NULL) sweeper_request_ended(&server->sweeper, record, sweeper_now_ms());
    if (request == NULL) return;
    if (code != MHD_REQUEST_TERMINATED_COMPLETED_OK) metrics_count_error(&server->metrics, ERROR_ABORTED);
    account_release(&server->account, request->length_bytes);
    atomic_fetch_sub_explicit(&server->metrics.in_flight, 1, memory_order_relaxed);
    request_give(&server->workspace, request);
    *request_context = NULL;
}

static struct caller caller_of(struct MHD_Connection *connection) {
    struct caller caller = {.len = 0};
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (info == NULL || info->client_addr == NULL) return caller;
    const void *address = NULL;
    if (info->client_addr->sa_family == AF_INET) {
        address = &((const struct sockaddr_in *)(const void *)info->client_addr)->sin_addr;
        caller.len = sizeof(struct in_addr);
    } else if (info->client_addr->sa_family == AF_INET6) {
        address = &((const struct sockaddr_in6 *)(const void *)info->client_addr)->sin6_addr;
        caller.len = sizeof(struct in6_addr);
    }
    if (address != NULL) memcpy(caller.bytes, address, caller.len);
    return caller;
}

static void note_change(struct http_server *server, struct MHD_Connection *connection, void **socket_context,
                        enum MHD_ConnectionNotificationCode code, bool plain) {
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        sweeper_remove(&server->sweeper, *socket_context);
        *socket_context = NULL;
        return;
    }
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info == NULL) return;
    struct caller caller = caller_of(connection);
    unsigned most_of_caller = plain ? 0 : server->options.connections_per_ip;
    *socket_context = sweeper_add(&server->sweeper, info->connect_fd, plain, server, &caller, most_of_caller);
    // Without a record there would be no deadline; or its caller has as many connections as it may have.
    if (*socket_context == NULL) shutdown(info->connect_fd, SHUT_RDWR);
}

void connection_changed(void *cls, struct MHD_Connection *connection, void **socket_context,
                        enum MHD_ConnectionNotificationCode code) {
    note_change(cls, connection, socket_context, code, false);
}

void status_connection_changed(void *cls, struct MHD_Connection *connection, void **socket_context,
                               enum MHD_ConnectionNotificationCode code) {
    note_change(cls, connection, socket_context, code, true);
}
