// SPDX-License-Identifier: Apache-2.0
// drawbridge resume: ends a freeze, names the mapping version from which on claims are let in, or confirms
// what a driver changed under bound claims.
#include "server/cli/command.h"
#include "server/cli/policy_command.h"

int cmd_resume(int argc, char **argv) {
    return policy_command(POLICY_RESUME, "resume", argc, argv);
}
