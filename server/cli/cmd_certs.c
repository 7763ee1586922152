// SPDX-License-Identifier: Apache-2.0
// `drawbridge certs issue|show|verify`: certificates for the server, without a cluster and without openssl.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "certs/authority.h"
#include "certs/pem.h"
#include "certs/verify.h"
#include "server/cli/certs_show.h"
#include "server/cli/command.h"
#include "server/cli/options.h"

#define PATH_BYTES 4096

static int fail(const char *command, const struct fault *fault) {
    fprintf(stderr, "drawbridge certs %s: %s\n", command, fault->text);
    if (fault->code != FAULT_USAGE) return EXIT_UNREADABLE;
    fprintf(stderr, "Try 'drawbridge certs %s --help'.\n", command);
    return EXIT_USAGE;
}

static bool join(const char *folder, const char *name, char *path, struct fault *fault) {
    int len = snprintf(path, PATH_BYTES, "%s/%s", folder, name);
    return len < PATH_BYTES || fault_set(fault, FAULT_USAGE, "--dir is longer than %d bytes", PATH_BYTES);
}

static bool write_all(int fd, const char *bytes, size_t len) {
    while (len > 0) {
        ssize_t written = write(fd, bytes, len);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        bytes += written;
        len -= (size_t)written;
    }
    return fsync(fd) == 0;
}

// Writes a file anew under another name, then moves it into place: who follows it never reads half of it.
static bool write_file(const char *folder, const char *name, const char *bytes, size_t len, mode_t mode,
                       struct fault *fault) {
    char path[PATH_BYTES], fresh[PATH_BYTES];
    char fresh_name[64];
    snprintf(fresh_name, sizeof fresh_name, ".%s.new", name);
    if (!join(folder, name, path, fault) || !join(folder, fresh_name, fresh, fault)) return false;
    unlink(fresh); // left over from a run that was cut short
    int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd < 0) return fault_set(fault, FAULT_IO, "cannot write \"%s\": %s", path, strerror(errno));
    bool written = write_all(fd, bytes, len);
    int error = errno;
    if (close(fd) != 0 && written) {
        error = errno;
        written = false;
    }
    if (written && rename(fresh, path) == 0) return true;
    if (written) error = errno;
    unlink(fresh);
    return fault_set(fault, FAULT_IO, "cannot write \"%s\": %s", path, strerror(error));
}

static bool write_pair(const char *folder, const char *name, const struct pem_pair *pair,
                       struct fault *fault) {
    char certificate[32], key[32];
    snprintf(certificate, sizeof certificate, "%s.crt", name);
    snprintf(key, sizeof key, "%s.key", name);
    return write_file(folder, key, pair->key, pair->key_bytes, 0600, fault) &&
           write_file(folder, certificate, pair->certificate, pair->certificate_bytes, 0644, fault);
}

static bool exists(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0;
}

static bool load_authority(const char *certificate, const char *key, struct authority **ret_authority,
                           struct fault *fault) {
    struct text certificate_pem = {0}, key_pem = {0};
    bool loaded = pem_read_file(certificate, PEM_CHAIN_BYTES_LIMIT, &certificate_pem, fault) &&
                  pem_read_file(key, PEM_KEY_BYTES_LIMIT, &key_pem, fault);
    if (loaded && !authority_load(certificate_pem, key_pem, ret_authority, fault))
        loaded = fault_wrap(fault, "\"%s\"", certificate);
    pem_bytes_release(certificate_pem);
    pem_bytes_release(key_pem);
    return loaded;
}

// The CA that lies in the folder, else a new one, which is written there.
static bool take_authority(const struct options *options, const char *folder, bool *ret_is_new,
                           struct authority **ret_authority, struct fault *fault) {
    char certificate[PATH_BYTES], key[PATH_BYTES];
    if (!join(folder, "ca.crt", certificate, fault) || !join(folder, "ca.key", key, fault)) return false;
    bool has_certificate = exists(certificate), has_key = exists(key);
    *ret_is_new = !has_certificate && !has_key;
    if (has_certificate != has_key)
        return fault_set(fault, FAULT_IO,
                         "\"%s\" is there without \"%s\"; a CA needs both: put it back, or remove both",
                         has_key ? key : certificate, has_key ? "ca.crt" : "ca.key");
    if (has_certificate) return load_authority(certificate, key, ret_authority, fault);
    struct pem_pair pair = {0};
    enum key_algorithm algorithm = (enum key_algorithm)options_choice(options, OPTION_ALGORITHM);
    int64_t life_s = options_int(options, OPTION_CA_DAYS) * AUTHORITY_DAY_S;
    if (!authority_new(algorithm, time(NULL), life_s, ret_authority, fault)) return false;
    bool written = authority_export(*ret_authority, &pair, fault) && write_pair(folder, "ca", &pair, fault);
    pem_pair_release(&pair);
    if (!written) authority_free(*ret_authority);
    return written;
}

static bool read_request(const struct options *options, struct leaf_request *request, struct fault *fault) {
    const char *service = options_text(options, OPTION_SERVICE),
               *namespace = options_text(options, OPTION_NAMESPACE);
    request->algorithm = (enum key_algorithm)options_choice(options, OPTION_ALGORITHM);
    request->lifetime_s = options_int(options, OPTION_DAYS) * AUTHORITY_DAY_S;
    request->hosts = options_list(options, OPTION_HOST, &request->host_count);
    if (service[0] != '\0') request->service = service;
    if (namespace[0] != '\0') request->namespace = namespace;
    if (options_text(options, OPTION_DIR)[0] == '\0') return fault_set(fault, FAULT_USAGE, "--dir is needed");
    if (request->service == NULL && request->host_count == 0)
        return fault_set(fault, FAULT_USAGE, "--service with --namespace, or --host, is needed");
    if ((request->service == NULL) != (request->namespace == NULL))
        return fault_set(fault, FAULT_USAGE, "--service and --namespace go together");
    return true;
}

static bool issue(const struct options *options, struct fault *fault) {
    struct leaf_request request = {0};
    if (!read_request(options, &request, fault)) return false;
    const char *folder = options_text(options, OPTION_DIR);
    if (mkdir(folder, 0755) != 0 && errno != EEXIST)
        return fault_set(fault, FAULT_IO, "--dir: cannot make \"%s\": %s", folder, strerror(errno));
    bool is_new = false;
    struct authority *authority = NULL;
    if (!take_authority(options, folder, &is_new, &authority, fault)) return false;
    struct pem_pair leaf = {0};
    bool issued = authority_issue(authority, &request, time(NULL), &leaf, fault) &&
                  write_pair(folder, "tls", &leaf, fault);
    if (issued) {
        char until[32], ca_until[32];
        time_t end = time(NULL) + (time_t)request.lifetime_s;
        if (end > authority_not_after(authority)) end = authority_not_after(authority);
        printf("%s/ca.crt   %s, valid until %s\n", folder, is_new ? "new CA" : "CA used again",
               certs_time(authority_not_after(authority), ca_until, sizeof ca_until));
        printf("%s/tls.crt  certificate, valid until %s\n", folder, certs_time(end, until, sizeof until));
        printf("%s/tls.key  its private key\n", folder);
    }
    pem_pair_release(&leaf);
    authority_free(authority);
    return issued;
}

static int certs_issue(int argc, char **argv) {
    struct options options;
    struct fault fault = {0};
    int code;
    if (!options_start(&options, "certs issue", argc, argv, &code)) return code;
    bool issued = issue(&options, &fault);
    options_release(&options);
    return issued ? EXIT_CLEAN : fail("issue", &fault);
}

static int certs_show(int argc, char **argv) {
    struct options options;
    struct fault fault = {0};
    int code;
    if (!options_start(&options, "certs show", argc, argv, &code)) return code;
    size_t count = 0;
    const char *const *files = options_list(&options, OPTION_CERT_FILENAME, &count);
    bool as_json = options_choice(&options, OPTION_OUTPUT) == 1;
    if (count + options.word_count == 0) {
        fault_set(&fault, FAULT_USAGE, "-f FILE is needed");
        code = fail("show", &fault);
    } else {
        code = certs_show_files(files, count, (const char *const *)options.words, options.word_count, as_json,
                                time(NULL));
    }
    options_release(&options);
    return code;
}

// Whether the certificate holds. Errors: ret_reason says why not; false only when something could not be
// read.
static bool verify(const struct options *options, struct fault *ret_reason, bool *ret_holds,
                   struct fault *fault) {
    const char *ca_file = options_text(options, OPTION_CA_FILE),
               *cert_file = options_text(options, OPTION_CERT_FILE);
    const char *key_file = options_text(options, OPTION_KEY_FILE);
    STACK_OF(X509) *authorities = NULL, *chain = NULL;
    EVP_PKEY *key = NULL;
    if (ca_file[0] == '\0' || cert_file[0] == '\0')
        return fault_set(fault, FAULT_USAGE, "--ca-file and --cert-file are needed");
    bool loaded = pem_load_chain(ca_file, &authorities, fault) && pem_load_chain(cert_file, &chain, fault) &&
                  (key_file[0] == '\0' || pem_load_key(key_file, &key, fault));
    *ret_holds = loaded && verify_server(authorities, chain, options_text(options, OPTION_VERIFY_HOST),
                                         time(NULL), ret_reason);
    if (*ret_holds && key != NULL && X509_check_private_key(sk_X509_value(chain, 0), key) != 1)
        *ret_holds = openssl_fault(ret_reason, FAULT_STATE, "the key does not belong to the certificate");
    if (loaded && !*ret_holds && ret_reason->code == FAULT_MEMORY)
        loaded = fault_set(fault, FAULT_MEMORY, "out of memory");
    pem_chain_free(authorities);
    pem_chain_free(chain);
    EVP_PKEY_free(key);
    return loaded;
}

static int certs_verify(int argc, char **argv) {
    struct options options;
    struct fault fault = {0}, reason = {0};
    bool holds = false;
    int code;
    if (!options_start(&options, "certs verify", argc, argv, &code)) return code;
    if (!verify(&options, &reason, &holds, &fault)) {
        code = fail("verify", &fault);
    } else {
        bool printed = certs_print_verdict(options_text(&options, OPTION_CERT_FILE), holds ? "" : reason.text,
                                           options_choice(&options, OPTION_OUTPUT) == 1);
        code = !printed ? EXIT_UNREADABLE : holds ? EXIT_CLEAN : EXIT_FINDINGS;
    }
    options_release(&options);
    return code;
}

static const struct command subcommands[] = {
    {"issue", certs_issue, "make a CA (once) and a serving certificate"},
    {"show", certs_show, "tell what certificates say"},
    {"verify", certs_verify, "say whether a client would accept a certificate"},
};

static void print_help(FILE *out) {
    fputs("Usage: drawbridge certs issue|show|verify [flags]\n\n", out);
    for (size_t i = 0; i < sizeof subcommands / sizeof subcommands[0]; i++)
        fprintf(out, "  %-8s %s\n", subcommands[i].name, subcommands[i].summary);
    fputs("\n'drawbridge certs issue --help' lists the flags.\n", out);
}

int cmd_certs(int argc, char **argv) {
    if (argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_help(stdout);
        return EXIT_CLEAN;
    }
    for (size_t i = 0; argc >= 2 && i < sizeof subcommands / sizeof subcommands[0]; i++)
        if (strcmp(argv[1], subcommands[i].name) == 0) return subcommands[i].run(argc - 1, argv + 1);
    if (argc >= 2) fprintf(stderr, "drawbridge certs: there is no \"%.64s\"\n\n", argv[1]);
    print_help(stderr);
    return EXIT_USAGE;
}
