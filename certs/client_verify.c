// SPDX-License-Identifier: Apache-2.0
// Judging callers' chains against a CA file that is followed.
#include "certs/client_verify.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "certs/file_watch.h"
#include "certs/pem.h"
#include "certs/verify.h"
#include "validators/core/text.h"

static const char *const verdict_names[CLIENT_VERDICTS] = {
    "trusted", "no_certificate", "too_long",    "malformed",  "untrusted",
    "expired", "not_yet_valid",  "wrong_usage", "wrong_name", "unavailable"};

const char *client_verdict_name(enum client_verdict verdict) {
    return verdict < CLIENT_VERDICTS ? verdict_names[verdict] : "unavailable";
}

struct names {
    char **items;
    size_t count;
};

struct client_verifier {
    char *ca_file;
    void (*told)(void *context, const struct fault *fault);
    void *context;
    struct file_watch *watch;
    pthread_mutex_t lock; // guards what follows
    X509_STORE *store;    // counted; readers take a reference
    struct names names;
    uint64_t generation;
    bool first_read; // the first read's fault is handed to client_verifier_new
    struct fault fault;
};

static void names_release(struct names *names) {
    for (size_t i = 0; i < names->count; i++) free(names->items[i]);
    free(names->items);
    *names = (struct names){0};
}

static bool names_copy(const char *const *from, size_t count, struct names *ret_names, struct fault *fault) {
    struct names names = {calloc(count + 1, sizeof(char *)), 0};
    if (names.items == NULL) return fault_set(fault, FAULT_MEMORY, "out of memory");
    for (; names.count < count; names.count++) {
        names.items[names.count] = strndup(from[names.count], strlen(from[names.count]));
        if (names.items[names.count] == NULL) {
            names_release(&names);
            return fault_set(fault, FAULT_MEMORY, "out of memory");
        }
    }
    *ret_names = names;
    return true;
}

static bool load(const char *path, X509_STORE **ret_store, struct fault *fault) {
    STACK_OF(X509) *authorities = NULL;
    if (!pem_load_chain(path, &authorities, fault)) return false;
    bool made = verify_store_new(authorities, ret_store, fault);
    pem_chain_free(authorities);
    return made ? true : fault_wrap(fault, "\"%s\"", path);
}

// The CA file is not what it was. A file that cannot be read leaves the old CAs in force.
static void reload(void *argument) {
    struct client_verifier *verifier = argument;
    X509_STORE *store = NULL;
    struct fault fault = {0};
    bool loaded = load(verifier->ca_file, &store, &fault);
    pthread_mutex_lock(&verifier->lock);
    X509_STORE *old = loaded ? verifier->store : NULL;
    if (loaded) {
        verifier->store = store;
        verifier->generation++;
    }
    bool first = verifier->first_read;
    verifier->first_read = false;
    verifier->fault = fault;
    pthread_mutex_unlock(&verifier->lock);
    X509_STORE_free(old);
    if (!first && verifier->told != NULL) verifier->told(verifier->context, loaded ? NULL : &fault);
}

bool client_verifier_new(const struct client_verifier_files *files, struct client_verifier **ret_verifier,
                         struct fault *fault) {
    if (files->ca_file == NULL || files->ca_file[0] == '\0')
        return fault_set(fault, FAULT_USAGE, "no file of CAs for callers");
    struct client_verifier *verifier = calloc(1, sizeof *verifier);
    if (verifier == NULL) return fault_set(fault, FAULT_MEMORY, "out of memory");
    pthread_mutex_init(&verifier->lock, NULL);
    verifier->told = files->told;
    verifier->context = files->context;
    verifier->first_read = true;
    verifier->ca_file = strndup(files->ca_file, strlen(files->ca_file));
    bool fine = verifier->ca_file != NULL;
    if (!fine) fault_set(fault, FAULT_MEMORY, "out of memory");
    fine = fine && names_copy(files->subject_names, files->subject_name_count, &verifier->names, fault);
    const char *paths[1] = {verifier->ca_file};
    struct file_watch_request request = {.paths = paths,
                                         .path_count = 1,
                                         .limit_bytes = PEM_CHAIN_BYTES_LIMIT,
                                         .poll_ms = files->poll_ms,
                                         .changed = reload,
                                         .context = verifier};
    fine = fine && file_watch_new(&request, &verifier->watch, fault);
    if (fine && client_verifier_generation(verifier) == 0) {
        pthread_mutex_lock(&verifier->lock);
        if (fault != NULL) *fault = verifier->fault;
        pthread_mutex_unlock(&verifier->lock);
        fine = false;
    }
    if (!fine) {
        client_verifier_free(verifier);
        return false;
    }
    *ret_verifier = verifier;
    return true;
}

void client_verifier_free(struct client_verifier *verifier) {
    if (verifier == NULL) return;
    file_watch_free(verifier->watch);
    X509_STORE_free(verifier->store);
    names_release(&verifier->names);
    free(verifier->ca_file);
    pthread_mutex_destroy(&verifier->lock);
    free(verifier);
}

uint64_t client_verifier_generation(struct client_verifier *verifier) {
    pthread_mutex_lock(&verifier->lock);
    uint64_t generation = verifier->generation;
    pthread_mutex_unlock(&verifier->lock);
    return generation;
}

bool client_verifier_names(struct client_verifier *verifier, const char *const *names, size_t count,
                           struct fault *fault) {
    struct names copy;
    if (!names_copy(names, count, &copy, fault)) return false;
    pthread_mutex_lock(&verifier->lock);
    struct names old = verifier->names;
    verifier->names = copy;
    verifier->generation++; // what was judged by the old names is void
    pthread_mutex_unlock(&verifier->lock);
    names_release(&old);
    return true;
}

// Reads the DER certificates. Lengths were checked before.
static enum client_verdict parse(const gnutls_datum_t *chain, unsigned count, STACK_OF(X509) * parsed) {
    for (unsigned i = 0; i < count; i++) {
        const unsigned char *at = chain[i].data;
        X509 *certificate = d2i_X509(NULL, &at, (long)chain[i].size);
        ERR_clear_error();
        if (certificate == NULL) return CLIENT_MALFORMED;
        bool whole = at == chain[i].data + chain[i].size;
        if (!whole || sk_X509_push(parsed, certificate) <= 0) {
            X509_free(certificate);
            return whole ? CLIENT_UNAVAILABLE : CLIENT_MALFORMED;
        }
    }
    return CLIENT_TRUSTED;
}

static enum client_verdict verdict_of(int result) {
    switch (result) {
    case X509_V_OK: return CLIENT_TRUSTED;
    case X509_V_ERR_CERT_HAS_EXPIRED: return CLIENT_EXPIRED;
    case X509_V_ERR_CERT_NOT_YET_VALID: return CLIENT_NOT_YET_VALID;
    case X509_V_ERR_INVALID_PURPOSE: return CLIENT_WRONG_USAGE;
    case X509_V_ERR_CERT_CHAIN_TOO_LONG:
    case X509_V_ERR_PATH_LENGTH_EXCEEDED: return CLIENT_TOO_LONG;
    case X509_V_ERR_OUT_OF_MEM: return CLIENT_UNAVAILABLE;
    default: return CLIENT_UNTRUSTED;
    }
}

static bool value_is(const ASN1_STRING *value, const char *name) {
    struct text text = {(const char *)ASN1_STRING_get0_data(value), (size_t)ASN1_STRING_length(value)};
    return text_equal(text, text_of(name));
}

static bool has_common_name(X509 *leaf, const char *name) {
    X509_NAME *subject = X509_get_subject_name(leaf);
    for (int at = -1; (at = X509_NAME_get_index_by_NID(subject, NID_commonName, at)) >= 0;)
        if (value_is(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)), name)) return true;
    return false;
}

static bool has_dns_name(X509 *leaf, const char *name) {
    GENERAL_NAMES *alternatives = X509_get_ext_d2i(leaf, NID_subject_alt_name, NULL, NULL);
    bool found = false;
    for (int i = 0; !found && i < sk_GENERAL_NAME_num(alternatives); i++) {
        int type;
        const ASN1_STRING *value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(alternatives, i), &type);
        found = type == GEN_DNS && value_is(value, name);
    }
    GENERAL_NAMES_free(alternatives);
    return found;
}

// Whether one of the names is allowed. The lock is held.
static bool name_allowed(const struct client_verifier *verifier, X509 *leaf) {
    if (verifier->names.count == 0) return true;
    for (size_t i = 0; i < verifier->names.count; i++)
        if (has_common_name(leaf, verifier->names.items[i]) || has_dns_name(leaf, verifier->names.items[i]))
            return true;
    return false;
}

enum client_verdict client_verify(struct client_verifier *verifier, const gnutls_datum_t *chain,
                                  unsigned chain_count, time_t now) {
    if (chain == NULL || chain_count == 0) return CLIENT_NO_CERTIFICATE;
    if (chain_count > CLIENT_CHAIN_LIMIT) return CLIENT_TOO_LONG;
    size_t total = 0;
    for (unsigned i = 0; i < chain_count; i++) total += chain[i].size;
    if (total > CLIENT_CHAIN_BYTES_LIMIT) return CLIENT_TOO_LONG;
    STACK_OF(X509) *parsed = sk_X509_new_null();
    if (parsed == NULL) return CLIENT_UNAVAILABLE;
    enum client_verdict verdict = parse(chain, chain_count, parsed);
    pthread_mutex_lock(&verifier->lock);
    X509_STORE *store = verifier->store;
    if (store == NULL || X509_STORE_up_ref(store) != 1) store = NULL;
    pthread_mutex_unlock(&verifier->lock);
    if (verdict == CLIENT_TRUSTED && store == NULL) verdict = CLIENT_UNAVAILABLE;
    if (verdict == CLIENT_TRUSTED)
        verdict = verdict_of(verify_chain(store, parsed, X509_PURPOSE_SSL_CLIENT, now));
    X509_STORE_free(store);
    if (verdict == CLIENT_TRUSTED) {
        pthread_mutex_lock(&verifier->lock);
        if (!name_allowed(verifier, sk_X509_value(parsed, 0))) verdict = CLIENT_WRONG_NAME;
        pthread_mutex_unlock(&verifier->lock);
    }
    pem_chain_free(parsed);
    return verdict;
}
