// SPDX-License-Identifier: Apache-2.0
// The pair in force, its retired predecessors, and the files that it comes from. OpenSSL judges the files;
// GnuTLS gets exactly what was judged, as DER, so that the two never read one file differently.
#include "certs/source.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/crypto.h>
#include <openssl/x509.h>

#include "certs/file_watch.h"
#include "certs/key.h"
#include "certs/pem.h"

#define CHAIN_COUNT_LIMIT 10 // certificates that are sent in each handshake

struct pair {
    struct pair *next; // among the retired, newest first
    gnutls_pcert_st *chain;
    unsigned chain_count;
    gnutls_privkey_t key;
    time_t not_before;
    time_t not_after;
    time_t chain_not_after;
    int64_t free_at_ms; // of the monotonic clock, once retired
};

struct source {
    char *cert_file; // NULL: pairs come from source_put only
    char *key_file;
    int64_t handshake_deadline_ms;
    void (*told)(void *context, enum source_event event, const struct fault *fault);
    void *context;
    struct file_watch *watch;
    pthread_mutex_t lock; // guards what follows
    struct pair *current;
    struct pair *retired;
    uint64_t rotations_ok_count;
    uint64_t rotations_failed_count;
    uint64_t retired_count;
    bool refused;
    char why[FAULT_TEXT_BYTES];
    bool read_once;
};

static int64_t monotonic_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// GnuTLS wipes the key's numbers when it gives the key back.
static void pair_free(struct pair *pair) {
    if (pair == NULL) return;
    for (unsigned i = 0; i < pair->chain_count; i++) gnutls_pcert_deinit(&pair->chain[i]);
    free(pair->chain);
    if (pair->key != NULL) gnutls_privkey_deinit(pair->key);
    free(pair);
}

static bool gnutls_fault(struct fault *fault, const char *what, int code) {
    return fault_set(fault, code == GNUTLS_E_MEMORY_ERROR ? FAULT_MEMORY : FAULT_INPUT, "%s: %s", what,
                     gnutls_strerror(code));
}

static bool import_certificate(struct pair *pair, X509 *certificate, struct fault *fault) {
    unsigned char *der = NULL;
    int len = i2d_X509(certificate, &der);
    if (len < 0) return openssl_fault(fault, FAULT_INPUT, "a certificate cannot be written");
    gnutls_datum_t datum = {der, (unsigned)len};
    int code = gnutls_pcert_import_x509_raw(&pair->chain[pair->chain_count], &datum, GNUTLS_X509_FMT_DER, 0);
    OPENSSL_free(der);
    if (code != 0) return gnutls_fault(fault, "a certificate cannot be served", code);
    pair->chain_count++;
    time_t not_after;
    if (!asn1_time_seconds(X509_get0_notAfter(certificate), &not_after))
        return fault_set(fault, FAULT_INPUT, "a certificate has no readable dates");
    if (pair->chain_count == 1 || not_after < pair->chain_not_after) pair->chain_not_after = not_after;
    return true;
}

static bool import_key(struct pair *pair, EVP_PKEY *key, struct fault *fault) {
    PKCS8_PRIV_KEY_INFO *info = EVP_PKEY2PKCS8(key);
    unsigned char *der = NULL;
    int len = info == NULL ? -1 : i2d_PKCS8_PRIV_KEY_INFO(info, &der);
    PKCS8_PRIV_KEY_INFO_free(info);
    if (len < 0) return openssl_fault(fault, FAULT_INPUT, "the key cannot be written");
    gnutls_datum_t datum = {der, (unsigned)len};
    int code = gnutls_privkey_init(&pair->key);
    if (code == 0) code = gnutls_privkey_import_x509_raw(pair->key, &datum, GNUTLS_X509_FMT_DER, NULL, 0);
    OPENSSL_clear_free(der, (size_t)len);
    return code == 0 ? true : gnutls_fault(fault, "the key cannot be served", code);
}

// Makes a pair of what was parsed, when the two belong together and can be served.
static bool pair_new(STACK_OF(X509) * chain, EVP_PKEY *key, struct pair **ret_pair, struct fault *fault) {
    X509 *leaf = sk_X509_value(chain, 0);
    int count = sk_X509_num(chain);
    if (count > CHAIN_COUNT_LIMIT)
        return fault_set(fault, FAULT_LIMIT, "a chain of %d certificates; at most %d are served", count,
                         CHAIN_COUNT_LIMIT);
    if (X509_check_private_key(leaf, key) != 1)
        return openssl_fault(fault, FAULT_INPUT, "the key does not belong to the certificate");
    if (!key_is_servable(key, fault)) return false;
    struct pair *pair = calloc(1, sizeof *pair);
    if (pair == NULL) return fault_set(fault, FAULT_MEMORY, "out of memory");
    pair->chain = calloc((size_t)count, sizeof *pair->chain);
    bool fine = pair->chain != NULL;
    if (!fine) fault_set(fault, FAULT_MEMORY, "out of memory");
    for (int i = 0; fine && i < count; i++) fine = import_certificate(pair, sk_X509_value(chain, i), fault);
    fine = fine && import_key(pair, key, fault);
    if (fine && (!asn1_time_seconds(X509_get0_notBefore(leaf), &pair->not_before) ||
                 !asn1_time_seconds(X509_get0_notAfter(leaf), &pair->not_after)))
        fine = fault_set(fault, FAULT_INPUT, "the certificate has no readable dates");
    if (!fine) {
        pair_free(pair);
        return false;
    }
    *ret_pair = pair;
    return true;
}

// Puts a pair in force. Errors: an expired one never takes the place of one that is still valid.
static bool take_over(struct source *source, struct pair *pair, struct fault *fault) {
    time_t now = time(NULL);
    pthread_mutex_lock(&source->lock);
    struct pair *old = source->current;
    bool worse = old != NULL && old->not_after > now && pair->not_after <= now;
    if (!worse) {
        source->current = pair;
        if (old != NULL) {
            // A handshake that has just asked may still sign with the old key.
            old->free_at_ms = monotonic_ms() + 2 * source->handshake_deadline_ms;
            old->next = source->retired;
            source->retired = old;
            source->retired_count++;
            source->rotations_ok_count++;
        }
    }
    pthread_mutex_unlock(&source->lock);
    if (!worse) return true;
    pair_free(pair);
    return fault_set(fault, FAULT_INPUT, "the new certificate has expired and the old one has not");
}

static void free_retired(struct source *source, int64_t now_ms) {
    struct pair *due = NULL;
    pthread_mutex_lock(&source->lock);
    // Newest first and all with the same delay: from the first that is due on, all are.
    struct pair **link = &source->retired;
    while (*link != NULL && (*link)->free_at_ms > now_ms) link = &(*link)->next;
    due = *link;
    *link = NULL;
    for (const struct pair *pair = due; pair != NULL; pair = pair->next) source->retired_count--;
    pthread_mutex_unlock(&source->lock);
    while (due != NULL) {
        struct pair *next = due->next;
        pair_free(due);
        due = next;
    }
}

static void note_refusal(struct source *source, const struct fault *fault) {
    pthread_mutex_lock(&source->lock);
    source->refused = fault != NULL;
    source->why[0] = '\0';
    if (fault != NULL) {
        source->rotations_failed_count++;
        memcpy(source->why, fault->text, sizeof source->why);
    }
    pthread_mutex_unlock(&source->lock);
}

static bool load_files(struct source *source, struct pair **ret_pair, struct fault *fault) {
    STACK_OF(X509) *chain = NULL;
    EVP_PKEY *key = NULL;
    bool loaded =
        pem_load_chain(source->cert_file, &chain, fault) && pem_load_key(source->key_file, &key, fault);
    if (loaded && !pair_new(chain, key, ret_pair, fault))
        loaded = fault_wrap(fault, "\"%s\", \"%s\"", source->cert_file, source->key_file);
    pem_chain_free(chain);
    EVP_PKEY_free(key);
    return loaded;
}

static void files_changed(void *argument) {
    struct source *source = argument;
    struct pair *pair = NULL;
    struct fault fault = {0};
    bool taken = load_files(source, &pair, &fault) && take_over(source, pair, &fault);
    note_refusal(source, taken ? NULL : &fault);
    pthread_mutex_lock(&source->lock);
    bool first = !source->read_once; // the caller of source_new asks for the facts itself
    source->read_once = true;
    pthread_mutex_unlock(&source->lock);
    if (!first && source->told != NULL)
        source->told(source->context, taken ? SOURCE_ROTATED : SOURCE_REFUSED, &fault);
}

static void woken(void *argument) {
    free_retired(argument, monotonic_ms());
}

static bool follow_files(struct source *source, int64_t poll_ms, struct fault *fault) {
    const char *paths[2] = {source->cert_file, source->key_file};
    struct file_watch_request request = {.paths = paths,
                                         .path_count = 2,
                                         .limit_bytes = PEM_CHAIN_BYTES_LIMIT,
                                         .poll_ms = poll_ms,
                                         .changed = files_changed,
                                         .tick = woken,
                                         .context = source};
    return file_watch_new(&request, &source->watch, fault);
}

bool source_new(const struct source_files *files, struct source **ret_source, struct fault *fault) {
    bool has_cert = files->cert_file != NULL && files->cert_file[0] != '\0';
    bool has_key = files->key_file != NULL && files->key_file[0] != '\0';
    if (has_cert != has_key)
        return fault_set(fault, FAULT_USAGE, "certificate and key are given together or not at all");
    struct source *source = calloc(1, sizeof *source);
    if (source == NULL) return fault_set(fault, FAULT_MEMORY, "out of memory");
    pthread_mutex_init(&source->lock, NULL);
    source->handshake_deadline_ms = files->handshake_deadline_ms;
    source->told = files->told;
    source->context = files->context;
    bool fine = true;
    if (has_cert) {
        source->cert_file = strndup(files->cert_file, strlen(files->cert_file));
        source->key_file = strndup(files->key_file, strlen(files->key_file));
        fine = source->cert_file != NULL && source->key_file != NULL;
        if (!fine) fault_set(fault, FAULT_MEMORY, "out of memory");
        fine = fine && follow_files(source, files->poll_ms, fault);
    }
    if (!fine) {
        source_free(source);
        return false;
    }
    *ret_source = source;
    return true;
}

void source_free(struct source *source) {
    if (source == NULL) return;
    file_watch_free(source->watch);
    free_retired(source, INT64_MAX);
    pair_free(source->current);
    pthread_mutex_destroy(&source->lock);
    free(source->cert_file);
    free(source->key_file);
    free(source);
}

bool source_current(struct source *source, struct source_pair *ret_pair) {
    pthread_mutex_lock(&source->lock);
    const struct pair *pair = source->current;
    if (pair != NULL) *ret_pair = (struct source_pair){pair->chain, pair->chain_count, pair->key};
    pthread_mutex_unlock(&source->lock);
    return pair != NULL;
}

bool source_put(struct source *source, struct text certificate_pem, struct text key_pem,
                struct fault *fault) {
    STACK_OF(X509) *chain = NULL;
    EVP_PKEY *key = NULL;
    struct pair *pair = NULL;
    struct fault why = {0};
    bool put = pem_parse_chain(certificate_pem, &chain, &why) && pem_parse_key(key_pem, &key, &why) &&
               pair_new(chain, key, &pair, &why) && take_over(source, pair, &why);
    pem_chain_free(chain);
    EVP_PKEY_free(key);
    note_refusal(source, put ? NULL : &why);
    free_retired(source, monotonic_ms());
    if (!put && fault != NULL) *fault = why;
    return put;
}

void source_tidy(struct source *source) {
    free_retired(source, monotonic_ms());
}

void source_facts(struct source *source, struct source_facts *ret_facts) {
    struct source_facts facts = {0};
    pthread_mutex_lock(&source->lock);
    const struct pair *pair = source->current;
    facts.of_files = source->cert_file != NULL;
    facts.usable = pair != NULL;
    if (pair != NULL) {
        facts.not_before = pair->not_before;
        facts.not_after = pair->not_after;
        facts.chain_not_after = pair->chain_not_after;
    }
    facts.rotations_ok_count = source->rotations_ok_count;
    facts.rotations_failed_count = source->rotations_failed_count;
    facts.retired_count = source->retired_count;
    facts.refused = source->refused;
    memcpy(facts.why, source->why, sizeof facts.why);
    pthread_mutex_unlock(&source->lock);
    *ret_facts = facts;
}
