// SPDX-License-Identifier: Apache-2.0
// The ledger core: watch events in, state out. Pure: no I/O, no clock, no threads; the same functions serve
// the live server, replay and tests. The time is what ledger_advance says.
//
// Objects are kept compact (only the fields used); what is derived of them (rows, totals, divergence,
// freshness) is kept per node and made anew only for nodes that an event touched, so the cost of an event
// does not depend on how many nodes there are. Thread: one at a time; the store holds the mutex.
#ifndef DRAWBRIDGE_LEDGER_LEDGER_H
#define DRAWBRIDGE_LEDGER_LEDGER_H

#include "validators/core/fault.h"
#include "validators/core/heap.h"
#include "validators/model/device_judge.h"
#include "validators/model/object.h"
#include "validators/model/view.h"

enum event_type { EVENT_ADDED, EVENT_MODIFIED, EVENT_DELETED, EVENT_BOOKMARK };

struct ledger_event {
    enum event_type type;
    const struct object *object; // any of the kinds of object.h; others change nothing
    int64_t resource_version;    // of the object; the order is per object UID
    const uint64_t *faults;      // of a slice's devices, as ledger_judge found them; NULL: none has any
    const struct quantity_map *amounts; // that its devices could take at once; NULL: nothing
    bool judged;                        // false: ledger_apply judges the slice itself
};

struct ledger_options {
    int minor;                        // 36 or 37; newer ones run as the newest known
    uint64_t seed[2];                 // of the hash tables: names come from tenants
    size_t memory_cap_bytes;          // 0: no cap
    const struct device_judge *judge; // of the devices of slices; NULL: every device is usable
};

struct ledger;

// Owner: the caller, ledger_free. Errors: NULL and a fault when memory ran out.
struct ledger *ledger_new(const struct ledger_options *options, struct fault *fault);
void ledger_free(struct ledger *ledger);

enum ledger_outcome {
    LEDGER_APPLIED,
    LEDGER_REPEATED, // the same version again: no effect, counted
    LEDGER_OLDER,    // older than the one applied, or of an object deleted before: no effect, counted
    LEDGER_IGNORED,  // a kind that the ledger does not follow
    LEDGER_FAILED,   // out of memory: nothing changed; the feed must list again
};

// What it does: applies one event. The object is only read during the call.
enum ledger_outcome ledger_apply(struct ledger *ledger, const struct ledger_event *event,
                                 struct fault *fault);

// What it does: judges the devices of a slice, and adds up what they take, before it is applied, so that the
// store need not be held meanwhile. *ret_event is the event with what was found; other events are only
// copied. Owner: the arena. Errors: false, memory.
#define LEDGER_JUDGE_BYTES ((size_t)64 * 1024 * 1024) // that the arena may take
bool ledger_judge(const struct device_judge *judge, int minor, const struct ledger_event *event,
                  struct arena *arena, struct ledger_event *ret_event) __attribute__((warn_unused_result));

// A list that replaces what is known of one kind: begin, apply each item as EVENT_ADDED, end. What was not
// among the items is deleted at the end. Until then the old state answers.
void ledger_list_begin(struct ledger *ledger, enum object_kind kind);
void ledger_list_end(struct ledger *ledger, enum object_kind kind);
// Gives a begun list up; nothing is deleted.
void ledger_list_cancel(struct ledger *ledger, enum object_kind kind);

// What it does: moves the ledger's clock. Units: milliseconds of wall time. Never goes back.
void ledger_advance(struct ledger *ledger, int64_t now_ms);

// What it does: tells whether a kind's cache is synced, and when its watch was last alive (event or
// bookmark).
void ledger_set_synced(struct ledger *ledger, enum object_kind kind, bool synced);
bool ledger_is_synced(const struct ledger *ledger, enum object_kind kind);
void ledger_watch_alive(struct ledger *ledger, enum object_kind kind, int64_t now_ms);

// How events ended, and what became of rows.
struct ledger_counts {
    uint64_t applied;
    uint64_t repeated;
    uint64_t older;
    uint64_t ignored;
    uint64_t row_repeats; // rows that were committed again with the same content
    uint64_t rejections;  // rows that were not merged
};
struct ledger_counts ledger_counts(const struct ledger *ledger);

// What it does: remembers for two seconds what a write of a claim's status adds, so that another one a moment
// later is judged by it; see provisional.h. Errors: false when there is no room: the write must be denied.
bool ledger_let_in(struct ledger *ledger, const struct resource_claim *claim, int64_t old_version,
                   struct text pod_uid, struct text node) __attribute__((warn_unused_result));

// The minor that it counts by, as the options said.
int ledger_minor(const struct ledger *ledger);

// What rules may ask.
struct view ledger_view(const struct ledger *ledger);

// The memory that the ledger holds. Units: bytes, blocks.
const struct heap *ledger_heap(const struct ledger *ledger);

// For tests: the n-th allocation from now fails; 0 is off.
void ledger_fail_after(struct ledger *ledger, size_t allocations);

#endif
