// SPDX-License-Identifier: Apache-2.0
// The followed pair: every way in which files are replaced is noticed, and a bad pair never takes over.
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <gnutls/x509.h>

#include "certs/authority.h"
#include "certs/source.h"
#include "unit/lib/temp_files.h"

#define FAST_POLL_MS 200
#define SLOW_POLL_MS 60000 // so slow that only notification can be what noticed
#define LIMIT_MS     5000

static struct authority *authority;

static void make_authority(void) {
    struct fault fault = {0};
    cr_assert(authority_new(KEY_ECDSA_P256, time(NULL), 86400, &authority, &fault), "%s", fault.text);
}

static void free_authority(void) {
    authority_free(authority);
}

TestSuite(source, .init = make_authority, .fini = free_authority, .timeout = 60);

static struct pem_pair issue(enum key_algorithm algorithm, time_t now, int64_t life_s) {
    struct pem_pair pair = {0};
    struct fault fault = {0};
    struct leaf_request request = {
        .algorithm = algorithm, .service = "a", .namespace = "b", .lifetime_s = life_s};
    cr_assert(authority_issue(authority, &request, now, &pair, &fault), "%s", fault.text);
    return pair;
}

static void write_pair(const char *folder, const struct pem_pair *pair) {
    test_write(folder, "tls.crt", pair->certificate, pair->certificate_bytes);
    test_write(folder, "tls.key", pair->key, pair->key_bytes);
}

static struct source *follow(const char *folder, int64_t poll_ms, int64_t handshake_deadline_ms) {
    struct source_files files = {.cert_file = test_path(folder, "tls.crt"),
                                 .key_file = test_path(folder, "tls.key"),
                                 .handshake_deadline_ms = handshake_deadline_ms,
                                 .poll_ms = poll_ms};
    struct source *source = NULL;
    struct fault fault = {0};
    cr_assert(source_new(&files, &source, &fault), "%s", fault.text);
    return source;
}

// Whether the pair in force is this one, key included: what it signs, the certificate's key verifies.
struct expectation {
    struct source *source;
    const struct pem_pair *pair;
};

static bool serves(void *context) {
    const struct expectation *wanted = context;
    struct source_pair served;
    if (!source_current(wanted->source, &served)) return false;
    gnutls_x509_crt_t certificate;
    gnutls_datum_t pem = {(unsigned char *)wanted->pair->certificate,
                          (unsigned)wanted->pair->certificate_bytes};
    gnutls_datum_t der = {0};
    gnutls_x509_crt_init(&certificate);
    cr_assert_eq(gnutls_x509_crt_import(certificate, &pem, GNUTLS_X509_FMT_PEM), 0);
    gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_DER, &der);
    bool same =
        served.chain[0].cert.size == der.size && memcmp(served.chain[0].cert.data, der.data, der.size) == 0;
    gnutls_datum_t data = {(unsigned char *)"data", 4}, signature = {0};
    int algorithm = gnutls_privkey_get_pk_algorithm(served.key, NULL);
    gnutls_sign_algorithm_t sign =
        gnutls_pk_to_sign((gnutls_pk_algorithm_t)algorithm,
                          algorithm == GNUTLS_PK_EDDSA_ED25519 ? GNUTLS_DIG_SHA512 : GNUTLS_DIG_SHA256);
    cr_assert_eq(gnutls_privkey_sign_data2(served.key, sign, 0, &data, &signature), 0);
    cr_assert_eq(gnutls_pubkey_verify_data2(served.chain[0].pubkey, sign, 0, &data, &signature), 0);
    gnutls_free(signature.data);
    gnutls_free(der.data);
    gnutls_x509_crt_deinit(certificate);
    return same;
}

static bool comes_to_serve(struct source *source, const struct pem_pair *pair) {
    struct expectation wanted = {source, pair};
    return test_eventually(serves, &wanted, LIMIT_MS);
}

static bool has_refused(void *context) {
    struct source_facts facts;
    source_facts(context, &facts);
    return facts.refused;
}

Test(source, each_algorithm_is_served) {
    enum key_algorithm algorithms[] = {KEY_ECDSA_P256, KEY_ECDSA_P384, KEY_RSA_2048, KEY_RSA_3072,
                                       KEY_ED25519};
    const char *folder = test_folder_new();
    for (size_t i = 0; i < 5; i++) {
        struct pem_pair pair = issue(algorithms[i], time(NULL), 3600);
        write_pair(folder, &pair);
        struct source *source = follow(folder, SLOW_POLL_MS, 1000);
        struct expectation wanted = {source, &pair};
        struct source_facts facts;
        source_facts(source, &facts);
        cr_expect(facts.usable && !facts.refused, "%s", facts.why);
        cr_expect(serves(&wanted));
        cr_expect_leq(facts.not_after, time(NULL) + 3600);
        cr_expect_gt(facts.not_after, time(NULL) + 3000);
        source_free(source);
        pem_pair_release(&pair);
    }
    test_folder_remove(folder);
}

Test(source, notices_files_that_are_written_anew) {
    const char *folder = test_folder_new();
    struct pem_pair one = issue(KEY_ECDSA_P256, time(NULL), 3600),
                    two = issue(KEY_RSA_2048, time(NULL), 3600);
    write_pair(folder, &one);
    struct source *source = follow(folder, SLOW_POLL_MS, 1000);
    cr_assert(comes_to_serve(source, &one));
    write_pair(folder, &two);
    cr_expect(comes_to_serve(source, &two));
    write_pair(folder, &one);
    cr_expect(comes_to_serve(source, &one));
    struct source_facts facts;
    source_facts(source, &facts);
    cr_expect_eq(facts.rotations_ok_count, 2);
    source_free(source);
    pem_pair_release(&one);
    pem_pair_release(&two);
    test_folder_remove(folder);
}

// R31: tls.crt -> ..data/tls.crt, ..data -> ..2026_1; the link in the middle is swapped, the old folder
// removed.
static void publish(const char *folder, int version, const struct pem_pair *pair) {
    char name[32], old[32];
    snprintf(name, sizeof name, "..version_%d", version);
    snprintf(old, sizeof old, "..version_%d", version - 1);
    cr_assert_eq(mkdir(test_path(folder, name), 0755), 0);
    write_pair(test_path(folder, name), pair);
    cr_assert_eq(symlink(name, test_path(folder, "..data_tmp")), 0);
    cr_assert_eq(rename(test_path(folder, "..data_tmp"), test_path(folder, "..data")), 0);
    if (version > 1) test_folder_remove(test_path(folder, old));
}

Test(source, notices_three_swaps_of_the_link) {
    const char *folder = test_folder_new();
    struct pem_pair pairs[4];
    for (int i = 0; i < 4; i++) pairs[i] = issue(KEY_ECDSA_P256, time(NULL), 3600);
    publish(folder, 1, &pairs[0]);
    cr_assert_eq(symlink("..data/tls.crt", test_path(folder, "tls.crt")), 0);
    cr_assert_eq(symlink("..data/tls.key", test_path(folder, "tls.key")), 0);
    struct source *source = follow(folder, SLOW_POLL_MS, 1000);
    cr_assert(comes_to_serve(source, &pairs[0]));
    for (int i = 1; i < 4; i++) {
        publish(folder, i + 1, &pairs[i]);
        cr_expect(comes_to_serve(source, &pairs[i]), "swap %d was missed", i);
    }
    struct source_facts facts;
    source_facts(source, &facts);
    cr_expect_eq(facts.rotations_ok_count, 3);
    cr_expect_eq(facts.rotations_failed_count, 0, "%s", facts.why);
    source_free(source);
    for (int i = 0; i < 4; i++) pem_pair_release(&pairs[i]);
    test_folder_remove(folder);
}

// R30: the files change behind another path to the same contents: the followed folder itself brings no event.
Test(source, notices_silent_changes) {
    const char *folder = test_folder_new(), *elsewhere = test_folder_new();
    struct pem_pair one = issue(KEY_ECDSA_P256, time(NULL), 3600),
                    two = issue(KEY_ECDSA_P256, time(NULL), 3600);
    write_pair(elsewhere, &one);
    cr_assert_eq(symlink(test_path(elsewhere, "tls.crt"), test_path(folder, "tls.crt")), 0);
    cr_assert_eq(symlink(test_path(elsewhere, "tls.key"), test_path(folder, "tls.key")), 0);
    struct source *source = follow(folder, FAST_POLL_MS, 1000);
    cr_assert(comes_to_serve(source, &one));
    write_pair(elsewhere, &two);
    cr_expect(comes_to_serve(source, &two));
    source_free(source);
    pem_pair_release(&one);
    pem_pair_release(&two);
    test_folder_remove(folder);
    test_folder_remove(elsewhere);
}

Test(source, notices_a_folder_that_is_made_anew) {
    const char *folder = test_folder_new();
    struct pem_pair one = issue(KEY_ECDSA_P256, time(NULL), 3600),
                    two = issue(KEY_ECDSA_P256, time(NULL), 3600);
    write_pair(folder, &one);
    struct source *source = follow(folder, FAST_POLL_MS, 1000);
    cr_assert(comes_to_serve(source, &one));
    test_folder_remove(folder);
    cr_assert(test_eventually(has_refused, source, LIMIT_MS));
    cr_expect(comes_to_serve(source, &one), "the last good pair stays");
    cr_assert_eq(mkdir(folder, 0755), 0);
    write_pair(folder, &two);
    cr_expect(comes_to_serve(source, &two));
    source_free(source);
    pem_pair_release(&one);
    pem_pair_release(&two);
    test_folder_remove(folder);
}

static void bad_files_keep_the_old(const char *certificate, const char *key, const char *why) {
    const char *folder = test_folder_new();
    struct pem_pair one = issue(KEY_ECDSA_P256, time(NULL), 3600),
                    two = issue(KEY_ECDSA_P256, time(NULL), 3600);
    write_pair(folder, &one);
    struct source *source = follow(folder, SLOW_POLL_MS, 1000);
    test_write_text(folder, "tls.crt", certificate == NULL ? two.certificate : certificate);
    test_write_text(folder, "tls.key", key == NULL ? one.key : key);
    cr_assert(test_eventually(has_refused, source, LIMIT_MS), "%s", why);
    struct source_facts facts;
    source_facts(source, &facts);
    cr_expect(facts.usable);
    cr_expect_geq(facts.rotations_failed_count, 1);
    cr_expect(strstr(facts.why, why) != NULL, "%s", facts.why);
    struct expectation wanted = {source, &one};
    cr_expect(serves(&wanted));
    // And it recovers.
    write_pair(folder, &two);
    cr_expect(comes_to_serve(source, &two));
    source_facts(source, &facts);
    cr_expect_not(facts.refused);
    source_free(source);
    pem_pair_release(&one);
    pem_pair_release(&two);
    test_folder_remove(folder);
}

Test(source, mismatch_keeps_the_old) {
    bad_files_keep_the_old(NULL, NULL, "does not belong");
}

Test(source, garbage_keeps_the_old) {
    bad_files_keep_the_old("garbage", NULL, "holds no certificate");
}

Test(source, empty_key_keeps_the_old) {
    bad_files_keep_the_old(NULL, "", "holds no private key");
}

Test(source, expired_never_replaces_valid) {
    const char *folder = test_folder_new();
    struct pem_pair one = issue(KEY_ECDSA_P256, time(NULL), 3600),
                    two = issue(KEY_ECDSA_P256, time(NULL) - 100, 50);
    write_pair(folder, &one);
    struct source *source = follow(folder, SLOW_POLL_MS, 1000);
    write_pair(folder, &two);
    cr_assert(test_eventually(has_refused, source, LIMIT_MS));
    struct source_facts facts;
    source_facts(source, &facts);
    cr_expect(strstr(facts.why, "expired") != NULL, "%s", facts.why);
    struct expectation wanted = {source, &one};
    cr_expect(serves(&wanted));
    source_free(source);
    pem_pair_release(&one);
    pem_pair_release(&two);
    test_folder_remove(folder);
}

Test(source, without_files_it_waits_for_them) {
    const char *folder = test_folder_new();
    struct pem_pair one = issue(KEY_ECDSA_P256, time(NULL), 3600);
    struct source *source = follow(folder, SLOW_POLL_MS, 1000);
    struct source_facts facts;
    struct source_pair pair;
    source_facts(source, &facts);
    cr_expect_not(facts.usable);
    cr_expect(strstr(facts.why, "tls.crt") != NULL, "%s", facts.why);
    cr_expect_not(source_current(source, &pair));
    write_pair(folder, &one);
    cr_expect(comes_to_serve(source, &one));
    source_free(source);
    pem_pair_release(&one);
    test_folder_remove(folder);
}

static bool none_retired(void *context) {
    struct source_facts facts;
    source_facts(context, &facts);
    return facts.retired_count == 0;
}

// A handshake that has asked for the pair may sign with it until two deadlines later, and not for ever.
Test(source, retired_pairs_live_for_two_handshake_deadlines) {
    const char *folder = test_folder_new();
    struct pem_pair one = issue(KEY_ECDSA_P256, time(NULL), 3600),
                    two = issue(KEY_ECDSA_P256, time(NULL), 3600);
    write_pair(folder, &one);
    struct source *source = follow(folder, FAST_POLL_MS, 500);
    struct source_pair held;
    cr_assert(source_current(source, &held));
    write_pair(folder, &two);
    cr_assert(comes_to_serve(source, &two));
    struct source_facts facts;
    source_facts(source, &facts);
    cr_expect_eq(facts.retired_count, 1);
    gnutls_datum_t data = {(unsigned char *)"data", 4}, signature = {0};
    cr_expect_eq(gnutls_privkey_sign_data2(held.key, GNUTLS_SIGN_ECDSA_SHA256, 0, &data, &signature), 0);
    gnutls_free(signature.data);
    cr_expect(test_eventually(none_retired, source, LIMIT_MS));
    source_free(source);
    pem_pair_release(&one);
    pem_pair_release(&two);
    test_folder_remove(folder);
}

Test(source, pairs_from_memory) {
    struct source_files files = {.handshake_deadline_ms = 0};
    struct source *source = NULL;
    struct fault fault = {0};
    cr_assert(source_new(&files, &source, &fault), "%s", fault.text);
    struct pem_pair one = issue(KEY_ECDSA_P256, time(NULL), 3600),
                    two = issue(KEY_ECDSA_P256, time(NULL), 3600);
    for (int i = 0; i < 1000; i++) {
        const struct pem_pair *pair = i % 2 == 0 ? &one : &two;
        cr_assert(source_put(source, (struct text){pair->certificate, pair->certificate_bytes},
                             (struct text){pair->key, pair->key_bytes}, &fault),
                  "%s", fault.text);
    }
    struct expectation wanted = {source, &two};
    struct source_facts facts;
    cr_expect(serves(&wanted));
    cr_expect_not(source_put(source, (struct text){one.certificate, one.certificate_bytes},
                             (struct text){two.key, two.key_bytes}, &fault));
    cr_expect_eq(fault.code, FAULT_INPUT);
    cr_expect(serves(&wanted));
    source_facts(source, &facts);
    cr_expect_eq(facts.rotations_ok_count, 999);
    cr_expect_eq(facts.rotations_failed_count, 1);
    cr_expect_eq(facts.retired_count, 0);
    source_free(source);
    pem_pair_release(&one);
    pem_pair_release(&two);
}

static bool tidied(void *context) {
    struct source_facts facts;
    source_tidy(context);
    source_facts(context, &facts);
    return facts.retired_count == 0;
}

// Nothing else is put after it, so only tidying can free what was replaced.
Test(source, a_replaced_pair_goes_when_it_is_due) {
    struct source_files none = {.handshake_deadline_ms = 200};
    struct source *source = NULL;
    struct source_facts facts;
    struct fault fault = {0};
    cr_assert(source_new(&none, &source, &fault));
    for (int i = 0; i < 2; i++) {
        struct pem_pair pair = issue(KEY_ECDSA_P256, time(NULL), 3600);
        cr_assert(source_put(source, (struct text){pair.certificate, pair.certificate_bytes},
                             (struct text){pair.key, pair.key_bytes}, &fault));
        pem_pair_release(&pair);
    }
    source_tidy(source);
    source_facts(source, &facts);
    cr_expect_eq(facts.retired_count, 1, "a handshake that has asked may still sign with it");
    cr_expect(test_eventually(tidied, source, LIMIT_MS));
    source_free(source);
}

Test(source, one_file_alone_is_refused) {
    struct source_files files = {.cert_file = "tls.crt"};
    struct source *source = NULL;
    struct fault fault = {0};
    cr_expect_not(source_new(&files, &source, &fault));
    cr_expect_eq(fault.code, FAULT_USAGE);
    cr_expect_null(source);
    source_free(NULL);
}
