// SPDX-License-Identifier: Apache-2.0
// Merging instead of replacing: whoever serves a certificate of an older CA goes on being trusted.
#include "certs/bundle.h"

#include <stdlib.h>

#include <openssl/bio.h>
#include <openssl/pem.h>

#include "certs/pem.h"

bool bundle_read(struct text pem, STACK_OF(X509) * *ret_bundle, struct fault *fault) {
    struct fault why;
    if (pem_parse_chain(pem, ret_bundle, &why)) return true;
    if (why.code == FAULT_MEMORY) return fault_set(fault, FAULT_MEMORY, "out of memory");
    *ret_bundle = sk_X509_new_null();
    return *ret_bundle != NULL || fault_set(fault, FAULT_MEMORY, "out of memory");
}

bool bundle_has(const STACK_OF(X509) * bundle, const X509 *certificate) {
    for (int i = 0; i < sk_X509_num(bundle); i++)
        if (X509_cmp(sk_X509_value(bundle, i), certificate) == 0) return true;
    return false;
}

// A certificate whose end cannot be read has ended.
static time_t end_of(const X509 *certificate) {
    time_t end;
    return asn1_time_seconds(X509_get0_notAfter(certificate), &end) ? end : 0;
}

static bool add(STACK_OF(X509) * bundle, X509 *certificate) {
    if (X509_up_ref(certificate) != 1) return false;
    if (sk_X509_push(bundle, certificate) > 0) return true;
    X509_free(certificate);
    return false;
}

static bool add_live(STACK_OF(X509) * bundle, const STACK_OF(X509) * from, time_t now) {
    for (int i = 0; i < sk_X509_num(from); i++) {
        X509 *certificate = sk_X509_value(from, i);
        if (end_of(certificate) <= now || bundle_has(bundle, certificate)) continue;
        if (!add(bundle, certificate)) return false;
    }
    return true;
}

// The place of the certificate that can be done without first; -1: all are wanted.
static int least_of(const STACK_OF(X509) * bundle, const STACK_OF(X509) * wanted) {
    int least = -1;
    for (int i = 0; i < sk_X509_num(bundle); i++) {
        const X509 *certificate = sk_X509_value(bundle, i);
        if (bundle_has(wanted, certificate)) continue;
        if (least < 0 || end_of(certificate) < end_of(sk_X509_value(bundle, least))) least = i;
    }
    return least;
}

static bool is_same(const STACK_OF(X509) * a, const STACK_OF(X509) * b) {
    bool same = sk_X509_num(a) == sk_X509_num(b);
    for (int i = 0; same && i < sk_X509_num(a); i++)
        same = X509_cmp(sk_X509_value(a, i), sk_X509_value(b, i)) == 0;
    return same;
}

bool bundle_merge(const STACK_OF(X509) * present, const STACK_OF(X509) * wanted, time_t now,
                  STACK_OF(X509) * *ret_bundle, bool *ret_changed, struct fault *fault) {
    STACK_OF(X509) *merged = sk_X509_new_null();
    if (merged == NULL || !add_live(merged, present, now) || !add_live(merged, wanted, now)) {
        pem_chain_free(merged);
        return fault_set(fault, FAULT_MEMORY, "out of memory");
    }
    for (int least = 0; least >= 0 && sk_X509_num(merged) > BUNDLE_COUNT_LIMIT;) {
        least = least_of(merged, wanted);
        if (least >= 0) X509_free(sk_X509_delete(merged, least));
    }
    *ret_changed = !is_same(present, merged);
    *ret_bundle = merged;
    return true;
}

bool bundle_write(const STACK_OF(X509) * bundle, char **ret_pem, size_t *ret_bytes, struct fault *fault) {
    BIO *out = BIO_new(BIO_s_mem());
    bool fine = out != NULL;
    for (int i = 0; fine && i < sk_X509_num(bundle); i++)
        fine = PEM_write_bio_X509(out, sk_X509_value(bundle, i)) == 1;
    size_t len = fine ? BIO_ctrl_pending(out) : 0, got = 0;
    char *pem = fine ? malloc(len + 1) : NULL;
    fine = pem != NULL && (len == 0 || (BIO_read_ex(out, pem, len, &got) == 1 && got == len));
    BIO_free(out);
    if (!fine) {
        free(pem);
        return openssl_fault(fault, FAULT_STATE, "PEM could not be written");
    }
    pem[len] = '\0';
    *ret_pem = pem;
    *ret_bytes = len;
    return true;
}
