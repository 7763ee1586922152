// SPDX-License-Identifier: Apache-2.0
// What a command of the program is. The row table lives in server/main.c; main hands it over once, so that
// help and completion list exactly the commands that exist.
#ifndef DRAWBRIDGE_CLI_COMMAND_H
#define DRAWBRIDGE_CLI_COMMAND_H

#include <stddef.h>

// Exit codes, the same for each command.
enum exit_code {
    EXIT_CLEAN = 0,
    EXIT_FINDINGS = 1,    // findings whose action is deny, a difference, a failed check
    EXIT_USAGE = 2,       // unknown flag, bad value, missing argument
    EXIT_UNREADABLE = 3,  // input that cannot be read, or another failure of ours
    EXIT_UNREACHABLE = 4, // the cluster or the running server does not answer
};

struct command {
    const char *name;
    // argv[0] is the command's name, as main of a program of its own would see it. Returns the exit code.
    int (*run)(int argc, char **argv);
    const char *summary; // one line, no full stop
};

// What it does: notes the table of commands. Owner: the caller, for the life of the program. Thread: main,
// before any command runs.
void command_table_use(const struct command *rows, size_t count);

// The table that was handed over; count is 0 before that.
const struct command *command_table(size_t *ret_count);

// The commands of this program, one per cmd_<name>.c.
int cmd_audit(int argc, char **argv);
int cmd_certs(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_completion(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_freeze(int argc, char **argv);
int cmd_promote(int argc, char **argv);
int cmd_resume(int argc, char **argv);
int cmd_ledger(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_test(int argc, char **argv);
int cmd_version(int argc, char **argv);

#endif
