// SPDX-License-Identifier: Apache-2.0
// Events that wait to be written: bounded, the same one not again for a while, and no object more often than
// its share. Pure: the time is told. Thread: one at a time.
#ifndef DRAWBRIDGE_OPERATE_EVENT_QUEUE_H
#define DRAWBRIDGE_OPERATE_EVENT_QUEUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "validators/core/text.h"

#define EVENT_QUEUE_LIMIT  1000u
#define EVENT_MEMORY_LIMIT 4096u  // objects and notes that are remembered
#define EVENT_REPEAT_MS    300000 // the same note about the same object
#define EVENT_BURST_COUNT  25u    // of one object, then one in EVENT_REPEAT_MS
#define EVENT_NOTE_BYTES   1000u

// What an Event is about, and what it says. Texts are the caller's. The uid may be empty for Nodes.
struct event {
    const char *api_version; // of the object
    const char *kind;
    struct text namespace; // empty for Nodes
    struct text name;
    struct text uid;
    bool warning;
    const char *reason; // UpperCamelCase
    const char *action;
    struct text note;
};

struct event_memory {
    uint64_t object, note; // hashes; both 0: not in use
    int64_t last_ms;
    uint32_t count; // in the burst
};

struct event_queue {
    json_t *items[EVENT_QUEUE_LIMIT]; // a ring of objects ready to be sent
    size_t first, count;
    struct event_memory memory[EVENT_MEMORY_LIMIT];
    uint64_t dropped_count;    // for want of room or memory
    uint64_t suppressed_count; // repeats, and beyond an object's share
};

// What it does: takes an Event, or not. instance: who reports. Units: wall_ms since 1970.
void event_queue_add(struct event_queue *queue, const struct event *event, const char *instance,
                     int64_t wall_ms);

// What it does: the oldest one, NULL when there is none. It stays until event_queue_pop.
const json_t *event_queue_first(const struct event_queue *queue);
void event_queue_pop(struct event_queue *queue);

// Frees what waits.
void event_queue_release(struct event_queue *queue);

#endif
