// SPDX-License-Identifier: Apache-2.0
// What a request and a judging thread need, kept and used again: no memory is asked of the system for an
// ordinary review.
#ifndef DRAWBRIDGE_HTTP_WORKSPACE_H
#define DRAWBRIDGE_HTTP_WORKSPACE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "server/http/head.h"
#include "server/out.h"
#include "validators/core/arena.h"

// One request, from the first call of the handler to its end. The body's memory holds the answer afterwards.
struct request {
    struct request *next; // in the list of those that are free
    char *body;
    size_t cap_bytes;
    bool mapped;         // body is a mapping of its own
    size_t length_bytes; // what Content-Length said, charged to the account
    size_t read_bytes;   // what has come
    enum route route;
    int64_t begin_nano;
    bool answered;
};

// Where one thread judges: an arena and room for an answer.
struct bench {
    struct arena arena;
    char *answer;                  // answer_bytes
    _Atomic int64_t busy_since_ms; // 0: free
};

struct workspace {
    pthread_mutex_t mutex;
    struct request *free_requests;
    size_t free_count;
    struct bench *benches;
    size_t bench_count;
    size_t *free_benches; // a stack of indexes
    size_t free_bench_count;
    size_t answer_bytes;
    _Atomic bool large_freed; // memory worth giving back was let go
};

// What it does: benches for so many threads, each with a capped arena. Errors: false, no memory.
bool workspace_init(struct workspace *workspace, size_t threads, size_t arena_cap_bytes, size_t answer_bytes)
    __attribute__((warn_unused_result));
void workspace_release(struct workspace *workspace);

// What it does: a request with room for a body of length_bytes. Large bodies get a mapping of their own.
// Errors: NULL, no memory. Thread: any.
struct request *request_take(struct workspace *workspace, size_t length_bytes);
void request_give(struct workspace *workspace, struct request *request);

// What it does: puts an answer where the body was. Errors: false, no memory.
bool request_keep_answer(struct request *request, struct text answer) __attribute__((warn_unused_result));

// What it does: a bench of one's own. NULL when all are taken (there are as many as threads). now_ms marks it
// as busy for the watchdog.
struct bench *bench_take(struct workspace *workspace, int64_t now_ms);
void bench_give(struct workspace *workspace, struct bench *bench);

// How long the longest judging has been going on, 0 when none is.
int64_t workspace_busy_ms(const struct workspace *workspace, int64_t now_ms);

#endif
