// SPDX-License-Identifier: Apache-2.0
// Reading PEM files and taking them apart.
#include "certs/pem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>

bool openssl_fault(struct fault *fault, enum fault_code code, const char *what) {
    unsigned long error = ERR_peek_last_error();
    const char *reason = error == 0 ? NULL : ERR_reason_error_string(error);
    ERR_clear_error();
    if (reason == NULL) return fault_set(fault, code, "%s", what);
    return fault_set(fault, code, "%s: %s", what, reason);
}

bool asn1_time_seconds(const ASN1_TIME *time, time_t *ret_seconds) {
    struct tm parts;
    if (time == NULL || ASN1_TIME_to_tm(time, &parts) != 1) return false;
    *ret_seconds = timegm(&parts);
    return true;
}

static bool read_all(int fd, size_t limit_bytes, struct text *ret_bytes, struct fault *fault) {
    struct stat status;
    if (fstat(fd, &status) != 0) return fault_set(fault, FAULT_IO, "%s", strerror(errno));
    if (!S_ISREG(status.st_mode)) return fault_set(fault, FAULT_IO, "not a regular file");
    if (status.st_size > (off_t)limit_bytes)
        return fault_set(fault, FAULT_LIMIT, "%lld bytes; at most %zu are read", (long long)status.st_size,
                         limit_bytes);
    // One byte more than the cap, so that a file that has grown meanwhile is noticed.
    char *bytes = malloc(limit_bytes + 2);
    if (bytes == NULL) return fault_set(fault, FAULT_MEMORY, "out of memory");
    size_t len = 0;
    ssize_t got;
    do {
        got = read(fd, bytes + len, limit_bytes + 1 - len);
        if (got > 0) len += (size_t)got;
    } while ((got > 0 && len <= limit_bytes) || (got < 0 && errno == EINTR));
    bytes[len] = '\0';
    if (got < 0) fault_set(fault, FAULT_IO, "%s", strerror(errno));
    if (got >= 0 && len > limit_bytes) fault_set(fault, FAULT_LIMIT, "more than %zu bytes", limit_bytes);
    if (got < 0 || len > limit_bytes) {
        OPENSSL_cleanse(bytes, len);
        free(bytes);
        return false;
    }
    *ret_bytes = (struct text){bytes, len};
    return true;
}

bool pem_read_file(const char *path, size_t limit_bytes, struct text *ret_bytes, struct fault *fault) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return fault_set(fault, FAULT_IO, "\"%s\": %s", path, strerror(errno));
    bool read_ok = read_all(fd, limit_bytes, ret_bytes, fault);
    close(fd);
    return read_ok ? true : fault_wrap(fault, "\"%s\"", path);
}

void pem_bytes_release(struct text bytes) {
    if (bytes.ptr == NULL) return;
    // The bytes came from pem_read_file, which hands out memory that may be written.
    union {
        const char *seen;
        char *own;
    } block = {.seen = bytes.ptr};
    OPENSSL_cleanse(block.own, bytes.len);
    free(block.own);
}

void pem_chain_free(STACK_OF(X509) * chain) {
    sk_X509_pop_free(chain, X509_free);
}

// Adds one DER certificate to the chain; what follows it in the block is an error.
static bool add_certificate(STACK_OF(X509) * chain, const unsigned char *der, long der_bytes,
                            struct fault *fault) {
    const unsigned char *at = der;
    X509 *certificate = d2i_X509(NULL, &at, der_bytes);
    int number = sk_X509_num(chain) + 1;
    if (certificate == NULL) {
        openssl_fault(fault, FAULT_INPUT, "not a certificate");
        return fault_wrap(fault, "block %d", number);
    }
    if (at != der + der_bytes) {
        X509_free(certificate);
        return fault_set(fault, FAULT_INPUT, "block %d: bytes follow the certificate", number);
    }
    if (sk_X509_push(chain, certificate) <= 0) {
        X509_free(certificate);
        return fault_set(fault, FAULT_MEMORY, "out of memory");
    }
    return true;
}

// Reads one PEM block. *ret_more is false at the end of the text.
static bool next_block(BIO *in, STACK_OF(X509) * chain, bool *ret_more, struct fault *fault) {
    char *name = NULL, *header = NULL;
    unsigned char *der = NULL;
    long der_bytes = 0;
    size_t before = BIO_ctrl_pending(in);
    if (PEM_read_bio(in, &name, &header, &der, &der_bytes) != 1) {
        bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
        *ret_more = false;
        if (!at_end) return openssl_fault(fault, FAULT_INPUT, "not PEM");
        ERR_clear_error();
        return true;
    }
    bool taken = true;
    *ret_more = true;
    if (strcmp(name, PEM_STRING_X509) == 0 || strcmp(name, PEM_STRING_X509_OLD) == 0) {
        if (before - BIO_ctrl_pending(in) > PEM_CERTIFICATE_BYTES_LIMIT)
            taken = fault_set(fault, FAULT_LIMIT, "one certificate of more than %d bytes",
                              PEM_CERTIFICATE_BYTES_LIMIT);
        else
            taken = add_certificate(chain, der, der_bytes, fault);
    }
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_clear_free(der, (size_t)der_bytes); // may be a key that stands beside the certificates
    return taken;
}

bool pem_parse_chain(struct text pem, STACK_OF(X509) * *ret_chain, struct fault *fault) {
    if (pem.len > PEM_CHAIN_BYTES_LIMIT)
        return fault_set(fault, FAULT_LIMIT, "%zu bytes of certificates; at most %d are read", pem.len,
                         PEM_CHAIN_BYTES_LIMIT);
    ERR_clear_error();
    STACK_OF(X509) *chain = sk_X509_new_null();
    BIO *in = BIO_new_mem_buf(pem.len == 0 ? "" : pem.ptr, (int)pem.len);
    bool fine = chain != NULL && in != NULL;
    if (!fine) fault_set(fault, FAULT_MEMORY, "out of memory");
    for (bool more = true; fine && more;) fine = next_block(in, chain, &more, fault);
    BIO_free(in);
    if (fine && sk_X509_num(chain) == 0) fine = fault_set(fault, FAULT_INPUT, "holds no certificate");
    if (!fine) {
        pem_chain_free(chain);
        return false;
    }
    *ret_chain = chain;
    return true;
}

// Never asks at a terminal; notes that it was asked.
static int no_password(char *buffer, int size, int writing, void *asked) {
    (void)buffer;
    (void)size;
    (void)writing;
    *(bool *)asked = true;
    return -1;
}

bool pem_parse_key(struct text pem, EVP_PKEY **ret_key, struct fault *fault) {
    if (pem.len > PEM_KEY_BYTES_LIMIT)
        return fault_set(fault, FAULT_LIMIT, "a key of %zu bytes; at most %d are read", pem.len,
                         PEM_KEY_BYTES_LIMIT);
    ERR_clear_error();
    BIO *in = BIO_new_mem_buf(pem.len == 0 ? "" : pem.ptr, (int)pem.len);
    if (in == NULL) return fault_set(fault, FAULT_MEMORY, "out of memory");
    bool encrypted = false;
    EVP_PKEY *key = PEM_read_bio_PrivateKey(in, NULL, no_password, &encrypted);
    BIO_free(in);
    if (key == NULL && encrypted) {
        ERR_clear_error();
        return fault_set(fault, FAULT_INPUT, "the key is encrypted; store it without a password");
    }
    if (key == NULL) return openssl_fault(fault, FAULT_INPUT, "holds no private key");
    ERR_clear_error();
    *ret_key = key;
    return true;
}

bool pem_load_chain(const char *path, STACK_OF(X509) * *ret_chain, struct fault *fault) {
    struct text bytes;
    if (!pem_read_file(path, PEM_CHAIN_BYTES_LIMIT, &bytes, fault)) return false;
    bool parsed = pem_parse_chain(bytes, ret_chain, fault);
    pem_bytes_release(bytes);
    return parsed ? true : fault_wrap(fault, "\"%s\"", path);
}

bool pem_load_key(const char *path, EVP_PKEY **ret_key, struct fault *fault) {
    struct text bytes;
    if (!pem_read_file(path, PEM_KEY_BYTES_LIMIT, &bytes, fault)) return false;
    bool parsed = pem_parse_key(bytes, ret_key, fault);
    pem_bytes_release(bytes);
    return parsed ? true : fault_wrap(fault, "\"%s\"", path);
}
