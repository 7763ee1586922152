// SPDX-License-Identifier: Apache-2.0
// TLS: the certificate at each handshake, and who may call when callers are verified.
#include "server/http/server_internal.h"
#include "server/log.h"

// How long a good verdict about a caller's certificate stands on its connection.
#define TRUST_MS 5000

int tls_certificate(gnutls_session_t session, const gnutls_datum_t *issuers, int issuer_count,
                    const gnutls_pk_algorithm_t *algorithms, int algorithm_count, gnutls_pcert_st **ret_chain,
                    unsigned int *ret_chain_count, gnutls_privkey_t *ret_key) {
    (void)issuers;
    (void)issuer_count;
    (void)algorithms;
    (void)algorithm_count;
    // MHD keeps its connection in the session; the greeting has just been read.
    struct connection *record = connection_of(gnutls_session_get_ptr(session));
    if (record == NULL) return -1;
    struct http_server *server = record->owner;
    sweeper_tls_began(&server->sweeper, record);
    if (atomic_load_explicit(&server->verifier, memory_order_relaxed) != NULL) {
        // No names of CAs are sent: they would be stale after a change, and tell more than they need.
        gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUEST);
        gnutls_certificate_send_x509_rdn_sequence(session, 1);
    }
    struct source_pair pair;
    if (!source_current(server->options.source, &pair)) return -1;
    *ret_chain = pair.chain;
    *ret_chain_count = pair.chain_count;
    *ret_key = pair.key;
    return 0;
}

bool tls_caller_is_trusted(struct http_server *server, struct MHD_Connection *connection,
                           struct connection *record, int64_t now_ms) {
    struct client_verifier *verifier = atomic_load_explicit(&server->verifier, memory_order_acquire);
    if (verifier == NULL) return true;
    uint64_t generation = client_verifier_generation(verifier);
    if (record->client_trusted_ms != 0 && record->client_generation == generation &&
        now_ms - record->client_trusted_ms < TRUST_MS)
        return true;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    unsigned count = 0;
    const gnutls_datum_t *chain =
        info == NULL ? NULL : gnutls_certificate_get_peers((gnutls_session_t)info->tls_session, &count);
    if (chain == NULL) count = 0;
    enum client_verdict verdict = client_verify(verifier, chain, count, time(NULL));
    if (verdict == CLIENT_TRUSTED) {
        record->client_trusted_ms = now_ms;
        record->client_generation = generation;
        return true;
    }
    record->client_trusted_ms = 0;
    metrics_count_client(&server->metrics, verdict);
    log_info(1, "http", "Caller refused", LOG_STRING("reason", client_verdict_name(verdict)));
    return false;
}
