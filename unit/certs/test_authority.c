// SPDX-License-Identifier: Apache-2.0
// CAs and leaves: what is made is what a verifier accepts, and nothing else is made.
#include <string.h>
#include <time.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <openssl/bn.h>
#include <openssl/x509v3.h>

#include "certs/authority.h"
#include "certs/describe.h"
#include "certs/key.h"
#include "certs/pem.h"
#include "certs/verify.h"

#define DAY AUTHORITY_DAY_S
static const time_t NOW = 1800000000;

static struct text pem_of(const char *bytes, size_t len) {
    return (struct text){bytes, len};
}

static STACK_OF(X509) * chain_of(const struct pem_pair *pair) {
    STACK_OF(X509) *chain = NULL;
    struct fault fault = {0};
    cr_assert(pem_parse_chain(pem_of(pair->certificate, pair->certificate_bytes), &chain, &fault), "%s",
              fault.text);
    return chain;
}

struct made {
    struct authority *authority;
    struct pem_pair ca, leaf;
    STACK_OF(X509) * ca_chain, *leaf_chain;
};

static struct made make(enum key_algorithm algorithm, const struct leaf_request *request, int64_t ca_life_s) {
    struct made made = {0};
    struct fault fault = {0};
    cr_assert(authority_new(algorithm, NOW, ca_life_s, &made.authority, &fault), "%s", fault.text);
    cr_assert(authority_export(made.authority, &made.ca, &fault), "%s", fault.text);
    cr_assert(authority_issue(made.authority, request, NOW, &made.leaf, &fault), "%s", fault.text);
    made.ca_chain = chain_of(&made.ca);
    made.leaf_chain = chain_of(&made.leaf);
    return made;
}

static void made_release(struct made *made) {
    pem_chain_free(made->ca_chain);
    pem_chain_free(made->leaf_chain);
    pem_pair_release(&made->ca);
    pem_pair_release(&made->leaf);
    authority_free(made->authority);
}

ParameterizedTestParameters(authority, each_algorithm_verifies) {
    static enum key_algorithm algorithms[] = {KEY_ECDSA_P256, KEY_ECDSA_P384, KEY_RSA_2048, KEY_RSA_3072,
                                              KEY_ED25519};
    return cr_make_param_array(enum key_algorithm, algorithms, sizeof algorithms / sizeof algorithms[0]);
}

ParameterizedTest(enum key_algorithm *algorithm, authority, each_algorithm_verifies) {
    struct leaf_request request = {.algorithm = *algorithm,
                                   .service = "drawbridge",
                                   .namespace = "bridge-system",
                                   .lifetime_s = 7 * DAY};
    struct made made = make(*algorithm, &request, 365 * DAY);
    struct fault fault = {0};
    const char *names[] = {"drawbridge", "drawbridge.bridge-system", "drawbridge.bridge-system.svc",
                           "drawbridge.bridge-system.svc.cluster.local"};
    for (size_t i = 0; i < 4; i++)
        cr_expect(verify_server(made.ca_chain, made.leaf_chain, names[i], NOW, &fault), "%s: %s", names[i],
                  fault.text);
    cr_expect_not(verify_server(made.ca_chain, made.leaf_chain, "other.bridge-system.svc", NOW, &fault));
    cr_expect_not(verify_server(made.leaf_chain, made.ca_chain, NULL, NOW, &fault),
                  "a leaf must not vouch for a CA");
    EVP_PKEY *key = NULL;
    cr_assert(pem_parse_key(pem_of(made.leaf.key, made.leaf.key_bytes), &key, &fault), "%s", fault.text);
    cr_expect_eq(X509_check_private_key(sk_X509_value(made.leaf_chain, 0), key), 1);
    cr_expect(key_is_servable(key, &fault), "%s", fault.text);
    EVP_PKEY_free(key);
    made_release(&made);
}

Test(authority, leaf_and_ca_have_the_right_form) {
    struct leaf_request request = {.service = "drawbridge", .namespace = "ns", .lifetime_s = 7 * DAY};
    struct made made = make(KEY_ECDSA_P256, &request, 365 * DAY);
    X509 *ca = sk_X509_value(made.ca_chain, 0), *leaf = sk_X509_value(made.leaf_chain, 0);
    cr_expect_eq(X509_check_ca(ca), 1);
    cr_expect_eq(X509_get_pathlen(ca), 0);
    cr_expect_eq(X509_check_ca(leaf), 0);
    cr_expect_eq(X509_get_extended_key_usage(leaf), XKU_SSL_SERVER);
    cr_expect_eq(X509_get_key_usage(leaf), KU_DIGITAL_SIGNATURE);
    cr_expect_eq(X509_get_key_usage(ca), KU_KEY_CERT_SIGN | KU_CRL_SIGN);
    time_t begin = 0, end = 0;
    cr_assert(asn1_time_seconds(X509_get0_notBefore(leaf), &begin));
    cr_assert(asn1_time_seconds(X509_get0_notAfter(leaf), &end));
    cr_expect_eq(begin, NOW - 3600, "back-dated for clocks that are behind");
    cr_expect_eq(end, NOW + 7 * DAY);
    const ASN1_OCTET_STRING *subject_key = X509_get0_subject_key_id(ca),
                            *authority_key = X509_get0_authority_key_id(leaf);
    cr_assert(subject_key != NULL && authority_key != NULL);
    cr_expect_eq(ASN1_OCTET_STRING_cmp(subject_key, authority_key), 0);
    made_release(&made);
}

Test(authority, serials_are_random_and_long) {
    struct leaf_request request = {.service = "drawbridge", .namespace = "ns", .lifetime_s = DAY};
    struct made one = make(KEY_ECDSA_P256, &request, 2 * DAY), two = make(KEY_ECDSA_P256, &request, 2 * DAY);
    X509 *all[] = {sk_X509_value(one.ca_chain, 0), sk_X509_value(one.leaf_chain, 0),
                   sk_X509_value(two.ca_chain, 0), sk_X509_value(two.leaf_chain, 0)};
    for (size_t i = 0; i < 4; i++) {
        BIGNUM *number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(all[i]), NULL);
        cr_expect_eq(BN_is_negative(number), 0);
        cr_expect_eq(BN_num_bits(number), 127);
        BN_free(number);
        for (size_t k = 0; k < i; k++)
            cr_expect_neq(ASN1_INTEGER_cmp(X509_get0_serialNumber(all[i]), X509_get0_serialNumber(all[k])),
                          0);
    }
    made_release(&one);
    made_release(&two);
}

Test(authority, leaf_never_outlives_its_ca) {
    struct leaf_request request = {.service = "drawbridge", .namespace = "ns", .lifetime_s = 90 * DAY};
    struct made made = make(KEY_ECDSA_P256, &request, 10 * DAY);
    time_t end = 0;
    cr_assert(asn1_time_seconds(X509_get0_notAfter(sk_X509_value(made.leaf_chain, 0)), &end));
    cr_expect_eq(end, NOW + 10 * DAY);
    cr_expect_eq(end, authority_not_after(made.authority));
    struct pem_pair late = {0};
    struct fault fault = {0};
    cr_expect_not(authority_issue(made.authority, &request, NOW + 10 * DAY, &late, &fault));
    cr_expect_eq(fault.code, FAULT_STATE);
    cr_expect_not(authority_issue(made.authority, &request, NOW - 7200, &late, &fault));
    cr_expect_null(late.key);
    made_release(&made);
}

// R34: a name of 63 characters in a long namespace: the common name stays short, the SANs are whole.
Test(authority, longest_service_name) {
    char service[64], namespace[64], full[200];
    memset(service, 's', 63);
    memset(namespace, 'n', 63);
    service[63] = namespace[63] = '\0';
    struct leaf_request request = {.service = service, .namespace = namespace, .lifetime_s = DAY};
    struct made made = make(KEY_ECDSA_P256, &request, 10 * DAY);
    struct fault fault = {0};
    snprintf(full, sizeof full, "%s.%s.svc.cluster.local", service, namespace);
    cr_expect(verify_server(made.ca_chain, made.leaf_chain, full, NOW, &fault), "%s", fault.text);
    X509_NAME *subject = X509_get_subject_name(sk_X509_value(made.leaf_chain, 0));
    int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
    cr_assert_geq(at, 0);
    cr_expect_leq(ASN1_STRING_length(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at))), 64);
    made_release(&made);
}

Test(authority, hosts_and_addresses) {
    const char *hosts[] = {"127.0.0.1", "::1", "gate.example.com", "*.example.org"};
    struct leaf_request request = {.hosts = hosts, .host_count = 4, .lifetime_s = DAY};
    struct made made = make(KEY_ECDSA_P256, &request, 10 * DAY);
    struct fault fault = {0};
    const char *right[] = {"127.0.0.1", "::1", "gate.example.com", "any.example.org"};
    const char *wrong[] = {"127.0.0.2", "::2", "example.com", "a.b.example.org", "127.0.0.1.example.com"};
    for (size_t i = 0; i < 4; i++)
        cr_expect(verify_server(made.ca_chain, made.leaf_chain, right[i], NOW, &fault), "%s: %s", right[i],
                  fault.text);
    for (size_t i = 0; i < 5; i++)
        cr_expect_not(verify_server(made.ca_chain, made.leaf_chain, wrong[i], NOW, &fault), "%s", wrong[i]);
    made_release(&made);
}

// Names longer than a common name may be: the subject is empty, so the SANs must be critical.
Test(authority, long_host_has_no_common_name) {
    char host[101];
    for (size_t i = 0; i < 100; i++) host[i] = i % 10 == 9 ? '.' : 'a';
    host[99] = 'z';
    host[100] = '\0';
    const char *hosts[] = {host};
    struct leaf_request request = {.hosts = hosts, .host_count = 1, .lifetime_s = DAY};
    struct made made = make(KEY_ECDSA_P256, &request, 10 * DAY);
    X509 *leaf = sk_X509_value(made.leaf_chain, 0);
    cr_expect_eq(X509_NAME_entry_count(X509_get_subject_name(leaf)), 0);
    int critical = 0;
    GENERAL_NAMES *names = X509_get_ext_d2i(leaf, NID_subject_alt_name, &critical, NULL);
    cr_expect_eq(critical, 1);
    GENERAL_NAMES_free(names);
    made_release(&made);
}

Test(authority, names_that_are_none) {
    struct authority *authority = NULL;
    struct fault fault = {0};
    cr_assert(authority_new(KEY_ECDSA_P256, NOW, DAY, &authority, &fault));
    char label[80], name[300];
    memset(label, 'a', 64);
    label[64] = '\0';
    memset(name, 'a', sizeof name);
    for (size_t i = 30; i < 280; i += 30) name[i] = '.';
    name[270] = '\0';
    const char *wrong[] = {"",    "a..b",    ".a",         "a.",    "-a",           "a-",        "a b",
                           "a_b", "*",       "a.*",        "**.a",  "h\xc3\xa4.de", "host:9443", label,
                           name,  "a,DNS:b", "1.2.3.4/24", "[::1]", "a\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct pem_pair pair = {0};
        struct leaf_request request = {.hosts = &wrong[i], .host_count = 1, .lifetime_s = DAY};
        fault = (struct fault){0};
        cr_expect_not(authority_issue(authority, &request, NOW, &pair, &fault), "\"%s\"", wrong[i]);
        cr_expect_eq(fault.code, FAULT_USAGE);
        cr_expect_null(pair.certificate);
    }
    struct pem_pair pair = {0};
    struct leaf_request no_names = {.lifetime_s = DAY};
    cr_expect_not(authority_issue(authority, &no_names, NOW, &pair, &fault));
    struct leaf_request no_namespace = {.service = "a", .lifetime_s = DAY};
    cr_expect_not(authority_issue(authority, &no_namespace, NOW, &pair, &fault));
    struct leaf_request dotted = {.service = "a.b", .namespace = "c", .lifetime_s = DAY};
    cr_expect_not(authority_issue(authority, &dotted, NOW, &pair, &fault));
    struct leaf_request no_life = {.service = "a", .namespace = "c"};
    cr_expect_not(authority_issue(authority, &no_life, NOW, &pair, &fault));
    authority_free(authority);
}

Test(authority, loads_what_it_exported) {
    struct leaf_request request = {.service = "drawbridge", .namespace = "ns", .lifetime_s = DAY};
    struct made made = make(KEY_ECDSA_P384, &request, 10 * DAY);
    struct authority *again = NULL;
    struct fault fault = {0};
    cr_assert(authority_load(pem_of(made.ca.certificate, made.ca.certificate_bytes),
                             pem_of(made.ca.key, made.ca.key_bytes), &again, &fault),
              "%s", fault.text);
    struct pem_pair leaf = {0};
    cr_assert(authority_issue(again, &request, NOW, &leaf, &fault), "%s", fault.text);
    STACK_OF(X509) *chain = chain_of(&leaf);
    cr_expect(verify_server(made.ca_chain, chain, "drawbridge.ns.svc", NOW, &fault), "%s", fault.text);
    pem_chain_free(chain);
    pem_pair_release(&leaf);
    authority_free(again);
    made_release(&made);
}

Test(authority, refuses_what_is_no_ca) {
    struct leaf_request request = {.service = "drawbridge", .namespace = "ns", .lifetime_s = DAY};
    struct made made = make(KEY_ECDSA_P256, &request, 10 * DAY);
    struct authority *authority = NULL;
    struct fault fault = {0};
    cr_expect_not(authority_load(pem_of(made.leaf.certificate, made.leaf.certificate_bytes),
                                 pem_of(made.leaf.key, made.leaf.key_bytes), &authority, &fault));
    cr_expect(strstr(fault.text, "not a CA") != NULL, "%s", fault.text);
    cr_expect_not(authority_load(pem_of(made.ca.certificate, made.ca.certificate_bytes),
                                 pem_of(made.leaf.key, made.leaf.key_bytes), &authority, &fault));
    cr_expect(strstr(fault.text, "does not belong") != NULL, "%s", fault.text);
    cr_expect_null(authority);
    made_release(&made);
}

Test(authority, describe_tells_the_facts) {
    const char *hosts[] = {"127.0.0.1", "gate.example.com"};
    struct leaf_request request = {
        .algorithm = KEY_ECDSA_P384, .hosts = hosts, .host_count = 2, .lifetime_s = DAY};
    struct made made = make(KEY_RSA_2048, &request, 10 * DAY);
    struct arena arena;
    arena_init(&arena, 1 << 20);
    struct certificate_facts leaf = {0}, ca = {0};
    struct fault fault = {0};
    cr_assert(certificate_describe(sk_X509_value(made.leaf_chain, 0), &arena, &leaf, &fault), "%s",
              fault.text);
    cr_assert(certificate_describe(sk_X509_value(made.ca_chain, 0), &arena, &ca, &fault), "%s", fault.text);
    cr_expect(text_equal(leaf.algorithm, TEXT("ECDSA P-384")));
    cr_expect(text_equal(ca.algorithm, TEXT("RSA 2048")), "%.*s", TEXT_ARG(ca.algorithm));
    cr_expect(text_equal(leaf.signature, TEXT("RSA-SHA256")), "%.*s", TEXT_ARG(leaf.signature));
    cr_expect(text_equal(leaf.issuer, ca.subject));
    cr_assert_eq(leaf.name_count, 2);
    cr_expect(text_equal(leaf.names[0], TEXT("ip:127.0.0.1")));
    cr_expect(text_equal(leaf.names[1], TEXT("dns:gate.example.com")));
    cr_expect(leaf.server_auth && !leaf.client_auth && !leaf.is_ca);
    cr_expect(ca.is_ca);
    cr_expect_eq(ca.path_length, 0);
    cr_expect_eq(leaf.serial.len, 32);
    cr_expect_eq(leaf.sha256.len, 64);
    // Out of memory at each place is told, never half an answer.
    for (size_t i = 1; i < 8; i++) {
        struct certificate_facts none = {0};
        arena_clear(&arena);
        arena.fail_after = i;
        cr_expect_not(certificate_describe(sk_X509_value(made.leaf_chain, 0), &arena, &none, &fault));
        cr_expect_null(none.names);
    }
    arena_release(&arena);
    made_release(&made);
}
