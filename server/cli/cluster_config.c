// SPDX-License-Identifier: Apache-2.0
#include "server/cli/cluster_config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool cluster_config_load(const struct options *options, struct kubeconfig *ret_config, struct fault *fault) {
    const char *context = options_text(options, OPTION_CONTEXT);
    const char *path = options_text(options, OPTION_KUBECONFIG);
    const char *variable = getenv("KUBECONFIG");
    const char *home = getenv("HOME");
    char buffer[PATH_MAX];
    if (path[0] == '\0' && variable != NULL && variable[0] != '\0') {
        if (strchr(variable, ':') != NULL)
            return fault_set(fault, FAULT_USAGE,
                             "KUBECONFIG names several files; name one with --kubeconfig");
        path = variable;
    }
    if (path[0] == '\0' && home != NULL &&
        snprintf(buffer, sizeof buffer, "%s/.kube/config", home) < (int)sizeof buffer &&
        access(buffer, R_OK) == 0)
        path = buffer;
    if (path[0] != '\0') return kubeconfig_load(path, context, ret_config, fault);
    return kubeconfig_in_cluster(getenv("KUBERNETES_SERVICE_HOST"), getenv("KUBERNETES_SERVICE_PORT"),
                                 KUBECONFIG_SERVICE_ACCOUNT, ret_config, fault);
}
