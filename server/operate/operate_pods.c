// SPDX-License-Identifier: Apache-2.0
// Pods without a node: why they wait, and the end of waiting.
#include "server/operate/operate_state.h"

#include "server/log.h"
#include "server/ledger/waiting.h"

#define PODS_MS      1000
#define GATES_A_TICK 20
#define TOLD_A_TICK  20
#define PLAN_BYTES   ((size_t)64 * 1024 * 1024)
#define GATE_PATCH   "{\"spec\":{\"schedulingGates\":[{\"$patch\":\"delete\",\"name\":\"" WAITING_GATE "\"}]}}"

static void tell_held(struct operate *operate, const struct pod_verdict *pod, struct arena *arena) {
    struct text note = text_format(arena,
                                   "[ledger-stale] waits for claim %.*s (%.*s): no node is fresh for %.*s: "
                                   "%.*s, %.*s; goes on by itself "
                                   "when that ends",
                                   TEXT_ARG(pod->claim), TEXT_ARG(pod->claim_uid), TEXT_ARG(pod->drivers),
                                   TEXT_ARG(pod->state), TEXT_ARG(pod->cause));
    struct event event = {.api_version = "v1",
                          .kind = "Pod",
                          .namespace = pod->namespace,
                          .name = pod->name,
                          .uid = pod->uid,
                          .warning = true,
                          .reason = "HeldByLedger",
                          .action = pod->gated ? "Gate" : "Steer",
                          .note = note};
    operate_tell(operate, &event);
    if (pod->claim.len == 0 || pod->claim_uid.len == 0) return;
    event.api_version = "resource.k8s.io/v1";
    event.kind = "ResourceClaim";
    event.name = pod->claim;
    event.uid = pod->claim_uid;
    operate_tell(operate, &event);
}

static void remove_gate(struct operate *operate, const struct pod_verdict *pod) {
    char path[API_PATH_BYTES];
    snprintf(path, sizeof path, "/api/v1/namespaces/%.*s/pods/%.*s", TEXT_ARG(pod->namespace),
             TEXT_ARG(pod->name));
    int code = writer_send(&operate->writer, WRITE_POD, API_STRATEGIC_PATCH, path,
                           json_loads(GATE_PATCH, 0, NULL), 404, NULL);
    if (code != 200) return;
    pthread_mutex_lock(&operate->mutex);
    operate->facts.gates_removed_count++;
    pthread_mutex_unlock(&operate->mutex);
    log_info(0, "operate", "Scheduling gate removed", LOG_OBJECT("pod", pod->namespace, pod->name),
             LOG_FIELD("podUID", pod->uid));
    operate_tell(operate, &(struct event){.api_version = "v1",
                                          .kind = "Pod",
                                          .namespace = pod->namespace,
                                          .name = pod->name,
                                          .uid = pod->uid,
                                          .reason = "LetGoByLedger",
                                          .action = "Gate",
                                          .note = TEXT("the scheduling gate " WAITING_GATE " is removed")});
}

// A Pod with a gate is held by it, else by denial when it was denied lately, else by taint rules.
static void count_hold(struct operate *operate, const struct pod_verdict *pod, int64_t now_ms) {
    enum hold_step step = HOLD_GATE;
    if (!pod->gated) {
        pthread_mutex_lock(&operate->mutex);
        step = denials_has(&operate->denials, pod->uid, now_ms) ? HOLD_DENY : HOLD_TAINT;
        pthread_mutex_unlock(&operate->mutex);
    }
    holds_add(&operate->holds, pod->uid, step, now_ms);
}

static void note_holds(struct operate *operate, int64_t now_ms) {
    const struct holds *holds = &operate->holds;
    pthread_mutex_lock(&operate->mutex);
    struct operate_facts *facts = &operate->facts;
    facts->held[HOLD_GATE] = holds->held[HOLD_GATE];
    facts->held[HOLD_TAINT] = operate->policy.hold_taint ? holds->held[HOLD_TAINT] : 0;
    facts->held[HOLD_DENY] = denials_count(&operate->denials, now_ms);
    memcpy(facts->hold_buckets, holds->buckets, sizeof facts->hold_buckets);
    facts->hold_ended_count = holds->ended_count;
    facts->hold_ended_sum_s = holds->ended_sum_s;
    pthread_mutex_unlock(&operate->mutex);
}

// Goes on where the last tick ended, so that each of many held Pods has its turn.
static void tell_some(struct operate *operate, const struct pod_plan *plan, struct arena *arena) {
    size_t looked_at = 0;
    for (int left = TOLD_A_TICK; looked_at < plan->count && left > 0; looked_at++) {
        const struct pod_verdict *pod = &plan->items[(operate->told_next + looked_at) % plan->count];
        if (!pod->held) continue;
        tell_held(operate, pod, arena);
        left--;
    }
    if (plan->count > 0) operate->told_next = (operate->told_next + looked_at) % plan->count;
}

static void act(struct operate *operate, const struct pod_plan *plan, struct arena *arena) {
    int64_t now_ms = feed_now_ms();
    int gates_left = GATES_A_TICK;
    if (operate_leads(operate)) tell_some(operate, plan, arena);
    holds_begin(&operate->holds);
    for (size_t i = 0; i < plan->count; i++) {
        const struct pod_verdict *pod = &plan->items[i];
        count_hold(operate, pod, now_ms);
        if (!operate_leads(operate)) continue;
        if (pod->gated && !pod->held && !pod->awaits && operate->has_server && gates_left > 0 &&
            writer_is_ready(&operate->writer, WRITE_POD, feed_now_ms())) {
            gates_left--;
            remove_gate(operate, pod);
        }
    }
    holds_end(&operate->holds, now_ms);
    note_holds(operate, now_ms);
}

void operate_look_at_pods(struct operate *operate) {
    struct arena arena;
    struct pod_plan plan;
    int64_t now_ms = feed_now_ms();
    if (now_ms < operate->pods_next_ms) return;
    operate->pods_next_ms = now_ms + PODS_MS;
    arena_init(&arena, PLAN_BYTES);
    if (survey_pods(operate->store, &arena, &plan)) act(operate, &plan, &arena);
    arena_release(&arena);
}

static const char *text_in(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text == NULL ? "" : text;
}

void operate_tell_rejections(struct operate *operate) {
    size_t index;
    json_t *one, *list = survey_rejections(operate->store);
    json_array_foreach(list, index, one) {
        char note[EVENT_NOTE_BYTES];
        const char *other = text_in(one, "otherUID");
        snprintf(note, sizeof note, "[%s] device %s of driver %s in pool %s is not booked for claim %s%s%s",
                 text_in(one, "rule"), text_in(one, "device"), text_in(one, "driver"), text_in(one, "pool"),
                 text_in(one, "uid"), other[0] == '\0' ? "" : "; it belongs to claim ", other);
        operate_tell(operate, &(struct event){.api_version = "resource.k8s.io/v1",
                                              .kind = "ResourceClaim",
                                              .namespace = text_of(text_in(one, "namespace")),
                                              .name = text_of(text_in(one, "name")),
                                              .uid = text_of(text_in(one, "uid")),
                                              .warning = true,
                                              .reason = "ClaimRejected",
                                              .action = "Account",
                                              .note = text_of(note)});
    }
    json_decref(list);
}
