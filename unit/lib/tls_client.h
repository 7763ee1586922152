// SPDX-License-Identifier: Apache-2.0
// A caller in tests that sends whatever bytes a test wants, over TLS or plain.
#ifndef DRAWBRIDGE_UNIT_TLS_CLIENT_H
#define DRAWBRIDGE_UNIT_TLS_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tls_client;

struct tls_client_options {
    uint16_t port;          // of 127.0.0.1
    bool plain;             // no TLS
    const char *priorities; // GnuTLS' words; NULL: its defaults
    const char *cert_file;  // to show when asked; NULL: none
    const char *key_file;
};

// What it does: connects and shakes hands, each step bounded by ten seconds. NULL when either fails.
// Thread: any.
struct tls_client *tls_client_new(const struct tls_client_options *options);
void tls_client_free(struct tls_client *client);

// What it does: sends all bytes. False when the other side has closed.
bool tls_client_send(struct tls_client *client, const char *bytes, size_t len);

// What it does: reads one answer with a Content-Length (or 100 Continue). Returns its status; 0 when the
// other side closed first, -1 when wait_ms passed. The body is NUL-terminated in the client's buffer.
int tls_client_answer(struct tls_client *client, int wait_ms);
const char *tls_client_body(const struct tls_client *client);
const char *tls_client_head(const struct tls_client *client);

// What it does: waits until the other side closes. Returns how long it took, -1 when it did not.
int64_t tls_client_wait_closed(struct tls_client *client, int wait_ms);

// What it does: POSTs a body to a path in one go and returns the status, as tls_client_answer.
int tls_client_post(struct tls_client *client, const char *path, const char *body, size_t len);

// The socket, for tests that break it.
int tls_client_socket(const struct tls_client *client);

#endif
