// SPDX-License-Identifier: Apache-2.0
// A store whose journal is kept in a folder of the test, and objects as JSON on their way into it.
#ifndef DRAWBRIDGE_UNIT_LEDGER_RIG_H
#define DRAWBRIDGE_UNIT_LEDGER_RIG_H

#include "server/ledger/journal.h"
#include "unit/lib/temp_folder.h"

struct ledger_rig {
    struct temp_folder folder;
    int minor;
    struct store *store;
    struct journal *journal;
    struct arena arena; // of one object
};

// What they do: begin and end a session in rig->folder, as a server does. Fail the running test.
void ledger_rig_open(struct ledger_rig *rig, int minor, int64_t file_bytes);
void ledger_rig_close(struct ledger_rig *rig);

// What it does: one event. Fails the running test when the object cannot be read or memory ran out.
void ledger_rig_tell(struct ledger_rig *rig, enum event_type type, struct text json);

// The kind of an object by its apiVersion and kind.
enum object_kind ledger_rig_kind(const char *api_version, const char *kind);

#endif
