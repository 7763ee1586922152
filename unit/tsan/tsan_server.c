// SPDX-License-Identifier: Apache-2.0
// The server under load, for the thread sanitizer: callers over TLS that answer, hang up or are cut at a
// deadline, while certificates are replaced, deadlines change, metrics are read, and at last the drain.
#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "certs/authority.h"
#include "server/http/server.h"

#define CALLERS 6
#define ROUNDS  60

static const char claim[] =
    "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/"
    "v1\",\"request\":{\"uid\":\"u-1\",\"kind\":{"
    "\"group\":\"resource.k8s.io\",\"version\":\"v1\",\"kind\":\"ResourceClaim\"},\"resource\":{\"group\":"
    "\"resource.k8s.io\",\"version\":\"v1\",\"resource\":\"resourceclaims\"},\"operation\":\"CREATE\","
    "\"object\":{"
    "\"metadata\":{\"name\":\"c\",\"namespace\":\"team\"},\"spec\":{\"devices\":{\"requests\":[{\"name\":"
    "\"gpu\","
    "\"exactly\":{\"deviceClassName\":\"gpus\"}}]}}}}}";

static struct http_server *server;
static struct source *source;
static _Atomic unsigned answered_count;
static _Atomic unsigned wrong_count;

static void fail(const char *what, const char *why) {
    fprintf(stderr, "tsan_server: %s: %s\n", what, why);
    exit(1);
}

static size_t swallow(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes;
    (void)context;
    return size * count;
}

static void judge_body(void *state, enum review_path path, struct text body, struct arena *arena,
                       struct out *out, struct judgement *ret_judgement) {
    review_judge(state, path, body, arena, out, ret_judgement);
}

static long call(CURL *curl, const char *url, const char *body, size_t len, struct curl_slist *headers) {
    long status = 0;
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, swallow);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, 20000L);
    if (body != NULL) {
        curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)len);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    }
    if (curl_easy_perform(curl) == CURLE_OK) curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

// Some keep their connection, some take a new one each time, one sends what is no review, one large bodies.
static void *run_caller(void *argument) {
    unsigned number = *(unsigned *)argument;
    char url[64];
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    snprintf(url, sizeof url, "https://127.0.0.1:%u/validate?timeout=10s", http_server_port(server));
    size_t len = number == 5 ? 400000 : sizeof claim - 1;
    char *body = malloc(len);
    if (body == NULL || headers == NULL) fail("caller", "no memory");
    memset(body, ' ', len);
    memcpy(body, claim, sizeof claim - 1);
    if (number == 4) body[0] = '[';
    CURL *curl = curl_easy_init();
    for (int round = 0; round < ROUNDS; round++) {
        curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, number % 2 == 0 ? 0L : 1L);
        long status = call(curl, url, body, len, headers);
        atomic_fetch_add(&answered_count, 1);
        if (status != (number == 4 ? 400 : 200)) atomic_fetch_add(&wrong_count, 1);
    }
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
    free(body);
    return NULL;
}

// Connections that say nothing or little, until they are cut.
static void *run_silent(void *argument) {
    (void)argument;
    for (int round = 0; round < 30; round++) {
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(http_server_port(server))};
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        struct timeval wait = {.tv_sec = 5};
        char byte = 0x16;
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
        if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) {
            if (round % 2 == 0 && send(fd, &byte, 1, MSG_NOSIGNAL) < 0) perror("send");
            if (round % 3 != 0 && recv(fd, &byte, 1, 0) < 0 && round % 3 == 1) perror("recv");
        }
        close(fd);
    }
    return NULL;
}

static void *run_scraper(void *argument) {
    (void)argument;
    static const char *const pages[] = {"livez", "readyz?verbose", "metrics"};
    CURL *curl = curl_easy_init();
    for (int round = 0; round < 60; round++) {
        char url[64];
        snprintf(url, sizeof url, "http://127.0.0.1:%u/%s", http_server_status_port(server),
                 pages[round % 3]);
        if (call(curl, url, NULL, 0, NULL) != 200) atomic_fetch_add(&wrong_count, 1);
    }
    curl_easy_cleanup(curl);
    return NULL;
}

static struct pem_pair issue(const struct authority *authority) {
    static const char *const hosts[] = {"localhost"};
    struct leaf_request request = {
        .algorithm = KEY_ECDSA_P256, .hosts = hosts, .host_count = 1, .lifetime_s = AUTHORITY_DAY_S};
    struct pem_pair pair;
    struct fault fault;
    if (!authority_issue(authority, &request, time(NULL), &pair, &fault)) fail("certificate", fault.text);
    return pair;
}

static void put(const struct authority *authority) {
    struct pem_pair pair = issue(authority);
    struct fault fault;
    if (!source_put(source, (struct text){pair.certificate, pair.certificate_bytes},
                    (struct text){pair.key, pair.key_bytes}, &fault))
        fail("certificate", fault.text);
    pem_pair_release(&pair);
}

static void start(struct judge *judge, struct health *health, struct collectors *collectors) {
    const struct http_options options = {
        .bind_address = "127.0.0.1",
        .status_bind_address = "127.0.0.1:0",
        .threads = 3,
        .connections = 60,
        .connection_bytes = 64u << 10,
        .request_bytes = 1u << 20,
        .in_flight_bytes = 8u << 20,
        .small_review_bytes = 4096,
        .review_memory_bytes = 16u << 20,
        .deadlines = {.tls_begin_ms = 300,
                      .header_ms = 20000,
                      .request_ms = 20000,
                      .request_most_ms = 20000,
                      .idle_ms = 20000},
        .source = source,
        .judge = judge_body,
        .judge_state = judge,
        .health = health,
        .collectors = collectors,
    };
    struct fault fault;
    if (!http_server_new(&options, &server, &fault)) fail("server", fault.text);
}

int main(void) {
    static struct judge judge = {.gate.minor = MINOR_36};
    static struct health health;
    static struct collectors collectors;
    struct authority *authority;
    struct fault fault;
    pthread_t threads[CALLERS + 2];
    unsigned numbers[CALLERS];
    curl_global_init(CURL_GLOBAL_DEFAULT);
    health_init(&health);
    collectors_init(&collectors);
    const struct source_files none = {
        .cert_file = "/nowhere/tls.crt", .key_file = "/nowhere/tls.key", .handshake_deadline_ms = 20000};
    if (!authority_new(KEY_ECDSA_P256, time(NULL), AUTHORITY_DAY_S, &authority, &fault) ||
        !source_new(&none, &source, &fault))
        fail("certificates", fault.text);
    put(authority);
    start(&judge, &health, &collectors);
    for (unsigned i = 0; i < CALLERS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, run_caller, &numbers[i]);
    }
    pthread_create(&threads[CALLERS], NULL, run_silent, NULL);
    pthread_create(&threads[CALLERS + 1], NULL, run_scraper, NULL);
    for (int i = 0; i < 10; i++) {
        put(authority);
        const struct deadlines deadlines = {.tls_begin_ms = 200 + i,
                                            .header_ms = 20000,
                                            .request_ms = 20000,
                                            .request_most_ms = 20000,
                                            .idle_ms = 20000};
        http_server_set_deadlines(server, &deadlines);
        atomic_store(&judge.fail_open, i % 2 == 0);
        http_server_tick(server);
        usleep(50000);
    }
    for (unsigned i = 0; i < CALLERS + 2; i++) pthread_join(threads[i], NULL);
    bool drained = http_server_drain(server, 20000);
    http_server_free(server);
    source_free(source);
    authority_free(authority);
    collectors_release(&collectors);
    health_release(&health);
    curl_global_cleanup();
    printf("tsan_server: %u calls answered, %u of them not as wanted\n", answered_count, wrong_count);
    if (!drained) fail("drain", "connections were left");
    return answered_count == CALLERS * ROUNDS && wrong_count == 0 ? 0 : 1;
}
