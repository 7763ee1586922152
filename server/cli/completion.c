// SPDX-License-Identifier: Apache-2.0
// Completions for bash, zsh and fish, printed from the flag table.
#include "server/cli/completion.h"

#include <string.h>

static bool is_path(const struct option_row *row) {
    return row->kind == OPTION_IS_FILE || row->kind == OPTION_IS_FILES;
}

static bool takes_files(enum option_command command) {
    return strstr(option_command_words(command), "FILE") != NULL ||
           strstr(option_command_words(command), ".yaml") != NULL;
}

// Prints text inside single quotes of a shell. `escape` is put before the marks in `special`.
static void print_quoted(FILE *out, const char *text, const char *special) {
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            fputs("'\\''", out);
            continue;
        }
        if (strchr(special, *text) != NULL) fputc('\\', out);
        fputc(*text, out);
    }
}

// The words after which a flag's value comes: 'check:--output' | 'check:-o'
static void bash_labels(FILE *out, enum option_command command, const struct option_row *row) {
    const char *name = option_command_name(command);
    fprintf(out, "    '%s:--%s'", name, row->name);
    if (row->letter != 0) fprintf(out, " | '%s:-%c'", name, row->letter);
    fputs(") ", out);
}

static void bash_values(FILE *out, enum option_command command) {
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = &option_rows[i];
        if (!completion_takes(command, row) || row->kind == OPTION_IS_SWITCH) continue;
        bash_labels(out, command, row);
        if (is_path(row)) {
            fputs("compopt -o default 2>/dev/null; return ;;\n", out);
        } else if (row->kind == OPTION_IS_CHOICE) {
            fputs("words='", out);
            completion_print_words(out, row->argument, ' ');
            fputs("' ;;\n", out);
        } else {
            fputs("return ;;\n", out);
        }
    }
}

static void bash_flags(FILE *out, enum option_command command) {
    fprintf(out, "    '%s:')\n        if [[ $cur == -* ]]; then\n            words='",
            option_command_name(command));
    for (unsigned i = 0; i < OPTION_COUNT; i++)
        if (completion_takes(command, &option_rows[i])) fprintf(out, "--%s ", option_rows[i].name);
    fputs("'\n", out);
    const char *after = option_command_words(command);
    if (completion_is_choice(after)) {
        fputs("        else\n            words='", out);
        completion_print_words(out, after, ' ');
        fputs("'\n", out);
    } else if (takes_files(command)) {
        fputs("        else\n            compopt -o default 2>/dev/null\n            return\n", out);
    }
    fputs("        fi\n        ;;\n", out);
}

// The second words of a command ("issue show verify"); prints nothing where it has none.
static void print_second_words(FILE *out, const char *first) {
    enum option_command command;
    size_t len = strlen(first);
    for (unsigned at = 0; completion_next(&at, &command);)
        if (completion_second_word(command) != NULL &&
            strncmp(option_command_name(command), first, len) == 0 &&
            option_command_name(command)[len] == ' ')
            fprintf(out, "%s ", completion_second_word(command));
}

static bool has_second_words(const char *first) {
    enum option_command command;
    size_t len = strlen(first);
    for (unsigned at = 0; completion_next(&at, &command);)
        if (strncmp(option_command_name(command), first, len) == 0 &&
            option_command_name(command)[len] == ' ')
            return true;
    return false;
}

void completion_bash(FILE *out) {
    size_t count;
    const struct command *rows = command_table(&count);
    enum option_command command;
    fputs("# bash completion for drawbridge, printed by 'drawbridge completion bash'\n"
          "_drawbridge() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command='' words='' i\n"
          "    COMPREPLY=()\n"
          "    # --flag=value comes as three words.\n"
          "    if [[ $cur == = ]]; then\n"
          "        cur=\n"
          "    elif [[ $prev == = ]]; then\n"
          "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
          "    fi\n"
          "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
          "        case \"$command ${COMP_WORDS[i]}\" in\n",
          out);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "        ' %s') command=%s ;;\n", rows[i].name, rows[i].name);
    for (unsigned at = 0; completion_next(&at, &command);)
        if (completion_second_word(command) != NULL)
            fprintf(out, "        '%s') command='%s' ;;\n", option_command_name(command),
                    option_command_name(command));
    fputs("        esac\n    done\n    case \"$command:$prev\" in\n", out);
    for (unsigned at = 0; completion_next(&at, &command);) bash_values(out, command);
    fputs("    esac\n    [[ -z $words ]] && case \"$command:\" in\n    ':') words='", out);
    for (size_t i = 0; i < count; i++) fprintf(out, "%s ", rows[i].name);
    fputs("' ;;\n", out);
    for (size_t i = 0; i < count; i++) {
        if (!has_second_words(rows[i].name)) continue;
        fprintf(out, "    '%s:') words='", rows[i].name);
        print_second_words(out, rows[i].name);
        fputs("' ;;\n", out);
    }
    for (unsigned at = 0; completion_next(&at, &command);) bash_flags(out, command);
    fputs("    esac\n"
          "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
          "}\n"
          "complete -F _drawbridge drawbridge\n",
          out);
}

// '*--filename=[help]:FILE:_files', one for each form of the flag.
static void zsh_form(FILE *out, const struct option_row *row, const char *dashes, const char *name,
                     const char *end) {
    bool many = row->kind == OPTION_IS_LIST || row->kind == OPTION_IS_FILES;
    bool takes = row->kind != OPTION_IS_SWITCH;
    fprintf(out, " \\\n        '%s%s%s%s[", many ? "*" : "", dashes, name, takes ? end : "");
    print_quoted(out, row->help, "[]:");
    fputc(']', out);
    if (takes) {
        fputc(':', out);
        print_quoted(out, row->argument, ":[]()");
        fputc(':', out);
    }
    if (is_path(row)) fputs("_files", out);
    if (row->kind == OPTION_IS_CHOICE) {
        fputc('(', out);
        completion_print_words(out, row->argument, ' ');
        fputc(')', out);
    }
    fputc('\'', out);
}

static void zsh_arguments(FILE *out, enum option_command command) {
    fputs("        _arguments -s", out);
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = &option_rows[i];
        char letter[2] = {row->letter, '\0'};
        if (!completion_takes(command, row)) continue;
        zsh_form(out, row, "--", row->name, "=");
        if (row->letter != 0) zsh_form(out, row, "-", letter, "+");
    }
    const char *after = option_command_words(command);
    if (completion_is_choice(after)) {
        fputs(" \\\n        '1:form:(", out);
        completion_print_words(out, after, ' ');
        fputs(")'", out);
    } else if (takes_files(command)) {
        fputs(" \\\n        '*:file:_files'", out);
    }
    fputs("\n        ;;\n", out);
}

void completion_zsh(FILE *out) {
    size_t count;
    const struct command *rows = command_table(&count);
    enum option_command command;
    fputs("#compdef drawbridge\n"
          "# zsh completion for drawbridge, printed by 'drawbridge completion zsh'\n"
          "_drawbridge() {\n"
          "    local -a commands\n"
          "    local command=${words[2]}\n"
          "    commands=(\n",
          out);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "        '%s:", rows[i].name);
        print_quoted(out, rows[i].summary, ":");
        fputs("'\n", out);
    }
    fputs("    )\n"
          "    if ((CURRENT == 2)); then\n"
          "        _describe 'command' commands\n"
          "        return\n"
          "    fi\n"
          "    shift words\n"
          "    ((CURRENT--))\n",
          out);
    for (size_t i = 0; i < count; i++) {
        if (!has_second_words(rows[i].name)) continue;
        fprintf(
            out,
            "    if [[ $command == %s ]]; then\n        if ((CURRENT == 2)); then\n            compadd -- ",
            rows[i].name);
        print_second_words(out, rows[i].name);
        fputs("\n            return\n        fi\n"
              "        command=\"$command ${words[2]}\"\n"
              "        shift words\n"
              "        ((CURRENT--))\n"
              "    fi\n",
              out);
    }
    fputs("    case $command in\n", out);
    for (unsigned at = 0; completion_next(&at, &command);) {
        fprintf(out, "    '%s')\n", option_command_name(command));
        zsh_arguments(out, command);
    }
    fputs("    esac\n}\nif [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n    _drawbridge \"$@\"\nelse\n "
          "   compdef "
          "_drawbridge drawbridge\nfi\n",
          out);
}

// The test that the words before the cursor begin with this command.
static void fish_condition(FILE *out, enum option_command command) {
    fprintf(out, "complete -c drawbridge -n '__drawbridge_at %s'", option_command_name(command));
}

static void fish_flags(FILE *out, enum option_command command) {
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = &option_rows[i];
        if (!completion_takes(command, row)) continue;
        fish_condition(out, command);
        if (row->letter != 0) fprintf(out, " -s %c", row->letter);
        fprintf(out, " -l %s%s", row->name,
                row->kind == OPTION_IS_SWITCH ? ""
                : is_path(row)                ? " -r -F"
                                              : " -x");
        if (row->kind == OPTION_IS_CHOICE) {
            fputs(" -a '", out);
            completion_print_words(out, row->argument, ' ');
            fputc('\'', out);
        }
        fputs(" -d '", out);
        print_quoted(out, row->help, "\\");
        fputs("'\n", out);
    }
    const char *after = option_command_words(command);
    if (!completion_is_choice(after) && !takes_files(command)) return;
    fish_condition(out, command);
    if (completion_is_choice(after)) {
        fputs(" -a '", out);
        completion_print_words(out, after, ' ');
        fputs("'\n", out);
    } else {
        fputs(" -F\n", out);
    }
}

void completion_fish(FILE *out) {
    size_t count;
    const struct command *rows = command_table(&count);
    enum option_command command;
    fputs("# fish completion for drawbridge, printed by 'drawbridge completion fish'\n"
          "function __drawbridge_at --description 'the words before the cursor begin with these'\n"
          "    set -l tokens (commandline -opc)\n"
          "    test (count $tokens) -gt (count $argv); or return 1\n"
          "    for i in (seq (count $argv))\n"
          "        test $tokens[(math $i + 1)] = $argv[$i]; or return 1\n"
          "    end\n"
          "end\n"
          "function __drawbridge_ends --description 'the words before the cursor are exactly these'\n"
          "    test (count (commandline -opc)) -eq (math (count $argv) + 1); and __drawbridge_at $argv\n"
          "end\n"
          "complete -c drawbridge -f\n",
          out);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "complete -c drawbridge -n 'test (count (commandline -opc)) -eq 1' -a %s -d '",
                rows[i].name);
        print_quoted(out, rows[i].summary, "\\");
        fputs("'\n", out);
    }
    for (unsigned at = 0; completion_next(&at, &command);) {
        const char *second = completion_second_word(command), *name = option_command_name(command);
        if (second != NULL)
            fprintf(out, "complete -c drawbridge -n '__drawbridge_ends %.*s' -a %s\n",
                    (int)strcspn(name, " "), name, second);
        fish_flags(out, command);
    }
}
