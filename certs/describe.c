// SPDX-License-Identifier: Apache-2.0
// Reading the facts out of a certificate.
#include "certs/describe.h"

#include <arpa/inet.h>
#include <string.h>

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/x509v3.h>

#include "certs/key.h"
#include "certs/pem.h"

#define NAME_BYTES_LIMIT 1024

static struct text name_text(struct arena *arena, const X509_NAME *name) {
    BIO *out = BIO_new(BIO_s_mem());
    char *bytes = NULL;
    struct text result = {0};
    // Most significant part last, as RFC 2253, but UTF-8 as it stands.
    unsigned long form = XN_FLAG_RFC2253 & ~(unsigned long)ASN1_STRFLGS_ESC_MSB;
    if (out != NULL && X509_NAME_print_ex(out, name, 0, form) >= 0) {
        long len = BIO_get_mem_data(out, &bytes);
        if (len > 0) result = text_printable(arena, (struct text){bytes, (size_t)len}, NAME_BYTES_LIMIT);
    }
    BIO_free(out);
    return result;
}

static struct text hex_text(struct arena *arena, const unsigned char *bytes, size_t len) {
    char *out = arena_alloc(arena, 2 * len + 1);
    if (out == NULL) return (struct text){0};
    for (size_t i = 0; i < len; i++) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    return (struct text){out, 2 * len};
}

static struct text serial_text(struct arena *arena, X509 *certificate) {
    BIGNUM *number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), NULL);
    char *hex = number == NULL ? NULL : BN_bn2hex(number);
    struct text text = hex == NULL ? (struct text){0} : text_copy(arena, text_of(hex));
    OPENSSL_free(hex);
    BN_free(number);
    return text;
}

static struct text alternative_text(struct arena *arena, const GENERAL_NAME *name) {
    int type;
    const ASN1_STRING *value = GENERAL_NAME_get0_value(name, &type);
    const char *kind = type == GEN_DNS ? "dns" : type == GEN_URI ? "uri" : type == GEN_EMAIL ? "email" : NULL;
    if (kind != NULL) {
        struct text raw = {(const char *)ASN1_STRING_get0_data(value), (size_t)ASN1_STRING_length(value)};
        struct text shown = text_printable(arena, raw, NAME_BYTES_LIMIT);
        return text_format(arena, "%s:%.*s", kind, TEXT_ARG(shown));
    }
    int len = type == GEN_IPADD ? ASN1_STRING_length(value) : 0;
    char address[INET6_ADDRSTRLEN];
    if ((len == 4 || len == 16) && inet_ntop(len == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(value),
                                             address, sizeof address) != NULL)
        return text_format(arena, "ip:%s", address);
    return text_format(arena, "other:%d", type);
}

static void read_names(X509 *certificate, struct arena *arena, struct certificate_facts *facts) {
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    int count = sk_GENERAL_NAME_num(names); // -1 when there are none
    if (count > 0) {
        size_t kept = count > DESCRIBE_NAMES_LIMIT ? DESCRIBE_NAMES_LIMIT : (size_t)count;
        facts->names = arena_zalloc(arena, kept, sizeof *facts->names);
        facts->names_left_out_count = (size_t)count - kept;
        for (size_t i = 0; facts->names != NULL && i < kept; i++)
            facts->names[facts->name_count++] = alternative_text(arena, sk_GENERAL_NAME_value(names, (int)i));
    }
    GENERAL_NAMES_free(names);
}

bool certificate_describe(X509 *certificate, struct arena *arena, struct certificate_facts *ret_facts,
                          struct fault *fault) {
    struct certificate_facts facts = {0};
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned digest_bytes = 0;
    char key[80];
    if (!asn1_time_seconds(X509_get0_notBefore(certificate), &facts.not_before) ||
        !asn1_time_seconds(X509_get0_notAfter(certificate), &facts.not_after))
        return fault_set(fault, FAULT_INPUT, "the certificate has no readable dates");
    facts.subject = name_text(arena, X509_get_subject_name(certificate));
    facts.issuer = name_text(arena, X509_get_issuer_name(certificate));
    facts.serial = serial_text(arena, certificate);
    EVP_PKEY *public_key = X509_get0_pubkey(certificate);
    facts.algorithm =
        text_copy(arena, text_of(public_key == NULL ? "unknown" : key_describe(public_key, key, sizeof key)));
    int signature = X509_get_signature_nid(certificate);
    facts.signature = text_copy(arena, text_of(signature == NID_undef ? "unknown" : OBJ_nid2sn(signature)));
    if (X509_digest(certificate, EVP_sha256(), digest, &digest_bytes) == 1)
        facts.sha256 = hex_text(arena, digest, digest_bytes);
    facts.is_ca = X509_check_ca(certificate) == 1;
    facts.path_length = X509_get_pathlen(certificate);
    uint32_t usage = X509_get_extended_key_usage(certificate); // all bits when there is no such extension
    facts.server_auth = (usage & XKU_SSL_SERVER) != 0;
    facts.client_auth = (usage & XKU_SSL_CLIENT) != 0;
    read_names(certificate, arena, &facts);
    if (arena->poisoned) return fault_set(fault, FAULT_MEMORY, "out of memory");
    *ret_facts = facts;
    return true;
}
