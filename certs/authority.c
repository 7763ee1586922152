// SPDX-License-Identifier: Apache-2.0
// Making CAs and leaves with OpenSSL.
#include "certs/authority.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "certs/key.h"
#include "certs/pem.h"

#define DNS_NAME_LIMIT    253
#define DNS_LABEL_LIMIT   63
#define COMMON_NAME_LIMIT 64 // RFC 5280, ub-common-name
#define CLUSTER_NAME      "svc.cluster.local"
#define AUTHORITY_NAME    "drawbridge-ca"

struct authority {
    X509 *certificate;
    EVP_PKEY *key;
    time_t not_before;
    time_t not_after;
};

void pem_pair_release(struct pem_pair *pair) {
    if (pair == NULL) return;
    if (pair->key != NULL) OPENSSL_cleanse(pair->key, pair->key_bytes);
    free(pair->key);
    free(pair->certificate);
    *pair = (struct pem_pair){0};
}

void authority_free(struct authority *authority) {
    if (authority == NULL) return;
    X509_free(authority->certificate);
    EVP_PKEY_free(authority->key);
    free(authority);
}

time_t authority_not_before(const struct authority *authority) {
    return authority->not_before;
}

X509 *authority_certificate(const struct authority *authority) {
    return authority->certificate;
}

time_t authority_not_after(const struct authority *authority) {
    return authority->not_after;
}

// Copies what a BIO holds, NUL-terminated.
static bool copy_out(BIO *bio, char **ret_text, size_t *ret_bytes, struct fault *fault) {
    size_t len = BIO_ctrl_pending(bio);
    char *text = malloc(len + 1);
    size_t got = 0;
    if (text == NULL) return fault_set(fault, FAULT_MEMORY, "out of memory");
    if (BIO_read_ex(bio, text, len, &got) != 1 || got != len) {
        free(text);
        return openssl_fault(fault, FAULT_STATE, "PEM could not be written");
    }
    text[len] = '\0';
    *ret_text = text;
    *ret_bytes = len;
    return true;
}

// Keys pass through memory that OpenSSL wipes when it is given back.
static bool export_pair(X509 *certificate, EVP_PKEY *key, struct pem_pair *ret_pair, struct fault *fault) {
    struct pem_pair pair = {0};
    BIO *certificate_out = BIO_new(BIO_s_mem());
    BIO *key_out = BIO_new(BIO_s_secmem());
    bool fine = certificate_out != NULL && key_out != NULL &&
                PEM_write_bio_X509(certificate_out, certificate) == 1 &&
                PEM_write_bio_PKCS8PrivateKey(key_out, key, NULL, NULL, 0, NULL, NULL) == 1;
    if (!fine) openssl_fault(fault, FAULT_STATE, "PEM could not be written");
    fine = fine && copy_out(certificate_out, &pair.certificate, &pair.certificate_bytes, fault) &&
           copy_out(key_out, &pair.key, &pair.key_bytes, fault);
    BIO_free(certificate_out);
    BIO_free(key_out);
    if (!fine) {
        pem_pair_release(&pair);
        return false;
    }
    *ret_pair = pair;
    return true;
}

bool authority_export(const struct authority *authority, struct pem_pair *ret_pair, struct fault *fault) {
    return export_pair(authority->certificate, authority->key, ret_pair, fault);
}

// A positive number of a fixed length, at least 64 bits of it random (CA/Browser Forum, 7.1).
static bool set_serial(X509 *certificate) {
    unsigned char bytes[AUTHORITY_SERIAL_BYTES];
    if (RAND_bytes(bytes, sizeof bytes) != 1) return false;
    bytes[0] = (unsigned char)((bytes[0] & 0x7F) | 0x40);
    BIGNUM *number = BN_bin2bn(bytes, sizeof bytes, NULL);
    bool set = number != NULL && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != NULL;
    BN_free(number);
    return set;
}

static bool add_extension(X509 *certificate, X509 *issuer, int nid, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    bool added = extension != NULL && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return added;
}

static bool set_common_name(X509_NAME *name, const char *text) {
    return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, (const unsigned char *)text, -1, -1, 0) == 1;
}

// The parts that CA and leaf share: version, serial, times, key.
static bool begin_certificate(X509 *certificate, EVP_PKEY *key, time_t not_before, time_t not_after) {
    return X509_set_version(certificate, X509_VERSION_3) == 1 && set_serial(certificate) &&
           ASN1_TIME_set(X509_getm_notBefore(certificate), not_before) != NULL &&
           ASN1_TIME_set(X509_getm_notAfter(certificate), not_after) != NULL &&
           X509_set_pubkey(certificate, key) == 1;
}

static bool check_lifetime(int64_t lifetime_s, struct fault *fault) {
    if (lifetime_s >= 1 && lifetime_s <= (int64_t)AUTHORITY_DAYS_LIMIT * AUTHORITY_DAY_S) return true;
    return fault_set(fault, FAULT_USAGE, "a life of %lld seconds; from 1 second to %d days is allowed",
                     (long long)lifetime_s, AUTHORITY_DAYS_LIMIT);
}

static bool make_ca(struct authority *authority) {
    X509 *certificate = authority->certificate;
    X509_NAME *name = X509_get_subject_name(certificate);
    return begin_certificate(certificate, authority->key, authority->not_before, authority->not_after) &&
           X509_NAME_add_entry_by_txt(name, "O", MBSTRING_UTF8, (const unsigned char *)"drawbridge.dev", -1,
                                      -1, 0) == 1 &&
           set_common_name(name, AUTHORITY_NAME) && X509_set_issuer_name(certificate, name) == 1 &&
           add_extension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
           add_extension(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign") &&
           add_extension(certificate, certificate, NID_subject_key_identifier, "hash") &&
           add_extension(certificate, certificate, NID_authority_key_identifier, "keyid") &&
           X509_sign(certificate, authority->key, key_digest(authority->key)) > 0;
}

bool authority_new(enum key_algorithm algorithm, time_t now, int64_t lifetime_s,
                   struct authority **ret_authority, struct fault *fault) {
    if (!check_lifetime(lifetime_s, fault)) return false;
    struct authority *authority = calloc(1, sizeof *authority);
    if (authority == NULL) return fault_set(fault, FAULT_MEMORY, "out of memory");
    authority->not_before = now - AUTHORITY_BACKDATE_S;
    authority->not_after = now + (time_t)lifetime_s;
    authority->certificate = X509_new();
    bool fine = key_new(algorithm, &authority->key, fault);
    if (fine && (authority->certificate == NULL || !make_ca(authority)))
        fine = openssl_fault(fault, FAULT_STATE, "a CA could not be made");
    if (!fine) {
        authority_free(authority);
        return false;
    }
    *ret_authority = authority;
    return true;
}

// Takes the first certificate of the chain, and what must hold of it.
static bool adopt(struct authority *authority, STACK_OF(X509) * chain, struct fault *fault) {
    authority->certificate = sk_X509_shift(chain);
    X509 *certificate = authority->certificate;
    if (X509_check_ca(certificate) != 1 || (X509_get_key_usage(certificate) & KU_KEY_CERT_SIGN) == 0)
        return fault_set(fault, FAULT_INPUT, "the certificate is not a CA that may sign");
    if (X509_check_private_key(certificate, authority->key) != 1)
        return openssl_fault(fault, FAULT_INPUT, "the key does not belong to the CA certificate");
    if (!asn1_time_seconds(X509_get0_notBefore(certificate), &authority->not_before) ||
        !asn1_time_seconds(X509_get0_notAfter(certificate), &authority->not_after))
        return fault_set(fault, FAULT_INPUT, "the CA certificate has no readable dates");
    return true;
}

bool authority_load(struct text certificate_pem, struct text key_pem, struct authority **ret_authority,
                    struct fault *fault) {
    STACK_OF(X509) *chain = NULL;
    if (!pem_parse_chain(certificate_pem, &chain, fault)) return fault_wrap(fault, "CA certificate");
    struct authority *authority = calloc(1, sizeof *authority);
    bool fine = authority != NULL;
    if (!fine) fault_set(fault, FAULT_MEMORY, "out of memory");
    if (fine && !pem_parse_key(key_pem, &authority->key, fault)) fine = fault_wrap(fault, "CA key");
    fine = fine && adopt(authority, chain, fault);
    pem_chain_free(chain);
    if (!fine) {
        authority_free(authority);
        return false;
    }
    *ret_authority = authority;
    return true;
}

// One or more labels of letters, digits and inner dashes; the first may be "*".
static bool is_dns_name(const char *name) {
    size_t len = strlen(name), label = 0;
    if (len == 0 || len > DNS_NAME_LIMIT) return false;
    for (size_t i = 0; i <= len; i++) {
        char c = name[i];
        if (c == '.' || c == '\0') {
            if (label == 0 || label > DNS_LABEL_LIMIT || name[i - 1] == '-') return false;
            label = 0;
            continue;
        }
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        bool star = c == '*' && i == 0 && name[1] == '.' && len > 2;
        if (!letter && !star && !(c == '-' && label > 0)) return false;
        label++;
    }
    return true;
}

static bool push_name(GENERAL_NAMES *names, int type, const void *bytes, size_t len) {
    GENERAL_NAME *name = GENERAL_NAME_new();
    ASN1_STRING *value = ASN1_STRING_type_new(type == GEN_IPADD ? V_ASN1_OCTET_STRING : V_ASN1_IA5STRING);
    if (name == NULL || value == NULL || ASN1_STRING_set(value, bytes, (int)len) != 1) {
        GENERAL_NAME_free(name);
        ASN1_STRING_free(value);
        return false;
    }
    GENERAL_NAME_set0_value(name, type, value);
    if (sk_GENERAL_NAME_push(names, name) > 0) return true;
    GENERAL_NAME_free(name);
    return false;
}

// Adds a DNS name or an address.
static bool add_host(GENERAL_NAMES *names, const char *host, struct fault *fault) {
    unsigned char address[16];
    bool pushed;
    if (sk_GENERAL_NAME_num(names) >= AUTHORITY_NAMES_LIMIT)
        return fault_set(fault, FAULT_LIMIT, "more than %d names", AUTHORITY_NAMES_LIMIT);
    if (inet_pton(AF_INET, host, address) == 1)
        pushed = push_name(names, GEN_IPADD, address, 4);
    else if (inet_pton(AF_INET6, host, address) == 1)
        pushed = push_name(names, GEN_IPADD, address, 16);
    else if (is_dns_name(host))
        pushed = push_name(names, GEN_DNS, host, strlen(host));
    else
        return fault_set(fault, FAULT_USAGE, "\"%.80s\" is neither a DNS name nor an IP address", host);
    return pushed ? true : fault_set(fault, FAULT_MEMORY, "out of memory");
}

static bool is_label(const char *text) {
    return strlen(text) <= DNS_LABEL_LIMIT && strchr(text, '.') == NULL && text[0] != '*' &&
           is_dns_name(text);
}

static bool add_service(GENERAL_NAMES *names, const char *service, const char *namespace,
                        struct fault *fault) {
    if (namespace == NULL || namespace[0] == '\0')
        return fault_set(fault, FAULT_USAGE, "a Service needs its namespace");
    if (!is_label(service))
        return fault_set(fault, FAULT_USAGE, "\"%.80s\" is no name of a Service", service);
    if (!is_label(namespace))
        return fault_set(fault, FAULT_USAGE, "\"%.80s\" is no name of a namespace", namespace);
    char host[DNS_NAME_LIMIT + 1];
    if (!add_host(names, service, fault)) return false;
    snprintf(host, sizeof host, "%s.%s", service, namespace);
    if (!add_host(names, host, fault)) return false;
    snprintf(host, sizeof host, "%s.%s.svc", service, namespace);
    if (!add_host(names, host, fault)) return false;
    snprintf(host, sizeof host, "%s.%s." CLUSTER_NAME, service, namespace);
    return add_host(names, host, fault);
}

static bool collect_names(const struct leaf_request *request, GENERAL_NAMES *names, struct fault *fault) {
    if (request->service != NULL && !add_service(names, request->service, request->namespace, fault))
        return false;
    for (size_t i = 0; i < request->host_count; i++)
        if (!add_host(names, request->hosts[i], fault)) return false;
    if (sk_GENERAL_NAME_num(names) == 0)
        return fault_set(fault, FAULT_USAGE, "a certificate needs a Service or at least one host");
    return true;
}

// Verifiers read the SANs only. The common name is for people, and left out where it would be too long.
static bool make_leaf(const struct authority *authority, X509 *leaf, EVP_PKEY *key, GENERAL_NAMES *names,
                      const char *title, time_t not_before, time_t not_after) {
    bool titled = strlen(title) < COMMON_NAME_LIMIT;
    return begin_certificate(leaf, key, not_before, not_after) &&
           (!titled || set_common_name(X509_get_subject_name(leaf), title)) &&
           X509_set_issuer_name(leaf, X509_get_subject_name(authority->certificate)) == 1 &&
           add_extension(leaf, authority->certificate, NID_basic_constraints, "critical,CA:FALSE") &&
           add_extension(leaf, authority->certificate, NID_key_usage, "critical,digitalSignature") &&
           add_extension(leaf, authority->certificate, NID_ext_key_usage, "serverAuth") &&
           X509_add1_ext_i2d(leaf, NID_subject_alt_name, names, titled ? 0 : 1, X509V3_ADD_DEFAULT) == 1 &&
           add_extension(leaf, authority->certificate, NID_subject_key_identifier, "hash") &&
           add_extension(leaf, authority->certificate, NID_authority_key_identifier, "keyid") &&
           X509_sign(leaf, authority->key, key_digest(authority->key)) > 0;
}

bool authority_issue(const struct authority *authority, const struct leaf_request *request, time_t now,
                     struct pem_pair *ret_pair, struct fault *fault) {
    if (!check_lifetime(request->lifetime_s, fault)) return false;
    if (now >= authority->not_after)
        return fault_set(fault, FAULT_STATE, "the CA has expired; make a new one");
    if (now < authority->not_before)
        return fault_set(fault, FAULT_STATE, "the CA is not valid yet; is this machine's clock right?");
    time_t not_before = now - AUTHORITY_BACKDATE_S, not_after = now + (time_t)request->lifetime_s;
    if (not_before < authority->not_before) not_before = authority->not_before;
    if (not_after > authority->not_after) not_after = authority->not_after;
    const char *title = request->service != NULL  ? request->service
                        : request->host_count > 0 ? request->hosts[0]
                                                  : "";
    GENERAL_NAMES *names = sk_GENERAL_NAME_new_null();
    X509 *leaf = X509_new();
    EVP_PKEY *key = NULL;
    bool fine = names != NULL && leaf != NULL;
    if (!fine) fault_set(fault, FAULT_MEMORY, "out of memory");
    fine = fine && collect_names(request, names, fault) && key_new(request->algorithm, &key, fault);
    if (fine && !make_leaf(authority, leaf, key, names, title, not_before, not_after))
        fine = openssl_fault(fault, FAULT_STATE, "a certificate could not be made");
    fine = fine && export_pair(leaf, key, ret_pair, fault);
    GENERAL_NAMES_free(names);
    X509_free(leaf);
    EVP_PKEY_free(key);
    return fine;
}
