// SPDX-License-Identifier: Apache-2.0
#include "server/operate/event_queue.h"

#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#define NOW_MS INT64_C(1796083200123)

static struct event_queue *queue;

static void start(void) {
    queue = calloc(1, sizeof *queue);
    cr_assert_not_null(queue);
}
static void stop(void) {
    event_queue_release(queue);
    free(queue);
}
TestSuite(event_queue, .init = start, .fini = stop);

static void add(const char *name, const char *note, int64_t wall_ms) {
    const struct event event = {.api_version = "v1",
                                .kind = "Pod",
                                .namespace = TEXT("work"),
                                .name = text_of(name),
                                .uid = TEXT("u-1"),
                                .warning = true,
                                .reason = "HeldByLedger",
                                .action = "Gate",
                                .note = text_of(note)};
    event_queue_add(queue, &event, "me", wall_ms);
}

static const char *member(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text == NULL ? "" : text;
}

Test(event_queue, an_event_is_whole) {
    add("a", "waits", NOW_MS);
    const json_t *event = event_queue_first(queue);
    const json_t *about = json_object_get(event, "regarding");
    cr_expect_str_eq(member(event, "apiVersion"), "events.k8s.io/v1");
    cr_expect_str_eq(member(event, "eventTime"), "2026-12-01T00:00:00.123000Z");
    cr_expect_str_eq(member(event, "reportingController"), "drawbridge.dev");
    cr_expect_str_eq(member(event, "reportingInstance"), "me");
    cr_expect_str_eq(member(event, "type"), "Warning");
    cr_expect_str_eq(member(event, "note"), "waits");
    cr_expect_str_eq(member(about, "uid"), "u-1");
    cr_expect_str_eq(member(json_object_get(event, "metadata"), "namespace"), "work");
    event_queue_pop(queue);
    cr_expect_null(event_queue_first(queue));
}

Test(event_queue, the_same_note_waits_its_turn_numbers_do_not_matter) {
    add("a", "for 10 s", NOW_MS);
    add("a", "for 12 s", NOW_MS + 2000);
    cr_expect_eq(queue->count, 1u);
    add("a", "another", NOW_MS + 2000);
    add("b", "for 10 s", NOW_MS + 2000);
    cr_expect_eq(queue->count, 3u);
    add("a", "for 400 s", NOW_MS + EVENT_REPEAT_MS);
    cr_expect_eq(queue->count, 4u);
    cr_expect_eq(queue->suppressed_count, 1u);
}

Test(event_queue, an_object_has_a_share) {
    char note[] = "note a";
    for (unsigned i = 0; i < EVENT_BURST_COUNT + 5; i++) {
        note[5] = (char)('A' + i);
        add("a", note, NOW_MS + i);
    }
    cr_expect_eq(queue->count, EVENT_BURST_COUNT);
    add("b", "has its own", NOW_MS);
    cr_expect_eq(queue->count, EVENT_BURST_COUNT + 1);
    // Then one in a while.
    add("a", "later", NOW_MS + EVENT_REPEAT_MS + 100);
    add("a", "too soon", NOW_MS + EVENT_REPEAT_MS + 200);
    cr_expect_eq(queue->count, EVENT_BURST_COUNT + 2);
}

Test(event_queue, what_has_no_room_is_counted) {
    char name[16];
    for (unsigned i = 0; i < EVENT_QUEUE_LIMIT + 7; i++) {
        snprintf(name, sizeof name, "p%u", i);
        add(name, "x", NOW_MS);
    }
    cr_expect_eq(queue->count, EVENT_QUEUE_LIMIT);
    cr_expect_eq(queue->dropped_count, 7u);
    cr_expect_str_eq(member(json_object_get(event_queue_first(queue), "regarding"), "name"), "p0");
}

Test(event_queue, a_long_note_is_cut_at_a_character) {
    char note[EVENT_NOTE_BYTES + 8];
    memset(note, 'x', sizeof note);
    memcpy(note + EVENT_NOTE_BYTES - 1, "\xc3\xa4", 2);
    note[sizeof note - 1] = '\0';
    add("a", note, NOW_MS);
    cr_expect_eq(strlen(member(event_queue_first(queue), "note")), EVENT_NOTE_BYTES - 1);
}
