// SPDX-License-Identifier: Apache-2.0
// Verification by OpenSSL, with the strictness of Go's verifier.
#include "certs/verify.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "certs/pem.h"

#define SECURITY_LEVEL 1 // no SHA-1, no RSA below 1,024 bits

bool verify_store_new(STACK_OF(X509) * authorities, X509_STORE **ret_store, struct fault *fault) {
    X509_STORE *store = X509_STORE_new();
    if (store == NULL) return fault_set(fault, FAULT_MEMORY, "out of memory");
    for (int i = 0; i < sk_X509_num(authorities); i++)
        if (X509_STORE_add_cert(store, sk_X509_value(authorities, i)) != 1) {
            X509_STORE_free(store);
            return openssl_fault(fault, FAULT_STATE, "a CA cannot be trusted");
        }
    *ret_store = store;
    return true;
}

int verify_chain(X509_STORE *store, STACK_OF(X509) * chain, int purpose, time_t now) {
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    int result = X509_V_ERR_OUT_OF_MEM;
    if (context != NULL && X509_STORE_CTX_init(context, store, sk_X509_value(chain, 0), chain) == 1) {
        X509_VERIFY_PARAM *wanted = X509_STORE_CTX_get0_param(context);
        X509_VERIFY_PARAM_set_depth(wanted, VERIFY_DEPTH_LIMIT);
        X509_VERIFY_PARAM_set_auth_level(wanted, SECURITY_LEVEL);
        X509_VERIFY_PARAM_set_time(wanted, now);
        if (X509_VERIFY_PARAM_set_flags(wanted, X509_V_FLAG_PARTIAL_CHAIN) == 1 &&
            X509_VERIFY_PARAM_set_purpose(wanted, purpose) == 1) {
            int verified = X509_verify_cert(context);
            result = X509_STORE_CTX_get_error(context);
            // A failure without a reason is never taken for success.
            if (verified != 1 && result == X509_V_OK) result = X509_V_ERR_UNSPECIFIED;
        }
    }
    X509_STORE_CTX_free(context);
    ERR_clear_error();
    return result;
}

static bool has_names(X509 *leaf) {
    return X509_get_ext_by_NID(leaf, NID_subject_alt_name, -1) >= 0;
}

static bool holds_for(X509 *leaf, const char *host, struct fault *fault) {
    if (!has_names(leaf))
        return fault_set(fault, FAULT_STATE,
                         "the certificate has its name only as common name, which clients no longer read; "
                         "it needs subject alternative names");
    // -2 is "not an address at all".
    int as_address = X509_check_ip_asc(leaf, host, 0);
    if (as_address == 1) return true;
    if (as_address == -2 &&
        X509_check_host(leaf, host, 0,
                        X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS,
                        NULL) == 1)
        return true;
    return fault_set(fault, FAULT_STATE, "the certificate does not hold for \"%.120s\"", host);
}

bool verify_server(STACK_OF(X509) * authorities, STACK_OF(X509) * chain, const char *host, time_t now,
                   struct fault *fault) {
    X509_STORE *store = NULL;
    if (!verify_store_new(authorities, &store, fault)) return false;
    int result = verify_chain(store, chain, X509_PURPOSE_SSL_SERVER, now);
    X509_STORE_free(store);
    if (result == X509_V_ERR_OUT_OF_MEM) return fault_set(fault, FAULT_MEMORY, "out of memory");
    if (result != X509_V_OK)
        return fault_set(fault, FAULT_STATE, "%s", X509_verify_cert_error_string(result));
    if (host == NULL || host[0] == '\0') return true;
    return holds_for(sk_X509_value(chain, 0), host, fault);
}
