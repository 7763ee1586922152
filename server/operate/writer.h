// SPDX-License-Identifier: Apache-2.0
// Writes to the API server that may fail: each kind has its own back-off, each write is counted, a failure is
// told once until it is another one. Nothing here ever asks for more rights. Thread: one at a time; the
// counters may be read by any.
#ifndef DRAWBRIDGE_OPERATE_WRITER_H
#define DRAWBRIDGE_OPERATE_WRITER_H

#include <jansson.h>
#include <stdatomic.h>

#include "server/feed/api.h"
#include "server/operate/write_kinds.h"

#define WRITER_TIMEOUT_MS      4000 // well below the deadline of the leader's Lease
#define WRITER_BACKOFF_MS      1000 // doubled with each failure in a row
#define WRITER_BACKOFF_MOST_MS 60000

struct writer {
    struct api api;
    struct {
        int64_t next_ms;
        unsigned failures; // in a row
        int told_code;     // of the failure that was logged last; -1: no answer
        _Atomic uint64_t succeeded_count;
        _Atomic uint64_t failed_count;
    } kinds[WRITE_KIND_COUNT];
};

// What it does: makes a writer; the configuration is taken over. Errors: FAULT_MEMORY.
bool writer_init(struct writer *writer, struct kubeconfig *config, struct fault *fault)
    __attribute__((warn_unused_result));
void writer_release(struct writer *writer);

// Whether a kind may be written now.
bool writer_is_ready(const struct writer *writer, enum write_kind kind, int64_t now_ms);

// What it does: one request. body may be NULL and is taken over. Returns the answer's code, 0 for none. A
// code of `expected` (0: none) is neither a success nor a failure; what is only read counts when it fails.
// ret_answer may be NULL.
int writer_send(struct writer *writer, enum write_kind kind, enum api_method method, const char *path,
                json_t *body, int expected, struct api_answer *ret_answer);

// As writer_send, with a body that is written already. Owner: the caller keeps it.
int writer_send_text(struct writer *writer, enum write_kind kind, enum api_method method, const char *path,
                     struct text body, int expected, struct api_answer *ret_answer);

// What it does: counts a failure that was found elsewhere, or its end.
void writer_failed(struct writer *writer, enum write_kind kind, int code, int64_t retry_after_s,
                   const char *why);
void writer_succeeded(struct writer *writer, enum write_kind kind);
// As writer_succeeded, for what was only read.
void writer_answered(struct writer *writer, enum write_kind kind);

#endif
