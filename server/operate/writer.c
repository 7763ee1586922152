// SPDX-License-Identifier: Apache-2.0
#include "server/operate/writer.h"

#include <stdlib.h>

#include "server/log.h"

const char *write_kind_name(enum write_kind kind) {
    static const char *const names[] = {
        [WRITE_LEASE] = "leases",
        [WRITE_NODE_LEDGER] = "nodeledgers",
        [WRITE_TAINT_RULE] = "devicetaintrules",
        [WRITE_EVENT] = "events",
        [WRITE_POD] = "pods",
        [WRITE_POLICY] = "ledgerpolicies",
        [WRITE_SECRET] = "secrets",
        [WRITE_VALIDATING_HOOKS] = "validatingwebhookconfigurations",
        [WRITE_MUTATING_HOOKS] = "mutatingwebhookconfigurations",
    };
    return names[kind];
}

bool writer_init(struct writer *writer, struct kubeconfig *config, struct fault *fault) {
    *writer = (struct writer){.api = {.timeout_ms = 0}};
    return api_init(&writer->api, config, WRITER_TIMEOUT_MS, fault);
}

void writer_release(struct writer *writer) {
    api_release(&writer->api);
}

bool writer_is_ready(const struct writer *writer, enum write_kind kind, int64_t now_ms) {
    return now_ms >= writer->kinds[kind].next_ms;
}

void writer_answered(struct writer *writer, enum write_kind kind) {
    if (writer->kinds[kind].failures > 0)
        log_info(0, "operate", "Written again", LOG_STRING("resource", write_kind_name(kind)));
    writer->kinds[kind].failures = 0;
    writer->kinds[kind].told_code = 0;
}

void writer_succeeded(struct writer *writer, enum write_kind kind) {
    writer_answered(writer, kind);
    atomic_fetch_add_explicit(&writer->kinds[kind].succeeded_count, 1, memory_order_relaxed);
}

void writer_failed(struct writer *writer, enum write_kind kind, int code, int64_t retry_after_s,
                   const char *why) {
    unsigned doublings = writer->kinds[kind].failures < 6 ? writer->kinds[kind].failures : 6;
    int64_t wait_ms = (int64_t)WRITER_BACKOFF_MS << doublings;
    if (wait_ms > WRITER_BACKOFF_MOST_MS) wait_ms = WRITER_BACKOFF_MOST_MS;
    if (retry_after_s > 0 && retry_after_s * 1000 > wait_ms)
        wait_ms = retry_after_s < 120 ? retry_after_s * 1000 : 120000;
    writer->kinds[kind].next_ms = feed_now_ms() + wait_ms;
    writer->kinds[kind].failures++;
    atomic_fetch_add_explicit(&writer->kinds[kind].failed_count, 1, memory_order_relaxed);
    int told = code == 0 ? -1 : code;
    if (told == writer->kinds[kind].told_code) return;
    writer->kinds[kind].told_code = told;
    log_error("operate", "Not written, will be tried again", why,
              LOG_STRING("resource", write_kind_name(kind)), LOG_NUMBER("code", code));
}

int writer_send_text(struct writer *writer, enum write_kind kind, enum api_method method, const char *path,
                     struct text body, int expected, struct api_answer *ret_answer) {
    struct api_answer answer = {.http_code = 0};
    struct fault fault = {.code = FAULT_NONE};
    if (!api_request(&writer->api, method, path, body, &answer, &fault)) {
        writer_failed(writer, kind, 0, 0, fault.text);
        return 0;
    }
    if (ret_answer != NULL) *ret_answer = answer;
    if (api_is_success(&answer)) {
        if (method != API_GET) writer_succeeded(writer, kind);
    } else if (answer.http_code != expected) {
        (void)api_refusal(&answer, &fault);
        writer_failed(writer, kind, answer.http_code, answer.retry_after_s, fault.text);
    }
    return answer.http_code;
}

int writer_send(struct writer *writer, enum write_kind kind, enum api_method method, const char *path,
                json_t *body, int expected, struct api_answer *ret_answer) {
    char *text = body == NULL ? NULL : json_dumps(body, JSON_COMPACT);
    bool lost = body != NULL && text == NULL;
    json_decref(body);
    if (lost) {
        writer_failed(writer, kind, 0, 0, "no memory for the object");
        return 0;
    }
    struct text bytes = {text, text == NULL ? 0 : strlen(text)};
    int code = writer_send_text(writer, kind, method, path, bytes, expected, ret_answer);
    free(text);
    return code;
}
