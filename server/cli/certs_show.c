// SPDX-License-Identifier: Apache-2.0
// `drawbridge certs show` and the verdict of `certs verify`, as text and as JSON.
#include "server/cli/certs_show.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "certs/authority.h"
#include "certs/describe.h"
#include "certs/pem.h"
#include "server/cli/command.h"
#include "validators/core/arena.h"

#define ARENA_BYTES (4u << 20)

const char *certs_time(time_t time, char *buffer, size_t size) {
    struct tm parts;
    if (gmtime_r(&time, &parts) == NULL || strftime(buffer, size, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        snprintf(buffer, size, "?");
    return buffer;
}

// Whole days that are left; negative once it has ended.
static long long days_left(const struct certificate_facts *facts, time_t now) {
    long long left_s = (long long)facts->not_after - (long long)now;
    return left_s < 0 ? (left_s - AUTHORITY_DAY_S + 1) / AUTHORITY_DAY_S : left_s / AUTHORITY_DAY_S;
}

static const char *validity(const struct certificate_facts *facts, time_t now, char *buffer, size_t size) {
    if (now < facts->not_before)
        snprintf(buffer, size, "not valid yet");
    else if (now >= facts->not_after)
        snprintf(buffer, size, "EXPIRED %lld days ago", -days_left(facts, now));
    else
        snprintf(buffer, size, "%lld days left", days_left(facts, now));
    return buffer;
}

static void print_as_text(const char *file, size_t number, const struct certificate_facts *facts,
                          time_t now) {
    char begin[32], end[32], left[64];
    printf("%s, certificate %zu\n", file, number);
    printf("  subject    %.*s\n", TEXT_ARG(facts->subject.len == 0 ? TEXT("(none)") : facts->subject));
    printf("  issuer     %.*s\n", TEXT_ARG(facts->issuer));
    printf("  valid      %s to %s (%s)\n", certs_time(facts->not_before, begin, sizeof begin),
           certs_time(facts->not_after, end, sizeof end), validity(facts, now, left, sizeof left));
    for (size_t i = 0; i < facts->name_count; i++)
        printf("  %-10s %.*s\n", i == 0 ? "names" : "", TEXT_ARG(facts->names[i]));
    if (facts->names_left_out_count > 0) printf("  %-10s and %zu more\n", "", facts->names_left_out_count);
    printf("  kind       %s%s%s\n", facts->is_ca ? "CA" : "leaf",
           facts->is_ca || !facts->server_auth ? "" : ", for servers",
           facts->is_ca || !facts->client_auth ? "" : ", for clients");
    printf("  key        %.*s, signed with %.*s\n", TEXT_ARG(facts->algorithm), TEXT_ARG(facts->signature));
    printf("  serial     %.*s\n", TEXT_ARG(facts->serial));
    printf("  sha256     %.*s\n\n", TEXT_ARG(facts->sha256));
}

static json_t *json_of(struct text text) {
    return json_stringn(text.len == 0 ? "" : text.ptr, text.len);
}

// Errors: NULL when memory ran out.
static json_t *as_object(const char *file, size_t number, const struct certificate_facts *facts, time_t now) {
    char begin[32], end[32];
    json_t *names = json_array();
    for (size_t i = 0; i < facts->name_count; i++) json_array_append_new(names, json_of(facts->names[i]));
    json_t *usages = json_array();
    if (!facts->is_ca && facts->server_auth) json_array_append_new(usages, json_string("serverAuth"));
    if (!facts->is_ca && facts->client_auth) json_array_append_new(usages, json_string("clientAuth"));
    return json_pack(
        "{s:s, s:i, s:o, s:o, s:o, s:s, s:s, s:I, s:b, s:o, s:o, s:b, s:i, s:o, s:o}", "file", file,
        "certificate", (int)number, "subject", json_of(facts->subject), "issuer", json_of(facts->issuer),
        "names", names, "notBefore", certs_time(facts->not_before, begin, sizeof begin), "notAfter",
        certs_time(facts->not_after, end, sizeof end), "daysLeft", (json_int_t)days_left(facts, now), "valid",
        now >= facts->not_before && now < facts->not_after, "algorithm", json_of(facts->algorithm), "usages",
        usages, "isCA", facts->is_ca, "pathLength", (int)facts->path_length, "serial", json_of(facts->serial),
        "sha256", json_of(facts->sha256));
}

// Standard input, up to the cap of a file of certificates.
static bool read_stdin(struct text *ret_bytes, struct fault *fault) {
    char *bytes = malloc(PEM_CHAIN_BYTES_LIMIT + 2);
    if (bytes == NULL) return fault_set(fault, FAULT_MEMORY, "out of memory");
    size_t len = fread(bytes, 1, PEM_CHAIN_BYTES_LIMIT + 1, stdin);
    bool fine = true;
    if (ferror(stdin)) fine = fault_set(fault, FAULT_IO, "standard input: %s", strerror(errno));
    if (fine && len > PEM_CHAIN_BYTES_LIMIT)
        fine = fault_set(fault, FAULT_LIMIT, "standard input: more than %d bytes", PEM_CHAIN_BYTES_LIMIT);
    if (!fine) {
        free(bytes);
        return false;
    }
    *ret_bytes = (struct text){bytes, len};
    return true;
}

static bool load(const char *file, STACK_OF(X509) * *ret_chain, struct fault *fault) {
    struct text bytes;
    if (strcmp(file, "-") != 0) return pem_load_chain(file, ret_chain, fault);
    if (!read_stdin(&bytes, fault)) return false;
    bool parsed = pem_parse_chain(bytes, ret_chain, fault);
    pem_bytes_release(bytes);
    return parsed ? true : fault_wrap(fault, "standard input");
}

// Prints, or gathers in `all` where that is not NULL.
static bool show_file(const char *file, json_t *all, time_t now, struct fault *fault) {
    STACK_OF(X509) *chain = NULL;
    struct arena arena;
    if (!load(file, &chain, fault)) return false;
    arena_init(&arena, ARENA_BYTES);
    bool fine = true;
    for (int i = 0; fine && i < sk_X509_num(chain); i++) {
        struct certificate_facts facts;
        fine = certificate_describe(sk_X509_value(chain, i), &arena, &facts, fault);
        if (!fine) break;
        if (all == NULL)
            print_as_text(file, (size_t)i + 1, &facts, now);
        else if (json_array_append_new(all, as_object(file, (size_t)i + 1, &facts, now)) != 0)
            fine = fault_set(fault, FAULT_MEMORY, "out of memory");
        arena_clear(&arena);
    }
    arena_release(&arena);
    pem_chain_free(chain);
    return fine ? true : fault_wrap(fault, "\"%s\"", file);
}

static bool print_json(json_t *object) {
    bool printed = object != NULL && json_dumpf(object, stdout, JSON_INDENT(2)) == 0 && putchar('\n') != EOF;
    json_decref(object);
    return printed && fflush(stdout) == 0;
}

int certs_show_files(const char *const *files, size_t count, const char *const *more, size_t more_count,
                     bool as_json, time_t now) {
    json_t *all = as_json ? json_array() : NULL;
    int code = EXIT_CLEAN;
    for (size_t i = 0; i < count + more_count; i++) {
        struct fault fault = {0};
        if (show_file(i < count ? files[i] : more[i - count], all, now, &fault)) continue;
        fprintf(stderr, "drawbridge certs show: %s\n", fault.text);
        code = EXIT_UNREADABLE;
    }
    bool printed = as_json ? print_json(json_pack("{s:o}", "certificates", all)) : fflush(stdout) == 0;
    return printed ? code : EXIT_UNREADABLE;
}

bool certs_print_verdict(const char *file, const char *reason, bool as_json) {
    bool verified = reason[0] == '\0';
    if (as_json)
        return print_json(json_pack("{s:s, s:b, s:s}", "file", file, "verified", verified, "reason", reason));
    printf("%s: %s%s\n", file, verified ? "verified" : "refused: ", reason);
    return fflush(stdout) == 0;
}
