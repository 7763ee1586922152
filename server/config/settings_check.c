// SPDX-License-Identifier: Apache-2.0
// What must hold between settings before a server can run on them.
#include <arpa/inet.h>
#include <string.h>

#include "server/config/settings.h"
#include "server/kube_version.h"
#include "validators/core/text.h"

static bool is_address(const char *text) {
    unsigned char bytes[16];
    return inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1;
}

bool settings_split_address(const char *text, char *host, size_t host_bytes, uint16_t *ret_port,
                            struct fault *fault) {
    const char *colon = strrchr(text, ':');
    int64_t port = 0;
    if (colon == NULL || !text_to_int64(text_of(colon + 1), &port) || port < 0 || port > 65535)
        return fault_set(fault, FAULT_USAGE, "\"%.64s\" is not HOST:PORT", text);
    size_t len = (size_t)(colon - text);
    bool bracketed = len >= 2 && text[0] == '[' && text[len - 1] == ']';
    char name[INET6_ADDRSTRLEN] = "0.0.0.0"; // ":9402" is every address
    if (len > 0)
        snprintf(name, sizeof name, "%.*s", (int)(bracketed ? len - 2 : len), text + (bracketed ? 1 : 0));
    if (!is_address(name) || len > sizeof name || (strchr(name, ':') != NULL) != bracketed)
        return fault_set(fault, FAULT_USAGE, "\"%.64s\": the host must be an IP address; IPv6 in brackets",
                         text);
    snprintf(host, host_bytes, "%s", name);
    *ret_port = (uint16_t)port;
    return true;
}

static bool check_addresses(const struct serve_settings *settings, struct fault *fault) {
    char host[INET6_ADDRSTRLEN];
    uint16_t port;
    if (!is_address(settings->bind_address))
        return fault_set(fault, FAULT_USAGE, "--bind-address: \"%.64s\" is not an IP address",
                         settings->bind_address);
    if (strcmp(settings->status_bind_address, "0") != 0 &&
        !settings_split_address(settings->status_bind_address, host, sizeof host, &port, fault))
        return fault_wrap(fault, "--status-bind-address");
    return true;
}

// A name of an object, as far as it goes into a path: lower-case letters, digits, dashes, dots.
static bool is_object_name(const char *name) {
    size_t len = strlen(name);
    if (len == 0 || len > 253 || name[0] == '.' || name[0] == '-') return false;
    return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") == len;
}

static bool check_names(const char *flag, const struct setting_list *list, struct fault *fault) {
    for (size_t i = 0; i < list->count; i++)
        if (!is_object_name(list->items[i]))
            return fault_set(fault, FAULT_USAGE, "--%s: \"%.64s\" is no name of an object", flag,
                             list->items[i]);
    return true;
}

// Certificates that we issue ourselves.
static bool check_dynamic(const struct serve_settings *settings, struct fault *fault) {
    const char *namespace = settings->dynamic_serving_ca_secret_namespace;
    if (settings->tls_cert_file[0] != '\0' || settings->tls_private_key_file[0] != '\0')
        return fault_set(fault, FAULT_USAGE,
                         "--dynamic-serving-ca-secret-name and --tls-cert-file exclude each other");
    if (strcmp(settings->feed, "kube") != 0)
        return fault_set(fault, FAULT_USAGE, "--dynamic-serving-ca-secret-name needs --feed kube");
    if (!is_object_name(settings->dynamic_serving_ca_secret_name) ||
        (namespace[0] != '\0' && !is_object_name(namespace)))
        return fault_set(fault, FAULT_USAGE,
                         "--dynamic-serving-ca-secret-name or …-namespace is no name of an object");
    if (settings->dynamic_serving_dns_names.count == 0)
        return fault_set(fault, FAULT_USAGE,
                         "--dynamic-serving-dns-names is needed: the names by which the API server calls");
    if (settings->validating_webhook_configurations.count + settings->mutating_webhook_configurations.count ==
        0)
        return fault_set(
            fault, FAULT_USAGE,
            "--validating-webhook-configurations or --mutating-webhook-configurations is needed: "
            "who has to trust the CA");
    if (settings->dynamic_serving_leaf_duration_ms > settings->dynamic_serving_ca_duration_ms)
        return fault_set(fault, FAULT_USAGE,
                         "--dynamic-serving-leaf-duration must not be above --dynamic-serving-ca-duration");
    return check_names("validating-webhook-configurations", &settings->validating_webhook_configurations,
                       fault) &&
           check_names("mutating-webhook-configurations", &settings->mutating_webhook_configurations, fault);
}

static bool check_certificates(const struct serve_settings *settings, struct fault *fault) {
    bool dynamic = settings->dynamic_serving_ca_secret_name[0] != '\0';
    if (dynamic && !check_dynamic(settings, fault)) return false;
    if (!dynamic && (settings->tls_cert_file[0] == '\0' || settings->tls_private_key_file[0] == '\0'))
        return fault_set(
            fault, FAULT_USAGE,
            "--tls-cert-file and --tls-private-key-file are needed ('drawbridge certs issue' makes "
            "them), or --dynamic-serving-ca-secret-name");
    if (settings->enable_client_verification && settings->client_ca_path[0] == '\0')
        return fault_set(fault, FAULT_USAGE, "--enable-client-verification needs --client-ca-path");
    return true;
}

static bool check_feature_gates(const struct setting_list *gates, struct fault *fault) {
    for (size_t i = 0; i < gates->count; i++) {
        const char *equals = strchr(gates->items[i], '=');
        bool named = equals != NULL && equals != gates->items[i];
        if (!named || (strcmp(equals + 1, "true") != 0 && strcmp(equals + 1, "false") != 0))
            return fault_set(fault, FAULT_USAGE, "--feature-gates: \"%.64s\" is not NAME=true or NAME=false",
                             gates->items[i]);
    }
    return true;
}

static bool check_cluster(const struct serve_settings *settings, struct fault *fault) {
    int minor;
    const char *feed = settings->feed;
    if (strcmp(feed, "none") != 0 && strcmp(feed, "kube") != 0 &&
        (strncmp(feed, "dir:", 4) != 0 || feed[4] == '\0'))
        return fault_set(fault, FAULT_USAGE, "--feed: \"%.64s\" is not none, dir:FOLDER or kube", feed);
    if (settings->kubernetes_version[0] != '\0' &&
        !kube_version_parse(text_of(settings->kubernetes_version), &minor, fault))
        return fault_wrap(fault, "--kubernetes-version");
    return check_feature_gates(&settings->feature_gates, fault);
}

static bool in_order(int64_t low, const char *low_name, int64_t high, const char *high_name,
                     struct fault *fault) {
    if (low <= high) return true;
    return fault_set(fault, FAULT_USAGE, "--%s must not be above --%s", low_name, high_name);
}

static bool check_bounds(const struct serve_settings *s, struct fault *fault) {
    return in_order(s->small_review_bytes, "small-review-bytes", s->max_request_bytes, "max-request-bytes",
                    fault) &&
           in_order(s->max_request_bytes, "max-request-bytes", s->max_in_flight_bytes, "max-in-flight-bytes",
                    fault) &&
           in_order(s->tls_begin_deadline_ms, "tls-begin-deadline", s->header_deadline_ms, "header-deadline",
                    fault) &&
           in_order(s->request_deadline_ms, "request-deadline", s->max_request_deadline_ms,
                    "max-request-deadline", fault);
}

bool settings_check(const struct serve_settings *settings, struct fault *fault) {
    return check_addresses(settings, fault) && check_certificates(settings, fault) &&
           check_cluster(settings, fault) && check_bounds(settings, fault);
}
