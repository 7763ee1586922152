// SPDX-License-Identifier: Apache-2.0
// Cutting a stream into lines.
#include "server/feed/frames.h"

#define FIRST_BYTES ((size_t)16 * 1024)
#define KEEP_BYTES  ((size_t)256 * 1024) // what a long line took is given back

void frames_init(struct frames *frames, struct heap *heap, size_t line_bytes) {
    *frames = (struct frames){.heap = heap, .line_bytes = line_bytes == 0 ? FRAMES_LINE_BYTES : line_bytes};
}

void frames_release(struct frames *frames) {
    heap_free(frames->heap, frames->ptr, frames->cap_bytes);
    frames->ptr = NULL;
    frames->len = 0;
    frames->cap_bytes = 0;
}

static bool keep(struct frames *frames, struct text bytes, struct fault *fault) {
    if (bytes.len > frames->line_bytes - frames->len)
        return fault_set(fault, FAULT_LIMIT, "a frame of more than %zu bytes", frames->line_bytes);
    size_t wanted = frames->len + bytes.len;
    if (wanted > frames->cap_bytes) {
        size_t cap_bytes = frames->cap_bytes == 0 ? FIRST_BYTES : frames->cap_bytes * 2;
        while (cap_bytes < wanted) cap_bytes *= 2;
        char *grown = heap_resize(frames->heap, frames->ptr, frames->cap_bytes, cap_bytes);
        if (grown == NULL) return fault_set(fault, FAULT_MEMORY, "no memory for a frame");
        frames->ptr = grown;
        frames->cap_bytes = cap_bytes;
    }
    if (bytes.len > 0) memcpy(frames->ptr + frames->len, bytes.ptr, bytes.len);
    frames->len += bytes.len;
    return true;
}

static bool is_blank(struct text line) {
    for (size_t i = 0; i < line.len; i++)
        if (line.ptr[i] != ' ' && line.ptr[i] != '\r' && line.ptr[i] != '\t') return false;
    return true;
}

bool frames_feed(struct frames *frames, struct text bytes,
                 bool (*take)(void *context, struct text line, struct fault *fault), void *context,
                 struct fault *fault) {
    while (bytes.len > 0) {
        size_t end = text_find(bytes, '\n', 0);
        struct text part = text_slice(bytes, 0, end);
        if (end == bytes.len) return keep(frames, part, fault);
        bytes = text_slice(bytes, end + 1, bytes.len);
        // A line that came in one piece is read where it lies.
        struct text line = part;
        if (frames->len > 0) {
            if (!keep(frames, part, fault)) return false;
            line = (struct text){frames->ptr, frames->len};
        } else if (part.len > frames->line_bytes) {
            return keep(frames, part, fault);
        }
        bool taken = is_blank(line) || take(context, line, fault);
        frames->len = 0;
        if (frames->cap_bytes > KEEP_BYTES) frames_release(frames);
        if (!taken) return false;
    }
    return true;
}

bool frames_is_cut(const struct frames *frames) {
    return frames->len > 0;
}
