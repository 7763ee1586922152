// SPDX-License-Identifier: Apache-2.0
// Events as JSON Lines, {"type", "time", "object"} a line, on their way into a ledger: recordings of watches,
// exports, scenarios.
#ifndef DRAWBRIDGE_LEDGER_REPLAY_H
#define DRAWBRIDGE_LEDGER_REPLAY_H

#include "server/ledger/ledger.h"

struct replay {
    struct ledger *ledger;
    int minor;
    struct arena arena; // one line at a time
    size_t line;        // of the last one that was read, from 1
};

void replay_init(struct replay *replay, struct ledger *ledger, int minor);
void replay_release(struct replay *replay);

// What it does: applies each line of a text. The time of a line moves the clock first. Errors: false and a
// fault that begins with the line's number; what came before it is applied.
bool replay_lines(struct replay *replay, struct text lines, struct fault *fault)
    __attribute__((warn_unused_result));

// What it does: from here on what is there is all that there is.
void replay_end(struct replay *replay);

// What it does: the newest minor that the events themselves tell, by a Node's kubelet or the form of mappings
// in slices and in the status of Pods; 0 when they tell none. Lines that cannot be read tell nothing.
int replay_minor(struct text lines);

#endif
