// SPDX-License-Identifier: Apache-2.0
// `drawbridge ledger diff A B`: where two ledgers differ.
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

#include "server/cli/command.h"
#include "server/cli/ledger_commands.h"
#include "server/cli/ledger_compare.h"
#include "server/cli/ledger_source.h"
#include "server/cli/print_ledger.h"
#include "server/cli/print_string.h"
#include "server/kube_version.h"

static bool is_word(const char *source, const char *word) {
    return strcmp(source, word) == 0;
}

static bool print_source(const char *source, const char *folder, int otherwise, FILE *out,
                         struct fault *fault) {
    struct ledger_print_totals totals;
    size_t ignored;
    if (is_word(source, "live")) return source_live_json(folder, NULL, true, out, &ignored, fault);
    struct ledger *ledger =
        is_word(source, "journal") ? source_journal(folder, fault) : source_file(source, otherwise, fault);
    if (ledger == NULL) return false;
    bool fine = print_ledger_json(out, ledger, ledger_minor(ledger), true, &totals, fault);
    ledger_free(ledger);
    return fine;
}

// One side, parsed. Owner: the caller, json_decref.
static json_t *load_source(const char *source, const char *folder, int otherwise, struct fault *fault) {
    char *bytes = NULL;
    size_t len = 0;
    json_error_t wrong;
    FILE *out = open_memstream(&bytes, &len);
    json_t *ledger = NULL;
    if (out == NULL) {
        fault_set(fault, FAULT_MEMORY, "out of memory");
        return NULL;
    }
    bool fine = print_source(source, folder, otherwise, out, fault);
    if (fclose(out) != 0 && fine) fine = fault_set(fault, FAULT_MEMORY, "out of memory");
    if (fine) {
        ledger = json_loadb(bytes, len, 0, &wrong);
        if (ledger == NULL) fault_set(fault, FAULT_STATE, "%s cannot be read: %.150s", source, wrong.text);
    }
    free(bytes);
    return ledger;
}

static int minor_of(const json_t *ledger) {
    const char *version = json_string_value(json_object_get(ledger, "kubernetesVersion"));
    int minor;
    struct fault ignored;
    return version != NULL && kube_version_parse(text_of(version), &minor, &ignored) ? minor : 0;
}

static bool is_file(const char *source) {
    return !is_word(source, "live") && !is_word(source, "journal");
}

// A file that does not tell its minor is read by that of the other side.
static bool load_both(char *const *words, const char *folder, json_t *sides[2], struct fault *fault) {
    size_t first = is_file(words[0]) ? 1 : 0;
    sides[first] = load_source(words[first], folder, KUBE_MINOR_DEFAULT, fault);
    if (sides[first] == NULL) return false;
    int minor = minor_of(sides[first]);
    sides[1 - first] = load_source(words[1 - first], folder, minor == 0 ? KUBE_MINOR_DEFAULT : minor, fault);
    return sides[1 - first] != NULL;
}

static void print_value(const json_t *value) {
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    print_plain_text(stdout, text_of(text == NULL ? "?" : text));
    free(text);
}

static void print_text(const json_t *differences, char *const *words) {
    for (size_t i = 0; i < json_array_size(differences); i++) {
        const json_t *difference = json_array_get(differences, i);
        const char *node = json_string_value(json_object_get(difference, "node"));
        print_plain_text(stdout, text_of(node[0] == '\0' ? "(no single node)" : node));
        putchar(' ');
        print_plain_text(stdout, text_of(json_string_value(json_object_get(difference, "path"))));
        printf(": %s ", words[0]);
        print_value(json_object_get(difference, "a"));
        printf(", %s ", words[1]);
        print_value(json_object_get(difference, "b"));
        putchar('\n');
    }
    if (json_array_size(differences) == 0) puts("no difference");
}

static bool print(const struct options *options, json_t *differences, struct fault *fault) {
    if (options_choice(options, OPTION_OUTPUT) == 1) {
        json_t *answer = json_pack("{s:O}", "differences", differences);
        bool fine = answer != NULL && json_dumpf(answer, stdout, JSON_COMPACT) == 0;
        json_decref(answer);
        if (!fine) return fault_set(fault, FAULT_IO, "the result cannot be written");
        putchar('\n');
    } else {
        print_text(differences, options->words);
    }
    return (fflush(stdout) == 0 && ferror(stdout) == 0) ||
           fault_set(fault, FAULT_IO, "the result cannot be written: %s", strerror(errno));
}

static bool check_words(const struct options *options, const char **ret_folder, struct fault *fault) {
    if (options->word_count != 2)
        return fault_set(fault, FAULT_USAGE, "two sources are compared, each `live`, `journal` or a file");
    *ret_folder = "";
    return (is_file(options->words[0]) && is_file(options->words[1])) ||
           ledger_folder(options, ret_folder, fault);
}

int ledger_diff(int argc, char **argv) {
    struct options options;
    struct fault fault = {0};
    json_t *sides[2] = {NULL, NULL};
    json_t *differences = NULL;
    const char *folder;
    int code;
    if (!options_start(&options, "ledger diff", argc, argv, &code)) return code;
    bool fine = check_words(&options, &folder, &fault) && load_both(options.words, folder, sides, &fault);
    if (fine) {
        differences = ledger_compare(sides[0], sides[1]);
        fine = differences != NULL ? print(&options, differences, &fault)
                                   : fault_set(&fault, FAULT_MEMORY, "out of memory");
    }
    code = !fine                              ? ledger_fail("diff", &fault)
           : json_array_size(differences) > 0 ? EXIT_FINDINGS
                                              : EXIT_CLEAN;
    json_decref(differences);
    json_decref(sides[0]);
    json_decref(sides[1]);
    options_release(&options);
    return code;
}
