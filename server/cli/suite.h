// SPDX-License-Identifier: Apache-2.0
// A suite of `drawbridge test` as plain structs, and the reading of it. A suite is strict: an unknown or
// repeated member, a value of a wrong type, or an object of a kind that the ledger does not follow is an
// error with its place. Owner of everything: the arena of the reading.
#ifndef DRAWBRIDGE_CLI_SUITE_H
#define DRAWBRIDGE_CLI_SUITE_H

#include "server/codec/documents.h"
#include "server/ledger/ledger.h"
#include "validators/core/json_reader.h"

struct suite_object {
    struct text json; // one JSON object, as written
    struct text path; // where it stands in the suite
    enum object_kind kind;
    enum resource_version version;
    struct text kind_name;
    struct text api_version;
    struct object_meta metadata;
};
struct suite_object_list {
    struct suite_object *items;
    size_t count;
};

struct suite_event {
    enum event_type type;
    struct suite_object object;
    struct text path;
    size_t line; // of an events file; 0 in the suite itself
};
struct suite_event_list {
    struct suite_event *items;
    size_t count;
};

struct suite_review {
    struct text operation; // CREATE, UPDATE, DELETE
    struct text subresource;
    struct text user;
    bool dry_run;
    bool scope;  // asked of /validate/scope instead of /validate
    bool mutate; // asked of /mutate instead of /validate
    struct suite_object object;
    bool old_set; // else an UPDATE is one of the object as it was seen last
    struct suite_object old;
};

// What a review is answered; members that are absent are not compared.
struct suite_want {
    struct opt_bool allowed;
    struct opt_int64 code;
    struct text_list rules;    // each is among those that spoke; an empty list: none spoke
    struct opt_text message;   // a part of the denial's message
    struct text_list warnings; // each is a part of some warning; an empty list: there is none
    struct text patch;         // raw JSON, compared as a value; "null": there is none; empty: not compared
};

enum suite_step_kind { STEP_EVENTS, STEP_EVENTS_FILE, STEP_ADVANCE, STEP_REVIEW, STEP_LEDGER };

struct suite_step {
    enum suite_step_kind kind;
    struct text path;
    struct suite_event_list events;
    struct text events_file;
    int64_t advance_ms;
    struct suite_review review;
    struct suite_want want;
    struct text ledger; // raw JSON
};
struct suite_step_list {
    struct suite_step *items;
    size_t count;
};

struct suite_case {
    struct text name;
    struct text path;
    struct text_list not_synced;      // kinds whose list has not come yet
    struct suite_object_list objects; // beside the suite's
    struct suite_step_list steps;
};
struct suite_case_list {
    struct suite_case *items;
    size_t count;
};

struct suite {
    const char *file;
    struct text name;
    int minor;
    struct text policy; // raw JSON of a LedgerPolicy's spec; empty when absent
    struct suite_object_list objects;
    struct suite_case_list cases;
};

// A place in a suite and what is wrong there.
typedef void suite_complain(void *state, struct text path, const char *what);

struct suite_reading {
    struct arena *arena;
    suite_complain *complain;
    void *state;
    size_t error_count;
};

// What it does: reads one document of kind Suite. Errors: false; every one was told to `complain`.
bool suite_read(struct suite_reading *reading, const struct document *document, struct suite *ret_suite)
    __attribute__((warn_unused_result));

// What it does: notes what an object says of itself and checks it strictly. Errors: false, told.
bool suite_object_look(struct suite_reading *reading, struct text json, struct text path,
                       struct suite_object *ret_object) __attribute__((warn_unused_result));

// "ADDED", "MODIFIED", "DELETED", "BOOKMARK". Errors: false.
bool suite_event_type(struct text text, enum event_type *ret_type) __attribute__((warn_unused_result));

#endif
