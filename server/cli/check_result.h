// SPDX-License-Identifier: Apache-2.0
// What `check` found out about one object, and the form in which results are printed. Results are printed as
// they come: nothing but counts is kept.
#ifndef DRAWBRIDGE_CLI_CHECK_RESULT_H
#define DRAWBRIDGE_CLI_CHECK_RESULT_H

#include <stdio.h>

#include "server/codec/documents.h"
#include "validators/core/finding.h"

#define CHECK_VALUE_BYTES 64u // values are cut here

struct check_result {
    const char *file;
    size_t document; // from 1; 0 is the file as a whole
    bool in_list;
    size_t item; // from 0
    uint32_t line, column;
    struct text api_version;
    struct text kind;
    struct text name;
    bool allowed;
    const char *skipped; // why it was not judged, or NULL
    const char *error;   // why it could not be read, or NULL
    const struct finding_list *findings;
    const struct source_place *places; // one per finding
    struct line_index *lines;          // of the file; NULL when there is no text
    struct arena *arena;               // for texts while printing
};

struct check_totals {
    size_t clean_count;
    size_t warned_count; // allowed, with warnings
    size_t denied_count;
    size_t skipped_count;
    size_t error_count;
};

// What holds for the whole run.
struct check_run {
    FILE *out;
    int minor;       // as asked for
    int minor_known; // whose rules run
    bool colour;
    bool cel_seen; // an object had a CEL expression, which is checked for its length only
    struct check_totals totals;
};

struct print_form {
    void (*begin)(struct check_run *run); // NULL: nothing to print
    // Called for one file after the other; results of one file follow each other.
    void (*result)(struct check_run *run, const struct check_result *result);
    void (*end)(struct check_run *run);
};

// The notes of a run: which of them apply is known at its end. NULL after the last one. Owner: static or
// buffer.
#define CHECK_NOTE_BYTES 160
const char *check_note(const struct check_run *run, unsigned index, char buffer[CHECK_NOTE_BYTES]);

// A value, cut at CHECK_VALUE_BYTES at a character.
struct text check_cut_value(struct text value);

#endif
