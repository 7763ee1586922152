// SPDX-License-Identifier: Apache-2.0
// The program's row table of commands. To add one: a file server/cli/cmd_<name>.c and a row here.
#include "server/cli/command.h"

#include <stdio.h>

#include "validators/core/text.h"

#define NEAR_COMMAND_EDITS 2u

static int cmd_help(int argc, char **argv);

static const struct command commands[] = {
    {"check", cmd_check, "judge manifests without a cluster"},
    {"serve", cmd_serve, "answer admission reviews over HTTPS"},
    {"test", cmd_test, "run suites, which say what is answered in which state of a cluster"},
    {"ledger", cmd_ledger, "replay events of a cluster and show what is taken of each node"},
    {"freeze", cmd_freeze, "stop new claims for the cluster, a driver, a node or a namespace"},
    {"resume", cmd_resume, "end a freeze, or confirm what a driver changed"},
    {"audit", cmd_audit, "tell what enforcement would have denied of what is there, and who is ready for it"},
    {"promote", cmd_promote, "tell whether the canary may be widened, with the evidence"},
    {"explain", cmd_explain, "tell what a rule is and what to do about its findings"},
    {"certs", cmd_certs, "make, show and verify certificates for the server"},
    {"completion", cmd_completion, "print completions for a shell, the man page or the reference of flags"},
    {"version", cmd_version, "print versions"},
    {"help", cmd_help, "print this help, or that of a command"},
};
#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

static const struct command *find_command(const char *name) {
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    return NULL;
}

static void print_help(FILE *out) {
    fputs("drawbridge guards Kubernetes dynamic resource allocation: it judges ResourceSlices, "
          "ResourceClaims,\n"
          "ResourceClaimTemplates and DeviceClasses, on their way into a cluster or as files.\n"
          "\n"
          "Usage: drawbridge COMMAND [FLAGS]   (as kubectl-drawbridge in the PATH also: kubectl drawbridge "
          "COMMAND)\n"
          "\n",
          out);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-12s%s\n", commands[i].name, commands[i].summary);
    fputs("\n"
          "`drawbridge COMMAND --help` lists the flags of a command.\n"
          "\n"
          "Exit codes: 0 clean, 1 findings that deny, 2 usage, 3 input cannot be read, 4 cluster cannot be "
          "reached.\n",
          out);
}

static int refuse(const char *name) {
    const struct command *best = NULL;
    size_t best_edits = NEAR_COMMAND_EDITS + 1;
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        size_t edits = text_distance(text_of(name), text_of(commands[i].name), NEAR_COMMAND_EDITS);
        if (edits >= best_edits) continue;
        best_edits = edits;
        best = &commands[i];
    }
    fprintf(stderr, "drawbridge: there is no command \"%s\"", name);
    if (best != NULL) fprintf(stderr, "; did you mean %s?", best->name);
    fputs("\n`drawbridge help` lists the commands.\n", stderr);
    return EXIT_USAGE;
}

static int cmd_help(int argc, char **argv) {
    if (argc < 2 || argv[1][0] == '-') {
        print_help(stdout);
        return EXIT_CLEAN;
    }
    const struct command *command = find_command(argv[1]);
    if (command == NULL) return refuse(argv[1]);
    if (command->run == cmd_help) {
        print_help(stdout);
        return EXIT_CLEAN;
    }
    static char help[] = "--help";
    char *arguments[] = {argv[1], help, NULL};
    return command->run(2, arguments);
}

int main(int argc, char **argv) {
    command_table_use(commands, COMMAND_COUNT);
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return cmd_help(1, argv);
    const struct command *command = find_command(strcmp(argv[1], "--version") == 0 ? "version" : argv[1]);
    if (command == NULL) return refuse(argv[1]);
    return command->run(argc - 1, argv + 1);
}
