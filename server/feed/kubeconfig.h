// SPDX-License-Identifier: Apache-2.0
// How to reach an API server: from a kubeconfig file, or as a Pod does.
#ifndef DRAWBRIDGE_FEED_KUBECONFIG_H
#define DRAWBRIDGE_FEED_KUBECONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "validators/core/fault.h"

#define KUBECONFIG_FILE_BYTES      ((size_t)1024 * 1024)
#define KUBECONFIG_TOKEN_BYTES     ((size_t)64 * 1024)
#define KUBECONFIG_SERVICE_ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"

// Bytes that came with the file itself.
struct kube_blob {
    char *ptr; // NULL: none
    size_t len;
};

// Texts are NULL when not set. Files are read anew for each connection, so that what is rotated is taken.
struct kubeconfig {
    char *server;      // https://HOST:PORT, perhaps with a path, no slash at the end; http only on loopback
    char *server_name; // that the certificate must be for, when it is not the host
    char *ca_file;
    struct kube_blob ca_data; // PEM
    char *cert_file;
    struct kube_blob cert_data;
    char *key_file;
    struct kube_blob key_data;
    char *token_file;
    char *token;
};

// What it does: reads a context of a kubeconfig file; the current one when `context` is NULL or "". Owner:
// the caller, kubeconfig_release. Errors: FAULT_USAGE for what is missing or not supported (programs that
// hand out credentials, passwords, impersonation, proxies, unverified servers), with what to do; FAULT_IO.
bool kubeconfig_load(const char *path, const char *context, struct kubeconfig *ret_config,
                     struct fault *fault) __attribute__((warn_unused_result));

// What it does: the API server and the service account of the Pod. host and port: KUBERNETES_SERVICE_HOST and
// KUBERNETES_SERVICE_PORT; folder: where token and ca.crt are. Errors: FAULT_USAGE.
bool kubeconfig_in_cluster(const char *host, const char *port, const char *folder,
                           struct kubeconfig *ret_config, struct fault *fault)
    __attribute__((warn_unused_result));

void kubeconfig_release(struct kubeconfig *config);

// What it does: reads the token file again and keeps what it says; an empty, too long or unreadable file
// leaves the old token. True when the token is another one than before. Errors: a fault text when the file
// was no good; the code is FAULT_NONE else.
bool kubeconfig_renew_token(struct kubeconfig *config, struct fault *fault);

#endif
