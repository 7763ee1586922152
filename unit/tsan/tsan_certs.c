// SPDX-License-Identifier: Apache-2.0
// The followed pair and the callers' CAs under many threads: handshakes ask while files and settings change.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "certs/authority.h"
#include "certs/client_verify.h"
#include "certs/source.h"

#define ROUNDS 40

static struct source *source;
static struct client_verifier *verifier;
static atomic_bool done;
static atomic_ulong signatures, refused;

static void must(bool fine, const char *what) {
    if (fine) return;
    fprintf(stderr, "tsan_certs: %s\n", what);
    exit(1);
}

static void *handshakes(void *argument) {
    (void)argument;
    gnutls_datum_t data = {(unsigned char *)"data", 4};
    while (!atomic_load(&done)) {
        struct source_pair pair;
        struct source_facts facts;
        gnutls_datum_t signature = {0};
        must(source_current(source, &pair), "no pair");
        must(gnutls_privkey_sign_data2(pair.key, GNUTLS_SIGN_ECDSA_SHA256, 0, &data, &signature) == 0,
             "no signature");
        must(gnutls_pubkey_verify_data2(pair.chain[0].pubkey, GNUTLS_SIGN_ECDSA_SHA256, 0, &data,
                                        &signature) == 0,
             "key and certificate are of two pairs");
        gnutls_free(signature.data);
        atomic_fetch_add(&signatures, 1);
        // The serving certificate is no client's, so it is refused, always for the same reason.
        if (client_verify(verifier, &pair.chain[0].cert, 1, time(NULL)) == CLIENT_WRONG_USAGE)
            atomic_fetch_add(&refused, 1);
        source_facts(source, &facts);
        must(facts.usable, "a pair that was there is gone");
    }
    return NULL;
}

static void write_file(const char *folder, const char *name, const char *bytes, size_t len) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    must(file != NULL && fwrite(bytes, 1, len, file) == len && fclose(file) == 0, path);
}

static void write_pair(const char *folder, const struct authority *authority) {
    struct leaf_request request = {.service = "a", .namespace = "b", .lifetime_s = 3600};
    struct pem_pair pair;
    struct fault fault = {0};
    must(authority_issue(authority, &request, time(NULL), &pair, &fault), fault.text);
    write_file(folder, "tls.crt", pair.certificate, pair.certificate_bytes);
    write_file(folder, "tls.key", pair.key, pair.key_bytes);
    pem_pair_release(&pair);
}

int main(void) {
    char folder[] = "/tmp/drawbridge-tsan-XXXXXX";
    char cert[512], key[512], ca[512];
    struct authority *authority = NULL;
    struct pem_pair ca_pair;
    struct fault fault = {0};
    pthread_t threads[3];
    must(mkdtemp(folder) != NULL, "no folder");
    must(authority_new(KEY_ECDSA_P256, time(NULL), 86400, &authority, &fault), fault.text);
    must(authority_export(authority, &ca_pair, &fault), fault.text);
    write_file(folder, "ca.crt", ca_pair.certificate, ca_pair.certificate_bytes);
    write_pair(folder, authority);
    snprintf(cert, sizeof cert, "%s/tls.crt", folder);
    snprintf(key, sizeof key, "%s/tls.key", folder);
    snprintf(ca, sizeof ca, "%s/ca.crt", folder);
    struct source_files files = {
        .cert_file = cert, .key_file = key, .handshake_deadline_ms = 1000, .poll_ms = 50};
    struct client_verifier_files client_files = {.ca_file = ca, .poll_ms = 50};
    must(source_new(&files, &source, &fault), fault.text);
    must(client_verifier_new(&client_files, &verifier, &fault), fault.text);
    for (int i = 0; i < 3; i++) must(pthread_create(&threads[i], NULL, handshakes, NULL) == 0, "no thread");
    for (int i = 0; i < ROUNDS; i++) {
        const char *const names[] = {i % 2 == 0 ? "one" : "two"};
        write_pair(folder, authority);
        write_file(folder, "ca.crt", ca_pair.certificate, i % 4 == 3 ? 10 : ca_pair.certificate_bytes);
        must(client_verifier_names(verifier, names, 1, &fault), fault.text);
        usleep(100000);
    }
    atomic_store(&done, true);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    struct source_facts facts;
    source_facts(source, &facts);
    printf("%lu signatures, %lu refusals, %llu rotations\n", atomic_load(&signatures), atomic_load(&refused),
           (unsigned long long)facts.rotations_ok_count);
    must(facts.rotations_ok_count > ROUNDS / 4, "rotations were missed");
    must(atomic_load(&refused) > 0, "no chain was judged");
    client_verifier_free(verifier);
    source_free(source);
    authority_free(authority);
    pem_pair_release(&ca_pair);
    must(unlink(cert) == 0 && unlink(key) == 0 && unlink(ca) == 0 && rmdir(folder) == 0, "the folder stays");
    return 0;
}
