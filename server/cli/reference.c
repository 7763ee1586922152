// SPDX-License-Identifier: Apache-2.0
// The man page and the reference of flags, printed from the flag table.
#include <string.h>

#include "server/cli/completion.h"

// Prints text so that roff takes it as it stands.
static void man_text(FILE *out, const char *text) {
    if (*text == '.' || *text == '\'') fputs("\\&", out);
    for (; *text != '\0'; text++) {
        if (*text == '-')
            fputs("\\-", out);
        else if (*text == '\\')
            fputs("\\e", out);
        else
            fputc(*text, out);
    }
}

static void man_flag(FILE *out, const struct option_row *row) {
    char name[OPTION_NAME_BYTES];
    fputs(".TP\n\\fB", out);
    if (row->letter != 0) fprintf(out, "\\-%c\\fR, \\fB", row->letter);
    fputs("\\-\\-", out);
    man_text(out, row->name);
    fputs("\\fR", out);
    if (row->argument[0] != '\0') {
        fputs(" \\fI", out);
        man_text(out, row->argument);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    man_text(out, row->help);
    if (row->default_text[0] != '\0') {
        fputs(" (default ", out);
        man_text(out, row->default_text);
        fputc(')', out);
    }
    fputs(".\n", out);
    if ((row->commands & ON_SETTING) == 0) return;
    fputs("Variable ", out);
    man_text(out, option_variable(row, name, sizeof name));
    // A file cannot name another file.
    if (row->id == OPTION_CONFIG)
        fputs(".\n", out);
    else
        fprintf(out, ", key %s.\n", option_key(row, name, sizeof name));
}

static void man_command(FILE *out, enum option_command command) {
    fputs(".SS \"drawbridge ", out);
    man_text(out, option_command_name(command));
    fputs(" [flags] ", out);
    man_text(out, option_command_words(command));
    fputs("\"\n", out);
    for (unsigned i = 0; i < OPTION_COUNT; i++)
        if (completion_takes(command, &option_rows[i])) man_flag(out, &option_rows[i]);
}

void reference_man(FILE *out) {
    size_t count;
    const struct command *rows = command_table(&count);
    enum option_command command;
    fputs(".TH DRAWBRIDGE 1 \"\" \"drawbridge " DRAWBRIDGE_VERSION "\" \"User Commands\"\n"
          ".SH NAME\n"
          "drawbridge \\- admission webhook and node ledger for Kubernetes DRA node allocatable resources\n"
          ".SH SYNOPSIS\n"
          ".B drawbridge\n"
          ".I command\n"
          "[flags]\n"
          ".SH COMMANDS\n",
          out);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, ".TP\n.B %s\n", rows[i].name);
        man_text(out, rows[i].summary);
        fputs(".\n", out);
    }
    fputs(".SH FLAGS\n"
          "A value is given as \\fB\\-\\-flag=value\\fR or \\fB\\-\\-flag value\\fR.\n",
          out);
    for (unsigned at = 0; completion_next(&at, &command);) man_command(out, command);
    fputs(".SH SETTINGS OF SERVE\n"
          "Each setting comes from its flag, else from its variable, else from the file that "
          "\\fB\\-\\-config\\fR names, "
          "else it has its default.\n"
          "The file is YAML: apiVersion drawbridge.dev/v1alpha1, kind DrawbridgeConfiguration, then the keys "
          "above. "
          "An unknown key is refused.\n"
          "\\fBdrawbridge serve \\-\\-print\\-config\\fR shows what is in force and where it comes from.\n"
          ".SH EXIT STATUS\n"
          ".TP\n.B 0\nClean.\n"
          ".TP\n.B 1\nThere are findings that deny, or a certificate does not hold.\n"
          ".TP\n.B 2\nUnknown flag, bad value, missing argument.\n"
          ".TP\n.B 3\nInput cannot be read.\n"
          ".TP\n.B 4\nThe cluster or the running server does not answer.\n",
          out);
}

// Prints text for a cell of a table.
static void cell(FILE *out, const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '|') fputc('\\', out);
        fputc(*text, out);
    }
}

static void coded_cell(FILE *out, const char *text) {
    fputs(" | ", out);
    if (text[0] == '\0') return;
    fputc('`', out);
    cell(out, text);
    fputc('`', out);
}

static void markdown_row(FILE *out, const struct option_row *row, bool with_settings) {
    char name[OPTION_NAME_BYTES];
    fputs("| `", out);
    if (row->letter != 0) fprintf(out, "-%c`, `", row->letter);
    fprintf(out, "--%s`", row->name);
    coded_cell(out, row->argument);
    coded_cell(out, row->default_text);
    if (with_settings) {
        bool is_setting = (row->commands & ON_SETTING) != 0;
        coded_cell(out, is_setting ? option_variable(row, name, sizeof name) : "");
        coded_cell(out, is_setting && row->id != OPTION_CONFIG ? option_key(row, name, sizeof name) : "");
    }
    fputs(" | ", out);
    cell(out, row->help);
    fputs(" |\n", out);
}

void reference_markdown(FILE *out) {
    enum option_command command;
    fputs("# Flags\n\nPrinted by `drawbridge completion markdown` from the table of flags.\n", out);
    for (unsigned at = 0; completion_next(&at, &command);) {
        bool with_settings = command == OPTION_COMMAND_SERVE;
        const char *words = option_command_words(command);
        fprintf(out,
                "\n## `drawbridge %s%s%s`\n\n| flag | value | default |%s meaning |\n| --- | --- | --- |%s "
                "--- |\n",
                option_command_name(command), words[0] == '\0' ? "" : " ", words,
                with_settings ? " variable | key in the file |" : "", with_settings ? " --- | --- |" : "");
        for (unsigned i = 0; i < OPTION_COUNT; i++)
            if (completion_takes(command, &option_rows[i])) markdown_row(out, &option_rows[i], with_settings);
    }
}
