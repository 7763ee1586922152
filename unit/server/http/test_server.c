// SPDX-License-Identifier: Apache-2.0
// The server over real sockets: verdicts, refusals, deadlines, shedding, callers' certificates, a worker that
// hangs, the drain.
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/log.h"
#include "unit/lib/review_body.h"
#include "unit/lib/server_rig.h"
#include "unit/lib/temp_files.h"

static struct arena bodies;

static struct text good_body(void) {
    if (bodies.cap_bytes == 0) arena_init(&bodies, 64u << 20);
    struct review_parts parts = {
        .kind = "ResourceClaim", .resource = "resourceclaims", .object = review_claim(&bodies, NULL).ptr};
    return review_body(&bodies, &parts);
}

// A review of this many bytes that is allowed.
static struct text long_body(size_t bytes) {
    struct text body = good_body();
    char *filled = malloc(bytes);
    memcpy(filled, body.ptr, body.len);
    memset(filled + body.len, ' ', bytes - body.len);
    return (struct text){filled, bytes};
}

static int post(struct tls_client *client, struct text body) {
    return tls_client_post(client, "/validate?timeout=10s", body.ptr, body.len);
}

static int send_raw(const struct server_rig *rig, const char *request) {
    struct tls_client *client = server_rig_connect(rig);
    tls_client_send(client, request, strlen(request));
    int status = tls_client_answer(client, 5000);
    cr_expect_null(strstr(tls_client_head(client), "Server:"));
    cr_expect_null(strstr(tls_client_head(client), "Location:"));
    tls_client_free(client);
    return status;
}

Test(server, many_reviews_on_one_connection) {
    struct server_rig rig;
    server_rig_init(&rig);
    server_rig_start(&rig);
    struct tls_client *client = server_rig_connect(&rig);
    for (int i = 0; i < 50; i++) {
        cr_assert_eq(post(client, good_body()), 200);
        cr_assert_not_null(strstr(tls_client_body(client), "\"uid\":\"u-1\",\"allowed\":true"));
        cr_assert_not_null(strstr(tls_client_head(client), "Content-Type: application/json\r\n"));
        cr_assert_null(strstr(tls_client_head(client), "Connection: close"));
    }
    cr_expect_eq(post(client, TEXT("[]")), 400);
    cr_expect_eq(post(client, good_body()), 200, "a bad review does not end the connection");
    cr_expect_eq(tls_client_post(client, "/mutate", good_body().ptr, good_body().len), 200);
    tls_client_free(client);
    cr_expect_eq(server_rig_metric(&rig, "drawbridge_admission_requests_total{operation=\"CREATE\",resource="
                                         "\"resourceclaims\",decision=\"allowed\"}"),
                 52);
    cr_expect_eq(server_rig_metric(&rig, "drawbridge_admission_errors_total{reason=\"decode\"}"), 1);
    // The caller has its answer a moment before the request ends.
    for (int i = 0; i < 500 && server_rig_metric(&rig, "drawbridge_admission_in_flight") > 0; i++)
        usleep(10000);
    cr_expect_eq(server_rig_metric(&rig, "drawbridge_admission_in_flight"), 0);
    cr_expect_eq(server_rig_metric(&rig, "drawbridge_admission_in_flight_bytes"), 0);
    server_rig_stop(&rig);
}

Test(server, what_headers_alone_refuse) {
    struct server_rig rig;
    server_rig_init(&rig);
    server_rig_start(&rig);
#define HEAD "POST /validate HTTP/1.1\r\nHost: x\r\n"
#define JSON "Content-Type: application/json\r\n"
    cr_expect_eq(send_raw(&rig, HEAD JSON "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"), 411);
    cr_expect_eq(send_raw(&rig, HEAD JSON "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}"), 400);
    cr_expect_eq(send_raw(&rig, HEAD JSON "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"), 400);
    cr_expect_eq(send_raw(&rig, HEAD JSON "\r\n"), 411);
    cr_expect_eq(send_raw(&rig, HEAD JSON "Content-Length: -1\r\n\r\n"), 400);
    cr_expect_eq(send_raw(&rig, HEAD JSON "Content-Length: 18446744073709551616\r\n\r\n"), 413);
    cr_expect_eq(send_raw(&rig, HEAD JSON "Content-Length: 8388609\r\n\r\n"), 413);
    cr_expect_eq(send_raw(&rig, HEAD "Content-Length: 2\r\n\r\n{}"), 415);
    cr_expect_eq(send_raw(&rig, HEAD JSON "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}"), 415);
    cr_expect_eq(send_raw(&rig, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"), 404);
    cr_expect_eq(send_raw(&rig, "POST /validate HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"), 400, "no Host");
    cr_expect_eq(send_raw(&rig, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505);
    cr_expect_eq(send_raw(&rig, HEAD JSON "Content-Length: 0\r\n\r\n"), 400, "an empty body is no review");
    server_rig_stop(&rig);
}

Test(server, other_methods_are_refused_and_nothing_is_echoed) {
    struct server_rig rig;
    server_rig_init(&rig);
    server_rig_start(&rig);
    static const char *const methods[] = {"GET", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "BREW"};
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        char request[200];
        struct tls_client *client = server_rig_connect(&rig);
        int len = snprintf(request, sizeof request,
                           "%s /validate HTTP/1.1\r\nHost: x\r\nX-Mark: secret\r\n\r\n", methods[i]);
        tls_client_send(client, request, (size_t)len);
        cr_expect_eq(tls_client_answer(client, 5000), 405, "%s", methods[i]);
        cr_expect_not_null(strstr(tls_client_head(client), "Allow: POST\r\n"));
        cr_expect_null(strstr(tls_client_head(client), "secret"));
        tls_client_free(client);
    }
    server_rig_stop(&rig);
}

Test(server, the_body_of_a_refused_request_is_not_read_as_the_next_one) {
    struct server_rig rig;
    server_rig_init(&rig);
    server_rig_start(&rig);
    struct tls_client *client = server_rig_connect(&rig);
    struct text body = good_body();
    char inner[4096];
    snprintf(inner, sizeof inner, HEAD JSON "Content-Length: %zu\r\n\r\n%s", body.len, body.ptr);
    char outer[8192];
    snprintf(outer, sizeof outer, HEAD "Content-Type: text/plain\r\nContent-Length: %zu\r\n\r\n%s",
             strlen(inner), inner);
    tls_client_send(client, outer, strlen(outer));
    cr_expect_eq(tls_client_answer(client, 5000), 415);
    cr_expect_geq(tls_client_wait_closed(client, 5000), 0, "closed, without a second answer");
    tls_client_free(client);
    cr_expect_eq(server_rig_metric(&rig, "drawbridge_admission_duration_seconds_count"), 0);
    server_rig_stop(&rig);
}

Test(server, bodies_up_to_the_cap_are_judged) {
    struct server_rig rig;
    server_rig_init(&rig);
    rig.options.request_bytes = 1u << 20;
    server_rig_start(&rig);
    for (int i = -1; i <= 1; i++) {
        struct tls_client *client = server_rig_connect(&rig);
        struct text body = long_body((size_t)((1 << 20) + i));
        int status = post(client, body);
        // A caller that is still sending may see a reset instead of the 413.
        cr_expect(i < 1 ? status == 200 : status == 413 || status == 0, "%d: %d", i, status);
        free((void *)(uintptr_t)body.ptr);
        tls_client_free(client);
    }
    server_rig_stop(&rig);
}

Test(server, large_bodies_are_shed_and_small_ones_are_not) {
    struct server_rig rig;
    server_rig_init(&rig);
    rig.options.in_flight_bytes = 1u << 20;
    rig.options.small_review_bytes = 4096;
    server_rig_start(&rig);
    struct tls_client *holder = server_rig_connect(&rig);
    const char *head = HEAD JSON "Content-Length: 700000\r\n\r\n{";
    cr_assert(tls_client_send(holder, head, strlen(head)));
    for (int i = 0; i < 500 && server_rig_metric(&rig, "drawbridge_admission_in_flight_bytes") < 700000; i++)
        usleep(10000);
    struct tls_client *client = server_rig_connect(&rig);
    cr_expect_eq(post(client, good_body()), 200);
    cr_expect_leq(good_body().len, 4096);
    const char *large = HEAD JSON "Content-Length: 500000\r\n\r\n";
    tls_client_send(client, large, strlen(large));
    cr_expect_eq(tls_client_answer(client, 5000), 503, "before the body is read");
    cr_expect_not_null(strstr(tls_client_head(client), "Connection: close"));
    cr_expect_eq(server_rig_metric(&rig, "drawbridge_admission_errors_total{reason=\"shed\"}"), 1);
    tls_client_free(client);
    tls_client_free(holder);
    for (int i = 0; i < 500 && server_rig_metric(&rig, "drawbridge_admission_in_flight_bytes") > 0; i++)
        usleep(10000);
    cr_expect_eq(server_rig_metric(&rig, "drawbridge_admission_in_flight"), 0);
    client = server_rig_connect(&rig);
    struct text body = long_body(500000);
    cr_expect_eq(post(client, body), 200, "there is room again");
    free((void *)(uintptr_t)body.ptr);
    tls_client_free(client);
    server_rig_stop(&rig);
}

Test(server, deadlines_are_absolute) {
    struct server_rig rig;
    server_rig_init(&rig);
    rig.options.deadlines = (struct deadlines){
        .tls_begin_ms = 700, .header_ms = 1500, .request_ms = 600, .request_most_ms = 600, .idle_ms = 800};
    server_rig_start(&rig);
    struct tls_client_options plain = {.port = http_server_port(rig.server), .plain = true};

    struct tls_client *silent = tls_client_new(&plain);
    int64_t took_ms = tls_client_wait_closed(silent, 10000);
    cr_expect(took_ms >= 400 && took_ms <= 3000, "no greeting: %lld ms", (long long)took_ms);
    tls_client_free(silent);

    struct tls_client *client = server_rig_connect(&rig);
    tls_client_send(client, "POST /val", 9);
    took_ms = tls_client_wait_closed(client, 10000);
    cr_expect(took_ms >= 1000 && took_ms <= 4000, "half a header: %lld ms", (long long)took_ms);
    tls_client_free(client);

    client = server_rig_connect(&rig);
    const char *head = HEAD JSON "Content-Length: 100\r\nExpect: 100-continue\r\n\r\n";
    tls_client_send(client, head, strlen(head));
    cr_expect_eq(tls_client_answer(client, 5000), 100);
    took_ms = tls_client_wait_closed(client, 10000);
    cr_expect(took_ms >= 300 && took_ms <= 3000, "no body: %lld ms", (long long)took_ms);
    tls_client_free(client);

    client = server_rig_connect(&rig);
    cr_expect_eq(post(client, good_body()), 200);
    took_ms = tls_client_wait_closed(client, 10000);
    cr_expect(took_ms >= 500 && took_ms <= 3000, "idle: %lld ms", (long long)took_ms);
    tls_client_free(client);

    cr_expect_eq(server_rig_metric(&rig, "drawbridge_deadline_closes_total{phase=\"tls_begin\"}"), 1);
    cr_expect_eq(server_rig_metric(&rig, "drawbridge_deadline_closes_total{phase=\"header\"}"), 1);
    cr_expect_eq(server_rig_metric(&rig, "drawbridge_deadline_closes_total{phase=\"request\"}"), 1);
    cr_expect_geq(server_rig_metric(&rig, "drawbridge_deadline_closes_total{phase=\"idle\"}"), 1);
    cr_expect_eq(server_rig_metric(&rig, "drawbridge_admission_errors_total{reason=\"aborted\"}"), 1);
    cr_expect_eq(server_rig_metric(&rig, "drawbridge_admission_in_flight"), 0);
    server_rig_stop(&rig);
}

Test(server, a_byte_now_and_then_does_not_stretch_a_deadline) {
    struct server_rig rig;
    server_rig_init(&rig);
    rig.options.deadlines.header_ms = 1000;
    server_rig_start(&rig);
    struct tls_client *client = server_rig_connect(&rig);
    int sent = 0;
    const char *head = HEAD;
    while (sent < 40 && tls_client_wait_closed(client, 100) < 0 &&
           tls_client_send(client, head + sent % 30, 1))
        sent++;
    cr_expect(sent >= 3 && sent <= 30, "%d bytes", sent);
    tls_client_free(client);
    server_rig_stop(&rig);
}

Test(server, only_tls_1_2_with_aead_and_1_3) {
    struct server_rig rig;
    server_rig_init(&rig);
    server_rig_start(&rig);
    static const char *const refused[] = {
        "NORMAL:-VERS-ALL:+VERS-TLS1.0",
        "NORMAL:-VERS-ALL:+VERS-TLS1.1",
        "NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+AES-128-CBC:+AES-256-CBC",
        "NORMAL:-VERS-ALL:+VERS-TLS1.2:-KX-ALL:+RSA",
        "NORMAL:-VERS-ALL:+VERS-TLS1.2:-KX-ALL:+DHE-RSA",
    };
    static const char *const taken[] = {
        "NORMAL:-VERS-ALL:+VERS-TLS1.3",
        "NORMAL:-VERS-ALL:+VERS-TLS1.2",
        "NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+CHACHA20-POLY1305",
        "NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+AES-256-GCM",
    };
    struct tls_client_options options = {.port = http_server_port(rig.server)};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        options.priorities = refused[i];
        struct tls_client *client = tls_client_new(&options);
        cr_expect_null(client, "%s", refused[i]);
        tls_client_free(client);
    }
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        options.priorities = taken[i];
        struct tls_client *client = tls_client_new(&options);
        cr_assert_not_null(client, "%s", taken[i]);
        cr_expect_eq(post(client, good_body()), 200, "%s", taken[i]);
        tls_client_free(client);
    }
    server_rig_stop(&rig);
}

Test(server, callers_are_verified_when_that_is_on) {
    struct server_rig rig;
    server_rig_init(&rig);
    const char *const names[] = {"kube-apiserver"};
    struct client_verifier_files files = {
        .ca_file = test_path(rig.folder, "ca.crt"), .subject_names = names, .subject_name_count = 1};
    struct client_verifier *verifier;
    struct fault fault;
    cr_assert(client_verifier_new(&files, &verifier, &fault), "%s", fault.text);
    rig.options.verifier = verifier;
    server_rig_start(&rig);
    static const char *const versions[] = {"NORMAL:-VERS-ALL:+VERS-TLS1.3", "NORMAL:-VERS-ALL:+VERS-TLS1.2"};
    for (size_t i = 0; i < 2; i++) {
        struct tls_client_options options = {.port = http_server_port(rig.server), .priorities = versions[i]};
        struct tls_client *client = tls_client_new(&options);
        cr_assert_not_null(client);
        cr_expect_eq(post(client, good_body()), 403, "no certificate");
        tls_client_free(client);
        options.cert_file = test_path(rig.folder, "tls.crt");
        options.key_file = test_path(rig.folder, "tls.key");
        client = tls_client_new(&options);
        cr_assert_not_null(client);
        cr_expect_eq(post(client, good_body()), 403, "another name, another usage");
        tls_client_free(client);
        options.cert_file = test_path(rig.folder, "client.crt");
        options.key_file = test_path(rig.folder, "client.key");
        client = tls_client_new(&options);
        cr_assert_not_null(client);
        for (int k = 0; k < 3; k++) cr_expect_eq(post(client, good_body()), 200, "the right one");
        tls_client_free(client);
    }
    cr_expect_eq(
        server_rig_metric(&rig, "drawbridge_client_cert_rejections_total{reason=\"no_certificate\"}"), 2);
    cr_expect_eq(server_rig_metric(&rig, "drawbridge_admission_errors_total{reason=\"client_certificate\"}"),
                 4);
    cr_expect_eq(server_rig_metric(&rig, "drawbridge_admission_duration_seconds_count"), 6,
                 "nothing else was read");
    server_rig_stop(&rig);
    client_verifier_free(verifier);
}

Test(server, no_certificate_is_not_ready_but_live) {
    struct server_rig rig;
    server_rig_init(&rig);
    source_free(rig.source);
    struct source_files files = {.cert_file = test_path(rig.folder, "none.crt"),
                                 .key_file = test_path(rig.folder, "none.key"),
                                 .handshake_deadline_ms = 1000};
    struct fault fault;
    cr_assert(source_new(&files, &rig.source, &fault), "%s", fault.text);
    rig.options.source = rig.source;
    server_rig_start(&rig);
    const char *page;
    cr_expect_eq(server_rig_status(&rig, "/readyz", &page), 503);
    cr_expect_not_null(strstr(page, "[-]certificate failed: "), "%s", page);
    cr_expect_eq(server_rig_status(&rig, "/livez", &page), 200);
    cr_expect_str_eq(page, "ok");
    struct tls_client_options options = {.port = http_server_port(rig.server)};
    struct tls_client *client = tls_client_new(&options);
    cr_expect_null(client, "no handshake without a certificate");
    tls_client_free(client);
    server_rig_stop(&rig);
}

Test(server, pages_of_the_status_port) {
    struct server_rig rig;
    server_rig_init(&rig);
    server_rig_start(&rig);
    const char *page;
    cr_expect_eq(server_rig_status(&rig, "/livez?verbose", &page), 200);
    cr_expect_str_eq(page, "[+]ping ok\n[+]workers ok\nlivez check passed\n");
    cr_expect_eq(server_rig_status(&rig, "/readyz?verbose", &page), 200);
    cr_expect_str_eq(page, "[+]ping ok\n[+]shutdown ok\n[+]certificate ok\nreadyz check passed\n");
    cr_expect_eq(server_rig_status(&rig, "/healthz", &page), 200);
    cr_expect_eq(server_rig_status(&rig, "/validate", NULL), 404);
    cr_expect_eq(server_rig_status(&rig, "/debug/pprof", NULL), 404);
    cr_expect_geq(server_rig_metric(&rig, "process_open_fds"), 5);
    cr_expect_gt(server_rig_metric(&rig, "process_start_time_seconds"), 1600000000);
    cr_expect_gt(server_rig_metric(&rig, "process_resident_memory_bytes"), 1 << 20);
    cr_expect_gt(server_rig_metric(&rig, "drawbridge_certificate_not_after_timestamp_seconds{cert=\"leaf\"}"),
                 (double)time(NULL));
    struct tls_client_options plain = {.port = http_server_status_port(rig.server), .plain = true};
    struct tls_client *client = tls_client_new(&plain);
    cr_expect_eq(tls_client_post(client, "/metrics", "{}", 2), 405);
    tls_client_free(client);
    cr_expect_eq(send_raw(&rig, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"), 404,
                 "not on the port of reviews");
    server_rig_stop(&rig);
}

Test(server, the_status_port_can_be_off) {
    struct server_rig rig;
    server_rig_init(&rig);
    rig.options.status_bind_address = "0";
    server_rig_start(&rig);
    cr_expect_eq(http_server_status_port(rig.server), 0);
    struct tls_client *client = server_rig_connect(&rig);
    cr_expect_eq(post(client, good_body()), 200);
    tls_client_free(client);
    server_rig_stop(&rig);
}

Test(server, what_cannot_be_listened_on_is_told) {
    struct server_rig rig;
    struct fault fault;
    server_rig_init(&rig);
    static const char *const wrong[] = {"nonsense", "127.0.0.1:99999", "127.0.0.1:", "localhost:1", "[::1"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        rig.options.status_bind_address = wrong[i];
        cr_expect_not(http_server_new(&rig.options, &rig.server, &fault), "%s", wrong[i]);
        cr_expect_eq(fault.code, FAULT_USAGE, "%s: %s", wrong[i], fault.text);
        cr_expect_not_null(strstr(fault.text, "--status-bind-address"), "%s", fault.text);
    }
    rig.options.status_bind_address = "127.0.0.1:0";
    server_rig_start(&rig);
    struct http_server *second;
    struct http_options taken = rig.options;
    taken.port = http_server_port(rig.server);
    cr_expect_not(http_server_new(&taken, &second, &fault));
    cr_expect_eq(fault.code, FAULT_IO);
    cr_expect_not_null(strstr(fault.text, "Address already in use"), "%s", fault.text);
    struct tls_client *client = server_rig_connect(&rig);
    cr_expect_eq(post(client, good_body()), 200, "the first one is as it was");
    tls_client_free(client);
    server_rig_stop(&rig);
}

// Reviews with this body hang until told.
static _Atomic bool released;

static void judge_or_hang(void *state, enum review_path path, struct text body, struct arena *arena,
                          struct out *out, struct judgement *ret_judgement) {
    if (body.len == 4 && memcmp(body.ptr, "hang", 4) == 0)
        while (!atomic_load(&released)) usleep(1000);
    review_judge(state, path, body, arena, out, ret_judgement);
}

static void *send_hang(void *argument) {
    struct tls_client *client = argument;
    tls_client_post(client, "/validate?timeout=30s", "hang", 4);
    return NULL;
}

Test(server, a_worker_that_hangs_fails_livez_while_the_other_serves, .timeout = 60) {
    struct server_rig rig;
    server_rig_init(&rig);
    rig.options.judge = judge_or_hang;
    server_rig_start(&rig);
    struct tls_client *hanging = server_rig_connect(&rig);
    pthread_t thread;
    pthread_create(&thread, NULL, send_hang, hanging);
    const char *page;
    int status = 200;
    int seconds = 0;
    for (; status == 200 && seconds < 30; seconds++) {
        sleep(1);
        status = server_rig_status(&rig, "/livez", &page);
        struct tls_client *client = server_rig_connect(&rig);
        cr_expect_eq(post(client, good_body()), 200);
        tls_client_free(client);
    }
    cr_expect_eq(status, 503, "after %d s", seconds);
    cr_expect_not_null(strstr(page, "[-]workers failed: "), "%s", page);
    cr_expect_eq(server_rig_status(&rig, "/readyz", NULL), 200);
    atomic_store(&released, true);
    pthread_join(thread, NULL);
    for (int i = 0; i < 500 && status != 200; i++) {
        usleep(10000);
        status = server_rig_status(&rig, "/livez", &page);
    }
    cr_expect_eq(status, 200, "well again: %s", page);
    tls_client_free(hanging);
    server_rig_stop(&rig);
}

struct drain_call {
    struct server_rig *rig;
    bool drained;
};

static void *drain(void *argument) {
    struct drain_call *call = argument;
    call->drained = http_server_drain(call->rig->server, 10000);
    return NULL;
}

Test(server, the_drain_answers_what_is_in_and_closes_the_rest, .timeout = 60) {
    struct server_rig rig;
    server_rig_init(&rig);
    rig.options.judge = judge_or_hang;
    server_rig_start(&rig);
    struct tls_client *idle = server_rig_connect(&rig);
    cr_expect_eq(post(idle, good_body()), 200);
    struct tls_client *busy = server_rig_connect(&rig);
    struct text body = good_body();
    char head[200];
    int head_bytes = snprintf(head, sizeof head, HEAD JSON "Content-Length: %zu\r\n\r\n", body.len);
    tls_client_send(busy, head, (size_t)head_bytes);

    http_server_begin_drain(rig.server);
    const char *page;
    cr_expect_eq(server_rig_status(&rig, "/readyz", &page), 503);
    cr_expect_not_null(strstr(page, "[-]shutdown failed"), "%s", page);
    cr_expect_eq(server_rig_status(&rig, "/livez", NULL), 200);
    struct tls_client *late = server_rig_connect(&rig);
    cr_expect_eq(post(late, good_body()), 200, "still served during the delay");
    cr_expect_not_null(strstr(tls_client_head(late), "Connection: close"));
    tls_client_free(late);

    struct drain_call call = {.rig = &rig};
    pthread_t thread;
    pthread_create(&thread, NULL, drain, &call);
    cr_expect_geq(tls_client_wait_closed(idle, 5000), 0, "an idle connection is closed");
    struct tls_client_options options = {.port = http_server_port(rig.server)};
    struct tls_client *refused = tls_client_new(&options);
    cr_expect_null(refused, "no new connections");
    tls_client_free(refused);
    tls_client_send(busy, body.ptr, body.len);
    cr_expect_eq(tls_client_answer(busy, 5000), 200, "what is in gets its answer");
    cr_expect_geq(tls_client_wait_closed(busy, 5000), 0);
    pthread_join(thread, NULL);
    cr_expect(call.drained);
    tls_client_free(idle);
    tls_client_free(busy);
    server_rig_stop(&rig);
}

Test(server, a_request_that_does_not_end_is_told_by_the_drain, .timeout = 60) {
    struct server_rig rig;
    server_rig_init(&rig);
    server_rig_start(&rig);
    struct tls_client *slow = server_rig_connect(&rig);
    const char *head = HEAD JSON "Content-Length: 100\r\n\r\n";
    tls_client_send(slow, head, strlen(head));
    for (int i = 0; i < 500 && server_rig_metric(&rig, "drawbridge_admission_in_flight") < 1; i++)
        usleep(10000);
    cr_expect_not(http_server_drain(rig.server, 300));
    tls_client_free(slow);
    server_rig_stop(&rig);
}

Test(server, resets_in_every_phase_leave_nothing_behind, .timeout = 120) {
    struct server_rig rig;
    server_rig_init(&rig);
    server_rig_start(&rig);
    struct text body = good_body();
    char request[4096];
    int len =
        snprintf(request, sizeof request, HEAD JSON "Content-Length: %zu\r\n\r\n%s", body.len, body.ptr);
    static const struct linger reset = {.l_onoff = 1, .l_linger = 0};
    for (int i = 0; i < 120; i++) {
        struct tls_client_options options = {.port = http_server_port(rig.server), .plain = i % 4 == 0};
        struct tls_client *client = tls_client_new(&options);
        cr_assert_not_null(client);
        size_t sent = (size_t)(i * len / 120);
        tls_client_send(client, request, options.plain ? sent % 7 : i % 4 == 1 ? (size_t)len : sent);
        setsockopt(tls_client_socket(client), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        close(dup(tls_client_socket(client)));
        tls_client_free(client);
    }
    for (int i = 0; i < 500 && server_rig_metric(&rig, "drawbridge_connections") > 0; i++) usleep(10000);
    cr_expect_eq(server_rig_metric(&rig, "drawbridge_connections"), 0);
    cr_expect_eq(server_rig_metric(&rig, "drawbridge_admission_in_flight"), 0);
    cr_expect_eq(server_rig_metric(&rig, "drawbridge_admission_in_flight_bytes"), 0);
    struct tls_client *client = server_rig_connect(&rig);
    cr_expect_eq(post(client, body), 200);
    tls_client_free(client);
    server_rig_stop(&rig);
}

Test(server, more_callers_than_connections_wait_and_none_is_lost, .timeout = 120) {
    struct server_rig rig;
    server_rig_init(&rig);
    rig.options.connections = 8;
    rig.options.deadlines.tls_begin_ms = 500;
    server_rig_start(&rig);
    struct tls_client_options plain = {.port = http_server_port(rig.server), .plain = true};
    struct tls_client *silent[40];
    struct tls_client *open = server_rig_connect(&rig);
    for (size_t i = 0; i < 40; i++) silent[i] = tls_client_new(&plain);
    cr_expect_eq(post(open, good_body()), 200, "an open connection is served");
    struct tls_client *late = server_rig_connect(&rig);
    cr_expect_eq(post(late, good_body()), 200, "a new one after those before it were cut");
    for (size_t i = 0; i < 40; i++) {
        cr_expect_geq(tls_client_wait_closed(silent[i], 10000), 0);
        tls_client_free(silent[i]);
    }
    tls_client_free(open);
    tls_client_free(late);
    server_rig_stop(&rig);
}

// Whichever threads hold them.
Test(server, one_caller_has_so_many_connections_and_no_more, .timeout = 60) {
    enum { MOST = 5 };
    struct server_rig rig;
    server_rig_init(&rig);
    rig.options.connections_per_ip = MOST;
    server_rig_start(&rig);
    struct tls_client_options plain = {.port = http_server_port(rig.server), .plain = true};
    struct tls_client *open[MOST];
    for (int i = 0; i < MOST; i++) open[i] = server_rig_connect(&rig);
    struct tls_client *refused = tls_client_new(&plain);
    cr_assert_not_null(refused);
    cr_expect_geq(tls_client_wait_closed(refused, 300), 0, "cut at once, before any deadline");
    tls_client_free(refused);
    cr_expect_eq(server_rig_metric(&rig, "drawbridge_connections"), MOST);
    tls_client_free(open[0]);
    for (int i = 0; i < 500 && server_rig_metric(&rig, "drawbridge_connections") > MOST - 1; i++)
        usleep(10000);
    open[0] = server_rig_connect(&rig);
    for (int i = 0; i < MOST; i++) tls_client_free(open[i]);
    server_rig_stop(&rig);
}

Test(server, callers_that_stir_all_at_once_stop_no_thread, .timeout = 120) {
    enum { CALLERS = 700 };
    struct server_rig rig;
    server_rig_init(&rig);
    rig.options.connections = 300;
    rig.options.threads = 1;
    rig.options.deadlines.tls_begin_ms = 400;
    server_rig_start(&rig);
    struct tls_client_options plain = {.port = http_server_port(rig.server), .plain = true};
    static struct tls_client *silent[CALLERS];
    for (size_t i = 0; i < CALLERS; i++) {
        silent[i] = tls_client_new(&plain);
        cr_assert_not_null(silent[i], "%zu", i);
    }
    for (size_t i = 0; i < CALLERS; i++) {
        cr_assert_geq(tls_client_wait_closed(silent[i], 10000), 0, "%zu was left open", i);
        tls_client_free(silent[i]);
    }
    for (int i = 0; i < 500 && server_rig_metric(&rig, "drawbridge_connections") > 0; i++) usleep(10000);
    cr_expect_eq(server_rig_metric(&rig, "drawbridge_connections"), 0);
    cr_expect_eq(server_rig_metric(&rig, "drawbridge_deadline_closes_total{phase=\"tls_begin\"}"), CALLERS);
    server_rig_stop(&rig);
}
