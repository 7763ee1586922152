// SPDX-License-Identifier: Apache-2.0
// One row of the journal.
#ifndef DRAWBRIDGE_LEDGER_JOURNAL_ROW_H
#define DRAWBRIDGE_LEDGER_JOURNAL_ROW_H

#include "validators/model/object.h"

enum journal_type {
    JOURNAL_START, // a process began with an empty ledger
    JOURNAL_ADDED,
    JOURNAL_MODIFIED,
    JOURNAL_DELETED,
    JOURNAL_SEEN, // a list had the object as it was known: its identity and nothing else
    JOURNAL_LIST_BEGIN,
    JOURNAL_LIST_END, // without a beginning: the kind is synced
    JOURNAL_LIST_CANCEL,
    JOURNAL_GAP,   // rows are missing here
    JOURNAL_STATE, // a digest of what the ledger showed, taken when no event was on its way
    JOURNAL_AUDIT, // a verdict, a denial, an operator's action
    JOURNAL_TYPE_COUNT
};

struct journal_row {
    int64_t id;
    int64_t at_ms; // wall time
    enum journal_type type;
    enum object_kind kind; // of events and lists; else KIND_OTHER
    int64_t version;       // resourceVersion of the object
    struct text namespace;
    struct text name;
    struct text uid;
    struct text json; // the object, cut down; of the other types what belongs to them
};

// As they stand in the file: "ADDED", "Pod".
const char *journal_type_name(enum journal_type type);
const char *journal_kind_name(enum object_kind kind);

// Errors: false for an unknown name.
bool journal_type_find(struct text name, enum journal_type *ret_type) __attribute__((warn_unused_result));
enum object_kind journal_kind_find(struct text name); // KIND_OTHER when there is none

// The minor that a START row tells; 0 when it tells none.
int journal_start_minor(struct text json);

static inline bool journal_is_event(enum journal_type type) {
    return type == JOURNAL_ADDED || type == JOURNAL_MODIFIED || type == JOURNAL_DELETED;
}

#endif
