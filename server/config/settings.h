// SPDX-License-Identifier: Apache-2.0
// The settings of `serve`: flag, then DRAWBRIDGE_ variable, then file, then default. A file is strict YAML
// (kind DrawbridgeConfiguration); an unknown or repeated key or a wrong type is refused with file and line.
#ifndef DRAWBRIDGE_CONFIG_SETTINGS_H
#define DRAWBRIDGE_CONFIG_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "server/cli/options.h"
#include "validators/core/fault.h"

enum logging_format { LOGGING_TEXT, LOGGING_JSON };                 // words of --logging-format, in order
enum failure_policy { FAILURE_POLICY_FAIL, FAILURE_POLICY_IGNORE }; // words of --failure-policy, in order

struct setting_list {
    char **items;
    size_t count;
};

// Where the value in force came from.
enum setting_source { SETTING_DEFAULT, SETTING_FILE, SETTING_VARIABLE, SETTING_FLAG };

// Texts are never NULL; "" is not set. All are owned by the settings.
struct serve_settings {
    char *bind_address;
    int64_t port;
    char *status_bind_address; // HOST:PORT; "0" is off
    char *address_file;        // where to write the addresses; "" is nowhere
    char *feed;                // "none", "dir:FOLDER"
    char *tls_cert_file;
    char *tls_private_key_file;
    char *dynamic_serving_ca_secret_name; // "": certificates come from files
    char *dynamic_serving_ca_secret_namespace;
    struct setting_list dynamic_serving_dns_names;
    int64_t dynamic_serving_leaf_duration_ms;
    int64_t dynamic_serving_ca_duration_ms;
    struct setting_list validating_webhook_configurations;
    struct setting_list mutating_webhook_configurations;
    bool enable_client_verification;
    char *client_ca_path;                     // a PEM file
    struct setting_list client_subject_names; // empty: any name that the CA vouches for
    char *kubeconfig;
    char *context;
    char *config; // the file that was read
    int64_t shutdown_delay_ms;
    int64_t v;
    enum logging_format logging_format;
    struct setting_list feature_gates; // "Name=true"
    char *kubernetes_version;          // "1.36"; "" is what the feed says, else the default of kube_version.h
    enum failure_policy failure_policy;
    char *ledger_dir;
    bool node_metrics;                   // gauges of single nodes
    struct setting_list numa_attributes; // attribute names that tell a device's NUMA node

    int64_t max_request_bytes;
    int64_t max_in_flight_bytes;
    int64_t small_review_bytes;
    int64_t max_connection_bytes;
    int64_t max_review_memory_bytes;
    int64_t max_connections;
    int64_t max_connections_per_ip; // 0: no limit
    int64_t max_concurrent_reviews; // size of the thread pool; 0: one per processor
    int64_t tls_begin_deadline_ms;
    int64_t header_deadline_ms;
    int64_t request_deadline_ms; // when ?timeout= is absent or unreadable
    int64_t max_request_deadline_ms;
    int64_t idle_connection_deadline_ms;

    enum setting_source sources[OPTION_COUNT]; // by option; only settings are meaningful
};

// What it does: the effective settings for this command line, this process's variables and the file that
// --config (or DRAWBRIDGE_CONFIG) names. Owner: the caller, settings_release. Errors: FAULT_USAGE with the
// flag, variable or FILE:LINE that is wrong; FAULT_IO when the file cannot be read.
bool settings_load(const struct options *options, struct serve_settings *ret_settings, struct fault *fault)
    __attribute__((warn_unused_result));

void settings_release(struct serve_settings *settings);

// What it does: says whether the settings fit each other and are enough to start with (certificate files
// given, client CA given when verification is on, deadlines and sizes in order, feed and version readable).
// `serve --print-config` does not need it. Errors: FAULT_USAGE with the flags concerned.
bool settings_check(const struct serve_settings *settings, struct fault *fault)
    __attribute__((warn_unused_result));

// What it does: takes HOST:PORT apart. The host is an IP address, IPv6 in brackets; none is 0.0.0.0.
// Errors: FAULT_USAGE; host needs INET6_ADDRSTRLEN bytes.
bool settings_split_address(const char *text, char *host, size_t host_bytes, uint16_t *ret_port,
                            struct fault *fault) __attribute__((warn_unused_result));

// What a re-read changed, one bit per option id.
struct settings_change {
    uint64_t applied[(OPTION_COUNT + 63) / 64];       // in force from now on
    uint64_t needs_restart[(OPTION_COUNT + 63) / 64]; // differ in the file, but stay as they were
};

// What it does: reads file and variables again. The new settings have the new values of those that may change
// while the server runs (setting_is_live) and the present values of all others. Errors: as settings_load and
// settings_check; the present settings are untouched and stay in force.
// Owner: the caller, both settings are released on their own. Thread: any, one at a time; it only reads.
bool settings_reload(const struct options *options, const struct serve_settings *present,
                     struct serve_settings *ret_settings, struct settings_change *ret_change,
                     struct fault *fault) __attribute__((warn_unused_result));

// True for the settings that a re-read may change: v, logging-format, failure-policy, client-ca-path,
// client-subject-names, shutdown-delay and the deadlines of requests.
bool setting_is_live(enum option_id id);

bool settings_change_has(const uint64_t *bits, enum option_id id);

// What it does: the flag names of a set, parted by commas, for a log line. "" when the set is empty.
const char *settings_change_names(const uint64_t *bits, char *buffer, size_t size);

// What it does: the effective settings as a configuration file that can be fed back in, each with a comment
// that says where its value came from. Errors: false when out cannot be written.
bool settings_print(const struct serve_settings *settings, FILE *out) __attribute__((warn_unused_result));

#endif
