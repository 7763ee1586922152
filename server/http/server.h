// SPDX-License-Identifier: Apache-2.0
// The admission server: an HTTPS daemon for reviews and a plain one for health and metrics, both of
// libmicrohttpd, with absolute deadlines by a sweeper.
#ifndef DRAWBRIDGE_HTTP_SERVER_H
#define DRAWBRIDGE_HTTP_SERVER_H

#include "certs/client_verify.h"
#include "certs/source.h"
#include "server/http/account.h"
#include "server/http/deadline.h"
#include "server/http/exposition.h"
#include "server/http/health.h"
#include "server/http/metrics.h"

struct http_options {
    const char *bind_address;
    uint16_t port;                   // 0: the system chooses
    const char *status_bind_address; // HOST:PORT; "0": no status port
    unsigned threads;                // that judge; 0: one per processor
    unsigned connections;            // at most
    unsigned connections_per_ip;     // 0: no limit
    size_t connection_bytes;         // request line and headers
    size_t request_bytes;            // longest body
    size_t in_flight_bytes;          // bodies of all requests
    size_t small_review_bytes;       // never shed up to here
    size_t review_memory_bytes;      // arena of one review
    struct deadlines deadlines;
    struct source *source;            // the certificate
    struct client_verifier *verifier; // NULL: callers show no certificate
    // What judges: review_judge with a struct judge, but for tests.
    void (*judge)(void *state, enum review_path path, struct text body, struct arena *arena, struct out *out,
                  struct judgement *ret_judgement);
    void *judge_state;
    struct health *health;
    struct collectors *collectors;
};

struct http_server;

// What it does: opens both ports and starts all threads. Owner: the caller, http_server_free. All that the
// options point at must outlive the server. Errors: FAULT_USAGE, FAULT_IO, FAULT_MEMORY; nothing then runs.
bool http_server_new(const struct http_options *options, struct http_server **ret_server, struct fault *fault)
    __attribute__((warn_unused_result));

// Where it listens, for people. The status address is "" when it is off.
void http_server_address(const struct http_server *server, char *ret_text, size_t text_bytes);
void http_server_status_address(const struct http_server *server, char *ret_text, size_t text_bytes);
uint16_t http_server_port(const struct http_server *server);
uint16_t http_server_status_port(const struct http_server *server);

// Replaces what verifies callers. The old one must live on for a second or so: handlers may be using it.
// Only where callers are verified from the start. Thread: any.
void http_server_set_verifier(struct http_server *server, struct client_verifier *verifier);

// Replaces the deadlines for what begins from now on. Thread: any.
void http_server_set_deadlines(struct http_server *server, const struct deadlines *deadlines);

// What it does: gives memory back to the system when nothing is in flight and there is something to give.
// Called once a second or so by the main thread.
void http_server_tick(struct http_server *server);

// What it does: from now on every answer ends its connection, and readiness is off. First step of the drain.
void http_server_begin_drain(struct http_server *server);

// What it does: no new connections; waits until the requests that are in have their answers and closes the
// rest. False: some were still there after wait_ms. The status port goes on.
bool http_server_drain(struct http_server *server, int64_t wait_ms);

// What it does: ends both daemons and all threads. It waits for handlers; after a drain that failed because a
// handler hangs it does not return, so the caller should then end the process instead.
void http_server_free(struct http_server *server);

#endif
