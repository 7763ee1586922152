// SPDX-License-Identifier: Apache-2.0
// Denied writes of claims that wait until the thread tells of them: copies, in a ring of fixed size. What has
// no room is counted. Thread: the caller serialises.
#ifndef DRAWBRIDGE_OPERATE_DENIED_H
#define DRAWBRIDGE_OPERATE_DENIED_H

#include <stddef.h>
#include <stdint.h>

#include "validators/core/text.h"

#define DENIED_LIMIT      128u
#define DENIED_NAME_BYTES 254u
#define DENIED_UID_BYTES  129u
#define DENIED_NOTE_BYTES 704u

// What was denied, as the review says it. Views of the caller.
struct denied_write {
    struct text namespace;
    struct text claim; // its name
    struct text claim_uid;
    struct text pod_uid; // that the claim was to be reserved for
    struct text node;    // that the allocation names; may be empty
    struct text note;    // why
};

struct denied {
    struct {
        char namespace[DENIED_NAME_BYTES], claim[DENIED_NAME_BYTES], node[DENIED_NAME_BYTES];
        char claim_uid[DENIED_UID_BYTES], pod_uid[DENIED_UID_BYTES];
        char note[DENIED_NOTE_BYTES];
    } items[DENIED_LIMIT];
    size_t first, count;
    uint64_t dropped_count;
};

// What it does: a copy at the end. Names that are too long for a name of Kubernetes are dropped too.
void denied_add(struct denied *denied, const struct denied_write *write);

// What it does: takes the oldest out. *ret_write has views of the ring until the next denied_add. False:
// there is none.
bool denied_take(struct denied *denied, struct denied_write *ret_write);

#endif
