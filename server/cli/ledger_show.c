// SPDX-License-Identifier: Apache-2.0
// `drawbridge ledger show` and `drawbridge ledger export`: what a running server has.
#include <errno.h>
#include <stdlib.h>

#include "server/cli/command.h"
#include "server/cli/ledger_commands.h"
#include "server/cli/ledger_source.h"
#include "server/ledger/journal_read.h"
#include "server/operate/socket.h"

int ledger_fail(const char *command, const struct fault *fault) {
    fprintf(stderr, "drawbridge ledger %s: %s\n", command, fault->text);
    switch (fault->code) {
    case FAULT_USAGE: fprintf(stderr, "Try 'drawbridge ledger %s --help'.\n", command); return EXIT_USAGE;
    case FAULT_UNREACHABLE:
        fputs("Is `drawbridge serve` running with this --ledger-dir? Its journal can be read without it: "
              "`drawbridge ledger replay --ledger-dir FOLDER`.\n",
              stderr);
        return EXIT_UNREACHABLE;
    default: return EXIT_UNREADABLE;
    }
}

bool ledger_folder(const struct options *options, const char **ret_folder, struct fault *fault) {
    const char *folder = options_text(options, OPTION_LEDGER_DIR);
    const char *variable = getenv("DRAWBRIDGE_LEDGER_DIR");
    if (folder[0] == '\0' && variable != NULL) folder = variable;
    *ret_folder = folder;
    return folder[0] != '\0' ||
           fault_set(fault, FAULT_USAGE, "--ledger-dir is needed: the folder that the server was given");
}

static bool flush_output(struct fault *fault) {
    return (fflush(stdout) == 0 && ferror(stdout) == 0) ||
           fault_set(fault, FAULT_IO, "the result cannot be written: %s", strerror(errno));
}

static bool no_words(const struct options *options, struct fault *fault) {
    return options->word_count == 0 ||
           fault_set(fault, FAULT_USAGE, "unexpected word \"%s\"", options->words[0]);
}

int ledger_show(int argc, char **argv) {
    struct options options;
    struct fault fault = {0};
    const char *folder;
    int code;
    if (!options_start(&options, "ledger show", argc, argv, &code)) return code;
    const char *node =
        options_given(&options, OPTION_SHOW_NODE) ? options_text(&options, OPTION_SHOW_NODE) : NULL;
    bool fine = no_words(&options, &fault) && ledger_folder(&options, &folder, &fault);
    size_t ignored;
    if (fine)
        fine = options_choice(&options, OPTION_OUTPUT) == 1
                   ? source_live_json(folder, node, false, stdout, &ignored, &fault)
                   : source_live_text(folder, node, false, stdout, &fault);
    fine = fine && flush_output(&fault);
    code = fine ? EXIT_CLEAN : ledger_fail("show", &fault);
    options_release(&options);
    return code;
}

static bool write_line(void *context, struct text line, struct fault *fault) {
    fwrite(line.ptr, 1, line.len, context);
    putc('\n', context);
    return ferror((FILE *)context) == 0 || fault_set(fault, FAULT_IO, "the result cannot be written");
}

int ledger_export(int argc, char **argv) {
    struct options options;
    struct fault fault = {0};
    const char *folder;
    int code;
    if (!options_start(&options, "ledger export", argc, argv, &code)) return code;
    bool fine = no_words(&options, &fault) && ledger_folder(&options, &folder, &fault) &&
                control_call(folder, TEXT("{\"command\":\"export\"}"), write_line, stdout, &fault) &&
                flush_output(&fault);
    code = fine ? EXIT_CLEAN : ledger_fail("export", &fault);
    options_release(&options);
    return code;
}
