// SPDX-License-Identifier: Apache-2.0
// What was seen of each node last, and what was written about it. Thread: one at a time.
#ifndef DRAWBRIDGE_OPERATE_PICTURES_H
#define DRAWBRIDGE_OPERATE_PICTURES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct picture {
    char *name;
    json_t *status;      // a short one; NULL: not seen yet
    json_t *faulty;      // devices that nobody should get; NULL: none
    int64_t faulty_ms;   // since when it is these; monotonic
    json_t *divergences; // settled ones; NULL: none
    char since[32];      // since when it stands in this state
    bool known;          // the Node object is there
    bool dirty;          // something changed since it was written last
    bool written;        // digest and written_ms mean something
    uint64_t digest;
    int64_t written_ms; // monotonic
};

struct pictures {
    struct picture *items; // by name
    size_t count;
    size_t room;
};

// What it does: the picture of a node, made when there is none. Owner: the pictures; it may move with the
// next one that is made. Errors: NULL, memory.
struct picture *pictures_get(struct pictures *pictures, const char *name);
struct picture *pictures_find(struct pictures *pictures, const char *name);
void pictures_remove(struct pictures *pictures, struct picture *picture);
void pictures_release(struct pictures *pictures);

#endif
