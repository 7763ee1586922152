// SPDX-License-Identifier: Apache-2.0
// What the files of the server share.
#ifndef DRAWBRIDGE_HTTP_SERVER_INTERNAL_H
#define DRAWBRIDGE_HTTP_SERVER_INTERNAL_H

#include <sys/types.h>
#include <sys/socket.h>

#include <microhttpd.h>

#include "server/http/listen.h"
#include "server/http/server.h"
#include "server/http/sweeper.h"
#include "server/http/workers.h"
#include "server/http/workspace.h"

struct http_server {
    struct http_options options;
    _Atomic(struct client_verifier *) verifier;
    struct sweeper sweeper;
    struct account account;
    struct workspace workspace;
    struct metrics metrics;
    struct workers workers;
    struct MHD_Daemon *status_daemon;
    struct MHD_Response *refusals[REFUSAL_COUNT];
    int listen_fd; // -1 once MHD has it
    int status_fd;
    char address[LISTEN_ADDRESS_BYTES];
    char status_address[LISTEN_ADDRESS_BYTES];
    uint16_t port;
    uint16_t status_port;
    _Atomic bool closing;  // answers end their connection
    _Atomic bool refusing; // new connections are turned away
};

// MHD's callbacks; cls is the server.
enum MHD_Result handler_call(void *cls, struct MHD_Connection *connection, const char *url,
                             const char *method, const char *version, const char *upload_data,
                             size_t *upload_data_size, void **request_context);
void handler_completed(void *cls, struct MHD_Connection *connection, void **request_context,
                       enum MHD_RequestTerminationCode code);
enum MHD_Result status_call(void *cls, struct MHD_Connection *connection, const char *url, const char *method,
                            const char *version, const char *upload_data, size_t *upload_data_size,
                            void **request_context);
void status_completed(void *cls, struct MHD_Connection *connection, void **request_context,
                      enum MHD_RequestTerminationCode code);
void connection_changed(void *cls, struct MHD_Connection *connection, void **socket_context,
                        enum MHD_ConnectionNotificationCode code);
void status_connection_changed(void *cls, struct MHD_Connection *connection, void **socket_context,
                               enum MHD_ConnectionNotificationCode code);

// What it does: makes the answers that need no request. Errors: false, no memory.
bool handler_prepare(struct http_server *server) __attribute__((warn_unused_result));
void handler_release(struct http_server *server);

// What they do: add and remove the server's own checks and collectors. Errors: false, the lists are full.
bool status_prepare(struct http_server *server) __attribute__((warn_unused_result));
void status_release(struct http_server *server);

// The sweeper's record of a connection; NULL when there was no memory for one.
struct connection *connection_of(struct MHD_Connection *connection);

// MHD's callback for the certificate of a handshake.
int tls_certificate(gnutls_session_t session, const gnutls_datum_t *issuers, int issuer_count,
                    const gnutls_pk_algorithm_t *algorithms, int algorithm_count, gnutls_pcert_st **ret_chain,
                    unsigned int *ret_chain_count, gnutls_privkey_t *ret_key);

// What it does: whether the caller of a connection may send reviews; counts and logs a refusal.
bool tls_caller_is_trusted(struct http_server *server, struct MHD_Connection *connection,
                           struct connection *record, int64_t now_ms);

// TLS 1.2 with ephemeral keys and authenticated ciphers, and TLS 1.3; nothing else.
#define TLS_PRIORITIES                                                                                       \
    "NONE:+VERS-TLS1.3:+VERS-TLS1.2:+ECDHE-ECDSA:+ECDHE-RSA:+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305:"   \
    "+AEAD:+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1:+SIGN-ECDSA-SECP256R1-SHA256:"                    \
    "+SIGN-ECDSA-SECP384R1-SHA384:+SIGN-ECDSA-SHA256:+SIGN-ECDSA-SHA384:+SIGN-EDDSA-ED25519:"                \
    "+SIGN-RSA-PSS-RSAE-SHA256:+SIGN-RSA-PSS-RSAE-SHA384:+SIGN-RSA-SHA256:+SIGN-RSA-SHA384:+CTYPE-X509:"     \
    "%SERVER_PRECEDENCE:%NO_TICKETS"

#endif
