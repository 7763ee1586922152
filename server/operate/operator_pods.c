// SPDX-License-Identifier: Apache-2.0
// Pods without a node: why they wait, and the end of waiting.
#include "server/operate/operator_state.h"

#include "server/log.h"
#include "server/ledger/waiting.h"

#define PODS_MS      1000
#define GATES_A_TICK 20
#define TOLD_A_TICK  20
#define PLAN_BYTES   ((size_t)64 * 1024 * 1024)
#define GATE_PATCH   "{\"spec\":{\"schedulingGates\":[{\"$patch\":\"delete\",\"name\":\"" WAITING_GATE "\"}]}}"

static void tell_held(struct operator* operator, const struct pod_verdict * pod, struct arena *arena) {
    struct text note = text_format(
        arena,
        "[ledger-stale] waits for claim %.*s (%.*s): %s%.*s%s%.*s: %.*s; goes on by itself when that ends",
        TEXT_ARG(pod->claim), TEXT_ARG(pod->claim_uid), pod->driver.len > 0 ? "driver " : "",
        TEXT_ARG(pod->driver), pod->driver.len > 0 ? " is " : "", TEXT_ARG(pod->state), TEXT_ARG(pod->cause));
    struct event event = {.api_version = "v1",
                          .kind = "Pod",
                          .namespace = pod->namespace,
                          .name = pod->name,
                          .uid = pod->uid,
                          .warning = true,
                          .reason = "HeldByLedger",
                          .action = pod->gated ? "Gate" : "Steer",
                          .note = note};
    operator_tell(operator, & event);
    if (pod->claim.len == 0 || pod->claim_uid.len == 0) return;
    event.api_version = "resource.k8s.io/v1";
    event.kind = "ResourceClaim";
    event.name = pod->claim;
    event.uid = pod->claim_uid;
    operator_tell(operator, & event);
}

static void remove_gate(struct operator* operator, const struct pod_verdict * pod) {
    char path[API_PATH_BYTES];
    snprintf(path, sizeof path, "/api/v1/namespaces/%.*s/pods/%.*s", TEXT_ARG(pod->namespace),
             TEXT_ARG(pod->name));
    int code = writer_send(&operator->writer, WRITE_POD, API_STRATEGIC_PATCH, path,
                           json_loads(GATE_PATCH, 0, NULL), 404, NULL);
    if (code != 200) return;
    pthread_mutex_lock(&operator->mutex);
    operator->facts.gates_removed_count++;
    pthread_mutex_unlock(&operator->mutex);
    log_info(0, "operate", "Scheduling gate removed", LOG_OBJECT("pod", pod->namespace, pod->name),
             LOG_FIELD("podUID", pod->uid));
    operator_tell(operator, &(struct event){.api_version = "v1",
                                            .kind = "Pod",
                                            .namespace = pod->namespace,
                                            .name = pod->name,
                                            .uid = pod->uid,
                                            .reason = "LetGoByLedger",
                                            .action = "Gate",
                                            .note = TEXT("the scheduling gate " WAITING_GATE " is removed")});
}

static void act(struct operator* operator, const struct pod_plan * plan, struct arena *arena) {
    size_t by_gate = 0, by_taint = 0;
    int gates_left = GATES_A_TICK, told_left = TOLD_A_TICK;
    for (size_t i = 0; i < plan->count; i++) {
        const struct pod_verdict *pod = &plan->items[i];
        by_gate += pod->gated;
        by_taint += !pod->gated && pod->held;
        if (!operator_leads(operator)) continue;
        if (pod->held && told_left-- > 0) tell_held(operator, pod, arena);
        if (pod->gated && !pod->held &&
                          operator->has_server && gates_left> 0 &&
                          writer_is_ready(&operator->writer, WRITE_POD, feed_now_ms())) {
            gates_left--;
            remove_gate(operator, pod);
        }
    }
    pthread_mutex_lock(&operator->mutex);
    operator->facts.held_by_gate = by_gate;
    operator->facts.held_by_taint = operator->policy.hold_taint ? by_taint : 0;
    pthread_mutex_unlock(&operator->mutex);
}

void operator_look_at_pods(struct operator* operator) {
    struct arena arena;
    struct pod_plan plan;
    int64_t now_ms = feed_now_ms();
    if (now_ms < operator->pods_next_ms) return;
    operator->pods_next_ms = now_ms + PODS_MS;
    arena_init(&arena, PLAN_BYTES);
    if (survey_pods(operator->store, &arena, &plan)) act(operator, & plan, &arena);
    arena_release(&arena);
}

static const char *text_in(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text == NULL ? "" : text;
}

void operator_tell_rejections(struct operator* operator) {
    size_t index;
    json_t *one, *list = survey_rejections(operator->store);
    json_array_foreach(list, index, one) {
        char note[EVENT_NOTE_BYTES];
        const char *other = text_in(one, "otherUID");
        snprintf(note, sizeof note, "[%s] device %s of driver %s in pool %s is not booked for claim %s%s%s",
                 text_in(one, "rule"), text_in(one, "device"), text_in(one, "driver"), text_in(one, "pool"),
                 text_in(one, "uid"), other[0] == '\0' ? "" : "; it belongs to claim ", other);
        operator_tell(operator, &(struct event){.api_version = "resource.k8s.io/v1",
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
