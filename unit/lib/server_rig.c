// SPDX-License-Identifier: Apache-2.0
// An admission server for tests.
#include "unit/lib/server_rig.h"

#include <criterion/criterion.h>
#include <gnutls/x509.h>
#include <stdio.h>

#include "certs/authority.h"
#include "unit/lib/temp_files.h"

static void write_pair(const char *folder, const char *name, struct pem_pair *pair) {
    char file[32];
    snprintf(file, sizeof file, "%s.crt", name);
    test_write(folder, file, pair->certificate, pair->certificate_bytes);
    snprintf(file, sizeof file, "%s.key", name);
    test_write(folder, file, pair->key, pair->key_bytes);
    pem_pair_release(pair);
}

static void issue(const struct authority *authority, const char *folder, const char *name, const char *host) {
    const char *const hosts[] = {host};
    struct leaf_request request = {
        .algorithm = KEY_ECDSA_P256, .hosts = hosts, .host_count = 1, .lifetime_s = AUTHORITY_DAY_S};
    struct pem_pair pair;
    struct fault fault;
    cr_assert(authority_issue(authority, &request, time(NULL), &pair, &fault), "%s", fault.text);
    write_pair(folder, name, &pair);
}

// Writes what export gave, an answer of GnuTLS, into FOLDER/NAME.
static void write_datum(const char *folder, const char *name, gnutls_datum_t datum) {
    test_write(folder, name, (const char *)datum.data, datum.size);
    gnutls_free(datum.data);
}

// A caller's certificate. The authority makes none, so it is made by hand with its key.
static void issue_client(const char *folder, const struct pem_pair *ca, const char *common_name) {
    gnutls_x509_crt_t issuer;
    gnutls_x509_crt_t leaf;
    gnutls_x509_privkey_t issuer_key;
    gnutls_x509_privkey_t key;
    gnutls_datum_t ca_pem = {(unsigned char *)ca->certificate, (unsigned)ca->certificate_bytes};
    gnutls_datum_t ca_key_pem = {(unsigned char *)ca->key, (unsigned)ca->key_bytes};
    gnutls_datum_t out;
    const unsigned char serial = 77;
    bool fine = gnutls_x509_crt_init(&issuer) == 0 && gnutls_x509_crt_init(&leaf) == 0 &&
                gnutls_x509_privkey_init(&issuer_key) == 0 && gnutls_x509_privkey_init(&key) == 0 &&
                gnutls_x509_crt_import(issuer, &ca_pem, GNUTLS_X509_FMT_PEM) == 0 &&
                gnutls_x509_privkey_import2(issuer_key, &ca_key_pem, GNUTLS_X509_FMT_PEM, NULL, 0) == 0 &&
                gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA,
                                             GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0) == 0 &&
                gnutls_x509_crt_set_version(leaf, 3) == 0 &&
                gnutls_x509_crt_set_serial(leaf, &serial, 1) == 0 &&
                gnutls_x509_crt_set_dn_by_oid(leaf, GNUTLS_OID_X520_COMMON_NAME, 0, common_name,
                                              (unsigned)strlen(common_name)) == 0 &&
                gnutls_x509_crt_set_activation_time(leaf, time(NULL) - 60) == 0 &&
                gnutls_x509_crt_set_expiration_time(leaf, time(NULL) + 3600) == 0 &&
                gnutls_x509_crt_set_key(leaf, key) == 0 &&
                gnutls_x509_crt_set_key_purpose_oid(leaf, GNUTLS_KP_TLS_WWW_CLIENT, 0) == 0 &&
                gnutls_x509_crt_sign2(leaf, issuer, issuer_key, GNUTLS_DIG_SHA256, 0) == 0;
    cr_assert(fine, "no certificate for a caller");
    cr_assert_eq(gnutls_x509_crt_export2(leaf, GNUTLS_X509_FMT_PEM, &out), 0);
    write_datum(folder, "client.crt", out);
    cr_assert_eq(gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &out), 0);
    write_datum(folder, "client.key", out);
    gnutls_x509_crt_deinit(issuer);
    gnutls_x509_crt_deinit(leaf);
    gnutls_x509_privkey_deinit(issuer_key);
    gnutls_x509_privkey_deinit(key);
}

static void judge_body(void *state, enum review_path path, struct text body, struct arena *arena,
                       struct out *out, struct judgement *ret_judgement) {
    review_judge(state, path, body, arena, out, ret_judgement);
}

void server_rig_init(struct server_rig *rig) {
    struct authority *authority;
    struct pem_pair pair;
    struct fault fault;
    *rig = (struct server_rig){.folder = test_folder_new(), .judge.gate.minor = MINOR_36};
    cr_assert(authority_new(KEY_ECDSA_P256, time(NULL), AUTHORITY_DAY_S, &authority, &fault), "%s",
              fault.text);
    cr_assert(authority_export(authority, &pair, &fault), "%s", fault.text);
    issue_client(rig->folder, &pair, "kube-apiserver");
    write_pair(rig->folder, "ca", &pair);
    issue(authority, rig->folder, "tls", "localhost");
    authority_free(authority);
    struct source_files files = {.cert_file = test_path(rig->folder, "tls.crt"),
                                 .key_file = test_path(rig->folder, "tls.key"),
                                 .handshake_deadline_ms = 1000};
    cr_assert(source_new(&files, &rig->source, &fault), "%s", fault.text);
    health_init(&rig->health);
    collectors_init(&rig->collectors);
    rig->options = (struct http_options){
        .bind_address = "127.0.0.1",
        .status_bind_address = "127.0.0.1:0",
        .threads = 2,
        .connections = 64,
        .connection_bytes = 64u << 10,
        .request_bytes = 8u << 20,
        .in_flight_bytes = 64u << 20,
        .small_review_bytes = 64u << 10,
        .review_memory_bytes = 64u << 20,
        .deadlines = {.tls_begin_ms = 10000,
                      .header_ms = 10000,
                      .request_ms = 10000,
                      .request_most_ms = 30000,
                      .request_reserve_ms = 500,
                      .idle_ms = 60000},
        .source = rig->source,
        .judge = judge_body,
        .judge_state = &rig->judge,
        .health = &rig->health,
        .collectors = &rig->collectors,
    };
}

void server_rig_start(struct server_rig *rig) {
    struct fault fault;
    cr_assert(http_server_new(&rig->options, &rig->server, &fault), "%s", fault.text);
}

void server_rig_stop(struct server_rig *rig) {
    http_server_free(rig->server);
    source_free(rig->source);
    collectors_release(&rig->collectors);
    health_release(&rig->health);
    test_folder_remove(rig->folder);
}

struct tls_client *server_rig_connect(const struct server_rig *rig) {
    struct tls_client_options options = {.port = http_server_port(rig->server)};
    struct tls_client *client = tls_client_new(&options);
    cr_assert_not_null(client, "no connection");
    return client;
}

int server_rig_status(const struct server_rig *rig, const char *path, const char **ret_body) {
    static char page[1u << 20];
    char request[256];
    struct tls_client_options options = {.port = http_server_status_port(rig->server), .plain = true};
    struct tls_client *client = tls_client_new(&options);
    cr_assert_not_null(client, "no connection to the status port");
    int len = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path);
    cr_assert(tls_client_send(client, request, (size_t)len));
    int status = tls_client_answer(client, 10000);
    snprintf(page, sizeof page, "%s", tls_client_body(client));
    tls_client_free(client);
    if (ret_body != NULL) *ret_body = page;
    return status;
}

double server_rig_metric(const struct server_rig *rig, const char *series) {
    const char *page;
    cr_assert_eq(server_rig_status(rig, "/metrics", &page), 200);
    size_t len = strlen(series);
    for (const char *line = page; line != NULL && *line != '\0';) {
        if (strncmp(line, series, len) == 0 && line[len] == ' ') return strtod(line + len, NULL);
        line = strchr(line, '\n');
        if (line != NULL) line++;
    }
    return -1;
}
