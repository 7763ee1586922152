// SPDX-License-Identifier: Apache-2.0
// From the queue to the API server, or to the log where there is none.
#include "server/operate/operate_state.h"

#include "server/log.h"

#define EVENTS_A_TICK 5

void operate_tell(struct operate *operate, const struct event *event) {
    if (operate_leads(operate))
        event_queue_add(&operate->events, event, operate->leader.identity, operate_wall_ms());
}

static const char *text_in(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text == NULL ? "" : text;
}

static void log_event(const json_t *event) {
    const json_t *about = json_object_get(event, "regarding");
    log_info(0, "operate", "Event", LOG_STRING("reason", text_in(event, "reason")),
             LOG_STRING("kind", text_in(about, "kind")),
             LOG_OBJECT("object", text_of(text_in(about, "namespace")), text_of(text_in(about, "name"))),
             LOG_STRING("note", text_in(event, "note")));
}

// Some of one queue.
static void write_some(struct operate *operate, struct event_queue *queue) {
    for (int i = 0; i < EVENTS_A_TICK; i++) {
        const json_t *event = event_queue_first(queue);
        char path[API_PATH_BYTES];
        if (event == NULL || atomic_load_explicit(&operate->stopping, memory_order_relaxed)) return;
        if (!operate->has_server) {
            log_event(event);
            event_queue_pop(queue);
            continue;
        }
        if (!writer_is_ready(&operate->writer, WRITE_EVENT, feed_now_ms())) return;
        snprintf(path, sizeof path, "/apis/events.k8s.io/v1/namespaces/%s/events",
                 text_in(json_object_get(event, "metadata"), "namespace"));
        int code = writer_send(&operate->writer, WRITE_EVENT, API_POST, path, json_deep_copy(event), 0, NULL);
        // What the server will never take is not tried again: no answer, throttling and its own errors are.
        bool again = code == 0 || code == 429 || code >= 500 || code == 401 || code == 403;
        if (again) return;
        event_queue_pop(queue);
    }
}

void operate_write_events(struct operate *operate) {
    if (operate_leads(operate)) write_some(operate, &operate->events);
    write_some(operate, &operate->denied_events);
}
