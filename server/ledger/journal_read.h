// SPDX-License-Identifier: Apache-2.0
// Reading a journal, also while a server writes it: into a ledger, or as the events that an export has.
// Only the last session counts: each process begins with an empty ledger and lists everything.
#ifndef DRAWBRIDGE_LEDGER_JOURNAL_READ_H
#define DRAWBRIDGE_LEDGER_JOURNAL_READ_H

#include "server/ledger/journal_row.h"
#include "server/ledger/ledger.h"

struct journal_reading {
    uint64_t events;
    uint64_t gaps;             // of the session
    bool incomplete;           // rows are missing and no list of some kind came after
    uint64_t states;           // STATE rows that a replay came by
    uint64_t states_different; // those of them that say something else than the replay
    int64_t newest_ms;         // wall time of the newest row; 0: there is none
};

// What it does: the minor that the last session's ledger counted by. Errors: as replay.
bool journal_minor(const char *folder, int *ret_minor, struct fault *fault)
    __attribute__((warn_unused_result));

// What it does: applies the last session's rows to a new ledger, as the store did; the clock goes with the
// rows. Errors: FAULT_INPUT the chain is broken or a row cannot be read; FAULT_STATE another schema, or there
// is no journal; FAULT_IO, FAULT_MEMORY.
bool journal_replay(const char *folder, int minor, struct ledger *ledger, struct journal_reading *ret_reading,
                    struct fault *fault) __attribute__((warn_unused_result));

// Told of each live object: its kind, its name and the event {"type":"ADDED","object":…} without a line end.
// False ends the export with the fault.
typedef bool journal_sink(void *context, enum object_kind kind, struct text name, struct text line,
                          struct fault *fault);

// What it does: the objects that live at the journal's end, as events that a replay reads: by kind, each kind
// in the order in which it came to be. Errors: as replay, and what the sink says.
bool journal_export(const char *folder, journal_sink *sink, void *context,
                    struct journal_reading *ret_reading, struct fault *fault)
    __attribute__((warn_unused_result));

struct journal_visitor;

// What it does: every row and batch of the file, of all sessions that it holds, as journal_file_scan. Errors:
// as replay, and what the visitor says.
bool journal_visit(const char *folder, const struct journal_visitor *visitor, struct fault *fault)
    __attribute__((warn_unused_result));

// Told of each audit record, oldest first, of all sessions that the file holds: when it was, and the JSON.
// Where rows were lost, the JSON is {"action":"gap","rows":N}. False ends the reading with the fault.
typedef bool journal_audit_sink(void *context, int64_t at_ms, struct text json, struct fault *fault);

// What it does: the audit records since a time. Units: wall milliseconds. Errors: as replay, and what the
// sink says.
bool journal_audits(const char *folder, int64_t since_ms, journal_audit_sink *sink, void *context,
                    struct fault *fault) __attribute__((warn_unused_result));

#endif
