// SPDX-License-Identifier: Apache-2.0
// Callers' chains: each reason for a refusal has its name, and a changed CA file is taken up.
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "certs/client_verify.h"
#include "certs/key.h"
#include "unit/lib/temp_files.h"

static const time_t NOW = 1800000000;

struct signer {
    X509 *certificate;
    EVP_PKEY *key;
};

struct wish {
    const char *common_name;
    const char *usage;        // NULL: no such extension
    const char *alternatives; // NULL: none
    const char *constraints;
    time_t not_before, not_after;
};

static void extend(X509 *certificate, int nid, const char *value) {
    if (value == NULL) return;
    X509V3_CTX context;
    X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    cr_assert_not_null(extension, "%s", value);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
}

// A certificate as wished, signed by the signer or by itself.
static struct signer sign(const struct wish *wish, const struct signer *by) {
    static long serial = 100;
    struct signer made = {X509_new(), NULL};
    struct fault fault = {0};
    cr_assert(key_new(KEY_ECDSA_P256, &made.key, &fault), "%s", fault.text);
    X509_NAME *name = X509_get_subject_name(made.certificate);
    X509_set_version(made.certificate, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(made.certificate), serial++);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, (const unsigned char *)wish->common_name, -1, -1,
                               0);
    X509_set_issuer_name(made.certificate, by == NULL ? name : X509_get_subject_name(by->certificate));
    ASN1_TIME_set(X509_getm_notBefore(made.certificate),
                  wish->not_before == 0 ? NOW - 1000 : wish->not_before);
    ASN1_TIME_set(X509_getm_notAfter(made.certificate), wish->not_after == 0 ? NOW + 1000 : wish->not_after);
    X509_set_pubkey(made.certificate, made.key);
    extend(made.certificate, NID_basic_constraints,
           wish->constraints == NULL ? "CA:FALSE" : wish->constraints);
    extend(made.certificate, NID_ext_key_usage, wish->usage);
    extend(made.certificate, NID_subject_alt_name, wish->alternatives);
    cr_assert_gt(X509_sign(made.certificate, by == NULL ? made.key : by->key, EVP_sha256()), 0);
    return made;
}

static struct signer make_ca(const char *name) {
    return sign(&(struct wish){.common_name = name, .constraints = "critical,CA:TRUE"}, NULL);
}

static void signer_release(struct signer *signer) {
    X509_free(signer->certificate);
    EVP_PKEY_free(signer->key);
}

static void write_ca(const char *folder, const struct signer *a, const struct signer *b) {
    FILE *file = fopen(test_path(folder, "ca.new"), "w");
    cr_assert_not_null(file);
    PEM_write_X509(file, a->certificate);
    if (b != NULL) PEM_write_X509(file, b->certificate);
    fclose(file);
    cr_assert_eq(rename(test_path(folder, "ca.new"), test_path(folder, "ca.crt")), 0);
}

static enum client_verdict judge(struct client_verifier *verifier, X509 *const *chain, unsigned count) {
    gnutls_datum_t datums[32] = {{0}};
    for (unsigned i = 0; i < count; i++) {
        int len = i2d_X509(chain[i], &datums[i].data);
        cr_assert_gt(len, 0);
        datums[i].size = (unsigned)len;
    }
    enum client_verdict verdict = client_verify(verifier, datums, count, NOW);
    for (unsigned i = 0; i < count; i++) OPENSSL_free(datums[i].data);
    return verdict;
}

static struct {
    const char *folder;
    struct signer ca, other;
    struct client_verifier *verifier;
} stage;

static void set_up(void) {
    static const char *const names[] = {"kube-apiserver", "gate.example.com"};
    stage.folder = test_folder_new();
    stage.ca = make_ca("ca");
    stage.other = make_ca("other");
    write_ca(stage.folder, &stage.ca, NULL);
    struct client_verifier_files files = {.ca_file = test_path(stage.folder, "ca.crt"),
                                          .subject_names = names,
                                          .subject_name_count = 2,
                                          .poll_ms = 200};
    struct fault fault = {0};
    cr_assert(client_verifier_new(&files, &stage.verifier, &fault), "%s", fault.text);
}

static void tear_down(void) {
    client_verifier_free(stage.verifier);
    signer_release(&stage.ca);
    signer_release(&stage.other);
    test_folder_remove(stage.folder);
}

TestSuite(client_verify, .init = set_up, .fini = tear_down, .timeout = 60);

static enum client_verdict judge_one(const struct wish *wish, const struct signer *by) {
    struct signer leaf = sign(wish, by);
    enum client_verdict verdict = judge(stage.verifier, &leaf.certificate, 1);
    signer_release(&leaf);
    return verdict;
}

Test(client_verify, each_reason) {
    const struct {
        struct wish wish;
        const struct signer *by;
        enum client_verdict verdict;
    } cases[] = {
        {{.common_name = "kube-apiserver", .usage = "clientAuth"}, &stage.ca, CLIENT_TRUSTED},
        {{.common_name = "kube-apiserver", .usage = "serverAuth,clientAuth"}, &stage.ca, CLIENT_TRUSTED},
        {{.common_name = "kube-apiserver"}, &stage.ca, CLIENT_TRUSTED},
        {{.common_name = "x", .usage = "clientAuth", .alternatives = "DNS:gate.example.com"},
         &stage.ca,
         CLIENT_TRUSTED},
        {{.common_name = "kube-apiserver", .usage = "clientAuth"}, &stage.other, CLIENT_UNTRUSTED},
        {{.common_name = "kube-apiserver", .usage = "clientAuth"}, NULL, CLIENT_UNTRUSTED},
        {{.common_name = "kube-apiserver", .usage = "serverAuth"}, &stage.ca, CLIENT_WRONG_USAGE},
        {{.common_name = "kube-apiserver2", .usage = "clientAuth"}, &stage.ca, CLIENT_WRONG_NAME},
        {{.common_name = "KUBE-APISERVER", .usage = "clientAuth"}, &stage.ca, CLIENT_WRONG_NAME},
        {{.common_name = "x", .usage = "clientAuth", .alternatives = "DNS:a.gate.example.com"},
         &stage.ca,
         CLIENT_WRONG_NAME},
        {{.common_name = "x", .usage = "clientAuth", .alternatives = "email:kube-apiserver"},
         &stage.ca,
         CLIENT_WRONG_NAME},
        {{.common_name = "kube-apiserver", .usage = "clientAuth", .not_after = NOW - 1},
         &stage.ca,
         CLIENT_EXPIRED},
        {{.common_name = "kube-apiserver", .usage = "clientAuth", .not_before = NOW + 1},
         &stage.ca,
         CLIENT_NOT_YET_VALID},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum client_verdict verdict = judge_one(&cases[i].wish, cases[i].by);
        cr_expect_eq(verdict, cases[i].verdict, "case %zu: %s", i, client_verdict_name(verdict));
    }
}

Test(client_verify, nothing_and_garbage) {
    unsigned char bytes[64] = {0x30, 0x3e};
    gnutls_datum_t garbage = {bytes, sizeof bytes}, empty = {bytes, 0};
    cr_expect_eq(client_verify(stage.verifier, NULL, 0, NOW), CLIENT_NO_CERTIFICATE);
    cr_expect_eq(client_verify(stage.verifier, &garbage, 0, NOW), CLIENT_NO_CERTIFICATE);
    cr_expect_eq(client_verify(stage.verifier, &garbage, 1, NOW), CLIENT_MALFORMED);
    cr_expect_eq(client_verify(stage.verifier, &empty, 1, NOW), CLIENT_MALFORMED);
    // Every cut of a good certificate, and one byte more.
    struct signer leaf =
        sign(&(struct wish){.common_name = "kube-apiserver", .usage = "clientAuth"}, &stage.ca);
    unsigned char *der = NULL;
    int len = i2d_X509(leaf.certificate, &der);
    for (int i = 1; i < len; i++)
        cr_assert_eq(client_verify(stage.verifier, &(gnutls_datum_t){der, (unsigned)i}, 1, NOW),
                     CLIENT_MALFORMED);
    unsigned char *longer = calloc(1, (size_t)len + 1);
    memcpy(longer, der, (size_t)len);
    cr_expect_eq(client_verify(stage.verifier, &(gnutls_datum_t){longer, (unsigned)len + 1}, 1, NOW),
                 CLIENT_MALFORMED);
    free(longer);
    OPENSSL_free(der);
    signer_release(&leaf);
}

Test(client_verify, chains_through_an_intermediate) {
    struct signer middle =
        sign(&(struct wish){.common_name = "middle", .constraints = "critical,CA:TRUE"}, &stage.ca);
    struct signer leaf =
        sign(&(struct wish){.common_name = "kube-apiserver", .usage = "clientAuth"}, &middle);
    struct signer false_ca =
        sign(&(struct wish){.common_name = "kube-apiserver", .usage = "clientAuth"}, &stage.ca);
    struct signer forged =
        sign(&(struct wish){.common_name = "kube-apiserver", .usage = "clientAuth"}, &false_ca);
    X509 *whole[] = {leaf.certificate, middle.certificate};
    X509 *bad[] = {forged.certificate, false_ca.certificate};
    cr_expect_eq(judge(stage.verifier, whole, 2), CLIENT_TRUSTED);
    cr_expect_eq(judge(stage.verifier, whole, 1), CLIENT_UNTRUSTED);
    enum client_verdict verdict = judge(stage.verifier, bad, 2);
    cr_expect_neq(verdict, CLIENT_TRUSTED, "a leaf must not sign");
    signer_release(&middle);
    signer_release(&leaf);
    signer_release(&false_ca);
    signer_release(&forged);
}

// A4: a chain of 20, a certificate of 1 MB: refused before anything is parsed.
Test(client_verify, too_long) {
    struct signer leaf =
        sign(&(struct wish){.common_name = "kube-apiserver", .usage = "clientAuth"}, &stage.ca);
    X509 *chain[20];
    for (int i = 0; i < 20; i++) chain[i] = leaf.certificate;
    cr_expect_eq(judge(stage.verifier, chain, 20), CLIENT_TOO_LONG);
    cr_expect_eq(judge(stage.verifier, chain, CLIENT_CHAIN_LIMIT + 1), CLIENT_TOO_LONG);
    cr_expect_eq(judge(stage.verifier, chain, CLIENT_CHAIN_LIMIT), CLIENT_TRUSTED);
    unsigned char *big = calloc(1, 1 << 20);
    cr_expect_eq(client_verify(stage.verifier, &(gnutls_datum_t){big, 1 << 20}, 1, NOW), CLIENT_TOO_LONG);
    free(big);
    signer_release(&leaf);
}

static bool has_moved_on(void *context) {
    return client_verifier_generation(stage.verifier) > *(uint64_t *)context;
}

static void replace(const struct signer *a, const struct signer *b) {
    uint64_t before = client_verifier_generation(stage.verifier);
    write_ca(stage.folder, a, b);
    cr_assert(test_eventually(has_moved_on, &before, 5000));
}

Test(client_verify, follows_its_file) {
    struct wish wish = {.common_name = "kube-apiserver", .usage = "clientAuth"};
    replace(&stage.ca, &stage.other);
    cr_expect_eq(judge_one(&wish, &stage.ca), CLIENT_TRUSTED);
    cr_expect_eq(judge_one(&wish, &stage.other), CLIENT_TRUSTED);
    replace(&stage.other, NULL);
    cr_expect_eq(judge_one(&wish, &stage.ca), CLIENT_UNTRUSTED);
    cr_expect_eq(judge_one(&wish, &stage.other), CLIENT_TRUSTED);
}

static uint64_t told_count;
static void note(void *context, const struct fault *fault) {
    (void)context;
    if (fault != NULL) __atomic_add_fetch(&told_count, 1, __ATOMIC_SEQ_CST);
}
static bool was_told(void *context) {
    return __atomic_load_n(&told_count, __ATOMIC_SEQ_CST) > *(uint64_t *)context;
}

Test(client_verify, a_bad_file_keeps_the_old) {
    struct client_verifier_files files = {
        .ca_file = test_path(stage.folder, "ca.crt"), .poll_ms = 200, .told = note};
    struct client_verifier *verifier = NULL;
    struct fault fault = {0};
    cr_assert(client_verifier_new(&files, &verifier, &fault), "%s", fault.text);
    const char *bad[] = {"", "garbage", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"};
    struct signer leaf = sign(&(struct wish){.common_name = "anybody", .usage = "clientAuth"}, &stage.ca);
    for (size_t i = 0; i < 3; i++) {
        uint64_t before = __atomic_load_n(&told_count, __ATOMIC_SEQ_CST);
        test_write_text(stage.folder, "ca.crt", bad[i]);
        cr_assert(test_eventually(was_told, &before, 5000), "case %zu", i);
        cr_expect_eq(judge(verifier, &leaf.certificate, 1), CLIENT_TRUSTED,
                     "without names anybody is let in");
    }
    unlink(test_path(stage.folder, "ca.crt"));
    struct client_verifier *none = NULL;
    cr_expect_not(client_verifier_new(&files, &none, &fault));
    cr_expect_eq(fault.code, FAULT_IO);
    cr_expect_null(none);
    signer_release(&leaf);
    client_verifier_free(verifier);
}

Test(client_verify, names_can_be_replaced) {
    struct fault fault = {0};
    const char *const names[] = {"somebody"};
    uint64_t before = client_verifier_generation(stage.verifier);
    cr_assert(client_verifier_names(stage.verifier, names, 1, &fault));
    cr_expect_gt(client_verifier_generation(stage.verifier), before);
    cr_expect_eq(judge_one(&(struct wish){.common_name = "somebody", .usage = "clientAuth"}, &stage.ca),
                 CLIENT_TRUSTED);
    cr_expect_eq(judge_one(&(struct wish){.common_name = "kube-apiserver", .usage = "clientAuth"}, &stage.ca),
                 CLIENT_WRONG_NAME);
}
