// SPDX-License-Identifier: Apache-2.0
// The audit records of `serve`: each review that was not just allowed, and what operators did, into the
// journal of --ledger-dir. Without a journal there are log lines alone, which the server writes in either
// case.
#ifndef DRAWBRIDGE_CLI_SERVE_AUDIT_H
#define DRAWBRIDGE_CLI_SERVE_AUDIT_H

#include <pthread.h>

#include "server/http/exposition.h"
#include "server/ledger/journal.h"
#include "server/operate/audit_pace.h"
#include "server/review/judge.h"

enum audit_kind { AUDIT_REVIEW, AUDIT_OPERATOR, AUDIT_GAP, AUDIT_KIND_COUNT };

struct serve_audit {
    struct journal *journal; // NULL: there is none
    struct collectors *collectors;
    pthread_mutex_t mutex; // of the pace
    struct audit_pace *pace;
    _Atomic uint64_t written[AUDIT_KIND_COUNT];
    _Atomic uint64_t over_pace;
    _Atomic uint64_t without_room;
};

// What it does: begins to keep records in a journal (NULL: none are kept). Owner: the caller,
// serve_audit_stop, also after a failure; before the journal ends. Errors: FAULT_MEMORY, FAULT_LIMIT.
bool serve_audit_start(struct serve_audit *audit, struct journal *journal, struct collectors *collectors,
                       struct fault *fault) __attribute__((warn_unused_result));

// Writes what gaps are still to be told. A zeroed one is allowed.
void serve_audit_stop(struct serve_audit *audit);

// What it does: keeps what a review came to; nothing of dry runs. Never waits. Sorts the findings. Thread:
// any.
void serve_audit_note(struct serve_audit *audit, struct judgement *judgement, struct arena *arena);

// What it does: keeps what an operator did. context: the struct. Thread: any.
void serve_audit_operator(void *context, struct text json);

// Tells of gaps that are due. Called once a second or so.
void serve_audit_tick(struct serve_audit *audit);

#endif
