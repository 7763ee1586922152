// SPDX-License-Identifier: Apache-2.0
// Single requests to the API server, one after the other, for what is written there: the same connection
// settings as the feed's watches, one connection that is kept.
#ifndef DRAWBRIDGE_FEED_API_H
#define DRAWBRIDGE_FEED_API_H

#include "server/feed/kube_call.h"

#define API_PATH_BYTES   1024u
#define API_ANSWER_BYTES ((size_t)64 * 1024 * 1024)

struct api {
    struct kubeconfig config;
    struct heap heap;
    struct kube_call call;
    int64_t timeout_ms; // of one request, connecting included
};

// What it does: makes a client; nothing is sent yet. The configuration is taken over, also by a failure.
// Owner: the caller, api_release. Errors: FAULT_MEMORY. Thread: one at a time.
bool api_init(struct api *api, struct kubeconfig *config, int64_t timeout_ms, struct fault *fault)
    __attribute__((warn_unused_result));
void api_release(struct api *api);

enum api_method {
    API_GET,
    API_POST,
    API_PUT,
    API_MERGE_PATCH,
    API_STRATEGIC_PATCH,
    API_JSON_PATCH,
    API_DELETE
};

struct api_answer {
    int http_code;
    struct text body;      // until the next request
    int64_t retry_after_s; // that the server asked for, else 0
};

// What it does: one request and its whole answer, whatever its code. The path has the query; the body may be
// empty. A token file is read again first. Errors: FAULT_UNREACHABLE when there is no answer, FAULT_LIMIT,
// FAULT_MEMORY.
bool api_request(struct api *api, enum api_method method, const char *path, struct text body,
                 struct api_answer *ret_answer, struct fault *fault) __attribute__((warn_unused_result));

// What it does: wipes and gives up the last answer, which held a secret.
void api_wipe(struct api *api);

// 200, 201 and 202.
bool api_is_success(const struct api_answer *answer);

// What it does: says what an answer that is a refusal means: its code, and the message of its Status. Returns
// false.
bool api_refusal(const struct api_answer *answer, struct fault *fault);

#endif
