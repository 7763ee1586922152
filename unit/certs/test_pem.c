// SPDX-License-Identifier: Apache-2.0
// PEM intake: caps before parsing, clear refusals, no prompt.
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <criterion/criterion.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "certs/authority.h"
#include "certs/key.h"
#include "certs/pem.h"
#include "unit/lib/temp_files.h"

static const time_t NOW = 1800000000;

static struct pem_pair make_pair(void) {
    struct authority *authority = NULL;
    struct pem_pair pair = {0};
    struct fault fault = {0};
    cr_assert(authority_new(KEY_ECDSA_P256, NOW, 86400, &authority, &fault), "%s", fault.text);
    cr_assert(authority_export(authority, &pair, &fault), "%s", fault.text);
    authority_free(authority);
    return pair;
}

static bool parse_chain(const char *bytes, size_t len, int *ret_count, struct fault *fault) {
    STACK_OF(X509) *chain = NULL;
    if (!pem_parse_chain((struct text){bytes, len}, &chain, fault)) return false;
    *ret_count = sk_X509_num(chain);
    pem_chain_free(chain);
    return true;
}

Test(pem, reads_all_certificates_and_passes_over_the_rest) {
    struct pem_pair pair = make_pair();
    static char text[8192];
    snprintf(text, sizeof text, "a comment\n%s\n%s%strailing words\n", pair.certificate, pair.key,
             pair.certificate);
    int count = 0;
    struct fault fault = {0};
    cr_assert(parse_chain(text, strlen(text), &count, &fault), "%s", fault.text);
    cr_expect_eq(count, 2);
    pem_pair_release(&pair);
}

Test(pem, refuses_what_is_no_certificate) {
    const char *wrong[] = {"",
                           "garbage",
                           "-----BEGIN CERTIFICATE-----\n",
                           "-----BEGIN CERTIFICATE-----\nAAAA\n",
                           "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
                           "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n",
                           "-----BEGIN CERTIFICATE-----\nMAAA\n-----END CERTIFICATE-----\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        int count = 0;
        struct fault fault = {0};
        cr_expect_not(parse_chain(wrong[i], strlen(wrong[i]), &count, &fault), "%zu", i);
        cr_expect_eq(fault.code, FAULT_INPUT, "%zu: %s", i, fault.text);
    }
    struct pem_pair pair = make_pair();
    int count = 0;
    struct fault fault = {0};
    cr_expect_not(parse_chain(pair.key, pair.key_bytes, &count, &fault));
    cr_expect(strstr(fault.text, "holds no certificate") != NULL, "%s", fault.text);
    pem_pair_release(&pair);
}

// A good certificate followed by a broken one is not half a chain.
Test(pem, one_bad_block_refuses_all) {
    struct pem_pair pair = make_pair();
    static char text[8192];
    snprintf(text, sizeof text, "%s-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
             pair.certificate);
    int count = 0;
    struct fault fault = {0};
    cr_expect_not(parse_chain(text, strlen(text), &count, &fault));
    cr_expect(strstr(fault.text, "block 2") != NULL, "%s", fault.text);
    pem_pair_release(&pair);
}

Test(pem, cut_at_each_byte) {
    struct pem_pair pair = make_pair();
    for (size_t len = 0; len + 1 < pair.certificate_bytes - 1; len++) {
        int count = 0;
        struct fault fault = {0};
        cr_expect_not(parse_chain(pair.certificate, len, &count, &fault), "cut at %zu", len);
    }
    for (size_t len = 0; len + 1 < pair.key_bytes - 1; len++) {
        EVP_PKEY *key = NULL;
        struct fault fault = {0};
        cr_expect_not(pem_parse_key((struct text){pair.key, len}, &key, &fault), "cut at %zu", len);
    }
    pem_pair_release(&pair);
}

// One certificate of more than 36,500 bytes is refused before it is parsed, also where the file is short
// enough.
Test(pem, cap_of_one_certificate) {
    size_t base64 = PEM_CERTIFICATE_BYTES_LIMIT + 4 - PEM_CERTIFICATE_BYTES_LIMIT % 4;
    size_t size = base64 + base64 / 64 + 200;
    char *text = malloc(size);
    size_t at = (size_t)snprintf(text, size, "-----BEGIN CERTIFICATE-----\n");
    for (size_t i = 0; i < base64; i++) {
        text[at++] = 'A';
        if (i % 64 == 63) text[at++] = '\n';
    }
    at += (size_t)snprintf(text + at, size - at, "\n-----END CERTIFICATE-----\n");
    int count = 0;
    struct fault fault = {0};
    cr_expect_not(parse_chain(text, at, &count, &fault));
    cr_expect_eq(fault.code, FAULT_LIMIT, "%s", fault.text);
    free(text);
}

// F5: 10,000 certificates, 1 MB of PEM.
Test(pem, cap_of_a_file) {
    struct pem_pair pair = make_pair();
    const char *folder = test_folder_new();
    FILE *out = fopen(test_path(folder, "many.crt"), "w");
    for (int i = 0; i < 10000; i++) fputs(pair.certificate, out);
    fclose(out);
    STACK_OF(X509) *chain = NULL;
    EVP_PKEY *key = NULL;
    struct fault fault = {0};
    cr_expect_not(pem_load_chain(test_path(folder, "many.crt"), &chain, &fault));
    cr_expect_eq(fault.code, FAULT_LIMIT);
    cr_expect(strstr(fault.text, "many.crt") != NULL, "%s", fault.text);
    cr_expect_not(pem_load_key(test_path(folder, "many.crt"), &key, &fault));
    cr_expect_eq(fault.code, FAULT_LIMIT);
    char *big = calloc(1, PEM_CHAIN_BYTES_LIMIT + 2);
    int count;
    memset(big, '\n', PEM_CHAIN_BYTES_LIMIT + 1);
    memcpy(big, pair.certificate, pair.certificate_bytes);
    cr_expect(parse_chain(big, PEM_CHAIN_BYTES_LIMIT, &count, &fault), "%s", fault.text);
    cr_expect_not(parse_chain(big, PEM_CHAIN_BYTES_LIMIT + 1, &count, &fault));
    cr_expect_eq(fault.code, FAULT_LIMIT);
    free(big);
    test_folder_remove(folder);
    pem_pair_release(&pair);
}

Test(pem, cap_of_a_key) {
    char *big = malloc(PEM_KEY_BYTES_LIMIT + 1);
    memset(big, '\n', PEM_KEY_BYTES_LIMIT + 1);
    EVP_PKEY *key = NULL;
    struct fault fault = {0};
    cr_expect_not(pem_parse_key((struct text){big, PEM_KEY_BYTES_LIMIT + 1}, &key, &fault));
    cr_expect_eq(fault.code, FAULT_LIMIT);
    struct pem_pair pair = make_pair();
    memcpy(big, pair.key, pair.key_bytes);
    cr_expect(pem_parse_key((struct text){big, PEM_KEY_BYTES_LIMIT}, &key, &fault), "%s", fault.text);
    EVP_PKEY_free(key);
    pem_pair_release(&pair);
    free(big);
}

Test(pem, encrypted_key_is_named_and_never_asked_for, .timeout = 10) {
    struct pem_pair pair = make_pair();
    EVP_PKEY *key = NULL;
    struct fault fault = {0};
    cr_assert(pem_parse_key((struct text){pair.key, pair.key_bytes}, &key, &fault));
    BIO *out = BIO_new(BIO_s_mem());
    char *bytes;
    cr_assert_eq(PEM_write_bio_PKCS8PrivateKey(out, key, EVP_aes_256_cbc(), "secret", 6, NULL, NULL), 1);
    long len = BIO_get_mem_data(out, &bytes);
    EVP_PKEY *none = NULL;
    cr_expect_not(pem_parse_key((struct text){bytes, (size_t)len}, &none, &fault));
    cr_expect(strstr(fault.text, "encrypted") != NULL, "%s", fault.text);
    BIO_free(out);
    EVP_PKEY_free(key);
    pem_pair_release(&pair);
}

Test(pem, only_regular_files, .timeout = 10) {
    const char *folder = test_folder_new();
    cr_assert_eq(mkfifo(test_path(folder, "fifo"), 0600), 0);
    struct text bytes;
    struct fault fault = {0};
    cr_expect_not(pem_read_file(test_path(folder, "fifo"), 100, &bytes, &fault));
    cr_expect(strstr(fault.text, "not a regular file") != NULL, "%s", fault.text);
    cr_expect_not(pem_read_file(folder, 100, &bytes, &fault));
    cr_expect_not(pem_read_file("/dev/zero", 100, &bytes, &fault));
    cr_expect_not(pem_read_file(test_path(folder, "none"), 100, &bytes, &fault));
    cr_expect_eq(fault.code, FAULT_IO);
    test_write(folder, "hundred",
               "0123456789012345678901234567890123456789012345678901234567890123456789"
               "012345678901234567890123456789",
               100);
    cr_assert(pem_read_file(test_path(folder, "hundred"), 100, &bytes, &fault), "%s", fault.text);
    cr_expect_eq(bytes.len, 100);
    cr_expect_eq(bytes.ptr[100], '\0');
    pem_bytes_release(bytes);
    cr_expect_not(pem_read_file(test_path(folder, "hundred"), 99, &bytes, &fault));
    cr_expect_eq(fault.code, FAULT_LIMIT);
    test_folder_remove(folder);
}

Test(pem, keys_that_cannot_be_served_are_named) {
    EVP_PKEY *small = EVP_RSA_gen(1024), *odd = EVP_EC_gen("secp256k1"),
             *exchange = EVP_PKEY_Q_keygen(NULL, NULL, "X25519");
    struct fault fault = {0};
    cr_expect_not(key_is_servable(small, &fault));
    cr_expect(strstr(fault.text, "RSA 1024") != NULL, "%s", fault.text);
    cr_expect_not(key_is_servable(odd, &fault));
    cr_expect(strstr(fault.text, "ECDSA secp256k1") != NULL, "%s", fault.text);
    cr_expect_not(key_is_servable(exchange, &fault));
    cr_expect(strstr(fault.text, "X25519") != NULL, "%s", fault.text);
    EVP_PKEY_free(small);
    EVP_PKEY_free(odd);
    EVP_PKEY_free(exchange);
}
