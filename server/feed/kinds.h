// SPDX-License-Identifier: Apache-2.0
// The kinds that the feeds follow, one row each, and where an API server serves them.
#ifndef DRAWBRIDGE_FEED_KINDS_H
#define DRAWBRIDGE_FEED_KINDS_H

#include "validators/model/object.h"

struct feed_kind {
    enum object_kind kind;
    const char *resource;       // also the label of metrics
    const char *prefix;         // of the path: "/api/v1"
    const char *older_prefix;   // where an older server serves it; NULL: nowhere
    const char *namespace;      // only this one; "" is all
    const char *field_selector; // as in a query, escaped; "" is none
    bool namespaced;
    bool optional; // a server may not serve it
};

#define FEED_KIND_COUNT 11u

// In the order in which they are listed.
extern const struct feed_kind feed_kinds[FEED_KIND_COUNT];

// The row of a kind; NULL when it is not followed.
const struct feed_kind *feed_kind_of(enum object_kind kind);

// Its place in feed_kinds.
size_t feed_kind_index(const struct feed_kind *row);

#endif
