// SPDX-License-Identifier: Apache-2.0
// Findings as text: one form for people and tools, one for the scheduler, whose texts end in Pod events.
#ifndef DRAWBRIDGE_REGISTRY_MESSAGE_H
#define DRAWBRIDGE_REGISTRY_MESSAGE_H

#include "validators/core/finding.h"

#define MESSAGE_VALUE_LIMIT_BYTES     64u
#define MESSAGE_PATH_LIMIT_BYTES      320u
#define MESSAGE_LINE_LIMIT_BYTES      1024u
#define MESSAGE_PEOPLE_LIMIT_BYTES    4096u
#define MESSAGE_PEOPLE_LINES          10u
#define MESSAGE_SCHEDULER_LIMIT_BYTES 700u // an event's note is cut at 1,024, the server's prefix takes 200

// What it does: what is wrong and what to do, joined with "; ", fit for a message, without a full stop.
// Owner: the arena. Errors: empty, arena poisoned.
struct text message_what(struct arena *arena, const struct finding *finding);

// What it does: one finding as one line, `FIELD: REASON: "VALUE": what is wrong; what to do [ID]`, at most
// limit_bytes, cut at a character with "…". Values over 64 bytes are cut, controls escaped.
// Owner: the arena. Errors: empty, arena poisoned.
struct text message_line(struct arena *arena, const struct finding *finding, size_t limit_bytes);

// What it does: the findings of this severity for people and tools: one a line, sorted by path, the first
// ten, then "and N more"; at most 4 KB. Sorts the list. Owner: the arena. Errors: empty, arena poisoned.
struct text message_for_people(struct arena *arena, struct finding_list *findings, enum severity severity);

// What it does: the first finding of this severity (by path) for a write of the scheduler:
// `[ID] what; what ends it`, at most 700 bytes. Sorts the list. Owner: the arena. Errors: as above.
struct text message_for_scheduler(struct arena *arena, struct finding_list *findings, enum severity severity);

#endif
