// SPDX-License-Identifier: Apache-2.0
// The help of a command, printed from the flag table.
#include <string.h>

#include "server/cli/options.h"

#define HELP_COLUMN 38 // where the explanation begins
#define HELP_WIDTH  100

// What they do: count and cut by characters, not bytes: "…" is three bytes.
static size_t width_of(const char *text) {
    size_t width = 0;
    for (; *text != '\0'; text++)
        if (((unsigned char)*text & 0xC0) != 0x80) width++;
    return width;
}

static void print_padded(FILE *out, const char *text, size_t width) {
    fputs(text, out);
    for (size_t i = width_of(text); i < width; i++) fputc(' ', out);
}

// Prints words, broken at blanks, each further line below the first.
static void print_wrapped(FILE *out, const char *text) {
    size_t column = HELP_COLUMN;
    while (*text != '\0') {
        size_t len = strcspn(text, " ");
        if (column > HELP_COLUMN && column + 1 + len > HELP_WIDTH) {
            fprintf(out, "\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        } else if (column > HELP_COLUMN) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", (int)len, text);
        column += len;
        text += len;
        while (*text == ' ') text++;
    }
    fputc('\n', out);
}

static void print_row(FILE *out, const struct option_row *row) {
    char left[160], right[512];
    char letter[8] = "    ";
    if (row->letter != 0) snprintf(letter, sizeof letter, "-%c, ", row->letter);
    snprintf(left, sizeof left, "  %s--%s%s%s", letter, row->name, row->kind == OPTION_IS_SWITCH ? "" : " ",
             row->argument);
    bool says_default = row->default_text[0] != '\0' && strcmp(row->default_text, "false") != 0;
    snprintf(right, sizeof right, "%s%s%s%s", row->help, says_default ? " (default " : "",
             says_default ? row->default_text : "", says_default ? ")" : "");
    if (width_of(left) + 2 > HELP_COLUMN) {
        fprintf(out, "%s\n%*s", left, HELP_COLUMN, "");
    } else {
        print_padded(out, left, HELP_COLUMN);
    }
    print_wrapped(out, right);
}

void options_help(FILE *out, enum option_command command) {
    const char *words = option_command_words(command);
    fprintf(out, "Usage: drawbridge %s [flags]%s%s\n\nFlags:\n", option_command_name(command),
            words[0] == '\0' ? "" : " ", words);
    bool has_settings = false;
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        if ((option_rows[i].commands >> command & 1) == 0) continue;
        print_row(out, &option_rows[i]);
        has_settings =
            has_settings || (command == OPTION_COMMAND_SERVE && (option_rows[i].commands & ON_SETTING));
    }
    if (has_settings)
        fputs("\nEach setting may also come from a variable (DRAWBRIDGE_STATUS_BIND_ADDRESS) or from the "
              "file that\n"
              "--config names (statusBindAddress). A flag wins over a variable, that over the file.\n"
              "'drawbridge serve --print-config' shows what is in force.\n",
              out);
}
