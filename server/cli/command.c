// SPDX-License-Identifier: Apache-2.0
// Where main leaves its table of commands for help and completion.
#include "server/cli/command.h"

// Written once by main before any command runs, then only read.
static const struct command *table_rows;
static size_t table_count;

void command_table_use(const struct command *rows, size_t count) {
    table_rows = rows;
    table_count = count;
}

const struct command *command_table(size_t *ret_count) {
    *ret_count = table_count;
    return table_rows;
}
