// SPDX-License-Identifier: Apache-2.0
// What is printed from the flag table besides help: completions for shells, the man page, the reference.
#ifndef DRAWBRIDGE_CLI_COMPLETION_H
#define DRAWBRIDGE_CLI_COMPLETION_H

#include <stdbool.h>
#include <stdio.h>

#include "server/cli/command.h"
#include "server/cli/options.h"

// What they do: print on out, for the commands of command_table.
void completion_bash(FILE *out);
void completion_zsh(FILE *out);
void completion_fish(FILE *out);
void reference_man(FILE *out);
void reference_markdown(FILE *out);

// What it does: gives the commands of the flag table that this program has, one by one: those whose first
// word is in command_table. *at starts at 0. False at the end.
bool completion_next(unsigned *at, enum option_command *ret_command);

// "issue" of "certs issue"; NULL for a command of one word.
const char *completion_second_word(enum option_command command);

// True when the command has a flag of this row.
bool completion_takes(enum option_command command, const struct option_row *row);

// True when what follows a command, or the value of a flag, is one of several words ("bash|zsh|fish").
bool completion_is_choice(const char *words);

// Prints the words of a choice with another mark between them.
void completion_print_words(FILE *out, const char *words, char mark);

#endif
