// SPDX-License-Identifier: Apache-2.0
// Requests and benches that are used again.
#include "server/http/workspace.h"

#include <stdlib.h>
#include <sys/mman.h>

#define BODY_LEAST_BYTES  ((size_t)8 * 1024)
#define BODY_KEPT_BYTES   ((size_t)256 * 1024) // larger ones are not kept
#define BODY_MAPPED_BYTES ((size_t)256 * 1024) // larger ones are mapped
#define FREE_LIMIT        32u

static void free_body(struct request *request) {
    if (request->mapped)
        munmap(request->body, request->cap_bytes);
    else
        free(request->body);
    request->body = NULL;
    request->cap_bytes = 0;
    request->mapped = false;
}

static bool grow_body(struct request *request, size_t bytes) {
    if (bytes <= request->cap_bytes) return true;
    size_t cap_bytes = BODY_LEAST_BYTES;
    while (cap_bytes < bytes && cap_bytes < BODY_MAPPED_BYTES) cap_bytes *= 2;
    if (cap_bytes < bytes) cap_bytes = bytes;
    bool mapped = cap_bytes > BODY_MAPPED_BYTES;
    char *body = mapped ? mmap(NULL, cap_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                        : malloc(cap_bytes);
    if (body == NULL || (mapped && body == MAP_FAILED)) return false;
    free_body(request);
    request->body = body;
    request->cap_bytes = cap_bytes;
    request->mapped = mapped;
    return true;
}

bool workspace_init(struct workspace *workspace, size_t threads, size_t arena_cap_bytes,
                    size_t answer_bytes) {
    *workspace = (struct workspace){.answer_bytes = answer_bytes};
    pthread_mutex_init(&workspace->mutex, NULL);
    workspace->benches = calloc(threads, sizeof *workspace->benches);
    workspace->free_benches = calloc(threads, sizeof *workspace->free_benches);
    bool fine = workspace->benches != NULL && workspace->free_benches != NULL;
    for (size_t i = 0; fine && i < threads; i++) {
        struct bench *bench = &workspace->benches[i];
        arena_init(&bench->arena, arena_cap_bytes);
        atomic_init(&bench->busy_since_ms, 0);
        bench->answer = malloc(answer_bytes);
        workspace->free_benches[workspace->free_bench_count++] = i;
        workspace->bench_count++;
        fine = bench->answer != NULL;
    }
    if (!fine) workspace_release(workspace);
    return fine;
}

void workspace_release(struct workspace *workspace) {
    for (size_t i = 0; i < workspace->bench_count; i++) {
        arena_release(&workspace->benches[i].arena);
        free(workspace->benches[i].answer);
    }
    free(workspace->benches);
    free(workspace->free_benches);
    while (workspace->free_requests != NULL) {
        struct request *request = workspace->free_requests;
        workspace->free_requests = request->next;
        free_body(request);
        free(request);
    }
    pthread_mutex_destroy(&workspace->mutex);
    *workspace = (struct workspace){.bench_count = 0};
}

struct request *request_take(struct workspace *workspace, size_t length_bytes) {
    pthread_mutex_lock(&workspace->mutex);
    struct request *request = workspace->free_requests;
    if (request != NULL) {
        workspace->free_requests = request->next;
        workspace->free_count--;
    }
    pthread_mutex_unlock(&workspace->mutex);
    if (request == NULL) request = calloc(1, sizeof *request);
    if (request == NULL) return NULL;
    if (!grow_body(request, length_bytes > 0 ? length_bytes : 1)) {
        free_body(request);
        free(request);
        return NULL;
    }
    request->next = NULL;
    request->length_bytes = length_bytes;
    request->read_bytes = 0;
    request->answered = false;
    return request;
}

void request_give(struct workspace *workspace, struct request *request) {
    if (request->cap_bytes > BODY_KEPT_BYTES) {
        free_body(request);
        atomic_store_explicit(&workspace->large_freed, true, memory_order_relaxed);
    }
    pthread_mutex_lock(&workspace->mutex);
    bool keep = workspace->free_count < FREE_LIMIT;
    if (keep) {
        request->next = workspace->free_requests;
        workspace->free_requests = request;
        workspace->free_count++;
    }
    pthread_mutex_unlock(&workspace->mutex);
    if (keep) return;
    free_body(request);
    free(request);
}

bool request_keep_answer(struct request *request, struct text answer) {
    if (!grow_body(request, answer.len)) return false;
    memcpy(request->body, answer.ptr, answer.len);
    return true;
}

struct bench *bench_take(struct workspace *workspace, int64_t now_ms) {
    struct bench *bench = NULL;
    pthread_mutex_lock(&workspace->mutex);
    if (workspace->free_bench_count > 0)
        bench = &workspace->benches[workspace->free_benches[--workspace->free_bench_count]];
    pthread_mutex_unlock(&workspace->mutex);
    if (bench != NULL) atomic_store_explicit(&bench->busy_since_ms, now_ms, memory_order_relaxed);
    return bench;
}

void bench_give(struct workspace *workspace, struct bench *bench) {
    if (bench->arena.used_bytes > BODY_KEPT_BYTES)
        atomic_store_explicit(&workspace->large_freed, true, memory_order_relaxed);
    arena_clear(&bench->arena);
    atomic_store_explicit(&bench->busy_since_ms, 0, memory_order_relaxed);
    pthread_mutex_lock(&workspace->mutex);
    workspace->free_benches[workspace->free_bench_count++] = (size_t)(bench - workspace->benches);
    pthread_mutex_unlock(&workspace->mutex);
}

int64_t workspace_busy_ms(const struct workspace *workspace, int64_t now_ms) {
    int64_t longest_ms = 0;
    for (size_t i = 0; i < workspace->bench_count; i++) {
        int64_t since_ms = atomic_load_explicit(&workspace->benches[i].busy_since_ms, memory_order_relaxed);
        if (since_ms != 0 && now_ms - since_ms > longest_ms) longest_ms = now_ms - since_ms;
    }
    return longest_ms;
}
