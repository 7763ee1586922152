// SPDX-License-Identifier: Apache-2.0
// One table of flags for every command (server/cli/options.def). It parses the command line and it prints the
// help, the completions, the man page and the reference; the settings of `serve` are rows of it too.
//
//     struct options options;
//     int code;
//     if (!options_start(&options, "check", argc, argv, &code)) return code; // help shown, or a bad flag
//     told … options_text(&options, OPTION_OUTPUT), options_list(&options, OPTION_FILENAME, &count) …
//     options_release(&options);
#ifndef DRAWBRIDGE_CLI_OPTIONS_H
#define DRAWBRIDGE_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "validators/core/fault.h"

enum option_kind {
    OPTION_IS_SWITCH,   // no argument; --flag, --flag=true, --flag=false
    OPTION_IS_TEXT,     // any text
    OPTION_IS_FILE,     // text that completion takes for a path
    OPTION_IS_CHOICE,   // one of the words in `argument`, parted by |
    OPTION_IS_INT,      // within min and max
    OPTION_IS_BYTES,    // 8Mi, 64Ki, 1000k, 4096
    OPTION_IS_DURATION, // 500ms, 10s, 1m30s, 2h, 7d; kept in milliseconds
    OPTION_IS_LIST,     // repeatable, and split at commas
    OPTION_IS_FILES,    // repeatable, never split: paths
};

// Who takes a flag: one bit per command or subcommand that has flags of its own. The last column is what may
// follow that is not a flag; "" is nothing.
#define OPTION_COMMANDS(X)                                                                                   \
    X(SERVE, "serve", "")                                                                                    \
    X(CHECK, "check", "[FILE …]")                                                                            \
    X(EXPLAIN, "explain", "[RULE …]")                                                                        \
    X(TEST, "test", "SUITE.yaml …")                                                                          \
    X(LEDGER_SHOW, "ledger show", "")                                                                        \
    X(LEDGER_EXPORT, "ledger export", "")                                                                    \
    X(LEDGER_REPLAY, "ledger replay", "")                                                                    \
    X(LEDGER_DIFF, "ledger diff", "A B")                                                                     \
    X(LEDGER_AUDIT, "ledger audit", "")                                                                      \
    X(FREEZE, "freeze", "")                                                                                  \
    X(RESUME, "resume", "")                                                                                  \
    X(PROMOTE, "promote", "")                                                                                \
    X(AUDIT, "audit", "")                                                                                    \
    X(CERTS_ISSUE, "certs issue", "")                                                                        \
    X(CERTS_SHOW, "certs show", "[FILE …]")                                                                  \
    X(CERTS_VERIFY, "certs verify", "")                                                                      \
    X(VERSION, "version", "")                                                                                \
    X(COMPLETION, "completion", "bash|zsh|fish|man|markdown")

#define X(id, name, words) OPTION_COMMAND_##id,
enum option_command { OPTION_COMMANDS(X) OPTION_COMMAND_COUNT };
#undef X
#define X(id, name, words) ON_##id = UINT64_C(1) << OPTION_COMMAND_##id,
enum option_mask {
    OPTION_COMMANDS(X)
    // Beside ON_SERVE: a setting, so it also has a DRAWBRIDGE_ variable and a key in the file.
    ON_SETTING = UINT64_C(1) << 63,
    ON_EACH = (UINT64_C(1) << OPTION_COMMAND_COUNT) - 1,
};
#undef X

// The flags by name: OPTION_PORT, OPTION_FILENAME, …
#define OPTION(id, commands, name, letter, kind, argument, default_text, min, max, help) OPTION_##id,
enum option_id {
#include "server/cli/options.def"
    OPTION_COUNT
};
#undef OPTION

struct option_row {
    enum option_id id;
    uint64_t commands;
    const char *name; // without dashes
    char letter;      // 0: no short form
    enum option_kind kind;
    const char *argument;     // how help names the value; the words of a choice
    const char *default_text; // as it would be typed; "" is none
    int64_t min, max;         // int, bytes, duration (in milliseconds); both 0: no limit but zero or more
    const char *help;         // one line, no full stop
};

extern const struct option_row option_rows[OPTION_COUNT];

// One value as the command line gave it.
struct option_given {
    enum option_id id;
    const char *text; // a view of argv; of a copy for lists
};

struct options {
    enum option_command command;
    struct option_given *given; // in the order of the command line
    size_t given_count;
    char **words; // what is not a flag, without the command's name
    size_t word_count;
    char **owned; // copies behind lists
    size_t owned_count;
    const char **lists[OPTION_COUNT];
    size_t list_counts[OPTION_COUNT];
};

// What it does: reads the command line of `command` ("check", "certs issue"). Asked for help it prints it on
// stdout and *ret_code is 0; a fault is printed on stderr with a pointer to --help and *ret_code is 2. In
// both cases false is returned and nothing is to be released. Owner: the options, freed by options_release.
// Thread: main only (getopt_long has one state for the process).
bool options_start(struct options *options, const char *command, int argc, char **argv, int *ret_code)
    __attribute__((warn_unused_result));

// As options_start, without any output: for tests and for reading twice. Help asked for: true with
// OPTION_HELP given.
bool options_read(struct options *options, const char *command, int argc, char **argv, struct fault *fault)
    __attribute__((warn_unused_result));

void options_release(struct options *options);

// Whether the flag stood on the command line.
bool options_given(const struct options *options, enum option_id id);

// The last value given, else the default. Values were checked while reading, so these cannot fail.
const char *options_text(const struct options *options, enum option_id id); // "" when there is none
bool options_switch(const struct options *options, enum option_id id);
unsigned options_choice(const struct options *options, enum option_id id); // index of the word
int64_t options_int(const struct options *options, enum option_id id);     // also bytes; durations in ms

// All values of a list, in order; of the default when none was given. Owner: the options.
const char *const *options_list(const struct options *options, enum option_id id, size_t *ret_count);

// What they do: read one value as a flag of this kind would. Errors: FAULT_USAGE with what is wrong and what
// would be right; the flag's name is not in the text.
bool option_parse_switch(const char *text, bool *ret_value, struct fault *fault)
    __attribute__((warn_unused_result));
bool option_parse_choice(const struct option_row *row, const char *text, unsigned *ret_index,
                         struct fault *fault) __attribute__((warn_unused_result));
bool option_parse_number(const struct option_row *row, const char *text, int64_t *ret_value,
                         struct fault *fault) __attribute__((warn_unused_result));

// What they do: write a value as it would be typed ("8Mi", "90s"). Returns the number of bytes, cut at size.
size_t option_print_bytes(int64_t bytes, char *buffer, size_t size);
size_t option_print_duration(int64_t milliseconds, char *buffer, size_t size);

// The index-th word of a choice row, as text in the caller's buffer; "" when there is no such word.
const char *option_choice_word(const struct option_row *row, unsigned index, char *buffer, size_t size);

// The row that a command knows under this long name (aliases too), or NULL.
const struct option_row *option_find(enum option_command command, const char *name);

// "serve", "certs issue", and what may follow ("[FILE …]") (static text).
const char *option_command_name(enum option_command command);
const char *option_command_words(enum option_command command);
bool option_command_find(const char *name, enum option_command *ret_command);

// The variable and the key in the file of a setting: DRAWBRIDGE_STATUS_BIND_ADDRESS, statusBindAddress.
// Owner: the caller's buffer, always enough with OPTION_NAME_BYTES.
#define OPTION_NAME_BYTES 96
const char *option_variable(const struct option_row *row, char *buffer, size_t size);
const char *option_key(const struct option_row *row, char *buffer, size_t size);

// What it does: the help of one command, usage line first.
void options_help(FILE *out, enum option_command command);

#endif
