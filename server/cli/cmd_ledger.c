// SPDX-License-Identifier: Apache-2.0
// `drawbridge ledger`: its subcommands, and replay: events of a cluster from a file or a journal, and the
// ledger that they end in.
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/cli/command.h"
#include "server/cli/ledger_commands.h"
#include "server/cli/ledger_source.h"
#include "server/cli/options.h"
#include "server/cli/print_ledger.h"
#include "server/kube_version.h"
#include "server/ledger/replay.h"
#include "validators/registry/device_judge.h"

#define READ_STEP_BYTES ((size_t)1 << 20)

struct bytes {
    char *ptr;
    size_t len;
    size_t room;
};

static int fail(const char *command, const struct fault *fault) {
    fprintf(stderr, "drawbridge ledger %s: %s\n", command, fault->text);
    if (fault->code != FAULT_USAGE) return EXIT_UNREADABLE;
    fprintf(stderr, "Try 'drawbridge ledger %s --help'.\n", command);
    return EXIT_USAGE;
}

static bool make_room(struct bytes *bytes, size_t limit, struct fault *fault) {
    if (bytes->len < bytes->room) return true;
    size_t room = bytes->room == 0 ? READ_STEP_BYTES : bytes->room * 2;
    if (room > limit + 1) room = limit + 1;
    if (room <= bytes->len)
        return fault_set(fault, FAULT_LIMIT, "longer than %zu bytes; --max-file-bytes sets the bound", limit);
    char *grown = realloc(bytes->ptr, room);
    if (grown == NULL) return fault_set(fault, FAULT_MEMORY, "no memory for the file");
    bytes->ptr = grown;
    bytes->room = room;
    return true;
}

static bool read_all(FILE *file, size_t limit, struct bytes *bytes, struct fault *fault) {
    for (;;) {
        if (!make_room(bytes, limit, fault)) return false;
        size_t count = fread(bytes->ptr + bytes->len, 1, bytes->room - bytes->len, file);
        bytes->len += count;
        if (count > 0) continue;
        if (ferror(file)) return fault_set(fault, FAULT_IO, "cannot be read: %s", strerror(errno));
        return true;
    }
}

static bool read_file(const char *name, size_t limit, struct bytes *bytes, struct fault *fault) {
    bool standard_input = strcmp(name, "-") == 0;
    FILE *file = standard_input ? stdin : fopen(name, "re");
    if (file == NULL) return fault_set(fault, FAULT_IO, "\"%s\" cannot be read: %s", name, strerror(errno));
    bool fine = read_all(file, limit, bytes, fault);
    if (!standard_input) fclose(file);
    return fine || fault_wrap(fault, "\"%s\"", name);
}

// All files of the command line.
struct inputs {
    struct bytes *items;
    const char *const *names;
    size_t count;
};

static bool read_inputs(const struct options *options, struct inputs *inputs, struct fault *fault) {
    inputs->names = options_list(options, OPTION_EVENTS_FILENAME, &inputs->count);
    if (inputs->count == 0)
        return fault_set(fault, FAULT_USAGE, "no events; name a file with -f FILE or -f -");
    inputs->items = calloc(inputs->count, sizeof *inputs->items);
    if (inputs->items == NULL) return fault_set(fault, FAULT_MEMORY, "no memory for the files");
    size_t limit = (size_t)options_int(options, OPTION_MAX_FILE_BYTES);
    for (size_t i = 0; i < inputs->count; i++)
        if (!read_file(inputs->names[i], limit, &inputs->items[i], fault)) return false;
    return true;
}

static void release_inputs(struct inputs *inputs) {
    for (size_t i = 0; i < inputs->count && inputs->items != NULL; i++) free(inputs->items[i].ptr);
    free(inputs->items);
}

static struct text text_of_input(const struct inputs *inputs, size_t index) {
    return (struct text){inputs->items[index].ptr, inputs->items[index].len};
}

// What the flag says, else what the events themselves tell, else the oldest.
static bool choose_minor(const struct options *options, const struct inputs *inputs, int *ret_minor,
                         struct fault *fault) {
    struct text version = text_of(options_text(options, OPTION_KUBERNETES_VERSION));
    if (version.len > 0) return kube_version_parse(version, ret_minor, fault);
    *ret_minor = 0;
    for (size_t i = 0; i < inputs->count; i++) {
        int minor = replay_minor(text_of_input(inputs, i));
        if (minor > *ret_minor) *ret_minor = minor;
    }
    if (*ret_minor == 0) *ret_minor = KUBE_MINOR_DEFAULT;
    return true;
}

static bool replay_inputs(struct ledger *ledger, int minor, const struct inputs *inputs,
                          struct fault *fault) {
    struct replay replay;
    replay_init(&replay, ledger, minor);
    bool fine = true;
    for (size_t i = 0; i < inputs->count && fine; i++) {
        fine = replay_lines(&replay, text_of_input(inputs, i), fault);
        if (!fine) fault_wrap(fault, "\"%s\"", inputs->names[i]);
    }
    if (fine) replay_end(&replay);
    replay_release(&replay);
    return fine;
}

static int print(const struct options *options, const struct ledger *ledger, int minor, struct fault *fault) {
    struct ledger_print_totals totals;
    bool json = options_choice(options, OPTION_OUTPUT) == 1;
    bool fine = json ? print_ledger_json(stdout, ledger, minor, true, &totals, fault)
                     : print_ledger_text(stdout, ledger, minor, true, &totals, fault);
    if (fflush(stdout) != 0 || ferror(stdout))
        fine = fault_set(fault, FAULT_IO, "the result cannot be written");
    if (!fine) return fail("replay", fault);
    return totals.divergence_count > 0 ? EXIT_FINDINGS : EXIT_CLEAN;
}

// The journal of a server, which may be running.
static int replay_journal(const struct options *options) {
    struct fault fault = {0};
    if (options_given(options, OPTION_EVENTS_FILENAME)) {
        fault_set(&fault, FAULT_USAGE, "events come from -f or from --ledger-dir, not from both");
        return fail("replay", &fault);
    }
    struct ledger *ledger = source_journal(options_text(options, OPTION_LEDGER_DIR), &fault);
    if (ledger == NULL) return fail("replay", &fault);
    int code = print(options, ledger, ledger_minor(ledger), &fault);
    ledger_free(ledger);
    return code;
}

static int replay(const struct options *options) {
    struct inputs inputs = {0};
    struct fault fault = {0};
    if (options_given(options, OPTION_LEDGER_DIR)) return replay_journal(options);
    struct ledger_options ledger_options = {.judge = registry_device_judge()};
    struct ledger *ledger = NULL;
    int code;
    bool fine = read_inputs(options, &inputs, &fault) &&
                choose_minor(options, &inputs, &ledger_options.minor, &fault);
    if (fine && getentropy(ledger_options.seed, sizeof ledger_options.seed) != 0)
        fine = fault_set(&fault, FAULT_IO, "no random numbers: %s", strerror(errno));
    if (fine) ledger = ledger_new(&ledger_options, &fault);
    if (ledger != NULL && replay_inputs(ledger, ledger_options.minor, &inputs, &fault))
        code = print(options, ledger, ledger_options.minor, &fault);
    else
        code = fail("replay", &fault);
    ledger_free(ledger);
    release_inputs(&inputs);
    return code;
}

static int ledger_replay(int argc, char **argv) {
    struct options options;
    int code;
    if (!options_start(&options, "ledger replay", argc, argv, &code)) return code;
    code = replay(&options);
    options_release(&options);
    return code;
}

static const struct command subcommands[] = {
    {"show", ledger_show, "print the ledger of a running server"},
    {"export", ledger_export, "print what a running server holds, as events that replay reads"},
    {"replay", ledger_replay, "apply events from files or a journal and print the ledger that they end in"},
    {"diff", ledger_diff, "tell where two ledgers differ: a server's, its journal's, those of files"},
    {"audit", ledger_audit, "print what a journal holds of denials and of what operators did"},
};

static void print_help(FILE *out) {
    fputs("Usage: drawbridge ledger show|export|replay|diff|audit [FLAGS]\n\n", out);
    for (size_t i = 0; i < sizeof subcommands / sizeof subcommands[0]; i++)
        fprintf(out, "  %-8s %s\n", subcommands[i].name, subcommands[i].summary);
    fputs("\n`drawbridge ledger replay --help` lists the flags.\n", out);
}

int cmd_ledger(int argc, char **argv) {
    if (argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_help(stdout);
        return EXIT_CLEAN;
    }
    for (size_t i = 0; argc >= 2 && i < sizeof subcommands / sizeof subcommands[0]; i++)
        if (strcmp(argv[1], subcommands[i].name) == 0) return subcommands[i].run(argc - 1, argv + 1);
    if (argc >= 2) fprintf(stderr, "drawbridge ledger: there is no \"%.64s\"\n\n", argv[1]);
    print_help(stderr);
    return EXIT_USAGE;
}
