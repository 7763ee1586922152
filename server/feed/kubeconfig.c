// SPDX-License-Identifier: Apache-2.0
// Reading kubeconfig files.
// Source: k8s.io/client-go v0.36.3 tools/clientcmd/api/v1/types.go.
#include "server/feed/kubeconfig.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "server/codec/yaml.h"
#include "validators/core/json_reader.h"

#define ARENA_BYTES ((size_t)32 * 1024 * 1024)

// The parts of a file, as they are found.
struct named {
    struct text name;
    struct text raw; // the JSON of its cluster, user or context
};
struct named_list {
    struct named *items;
    size_t count;
};
struct config_file {
    const char *path;
    struct arena arena;
    struct finding_list findings;
    struct named_list clusters, users, contexts;
    struct text current;
};

// --- Files ---

static bool read_file(const char *path, size_t limit_bytes, char **ret_bytes, size_t *ret_len,
                      struct fault *fault) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return fault_set(fault, FAULT_IO, "%.120s: %s", path, strerror(errno));
    struct stat status;
    char *bytes = NULL;
    bool fine = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    if (!fine) fault_set(fault, FAULT_IO, "%.120s: not a file", path);
    if (fine) bytes = malloc(limit_bytes + 1);
    if (fine && bytes == NULL) fine = fault_set(fault, FAULT_MEMORY, "out of memory");
    size_t len = 0;
    while (fine && len <= limit_bytes) {
        ssize_t got = read(fd, bytes + len, limit_bytes + 1 - len);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fine = fault_set(fault, FAULT_IO, "%.120s: %s", path, strerror(errno));
        if (got <= 0) break;
        len += (size_t)got;
    }
    close(fd);
    if (fine && len > limit_bytes)
        fine = fault_set(fault, FAULT_LIMIT, "%.120s: longer than %zu bytes", path, limit_bytes);
    if (!fine) {
        free(bytes);
        return false;
    }
    *ret_bytes = bytes;
    *ret_len = len;
    return true;
}

static char *copy(struct text text) {
    char *bytes = malloc(text.len + 1);
    if (bytes == NULL) return NULL;
    if (text.len > 0) memcpy(bytes, text.ptr, text.len);
    bytes[text.len] = '\0';
    return bytes;
}

static void wipe(char **secret) {
    if (*secret != NULL) OPENSSL_cleanse(*secret, strlen(*secret));
    free(*secret);
    *secret = NULL;
}

static void wipe_blob(struct kube_blob *blob) {
    if (blob->ptr != NULL) OPENSSL_cleanse(blob->ptr, blob->len);
    free(blob->ptr);
    *blob = (struct kube_blob){.ptr = NULL};
}

void kubeconfig_release(struct kubeconfig *config) {
    if (config == NULL) return;
    free(config->server);
    free(config->server_name);
    free(config->ca_file);
    free(config->cert_file);
    free(config->key_file);
    free(config->token_file);
    wipe(&config->token);
    wipe_blob(&config->ca_data);
    wipe_blob(&config->cert_data);
    wipe_blob(&config->key_data);
    *config = (struct kubeconfig){.server = NULL};
}

// --- The outer form ---

enum { FILE_CLUSTERS, FILE_USERS, FILE_CONTEXTS, FILE_CURRENT };
static const struct json_name file_names[] = {JSON_NAME("clusters"), JSON_NAME("users"),
                                              JSON_NAME("contexts"), JSON_NAME("current-context")};
static const struct json_fields file_fields = JSON_FIELDS(file_names);

enum { NAMED_NAME, NAMED_CLUSTER, NAMED_USER, NAMED_CONTEXT };
static const struct json_name named_names[] = {JSON_NAME("name"), JSON_NAME("cluster"), JSON_NAME("user"),
                                               JSON_NAME("context")};
static const struct json_fields named_fields = JSON_FIELDS(named_names);

static void read_named(struct json_reader *reader, struct named_list *list) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct named *named = JSON_APPEND(reader, list);
        if (named == NULL) return;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &named_fields, &seen, &field)) {
            if (field == NAMED_NAME)
                json_text(reader, &named->name);
            else
                json_raw(reader, &named->raw);
        }
    }
}

static bool read_outer(struct config_file *file, struct text json, struct fault *fault) {
    struct json_reader reader;
    json_init(&reader, json, &file->arena, &file->findings, JSON_WIRE);
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(&reader, &file_fields, &seen, &field)) switch (field) {
        case FILE_CLUSTERS: read_named(&reader, &file->clusters); break;
        case FILE_USERS: read_named(&reader, &file->users); break;
        case FILE_CONTEXTS: read_named(&reader, &file->contexts); break;
        default: json_text(&reader, &file->current); break;
        }
    return json_finish(&reader, fault);
}

static bool find_named(const struct named_list *list, const char *what, struct text name,
                       struct text *ret_raw, struct fault *fault) {
    for (size_t i = 0; i < list->count; i++) {
        if (!text_equal(list->items[i].name, name)) continue;
        *ret_raw = list->items[i].raw;
        if (ret_raw->len == 0) *ret_raw = TEXT("{}");
        return true;
    }
    return fault_set(fault, FAULT_USAGE, "there is no %s \"%.*s\"", what, TEXT_ARG(name));
}

// --- Values ---

// Names of files are as seen from the file that names them.
static bool take_path(const struct config_file *file, struct text text, char **ret_path,
                      struct fault *fault) {
    char path[PATH_MAX];
    const char *slash = strrchr(file->path, '/');
    int folder_len = slash == NULL || text.ptr[0] == '/' ? 0 : (int)(slash - file->path) + 1;
    int len = snprintf(path, sizeof path, "%.*s%.*s", folder_len, file->path, TEXT_ARG(text));
    if (len >= (int)sizeof path) return fault_set(fault, FAULT_USAGE, "a path is too long");
    *ret_path = copy((struct text){path, (size_t)len});
    return *ret_path != NULL || fault_set(fault, FAULT_MEMORY, "out of memory");
}

static bool take_data(const char *what, struct text text, struct kube_blob *ret_blob, struct fault *fault) {
    if (text.len > INT_MAX / 2 || text.len % 4 != 0)
        return fault_set(fault, FAULT_USAGE, "%s is no base64", what);
    char *bytes = malloc(text.len + 1);
    if (bytes == NULL) return fault_set(fault, FAULT_MEMORY, "out of memory");
    int len = EVP_DecodeBlock((unsigned char *)bytes, (const unsigned char *)text.ptr, (int)text.len);
    if (len <= 0) {
        free(bytes);
        return fault_set(fault, FAULT_USAGE, "%s is no base64", what);
    }
    // The block decoder counts the padding too.
    for (size_t i = text.len; i > 0 && text.ptr[i - 1] == '='; i--) len--;
    *ret_blob = (struct kube_blob){bytes, (size_t)len};
    return true;
}

static bool take_text(struct text text, char **ret_text, struct fault *fault) {
    *ret_text = copy(text);
    return *ret_text != NULL || fault_set(fault, FAULT_MEMORY, "out of memory");
}

static bool is_loopback(struct text host) {
    char name[64];
    unsigned char bytes[16];
    if (host.len == 0 || host.len >= sizeof name) return false;
    memcpy(name, host.ptr, host.len);
    name[host.len] = '\0';
    if (strcmp(name, "localhost") == 0 || strcmp(name, "[::1]") == 0) return true;
    return inet_pton(AF_INET, name, bytes) == 1 && bytes[0] == 127;
}

static bool take_server(struct text text, char **ret_server, struct fault *fault) {
    while (text_ends_with(text, TEXT("/"))) text.len--;
    bool plain = text_starts_with(text, TEXT("http://"));
    if (!plain && !text_starts_with(text, TEXT("https://")))
        return fault_set(fault, FAULT_USAGE, "server: \"%.*s\" is not https://HOST:PORT", TEXT_ARG(text));
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] <= ' ' || text.ptr[i] == '@' || text.ptr[i] == '?' ||
            text.ptr[i] == '#')
            return fault_set(fault, FAULT_USAGE, "server: only scheme, host, port and path are supported");
    struct text rest = text_slice(text, plain ? 7 : 8, text.len);
    struct text host = text_slice(rest, 0, text_find(rest, '/', 0));
    if (host.len > 0 && host.ptr[0] != '[') host.len = text_find(host, ':', 0);
    if (host.len > 0 && host.ptr[0] == '[') host.len = text_find(host, ']', 0) + 1;
    if (host.len == 0 || host.len > rest.len) return fault_set(fault, FAULT_USAGE, "server: no host");
    if (plain && !is_loopback(host))
        return fault_set(fault, FAULT_USAGE, "server: http is only for the loopback address; use https");
    return take_text(text, ret_server, fault);
}

// --- Cluster and user ---

enum {
    CLUSTER_SERVER,
    CLUSTER_SERVER_NAME,
    CLUSTER_INSECURE,
    CLUSTER_CA_FILE,
    CLUSTER_CA_DATA,
    CLUSTER_PROXY
};
static const struct json_name cluster_names[] = {
    JSON_NAME("server"),
    JSON_NAME("tls-server-name"),
    JSON_NAME("insecure-skip-tls-verify"),
    JSON_NAME("certificate-authority"),
    JSON_NAME("certificate-authority-data"),
    JSON_NAME("proxy-url"),
};
static const struct json_fields cluster_fields = JSON_FIELDS(cluster_names);

static bool read_cluster(struct config_file *file, struct text raw, struct kubeconfig *config,
                         struct fault *fault) {
    struct json_reader reader;
    struct text values[6] = {{NULL, 0}};
    bool insecure = false;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    json_init(&reader, raw, &file->arena, &file->findings, JSON_WIRE);
    while (json_field(&reader, &cluster_fields, &seen, &field)) {
        if (field == CLUSTER_INSECURE)
            json_bool(&reader, &insecure);
        else
            json_text(&reader, &values[field]);
    }
    if (!json_finish(&reader, fault)) return false;
    if (insecure)
        return fault_set(fault, FAULT_USAGE,
                         "insecure-skip-tls-verify is not supported: a token must not go to a server that is "
                         "not verified; name its certificate-authority");
    if (values[CLUSTER_PROXY].len > 0)
        return fault_set(fault, FAULT_USAGE,
                         "proxy-url is not supported: the API server is reached directly");
    if (values[CLUSTER_SERVER].len == 0) return fault_set(fault, FAULT_USAGE, "server is missing");
    bool fine = take_server(values[CLUSTER_SERVER], &config->server, fault);
    if (fine && values[CLUSTER_SERVER_NAME].len > 0)
        fine = take_text(values[CLUSTER_SERVER_NAME], &config->server_name, fault);
    if (fine && values[CLUSTER_CA_DATA].len > 0)
        return take_data("certificate-authority-data", values[CLUSTER_CA_DATA], &config->ca_data, fault);
    if (fine && values[CLUSTER_CA_FILE].len > 0)
        return take_path(file, values[CLUSTER_CA_FILE], &config->ca_file, fault);
    return fine;
}

enum {
    USER_CERT_FILE,
    USER_CERT_DATA,
    USER_KEY_FILE,
    USER_KEY_DATA,
    USER_TOKEN,
    USER_TOKEN_FILE,
    USER_EXEC,
    USER_PROVIDER,
    USER_NAME,
    USER_PASSWORD,
    USER_AS,
    USER_COUNT
};
static const struct json_name user_names[] = {
    JSON_NAME("client-certificate"),
    JSON_NAME("client-certificate-data"),
    JSON_NAME("client-key"),
    JSON_NAME("client-key-data"),
    JSON_NAME("token"),
    JSON_NAME("tokenFile"),
    JSON_NAME("exec"),
    JSON_NAME("auth-provider"),
    JSON_NAME("username"),
    JSON_NAME("password"),
    JSON_NAME("as"),
};
static const struct json_fields user_fields = JSON_FIELDS(user_names);

static bool refuse_user(const bool *given, struct fault *fault) {
    if (given[USER_EXEC] || given[USER_PROVIDER])
        return fault_set(fault, FAULT_USAGE,
                         "%s: a program that hands out credentials is not run; use a service account's token "
                         "(tokenFile) or a client certificate",
                         given[USER_EXEC] ? "exec" : "auth-provider");
    if (given[USER_NAME] || given[USER_PASSWORD])
        return fault_set(fault, FAULT_USAGE, "username and password are not supported; use a token");
    return !given[USER_AS] || fault_set(fault, FAULT_USAGE, "as (impersonation) is not supported");
}

static bool take_user(struct config_file *file, const struct text *values, struct kubeconfig *config,
                      struct fault *fault) {
    bool fine = true;
    if (values[USER_CERT_DATA].len > 0)
        fine = take_data("client-certificate-data", values[USER_CERT_DATA], &config->cert_data, fault);
    else if (values[USER_CERT_FILE].len > 0)
        fine = take_path(file, values[USER_CERT_FILE], &config->cert_file, fault);
    if (fine && values[USER_KEY_DATA].len > 0)
        fine = take_data("client-key-data", values[USER_KEY_DATA], &config->key_data, fault);
    else if (fine && values[USER_KEY_FILE].len > 0)
        fine = take_path(file, values[USER_KEY_FILE], &config->key_file, fault);
    if (fine && values[USER_TOKEN].len > 0) fine = take_text(values[USER_TOKEN], &config->token, fault);
    if (fine && values[USER_TOKEN_FILE].len > 0)
        fine = take_path(file, values[USER_TOKEN_FILE], &config->token_file, fault);
    if (!fine) return false;
    bool cert = config->cert_data.ptr != NULL || config->cert_file != NULL;
    bool key = config->key_data.ptr != NULL || config->key_file != NULL;
    return cert == key || fault_set(fault, FAULT_USAGE, "client-certificate and client-key belong together");
}

static bool read_user(struct config_file *file, struct text raw, struct kubeconfig *config,
                      struct fault *fault) {
    struct json_reader reader;
    struct text values[USER_COUNT] = {{NULL, 0}};
    bool given[USER_COUNT] = {false};
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    json_init(&reader, raw, &file->arena, &file->findings, JSON_WIRE);
    while (json_field(&reader, &user_fields, &seen, &field)) {
        if (json_null(&reader)) continue;
        given[field] = true;
        if (field == USER_EXEC || field == USER_PROVIDER)
            json_skip(&reader);
        else
            json_text(&reader, &values[field]);
    }
    return json_finish(&reader, fault) && refuse_user(given, fault) && take_user(file, values, config, fault);
}

enum { CONTEXT_CLUSTER, CONTEXT_USER };
static const struct json_name context_names[] = {JSON_NAME("cluster"), JSON_NAME("user")};
static const struct json_fields context_fields = JSON_FIELDS(context_names);

static bool read_context(struct config_file *file, struct text name, struct kubeconfig *config,
                         struct fault *fault) {
    struct text raw, cluster_raw, user_raw = TEXT("{}");
    struct text names[2] = {{NULL, 0}};
    struct json_reader reader;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    if (!find_named(&file->contexts, "context", name, &raw, fault)) return false;
    json_init(&reader, raw, &file->arena, &file->findings, JSON_WIRE);
    while (json_field(&reader, &context_fields, &seen, &field)) json_text(&reader, &names[field]);
    if (!json_finish(&reader, fault) ||
        !find_named(&file->clusters, "cluster", names[CONTEXT_CLUSTER], &cluster_raw, fault))
        return fault_wrap(fault, "context \"%.*s\"", TEXT_ARG(name));
    if (names[CONTEXT_USER].len > 0 &&
        !find_named(&file->users, "user", names[CONTEXT_USER], &user_raw, fault))
        return fault_wrap(fault, "context \"%.*s\"", TEXT_ARG(name));
    if (!read_cluster(file, cluster_raw, config, fault))
        return fault_wrap(fault, "cluster \"%.*s\"", TEXT_ARG(names[CONTEXT_CLUSTER]));
    if (!read_user(file, user_raw, config, fault))
        return fault_wrap(fault, "user \"%.*s\"", TEXT_ARG(names[CONTEXT_USER]));
    return true;
}

static bool keeps_secrets(const struct kubeconfig *config, struct fault *fault) {
    bool secret = config->token != NULL || config->token_file != NULL || config->cert_file != NULL ||
                  config->cert_data.ptr != NULL;
    if (!secret || strncmp(config->server, "https://", 8) == 0) return true;
    return fault_set(fault, FAULT_USAGE, "credentials are not sent over http; use https");
}

static bool read_config(struct config_file *file, struct text yaml, const char *context,
                        struct kubeconfig *config, struct fault *fault) {
    struct yaml_json json;
    struct yaml_place place;
    if (!yaml_to_json(&file->arena, yaml, 1, &json, &place, fault)) return false;
    if (json.empty) return fault_set(fault, FAULT_USAGE, "the file is empty");
    if (!read_outer(file, json.json, fault)) return false;
    struct text name = context == NULL || context[0] == '\0' ? file->current : text_of(context);
    if (name.len == 0) return fault_set(fault, FAULT_USAGE, "no current-context; name one with --context");
    if (!read_context(file, name, config, fault)) return false;
    if (file->findings.count > 0)
        return fault_set(fault, FAULT_USAGE, "%.*s: %.*s", TEXT_ARG(file->findings.items[0].path),
                         TEXT_ARG(file->findings.items[0].detail));
    return keeps_secrets(config, fault);
}

bool kubeconfig_load(const char *path, const char *context, struct kubeconfig *ret_config,
                     struct fault *fault) {
    char *bytes;
    size_t len;
    if (!read_file(path, KUBECONFIG_FILE_BYTES, &bytes, &len, fault)) return false;
    struct config_file file = {.path = path};
    struct kubeconfig config = {.server = NULL};
    arena_init(&file.arena, ARENA_BYTES);
    finding_list_init(&file.findings, &file.arena);
    bool fine = read_config(&file, (struct text){bytes, len}, context, &config, fault);
    arena_release(&file.arena);
    OPENSSL_cleanse(bytes, len);
    free(bytes);
    if (!fine) {
        kubeconfig_release(&config);
        if (fault->code == FAULT_INPUT) fault->code = FAULT_USAGE;
        return fault_wrap(fault, "%.80s", path);
    }
    *ret_config = config;
    return true;
}

// --- In a Pod ---

bool kubeconfig_in_cluster(const char *host, const char *port, const char *folder,
                           struct kubeconfig *ret_config, struct fault *fault) {
    char server[512], token[PATH_MAX], ca[PATH_MAX];
    if (host == NULL || host[0] == '\0' || port == NULL || port[0] == '\0')
        return fault_set(
            fault, FAULT_USAGE,
            "no cluster to follow: give --kubeconfig, or run as a Pod (KUBERNETES_SERVICE_HOST and "
            "KUBERNETES_SERVICE_PORT are not set)");
    bool bare_ipv6 = strchr(host, ':') != NULL && host[0] != '[';
    if (snprintf(server, sizeof server, bare_ipv6 ? "https://[%s]:%s" : "https://%s:%s", host, port) >=
            (int)sizeof server ||
        snprintf(token, sizeof token, "%s/token", folder) >= (int)sizeof token ||
        snprintf(ca, sizeof ca, "%s/ca.crt", folder) >= (int)sizeof ca)
        return fault_set(fault, FAULT_USAGE, "the address of the API server is too long");
    struct kubeconfig config = {.ca_file = copy(text_of(ca)), .token_file = copy(text_of(token))};
    if (config.ca_file == NULL || config.token_file == NULL) {
        kubeconfig_release(&config);
        return fault_set(fault, FAULT_MEMORY, "out of memory");
    }
    if (!take_server(text_of(server), &config.server, fault)) {
        kubeconfig_release(&config);
        return fault_wrap(fault, "KUBERNETES_SERVICE_HOST");
    }
    *ret_config = config;
    return true;
}

bool kubeconfig_renew_token(struct kubeconfig *config, struct fault *fault) {
    fault->code = FAULT_NONE;
    if (config->token_file == NULL) return false;
    char *bytes;
    size_t len;
    if (!read_file(config->token_file, KUBECONFIG_TOKEN_BYTES, &bytes, &len, fault)) return false;
    struct text text = {bytes, len};
    while (text.len > 0 && (unsigned char)text.ptr[text.len - 1] <= ' ') text.len--;
    bool good = text.len > 0;
    for (size_t i = 0; i < text.len && good; i++)
        good = (unsigned char)text.ptr[i] > ' ' && (unsigned char)text.ptr[i] < 0x7f;
    if (!good) fault_set(fault, FAULT_INPUT, "%.120s: no token in it", config->token_file);
    bool changed = good && (config->token == NULL || !text_equal(text_of(config->token), text));
    char *fresh = changed ? copy(text) : NULL;
    OPENSSL_cleanse(bytes, len);
    free(bytes);
    if (fresh == NULL) return false;
    wipe(&config->token);
    config->token = fresh;
    return true;
}
