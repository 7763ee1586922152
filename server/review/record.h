// SPDX-License-Identifier: Apache-2.0
// A judgement as the audit record of the journal: who asked for what, what was answered and why. No bodies,
// no opaque parameters, no groups or extras of the user.
#ifndef DRAWBRIDGE_REVIEW_RECORD_H
#define DRAWBRIDGE_REVIEW_RECORD_H

#include "server/review/judge.h"

#define RECORD_BYTES         ((size_t)16 * 1024) // enough when every byte of every text is escaped
#define RECORD_NAME_BYTES    253u
#define RECORD_MESSAGE_BYTES 1024u

// What it does: whether a judgement is recorded: whatever was not just allowed, and no dry run, which leaves
// nothing.
bool record_is_wanted(const struct judgement *judgement);

// What it does: the reason of a judgement, for people, one finding a line. Sorts the findings. Owner: the
// arena.
struct text record_message(struct judgement *judgement, struct arena *arena);

// What it does: the record, one JSON object; out needs RECORD_BYTES. Long texts are cut. Sorts the findings.
void record_write(struct judgement *judgement, struct arena *arena, struct out *out);

#endif
