// SPDX-License-Identifier: Apache-2.0
// How commands reach an API server.
#ifndef DRAWBRIDGE_CLI_CLUSTER_CONFIG_H
#define DRAWBRIDGE_CLI_CLUSTER_CONFIG_H

#include "server/cli/options.h"
#include "server/feed/kubeconfig.h"

// What it does: --kubeconfig, $KUBECONFIG, ~/.kube/config, the Pod's own service account: the first that is
// there. Owner: the caller, kubeconfig_release. Errors: FAULT_USAGE, FAULT_IO.
bool cluster_config_load(const struct options *options, struct kubeconfig *ret_config, struct fault *fault)
    __attribute__((warn_unused_result));

#endif
