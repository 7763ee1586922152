// SPDX-License-Identifier: Apache-2.0
// Writing into a manifest what an API server would have put there. Pure.
#ifndef DRAWBRIDGE_FEED_STAMP_H
#define DRAWBRIDGE_FEED_STAMP_H

#include "validators/core/arena.h"
#include "validators/core/text.h"

struct stamp {
    struct text uid;
    struct text namespace; // empty: the kind has none
    int64_t resource_version;
};

// What it does: the object with these three members of its metadata; what it said of them before is left out,
// the rest stays byte for byte. Owner: the arena. Errors: empty when it is no object with a metadata object,
// or when memory ran out.
struct text stamp_object(struct arena *arena, struct text json, const struct stamp *stamp);

#endif
