// SPDX-License-Identifier: Apache-2.0
// `drawbridge audit`: what enforcement would have denied of what is there, and who is ready for it.
#include <errno.h>
#include <string.h>

#include "server/cli/audit.h"
#include "server/cli/command.h"

#define OUTPUT_BUFFER_BYTES ((size_t)64 * 1024)

static bool check_words(const struct options *options, struct fault *fault) {
    bool cluster = options_given(options, OPTION_KUBECONFIG) || options_given(options, OPTION_CONTEXT);
    if (options->word_count > 0)
        return fault_set(fault, FAULT_USAGE, "unexpected word \"%s\"", options->words[0]);
    if (audit_is_from_files(options) && cluster)
        return fault_set(fault, FAULT_USAGE, "either files (-f, --feed dir:FOLDER) or a cluster, not both");
    return options_given(options, OPTION_POLICY_FEED) && options_given(options, OPTION_FILENAME)
               ? fault_set(fault, FAULT_USAGE, "either -f or --feed, not both")
               : true;
}

static bool run(struct audit_world *world, struct audit_report *report, const struct options *options,
                struct fault *fault) {
    static char buffer[OUTPUT_BUFFER_BYTES];
    if (!check_words(options, fault) || !audit_read(world, options, fault) ||
        !audit_judge(world, report, fault) || !audit_survey(world, report, fault))
        return false;
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    if (options_choice(options, OPTION_OUTPUT) == 1)
        print_audit_json(stdout, world, report);
    else
        print_audit_text(stdout, world, report);
    return (fflush(stdout) == 0 && ferror(stdout) == 0) ||
           fault_set(fault, FAULT_IO, "the result cannot be written: %s", strerror(errno));
}

static int exit_code_of(const struct fault *fault) {
    fprintf(stderr, "drawbridge audit: %s\n", fault->text);
    switch (fault->code) {
    case FAULT_USAGE: fputs("Try 'drawbridge audit --help'.\n", stderr); return EXIT_USAGE;
    case FAULT_UNREACHABLE: return EXIT_UNREACHABLE;
    default: return EXIT_UNREADABLE;
    }
}

int cmd_audit(int argc, char **argv) {
    struct options options;
    struct audit_world world = {.minor = 0};
    struct audit_report report = {.judged_count = 0};
    struct fault fault = {0};
    int code;
    if (!options_start(&options, "audit", argc, argv, &code)) return code;
    if (!run(&world, &report, &options, &fault))
        code = exit_code_of(&fault);
    else if (world.unreadable_count > 0)
        code = EXIT_UNREADABLE;
    else
        code = report.denied_count > 0 ? EXIT_FINDINGS : EXIT_CLEAN;
    audit_world_release(&world);
    options_release(&options);
    return code;
}
