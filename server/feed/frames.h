// SPDX-License-Identifier: Apache-2.0
// The wire of a watch: bytes become lines, lines become frames. Pure: no I/O.
#ifndef DRAWBRIDGE_FEED_FRAMES_H
#define DRAWBRIDGE_FEED_FRAMES_H

#include "server/feed/kinds.h"
#include "validators/core/fault.h"
#include "validators/core/heap.h"

#define FRAMES_LINE_BYTES ((size_t)16 * 1024 * 1024) // longest frame

// The part of a line that has come so far.
struct frames {
    struct heap *heap;
    char *ptr;
    size_t len;
    size_t cap_bytes;
    size_t line_bytes; // longest line; 0: FRAMES_LINE_BYTES
};

// What it does: starts between two lines.
void frames_init(struct frames *frames, struct heap *heap, size_t line_bytes);
// Forgets what has come of a line, and its memory.
void frames_release(struct frames *frames);

// What it does: takes bytes as they come and gives each whole, not empty line, one at a time. The line is a
// view that ends with the call. Returns false as soon as `take` does, and when a line is too long
// (FAULT_LIMIT) or memory runs out; the rest of the bytes is then dropped.
bool frames_feed(struct frames *frames, struct text bytes,
                 bool (*take)(void *context, struct text line, struct fault *fault), void *context,
                 struct fault *fault) __attribute__((warn_unused_result));

// True when the stream ended in the middle of a line.
bool frames_is_cut(const struct frames *frames);

enum frame_type { FRAME_ADDED, FRAME_MODIFIED, FRAME_DELETED, FRAME_BOOKMARK, FRAME_ERROR, FRAME_UNKNOWN };

// What the API server says when something is wrong: metav1.Status.
struct frame_status {
    int64_t code;
    struct text reason;
    struct text message;
    int64_t retry_after_s; // 0: not said
    bool too_large;        // the version that was asked for is newer than what this server has
};

struct frame {
    enum frame_type type;
    struct object *object; // ADDED, MODIFIED, DELETED; BOOKMARK: its kind alone
    struct text json;      // the object as it came
    int64_t resource_version;
    bool initial_end; // a bookmark that ends the initial events
    struct frame_status status;
};

// What it does: reads one frame of a watch on a kind. Owner: views of the line and of the arena. Errors:
// FAULT_INPUT when it is no frame, or its object is no object of the kind; FAULT_MEMORY.
bool frame_read(struct arena *arena, struct text line, const struct feed_kind *row, int minor,
                struct frame *ret_frame, struct fault *fault) __attribute__((warn_unused_result));

// What it does: reads one object of a kind, with or without its own apiVersion and kind. Errors: as
// frame_read.
bool frame_read_object(struct arena *arena, struct text json, const struct feed_kind *row, int minor,
                       struct frame *ret_frame, struct fault *fault) __attribute__((warn_unused_result));

// A page of a list.
struct frame_list {
    int64_t resource_version;
    struct text next; // token of the next page; empty on the last one
};

// What it does: reads a page and gives each item as it stands, one at a time, as views of the body. Errors:
// false when `take` is, FAULT_INPUT, FAULT_MEMORY.
bool frame_read_list(struct arena *arena, struct text body,
                     bool (*take)(void *context, struct text item, struct fault *fault), void *context,
                     struct frame_list *ret_list, struct fault *fault) __attribute__((warn_unused_result));

// What it does: reads a Status, as the body of an answer or as the object of an ERROR frame. What cannot be
// read leaves the status zeroed.
void frame_read_status(struct arena *arena, struct text json, struct frame_status *ret_status);

#endif
