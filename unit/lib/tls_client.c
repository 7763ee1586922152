// SPDX-License-Identifier: Apache-2.0
// A caller in tests, on GnuTLS.
#include "unit/lib/tls_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define STEP_MS      10000
#define BUFFER_BYTES ((size_t)256 << 10)

struct tls_client {
    int fd;
    bool plain;
    gnutls_session_t session;
    gnutls_certificate_credentials_t credentials;
    char *buffer; // BUFFER_BYTES
    size_t len;
    size_t head_bytes; // of the last answer, its blank line included
    char *body;
};

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool connect_to(struct tls_client *client, uint16_t port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    client->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval step = {.tv_sec = STEP_MS / 1000};
    return client->fd >= 0 && setsockopt(client->fd, SOL_SOCKET, SO_SNDTIMEO, &step, sizeof step) == 0 &&
           setsockopt(client->fd, SOL_SOCKET, SO_RCVTIMEO, &step, sizeof step) == 0 &&
           connect(client->fd, (struct sockaddr *)&address, sizeof address) == 0;
}

static bool shake_hands(struct tls_client *client, const struct tls_client_options *options) {
    if (gnutls_certificate_allocate_credentials(&client->credentials) != 0 ||
        gnutls_init(&client->session, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL) != 0)
        return false;
    if (options->cert_file != NULL &&
        gnutls_certificate_set_x509_key_file(client->credentials, options->cert_file, options->key_file,
                                             GNUTLS_X509_FMT_PEM) != 0)
        return false;
    const char *where;
    if ((options->priorities == NULL
             ? gnutls_set_default_priority(client->session)
             : gnutls_priority_set_direct(client->session, options->priorities, &where)) != 0)
        return false;
    gnutls_credentials_set(client->session, GNUTLS_CRD_CERTIFICATE, client->credentials);
    gnutls_transport_set_int(client->session, client->fd);
    gnutls_handshake_set_timeout(client->session, STEP_MS);
    int result;
    do result = gnutls_handshake(client->session);
    while (result < 0 && gnutls_error_is_fatal(result) == 0);
    return result == 0;
}

struct tls_client *tls_client_new(const struct tls_client_options *options) {
    struct tls_client *client = calloc(1, sizeof *client);
    if (client == NULL) return NULL;
    client->fd = -1;
    client->plain = options->plain;
    client->buffer = calloc(1, BUFFER_BYTES + 1);
    if (client->buffer != NULL && connect_to(client, options->port) &&
        (client->plain || shake_hands(client, options)))
        return client;
    tls_client_free(client);
    return NULL;
}

void tls_client_free(struct tls_client *client) {
    if (client == NULL) return;
    if (client->session != NULL) gnutls_deinit(client->session);
    if (client->credentials != NULL) gnutls_certificate_free_credentials(client->credentials);
    if (client->fd >= 0) close(client->fd);
    free(client->buffer);
    free(client);
}

int tls_client_socket(const struct tls_client *client) {
    return client->fd;
}

bool tls_client_send(struct tls_client *client, const char *bytes, size_t len) {
    while (len > 0) {
        ssize_t sent = client->plain ? send(client->fd, bytes, len, MSG_NOSIGNAL)
                                     : gnutls_record_send(client->session, bytes, len);
        if (!client->plain && (sent == GNUTLS_E_AGAIN || sent == GNUTLS_E_INTERRUPTED)) continue;
        if (sent <= 0) return false;
        bytes += sent;
        len -= (size_t)sent;
    }
    return true;
}

// Reads once: bytes, 0 at the end or a broken connection, -1 when the time has passed.
static ssize_t read_some(struct tls_client *client, char *bytes, size_t room, int64_t end_ms) {
    for (;;) {
        bool pending = !client->plain && gnutls_record_check_pending(client->session) > 0;
        int64_t left_ms = end_ms - now_ms();
        struct pollfd ready = {.fd = client->fd, .events = POLLIN};
        if (!pending && (left_ms <= 0 || poll(&ready, 1, (int)left_ms) == 0)) return -1;
        ssize_t got = client->plain ? recv(client->fd, bytes, room, 0)
                                    : gnutls_record_recv(client->session, bytes, room);
        if (!client->plain && (got == GNUTLS_E_AGAIN || got == GNUTLS_E_INTERRUPTED)) continue;
        return got < 0 ? 0 : got;
    }
}

static size_t length_of(const char *head) {
    const char *length = strcasestr(head, "\r\nContent-Length:");
    return length == NULL ? 0 : strtoul(length + strlen("\r\nContent-Length:"), NULL, 10);
}

int tls_client_answer(struct tls_client *client, int wait_ms) {
    int64_t end_ms = now_ms() + wait_ms;
    client->len = 0;
    client->head_bytes = 0;
    client->body = client->buffer;
    for (;;) {
        client->buffer[client->len] = '\0';
        char *blank = strstr(client->buffer, "\r\n\r\n");
        if (blank != NULL) {
            client->head_bytes = (size_t)(blank + 4 - client->buffer);
            client->body = client->buffer + client->head_bytes;
            char kept = *client->body;
            *client->body = '\0';
            size_t want = client->head_bytes + length_of(client->buffer);
            *client->body = kept;
            if (client->len >= want) return (int)strtol(client->buffer + strlen("HTTP/1.1 "), NULL, 10);
        }
        if (client->len == BUFFER_BYTES) return 0;
        ssize_t got = read_some(client, client->buffer + client->len, BUFFER_BYTES - client->len, end_ms);
        if (got <= 0) return (int)got;
        client->len += (size_t)got;
    }
}

const char *tls_client_body(const struct tls_client *client) {
    return client->body;
}

const char *tls_client_head(const struct tls_client *client) {
    return client->buffer;
}

int64_t tls_client_wait_closed(struct tls_client *client, int wait_ms) {
    int64_t begin_ms = now_ms();
    char bytes[4096];
    for (;;) {
        ssize_t got = read_some(client, bytes, sizeof bytes, begin_ms + wait_ms);
        if (got < 0) return -1;
        if (got == 0) return now_ms() - begin_ms;
    }
}

int tls_client_post(struct tls_client *client, const char *path, const char *body, size_t len) {
    char head[512];
    int head_bytes = snprintf(head, sizeof head,
                              "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                              "Content-Length: %zu\r\n\r\n",
                              path, len);
    if (!tls_client_send(client, head, (size_t)head_bytes) || !tls_client_send(client, body, len)) return 0;
    return tls_client_answer(client, STEP_MS);
}
