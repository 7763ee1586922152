// SPDX-License-Identifier: Apache-2.0
// What the API server is: its version before the first list, whether it became another one since, and whether
// its state was put back. In both cases everything is listed anew into an empty store.
#include "server/feed/kube_state.h"

#include "server/log.h"
#include "validators/core/json_reader.h"

#define VERSION_RETRY_MS 2000
#define VERSION_OLD_MS   30000

enum { VERSION_GIT };
static const struct json_name version_names[] = {JSON_NAME("gitVersion")};
static const struct json_fields version_fields = JSON_FIELDS(version_names);

// The version that an answer tells; empty when it cannot be read.
static struct text read_answer(const struct kube *kube, struct arena *arena) {
    struct finding_list ignored;
    struct json_reader reader;
    struct text version = {NULL, 0};
    struct fault fault;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    finding_list_init(&ignored, arena);
    json_init(&reader, (struct text){kube->version_call.body, kube->version_call.body_len}, arena, &ignored,
              JSON_WIRE);
    while (json_field(&reader, &version_fields, &seen, &field)) json_text(&reader, &version);
    return json_finish(&reader, &fault) ? version : (struct text){NULL, 0};
}

static bool begin_anew(struct kube *kube, int minor) {
    if (!kube->begin_anew(kube->context, minor)) return false;
    kube->minor = minor;
    version_watch_init(&kube->version, minor, feed_now_ms());
    return true;
}

// The first answer that can be followed.
static void take_first(struct kube *kube, struct text version, int minor, struct arena *arena) {
    if (minor != 0 && begin_anew(kube, minor)) {
        feed_set_why(kube->state, "");
        kube->version_troubled = false;
        log_info(0, "feed", "The cluster says its version", LOG_FIELD("version", version),
                 LOG_NUMBER("minor", minor), LOG_NUMBER("known", MINOR_NEWEST));
        return;
    }
    char why[FEED_WHY_BYTES];
    snprintf(why, sizeof why, "the API server's version \"%.*s\" cannot be followed",
             TEXT_ARG(text_printable(arena, version, 64)));
    feed_set_why(kube->state, why);
    kube->version_next_ms = feed_now_ms() + VERSION_OLD_MS;
}

// Told once for each minor.
static void tell_other(struct kube *kube, struct text version, int minor) {
    if (kube->told_minor == minor) return;
    kube->told_minor = minor;
    if (minor == 0 || minor == kube->minor) return;
    if (kube->fixed)
        log_error("feed", "The cluster is of another version than is judged by",
                  "--kubernetes-version names another minor; start drawbridge with that of the cluster, or "
                  "without the flag",
                  LOG_FIELD("version", version), LOG_NUMBER("minor", minor),
                  LOG_NUMBER("judgedBy", kube->minor));
    else
        log_info(0, "feed", "The cluster says another version; judged by it when it stays so",
                 LOG_FIELD("version", version), LOG_NUMBER("minor", minor),
                 LOG_NUMBER("judgedBy", kube->minor));
}

static void take_later(struct kube *kube, struct text version, int minor) {
    tell_other(kube, version, minor);
    if (!version_watch_answer(&kube->version, minor, feed_now_ms()) || kube->fixed) return;
    if (!begin_anew(kube, minor)) return;
    log_info(0, "feed", "Everything is listed anew: the cluster is of another version",
             LOG_FIELD("version", version), LOG_NUMBER("minor", minor));
    atomic_fetch_add_explicit(&kube->state->anew[FEED_ANEW_VERSION], 1, memory_order_relaxed);
    kube_forget(kube);
}

static void take_answer(struct kube *kube) {
    struct arena arena;
    arena_init(&arena, KUBE_REFUSAL_BYTES);
    struct text version = read_answer(kube, &arena);
    int minor = version.len > 0 ? kube->read_version(kube->context, version) : 0;
    if (minor != 0) atomic_store_explicit(&kube->state->server_minor, minor, memory_order_relaxed);
    if (kube->minor == 0)
        take_first(kube, version, minor, &arena);
    else
        take_later(kube, version, minor);
    arena_release(&arena);
}

void kube_version_is_done(struct kube *kube, CURLcode result) {
    struct kube_call *call = &kube->version_call;
    int64_t retry_after_s;
    enum watch_end end = kube_call_end(call, result, &retry_after_s);
    libcurl.multi_remove_handle(kube->multi, call->easy);
    call->running = false;
    kube->version_next_ms = feed_now_ms() + VERSION_RETRY_MS + retry_after_s * 1000;
    if (end == WATCH_END_EOF) {
        take_answer(kube);
    } else if (kube->minor != 0) {
        (void)version_watch_answer(&kube->version, 0, feed_now_ms());
    } else {
        feed_set_why(kube->state, call->fault.text);
        if (!kube->version_troubled)
            log_error("feed", "The API server does not say its version yet", call->fault.text);
        kube->version_troubled = true;
    }
    kube_call_clear(call);
}

static bool is_due(const struct kube *kube) {
    int64_t now_ms = feed_now_ms();
    return kube->minor == 0 ? now_ms >= kube->version_next_ms : version_watch_is_due(&kube->version, now_ms);
}

void kube_ask_version(struct kube *kube) {
    struct kube_call *call = &kube->version_call;
    struct fault fault;
    if (call->running || !is_due(kube)) return;
    kube_renew_token(kube);
    call->is_stream = false;
    call->running = kube_call_begin(call, &kube->config, "/version?timeout=10s", &fault) &&
                    libcurl.easy_setopt(call->easy, CURLOPT_TIMEOUT_MS, (long)KUBE_CONNECT_MS) == CURLE_OK &&
                    libcurl.multi_add_handle(kube->multi, call->easy) == CURLM_OK;
    if (call->running) return;
    kube->version_next_ms = feed_now_ms() + VERSION_RETRY_MS;
    (void)version_watch_answer(&kube->version, 0, feed_now_ms());
}

void kube_check_restored(struct kube *kube) {
    if (!kube->restored || kube->minor == 0 || !kube->begin_anew(kube->context, kube->minor)) return;
    kube->restored = false;
    log_error("feed", "Everything is listed anew: the cluster's state was put back",
              "what the API server reads from its store is older than what was seen before");
    atomic_fetch_add_explicit(&kube->state->anew[FEED_ANEW_RESTORED], 1, memory_order_relaxed);
    kube_forget(kube);
}
