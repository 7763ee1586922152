// SPDX-License-Identifier: Apache-2.0
// The flag table and the reading of command lines by it.
#include "server/cli/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "server/cli/command.h"
#include "validators/core/text.h"

#define OPTION(id, commands, name, letter, kind, argument, default_text, min, max, help)                     \
    {OPTION_##id, commands, name, letter, kind, argument, default_text, min, max, help},
const struct option_row option_rows[OPTION_COUNT] = {
#include "server/cli/options.def"
};
#undef OPTION

struct command_name {
    const char *name;
    const char *words;
};
#define X(id, name, words) {name, words},
static const struct command_name command_names[OPTION_COMMAND_COUNT] = {OPTION_COMMANDS(X)};
#undef X

const char *option_command_name(enum option_command command) {
    return command_names[command].name;
}

const char *option_command_words(enum option_command command) {
    return command_names[command].words;
}

bool option_command_find(const char *name, enum option_command *ret_command) {
    for (unsigned i = 0; i < OPTION_COMMAND_COUNT; i++)
        if (strcmp(command_names[i].name, name) == 0) {
            *ret_command = (enum option_command)i;
            return true;
        }
    return false;
}

static bool row_is_of(const struct option_row *row, enum option_command command) {
    return (row->commands >> command & 1) != 0;
}

const struct option_row *option_find(enum option_command command, const char *name) {
    for (unsigned i = 0; i < OPTION_COUNT; i++)
        if (row_is_of(&option_rows[i], command) && strcmp(option_rows[i].name, name) == 0)
            return &option_rows[i];
    return NULL;
}

const char *option_variable(const struct option_row *row, char *buffer, size_t size) {
    size_t len = (size_t)snprintf(buffer, size, "DRAWBRIDGE_%s", row->name);
    for (size_t i = 0; i < len && i < size; i++) {
        if (buffer[i] == '-') buffer[i] = '_';
        if (buffer[i] >= 'a' && buffer[i] <= 'z') buffer[i] = (char)(buffer[i] - 'a' + 'A');
    }
    return buffer;
}

const char *option_key(const struct option_row *row, char *buffer, size_t size) {
    size_t at = 0;
    for (const char *from = row->name; *from != '\0' && at + 1 < size; from++) {
        bool raise = *from == '-' && from[1] >= 'a' && from[1] <= 'z';
        if (raise) from++;
        buffer[at++] = raise ? (char)(*from - 'a' + 'A') : *from;
    }
    buffer[at] = '\0';
    return buffer;
}

static bool takes_many(const struct option_row *row) {
    return row->kind == OPTION_IS_LIST || row->kind == OPTION_IS_FILES;
}

// Checks one value by the kind of its row. Errors: FAULT_USAGE.
static bool check_value(const struct option_row *row, const char *text, struct fault *fault) {
    int64_t number;
    unsigned index;
    bool yes;
    switch (row->kind) {
    case OPTION_IS_SWITCH: return option_parse_switch(text, &yes, fault);
    case OPTION_IS_CHOICE: return option_parse_choice(row, text, &index, fault);
    case OPTION_IS_INT:
    case OPTION_IS_BYTES:
    case OPTION_IS_DURATION: return option_parse_number(row, text, &number, fault);
    case OPTION_IS_TEXT:
    case OPTION_IS_FILE:
    case OPTION_IS_LIST:
    case OPTION_IS_FILES: return true;
    }
    return fault_set(fault, FAULT_STATE, "flag --%s has no kind", row->name);
}

static bool unknown_flag(enum option_command command, const char *name, size_t len, struct fault *fault) {
    const char *near = NULL;
    size_t best = 3;
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        if (!row_is_of(&option_rows[i], command)) continue;
        size_t distance = text_distance((struct text){name, len}, text_of(option_rows[i].name), best);
        if (distance < best) {
            best = distance;
            near = option_rows[i].name;
        }
    }
    int shown = len > 64 ? 64 : (int)len;
    if (near != NULL)
        return fault_set(fault, FAULT_USAGE, "unknown flag --%.*s; did you mean --%s?", shown, name, near);
    return fault_set(fault, FAULT_USAGE, "unknown flag --%.*s", shown, name);
}

// getopt_long takes any unique beginning of a name; scripts that rely on that break when a flag is added, so
// only whole names pass.
static bool check_names(enum option_command command, int argc, char **argv, struct fault *fault) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strncmp(argv[i], "--", 2) != 0) continue;
        const char *name = argv[i] + 2;
        size_t len = strcspn(name, "=");
        bool known = false;
        for (unsigned k = 0; k < OPTION_COUNT && !known; k++)
            known = row_is_of(&option_rows[k], command) &&
                    text_equal(text_of(option_rows[k].name), (struct text){name, len});
        if (!known) return unknown_flag(command, name, len, fault);
    }
    return true;
}

// What getopt_long is told: values above this are rows.
#define FIRST_VALUE 256

static void getopt_tables(enum option_command command, struct option *longs, char *shorts) {
    size_t long_count = 0, at = 0;
    shorts[at++] = ':'; // tell a missing argument from an unknown flag
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = &option_rows[i];
        if (!row_is_of(row, command)) continue;
        int has = row->kind == OPTION_IS_SWITCH ? optional_argument : required_argument;
        longs[long_count++] = (struct option){row->name, has, NULL, FIRST_VALUE + (int)i};
        if (row->letter == 0) continue;
        shorts[at++] = row->letter;
        if (has == required_argument) shorts[at++] = ':';
    }
    longs[long_count] = (struct option){0};
    shorts[at] = '\0';
}

static const struct option_row *row_of_value(enum option_command command, int value) {
    if (value >= FIRST_VALUE) return &option_rows[value - FIRST_VALUE];
    for (unsigned i = 0; i < OPTION_COUNT; i++)
        if (row_is_of(&option_rows[i], command) && option_rows[i].letter == value) return &option_rows[i];
    return NULL;
}

// Reads one flag that getopt_long found.
static bool take(struct options *options, int value, const char *argument, struct fault *fault) {
    if (value == '?' || value == ':') {
        const struct option_row *row = optopt == 0 ? NULL : row_of_value(options->command, optopt);
        if (row != NULL)
            return fault_set(fault, FAULT_USAGE, "--%s needs a value: %s", row->name, row->argument);
        if (optopt != 0) return fault_set(fault, FAULT_USAGE, "unknown flag -%c", optopt);
        return fault_set(fault, FAULT_USAGE, "a flag cannot be read");
    }
    const struct option_row *row = row_of_value(options->command, value);
    if (argument == NULL) argument = "true"; // a switch
    if (value < FIRST_VALUE && argument[0] == '=') argument++;
    if (!check_value(row, argument, fault)) return fault_wrap(fault, "--%s", row->name);
    options->given[options->given_count++] = (struct option_given){row->id, argument};
    return true;
}

// Splits a list's value at its commas into the list. The pieces are cut in place out of a copy.
static bool add_items(struct options *options, const struct option_row *row, const char *text) {
    char *copy = strndup(text, strlen(text));
    if (copy == NULL) return false;
    options->owned[options->owned_count++] = copy;
    const char **items = options->lists[row->id];
    for (char *at = copy; at != NULL && *at != '\0';) {
        char *comma = row->kind == OPTION_IS_LIST ? strchr(at, ',') : NULL;
        if (comma != NULL) *comma = '\0';
        if (*at != '\0') items[options->list_counts[row->id]++] = at;
        at = comma == NULL ? NULL : comma + 1;
    }
    return true;
}

// How many items the values can have at most.
static size_t items_limit(const struct options *options, const struct option_row *row) {
    size_t bytes = strlen(row->default_text) + 1;
    for (size_t i = 0; i < options->given_count; i++)
        if (options->given[i].id == row->id) bytes += strlen(options->given[i].text) + 1;
    return bytes;
}

static bool make_list(struct options *options, const struct option_row *row) {
    options->lists[row->id] = calloc(items_limit(options, row), sizeof(char *));
    if (options->lists[row->id] == NULL) return false;
    bool any = false;
    for (size_t i = 0; i < options->given_count; i++) {
        if (options->given[i].id != row->id) continue;
        any = true;
        if (!add_items(options, row, options->given[i].text)) return false;
    }
    return any || add_items(options, row, row->default_text);
}

static bool read_all(struct options *options, int argc, char **argv, struct fault *fault) {
    struct option longs[OPTION_COUNT + 1];
    char shorts[2 * OPTION_COUNT + 2];
    getopt_tables(options->command, longs, shorts);
    options->given = calloc((size_t)argc + 1, sizeof *options->given);
    options->owned = calloc((size_t)argc + 1 + OPTION_COUNT, sizeof *options->owned);
    if (options->given == NULL || options->owned == NULL)
        return fault_set(fault, FAULT_MEMORY, "out of memory");
    optind = 0; // glibc: start anew, also after an earlier command line
    opterr = 0;
    for (int value; (value = getopt_long(argc, argv, shorts, longs, NULL)) != -1;)
        if (!take(options, value, optarg, fault)) return false;
    options->words = argv + optind;
    options->word_count = (size_t)(argc - optind);
    if (options->word_count > 0 && option_command_words(options->command)[0] == '\0')
        return fault_set(fault, FAULT_USAGE, "\"%.64s\" is not a flag and %s takes nothing else",
                         argv[optind], option_command_name(options->command));
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = &option_rows[i];
        if (row_is_of(row, options->command) && takes_many(row) && !make_list(options, row))
            return fault_set(fault, FAULT_MEMORY, "out of memory");
    }
    return true;
}

static bool asks_for_help(int argc, char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
    return false;
}

bool options_read(struct options *options, const char *command, int argc, char **argv, struct fault *fault) {
    struct options work = {0};
    if (!option_command_find(command, &work.command))
        return fault_set(fault, FAULT_USAGE, "\"%.64s\" is no command with flags", command);
    static char help_word[] = "--help";
    static char *help_line[] = {help_word, help_word, NULL};
    if (asks_for_help(argc, argv)) {
        argc = 2;
        argv = help_line;
    }
    if (!check_names(work.command, argc, argv, fault) || !read_all(&work, argc, argv, fault)) {
        options_release(&work);
        return false;
    }
    *options = work;
    return true;
}

bool options_start(struct options *options, const char *command, int argc, char **argv, int *ret_code) {
    struct fault fault = {0};
    if (!options_read(options, command, argc, argv, &fault)) {
        fprintf(stderr, "drawbridge %s: %s\nTry 'drawbridge %s --help'.\n", command, fault.text, command);
        *ret_code = fault.code == FAULT_USAGE ? EXIT_USAGE : EXIT_UNREADABLE;
        return false;
    }
    if (options_given(options, OPTION_HELP)) {
        options_help(stdout, options->command);
        options_release(options);
        *ret_code = EXIT_CLEAN;
        return false;
    }
    return true;
}

void options_release(struct options *options) {
    if (options == NULL) return;
    for (size_t i = 0; i < options->owned_count; i++) free(options->owned[i]);
    for (unsigned i = 0; i < OPTION_COUNT; i++) free(options->lists[i]);
    free(options->owned);
    free(options->given);
    *options = (struct options){0};
}

bool options_given(const struct options *options, enum option_id id) {
    for (size_t i = 0; i < options->given_count; i++)
        if (options->given[i].id == id) return true;
    return false;
}

const char *options_text(const struct options *options, enum option_id id) {
    const char *text = option_rows[id].default_text;
    for (size_t i = 0; i < options->given_count; i++)
        if (options->given[i].id == id) text = options->given[i].text;
    return text;
}

bool options_switch(const struct options *options, enum option_id id) {
    return strcmp(options_text(options, id), "true") == 0;
}

unsigned options_choice(const struct options *options, enum option_id id) {
    unsigned index = 0;
    if (!option_parse_choice(&option_rows[id], options_text(options, id), &index, NULL)) return 0;
    return index;
}

int64_t options_int(const struct options *options, enum option_id id) {
    int64_t value = 0;
    if (!option_parse_number(&option_rows[id], options_text(options, id), &value, NULL)) return 0;
    return value;
}

const char *const *options_list(const struct options *options, enum option_id id, size_t *ret_count) {
    *ret_count = options->list_counts[id];
    return options->lists[id];
}
