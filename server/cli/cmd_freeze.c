// SPDX-License-Identifier: Apache-2.0
// drawbridge freeze: no new claims for the cluster, a driver, a node or a namespace, until it ends by itself
// or is ended by `drawbridge resume`. What is bound stays bound.
#include "server/cli/command.h"
#include "server/cli/policy_command.h"

int cmd_freeze(int argc, char **argv) {
    return policy_command(POLICY_FREEZE, "freeze", argc, argv);
}
