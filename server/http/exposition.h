// SPDX-License-Identifier: Apache-2.0
// Prometheus' text format, and the list of those who have something to show. A module registers a collector
// at its start and writes its families when they are asked for.
//
//     static void collect(void *state, struct exposition *out) {
//         exposition_family(out, "drawbridge_cache_synced", "gauge", "Whether the first list is done.");
//         exposition_sample(out, "drawbridge_cache_synced", NULL, 0, 1);
//     }
#ifndef DRAWBRIDGE_HTTP_EXPOSITION_H
#define DRAWBRIDGE_HTTP_EXPOSITION_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "validators/core/text.h"

struct exposition {
    char *ptr;
    size_t len;
    size_t cap_bytes;
    bool failed; // out of memory, or more than EXPOSITION_LIMIT_BYTES
};

#define EXPOSITION_LIMIT_BYTES ((size_t)64 << 20)

// A label. Values must come from a bounded set: never namespaces, claims, pods, devices or users.
struct exposition_label {
    const char *name;
    struct text value;
};

// What it does: HELP and TYPE of a family; its samples follow. type: "counter", "gauge", "histogram".
void exposition_family(struct exposition *out, const char *name, const char *type, const char *help);

// What they do: one sample. Values of labels are escaped.
void exposition_sample(struct exposition *out, const char *name, const struct exposition_label *labels,
                       size_t label_count, double value);
void exposition_count(struct exposition *out, const char *name, const struct exposition_label *labels,
                      size_t label_count, uint64_t value);

// What it does: appends what another one holds: samples that were made beside it, so that families stay
// together.
void exposition_append(struct exposition *out, const struct exposition *more);

// Frees the text. Zeroed is allowed.
void exposition_release(struct exposition *out);

#define EXPOSITION_COLLECTORS_LIMIT 24

struct collectors {
    pthread_mutex_t mutex;
    struct {
        void (*collect)(void *state, struct exposition *out);
        void *state;
    } items[EXPOSITION_COLLECTORS_LIMIT];
    size_t count;
};

void collectors_init(struct collectors *collectors);
void collectors_release(struct collectors *collectors);

// What it does: adds a collector; it is called by the thread that serves /metrics, one at a time.
// Errors: false when the list is full.
bool collectors_add(struct collectors *collectors, void (*collect)(void *state, struct exposition *out),
                    void *state) __attribute__((warn_unused_result));

// What it does: forgets the collectors of a state that is about to end. It waits for a call that runs.
void collectors_remove(struct collectors *collectors, const void *state);

// What it does: asks all of them. Owner: the caller, exposition_release. Errors: ret->failed.
void collectors_collect(struct collectors *collectors, struct exposition *ret_exposition);

#endif
