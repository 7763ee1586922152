// SPDX-License-Identifier: Apache-2.0
// What `freeze` and `resume` have in common: a scope and a reason from the command line, a change of the
// LedgerPolicy through --feed, and what is said about it.
#ifndef DRAWBRIDGE_CLI_POLICY_COMMAND_H
#define DRAWBRIDGE_CLI_POLICY_COMMAND_H

#include "server/operate/policy_edit.h"

// What it does: runs the command. name: "freeze" or "resume". Returns the exit code: 1 when there was nothing
// to resume, 2 for usage, 3 when the policy cannot be read or written, 4 when the API server does not answer.
int policy_command(enum policy_verb verb, const char *name, int argc, char **argv);

#endif
