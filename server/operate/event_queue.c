// SPDX-License-Identifier: Apache-2.0
// A ring, and a small table without chains: what collides is forgotten, which at worst lets one Event more
// through.
#include "server/operate/event_queue.h"

#include <stdio.h>

#include "server/ledger/clock.h"

#define FNV_OFFSET UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME  UINT64_C(0x100000001b3)

static uint64_t hash_text(uint64_t hash, struct text text, bool digits) {
    for (size_t i = 0; i < text.len; i++)
        if (digits || text.ptr[i] < '0' || text.ptr[i] > '9')
            hash = (hash ^ (unsigned char)text.ptr[i]) * FNV_PRIME;
    return (hash ^ 0xff) * FNV_PRIME;
}

static uint64_t object_hash(const struct event *event) {
    uint64_t hash = hash_text(FNV_OFFSET, text_of(event->kind), true);
    hash = hash_text(hash, event->namespace, true);
    return hash_text(hash, event->name, true) | 1u;
}

static struct event_memory *slot(struct event_queue *queue, uint64_t object, uint64_t note) {
    struct event_memory *memory = &queue->memory[(object ^ note * FNV_PRIME) % EVENT_MEMORY_LIMIT];
    if (memory->object != object || memory->note != note)
        *memory = (struct event_memory){.object = object, .note = note};
    return memory;
}

// A burst, then one in a while: the count begins anew when the object was silent for so long.
static bool has_share(struct event_memory *memory, int64_t wall_ms) {
    if (memory->count == 0 || wall_ms - memory->last_ms >= EVENT_REPEAT_MS) {
        memory->count = memory->count < EVENT_BURST_COUNT ? 0 : EVENT_BURST_COUNT - 1;
    }
    if (memory->count >= EVENT_BURST_COUNT) return false;
    memory->count++;
    memory->last_ms = wall_ms;
    return true;
}

static bool may_pass(struct event_queue *queue, const struct event *event, int64_t wall_ms) {
    uint64_t object = object_hash(event);
    // Numbers in a note (ages, mostly) do not make it another one.
    uint64_t note = hash_text(hash_text(FNV_OFFSET, text_of(event->reason), true), event->note, false) | 1u;
    struct event_memory *same = slot(queue, object, note);
    if (same->count > 0 && wall_ms - same->last_ms < EVENT_REPEAT_MS) return false;
    if (!has_share(slot(queue, object, 0), wall_ms)) return false;
    same->count = 1;
    same->last_ms = wall_ms;
    return true;
}

static struct text cut_note(struct text note) {
    if (note.len <= EVENT_NOTE_BYTES) return note;
    size_t len = EVENT_NOTE_BYTES;
    while (len > 0 && ((unsigned char)note.ptr[len] & 0xc0) == 0x80) len--;
    return text_slice(note, 0, len);
}

static bool put(json_t *object, const char *name, struct text text) {
    return text.len == 0 || json_object_set_new(object, name, json_stringn(text.ptr, text.len)) == 0;
}

static json_t *regarding(const struct event *event) {
    json_t *object = json_pack("{s:s, s:s}", "apiVersion", event->api_version, "kind", event->kind);
    if (object != NULL && put(object, "namespace", event->namespace) && put(object, "name", event->name) &&
        put(object, "uid", event->uid))
        return object;
    json_decref(object);
    return NULL;
}

// Events of objects without a namespace live in "default". The API server makes the end of the name.
static json_t *event_object(const struct event *event, const char *instance, int64_t wall_ms) {
    char time[TIME_TEXT_BYTES], micro[TIME_TEXT_BYTES + 8], prefix[256];
    struct text namespace = event->namespace.len == 0 ? TEXT("default") : event->namespace;
    struct text note = cut_note(event->note);
    time_print(wall_ms / 1000 * 1000, time);
    if (time[0] != '\0') time[strlen(time) - 1] = '\0';
    snprintf(micro, sizeof micro, "%s.%03d000Z", time, (int)(wall_ms % 1000));
    snprintf(prefix, sizeof prefix, "%.*s-", (int)(event->name.len < 200 ? event->name.len : 200),
             event->name.ptr);
    return json_pack("{s:s, s:s, s:{s:s, s:s%}, s:s, s:s, s:s, s:s, s:s, s:s, s:s%, s:o}", "apiVersion",
                     "events.k8s.io/v1", "kind", "Event", "metadata", "generateName", prefix, "namespace",
                     namespace.ptr, namespace.len, "eventTime", micro, "reportingController",
                     "drawbridge.dev", "reportingInstance", instance, "type",
                     event->warning ? "Warning" : "Normal", "reason", event->reason, "action", event->action,
                     "note", note.ptr, note.len, "regarding", regarding(event));
}

void event_queue_add(struct event_queue *queue, const struct event *event, const char *instance,
                     int64_t wall_ms) {
    if (queue->count == EVENT_QUEUE_LIMIT) {
        queue->dropped_count++;
        return;
    }
    if (!may_pass(queue, event, wall_ms)) {
        queue->suppressed_count++;
        return;
    }
    json_t *object = event_object(event, instance, wall_ms);
    if (object == NULL) {
        queue->dropped_count++;
        return;
    }
    queue->items[(queue->first + queue->count++) % EVENT_QUEUE_LIMIT] = object;
}

const json_t *event_queue_first(const struct event_queue *queue) {
    return queue->count == 0 ? NULL : queue->items[queue->first];
}

void event_queue_pop(struct event_queue *queue) {
    if (queue->count == 0) return;
    json_decref(queue->items[queue->first]);
    queue->first = (queue->first + 1) % EVENT_QUEUE_LIMIT;
    queue->count--;
}

void event_queue_release(struct event_queue *queue) {
    while (queue->count > 0) event_queue_pop(queue);
}
