// SPDX-License-Identifier: Apache-2.0
// One easy handle, used again and again.
#include "server/feed/api.h"

#include <openssl/crypto.h>

#define STATUS_ARENA_BYTES ((size_t)1024 * 1024)
#define MESSAGE_BYTES      180u

bool api_init(struct api *api, struct kubeconfig *config, int64_t timeout_ms, struct fault *fault) {
    *api = (struct api){.config = *config, .timeout_ms = timeout_ms};
    *config = (struct kubeconfig){.server = NULL};
    return kube_call_init(&api->call, &api->heap, fault);
}

void api_release(struct api *api) {
    kube_call_release(&api->call);
    kubeconfig_release(&api->config);
}

static const char *content_type(enum api_method method) {
    switch (method) {
    case API_MERGE_PATCH: return "Content-Type: application/merge-patch+json";
    case API_STRATEGIC_PATCH: return "Content-Type: application/strategic-merge-patch+json";
    case API_JSON_PATCH: return "Content-Type: application/json-patch+json";
    default: return "Content-Type: application/json";
    }
}

static bool set_method(struct api *api, enum api_method method, struct text body) {
    static const char *const verbs[] = {
        [API_GET] = "GET",
        [API_POST] = "POST",
        [API_PUT] = "PUT",
        [API_MERGE_PATCH] = "PATCH",
        [API_STRATEGIC_PATCH] = "PATCH",
        [API_JSON_PATCH] = "PATCH",
        [API_DELETE] = "DELETE",
    };
    CURL *easy = api->call.easy;
    if (method == API_GET) return true;
    // A body, also an empty one, and no question whether the server would take it.
    struct curl_slist *longer = libcurl.slist_append(api->call.headers, content_type(method));
    if (longer == NULL) return false;
    api->call.headers = longer;
    longer = libcurl.slist_append(longer, "Expect:");
    if (longer == NULL) return false;
    return libcurl.easy_setopt(easy, CURLOPT_HTTPHEADER, api->call.headers) == CURLE_OK &&
           libcurl.easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len) == CURLE_OK &&
           libcurl.easy_setopt(easy, CURLOPT_POSTFIELDS, body.len == 0 ? "" : body.ptr) == CURLE_OK &&
           libcurl.easy_setopt(easy, CURLOPT_CUSTOMREQUEST, verbs[method]) == CURLE_OK;
}

bool api_request(struct api *api, enum api_method method, const char *path, struct text body,
                 struct api_answer *ret_answer, struct fault *fault) {
    struct kube_call *call = &api->call;
    struct fault ignored;
    // A file that is no good leaves the token that is known; the server has the last word.
    (void)kubeconfig_renew_token(&api->config, &ignored);
    if (!kube_call_begin(call, &api->config, path, fault)) return false;
    if (!set_method(api, method, body) ||
        libcurl.easy_setopt(call->easy, CURLOPT_TIMEOUT_MS, (long)api->timeout_ms) != CURLE_OK)
        return fault_set(fault, FAULT_MEMORY, "no memory for a request");
    CURLcode result = libcurl.easy_perform(call->easy);
    libcurl.easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &call->http_code);
    if (call->stopped) {
        *fault = call->fault;
        return false;
    }
    if (result != CURLE_OK || call->http_code == 0)
        return fault_set(fault, FAULT_UNREACHABLE, "%.120s does not answer: %.100s", api->config.server,
                         call->error[0] == '\0' ? libcurl.easy_strerror(result) : call->error);
    curl_off_t wanted_s = 0;
    libcurl.easy_getinfo(call->easy, CURLINFO_RETRY_AFTER, &wanted_s);
    *ret_answer = (struct api_answer){
        .http_code = (int)call->http_code, .body = {call->body, call->body_len}, .retry_after_s = wanted_s};
    return true;
}

void api_wipe(struct api *api) {
    if (api->call.body != NULL) OPENSSL_cleanse(api->call.body, api->call.body_cap_bytes);
    kube_call_clear(&api->call);
}

bool api_is_success(const struct api_answer *answer) {
    return answer->http_code >= 200 && answer->http_code <= 202;
}

bool api_refusal(const struct api_answer *answer, struct fault *fault) {
    struct arena arena;
    struct frame_status status = {0};
    arena_init(&arena, STATUS_ARENA_BYTES);
    frame_read_status(&arena, answer->body, &status);
    struct text message = text_printable(&arena, status.message, MESSAGE_BYTES);
    fault_set(fault, FAULT_STATE, "the API server answers %d%s%.*s", answer->http_code,
              message.len > 0 ? ": " : "", TEXT_ARG(message));
    arena_release(&arena);
    return false;
}
