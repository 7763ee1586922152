// SPDX-License-Identifier: Apache-2.0
// The subcommands of `drawbridge ledger` that ask a running server or its journal. argv[0] is the
// subcommand's name. They return the exit code.
#ifndef DRAWBRIDGE_CLI_LEDGER_COMMANDS_H
#define DRAWBRIDGE_CLI_LEDGER_COMMANDS_H

#include "server/cli/options.h"

int ledger_show(int argc, char **argv);
int ledger_export(int argc, char **argv);
int ledger_diff(int argc, char **argv);
int ledger_audit(int argc, char **argv);

// What it does: prints a fault of one of them. Returns its exit code.
int ledger_fail(const char *command, const struct fault *fault);

// What it does: the ledger folder of the command line, else of DRAWBRIDGE_LEDGER_DIR. Errors: FAULT_USAGE.
bool ledger_folder(const struct options *options, const char **ret_folder, struct fault *fault)
    __attribute__((warn_unused_result));

#endif
