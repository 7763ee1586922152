// SPDX-License-Identifier: Apache-2.0
// One request to the API server at a time: how it is made, what has come of it. Internal to the feed.
#ifndef DRAWBRIDGE_FEED_KUBE_CALL_H
#define DRAWBRIDGE_FEED_KUBE_CALL_H

#include "server/feed/curl_library.h"
#include "server/feed/feed_state.h"
#include "server/feed/frames.h"
#include "server/feed/kubeconfig.h"

struct kube_call {
    CURL *easy; // kept from request to request
    struct curl_slist *headers;
    struct curl_slist *connect_to;
    struct heap *heap;
    char *body; // a page of a list, or a refusal
    size_t body_len;
    size_t body_cap_bytes;
    bool running;
    bool is_stream;
    long http_code;   // 0: no answer yet
    int64_t began_ms; // of the request
    int64_t heard_ms; // the last byte
    int64_t silence_ms, most_ms;
    bool stopped; // by us, for `end`
    enum watch_end end;
    struct fault fault; // why, for people
    char error[CURL_ERROR_SIZE];
    // Takes bytes of a stream that was answered with 200. False ends the request; `end` and `fault` say why.
    bool (*take)(void *context, struct text bytes);
    void *context;
};

// What it does: makes a call ready for its first request. Errors: FAULT_MEMORY, FAULT_IO without libcurl.
bool kube_call_init(struct kube_call *call, struct heap *heap, struct fault *fault)
    __attribute__((warn_unused_result));
void kube_call_release(struct kube_call *call);

// What it does: sets up a GET of config's server and path; the caller adds call->easy to its multi handle.
// Errors: FAULT_MEMORY.
bool kube_call_begin(struct kube_call *call, const struct kubeconfig *config, const char *path,
                     struct fault *fault) __attribute__((warn_unused_result));

// What it does: after curl is done with it: how it ended, and what the server asked for. For a body that came
// whole WATCH_END_EOF.
enum watch_end kube_call_end(struct kube_call *call, CURLcode result, int64_t *ret_retry_after_s);

// Gives up what has come, keeps the handle.
void kube_call_clear(struct kube_call *call);

#endif
