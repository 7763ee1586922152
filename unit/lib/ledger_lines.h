// SPDX-License-Identifier: Apache-2.0
// All that a ledger says, as lines, so that two ledgers may be held against each other. Without Criterion.
#ifndef DRAWBRIDGE_UNIT_LEDGER_LINES_H
#define DRAWBRIDGE_UNIT_LEDGER_LINES_H

#include "server/ledger/report.h"
#include "unit/lib/world.h"

struct ledger_lines {
    struct arena arena;
    struct text_list lines;
    bool states;
};

// What it does: every node's account, the rows on no node, and who has each device of the world; states and
// their causes only where no clock runs, since a new ledger does not know for how long. Owner: the caller,
// ledger_lines_release.
void ledger_lines_make(const struct ledger *ledger, bool states, struct ledger_lines *ret_lines);
void ledger_lines_release(struct ledger_lines *lines);

// What it does: finds the first line that differs. False when there is none. A line that is missing is
// "(nothing)".
bool ledger_lines_differ(const struct ledger_lines *a, const struct ledger_lines *b, size_t *ret_line,
                         struct text *ret_a, struct text *ret_b);

// What it does: a ledger of a fresh list of the world and of what NodeLedgers remember of another one; the
// kinds come in a random order. Owner: the caller.
struct ledger *world_rebuild(struct world *world, const struct ledger *from);
struct ledger *world_ledger(struct world *world);
// What it does: lists one kind of the world to a ledger.
void world_list_to(const struct world *world, enum world_kind kind, struct ledger *ledger);

#endif
