// SPDX-License-Identifier: Apache-2.0
// Streams cut at every byte, frames of every type, pages, refusals.
#include <criterion/criterion.h>

#include "server/feed/frames.h"

struct lines {
    char text[4096];
    size_t count;
    size_t stop_after; // 0: never
};

static bool take(void *context, struct text line, struct fault *fault) {
    struct lines *lines = context;
    (void)fault;
    snprintf(lines->text + strlen(lines->text), sizeof lines->text - strlen(lines->text), "%.*s|",
             TEXT_ARG(line));
    return ++lines->count != lines->stop_after;
}

static struct text bytes_of(const char *text) {
    return text_of(text);
}

Test(frames, cut_anywhere) {
    const char stream[] = "first\nsecond line\n\r\n\nthird\nhalf";
    for (size_t cut = 0; cut <= sizeof stream - 1; cut++)
        for (size_t second = cut; second <= sizeof stream - 1; second++) {
            struct heap heap = {0};
            struct frames frames;
            struct lines lines = {.text = ""};
            struct fault fault;
            struct text all = bytes_of(stream);
            frames_init(&frames, &heap, 0);
            cr_assert(frames_feed(&frames, text_slice(all, 0, cut), take, &lines, &fault));
            cr_assert(frames_feed(&frames, text_slice(all, cut, second), take, &lines, &fault));
            cr_assert(frames_feed(&frames, text_slice(all, second, all.len), take, &lines, &fault));
            cr_assert_str_eq(lines.text, "first|second line|third|");
            cr_assert(frames_is_cut(&frames));
            frames_release(&frames);
            cr_assert_not(frames_is_cut(&frames));
            cr_assert_eq(heap.used_bytes, 0);
        }
}

Test(frames, bounds) {
    struct heap heap = {0};
    struct frames frames;
    struct lines lines = {.text = ""};
    struct fault fault;
    frames_init(&frames, &heap, 8);
    cr_expect(frames_feed(&frames, TEXT("12345678\n"), take, &lines, &fault));
    cr_expect_not(frames_feed(&frames, TEXT("123456789\n"), take, &lines, &fault));
    cr_expect_eq(fault.code, FAULT_LIMIT);
    frames_release(&frames);
    cr_expect(frames_feed(&frames, TEXT("1234"), take, &lines, &fault));
    cr_expect_not(frames_feed(&frames, TEXT("56789"), take, &lines, &fault));
    cr_expect_eq(fault.code, FAULT_LIMIT);
    frames_release(&frames);
    heap.fail_after = 1;
    cr_expect_not(frames_feed(&frames, TEXT("1"), take, &lines, &fault));
    cr_expect_eq(fault.code, FAULT_MEMORY);
    lines = (struct lines){.stop_after = 1};
    cr_expect_not(frames_feed(&frames, TEXT("a\nb\n"), take, &lines, &fault));
    cr_expect_str_eq(lines.text, "a|");
    frames_release(&frames);
    cr_expect_eq(heap.used_bytes, 0);
}

static struct arena arena;

static struct frame read_as(enum object_kind kind, const char *line) {
    struct frame frame;
    struct fault fault;
    arena_init(&arena, 1 << 20);
    cr_assert(frame_read(&arena, text_of(line), feed_kind_of(kind), MINOR_37, &frame, &fault), "%s: %s", line,
              fault.text);
    return frame;
}

static void refused_as(enum object_kind kind, const char *line, const char *words) {
    struct frame frame;
    struct fault fault = {.text = ""};
    arena_init(&arena, 1 << 20);
    cr_expect_not(frame_read(&arena, text_of(line), feed_kind_of(kind), MINOR_37, &frame, &fault),
                  "%s was taken", line);
    cr_expect_eq(fault.code, FAULT_INPUT);
    cr_expect_not_null(strstr(fault.text, words), "\"%s\" does not say \"%s\"", fault.text, words);
    arena_release(&arena);
}

Test(frames, types) {
    struct frame frame =
        read_as(KIND_NODE, "{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"Node\",\"apiVersion\":\"v1\","
                           "\"metadata\":{\"name\":\"n1\",\"uid\":\"u\",\"resourceVersion\":\"12\"}}}");
    cr_expect_eq(frame.type, FRAME_MODIFIED);
    cr_expect_eq(frame.object->kind, KIND_NODE);
    cr_expect_eq(frame.resource_version, 12);
    cr_expect(text_starts_with(frame.json, TEXT("{\"kind\":\"Node\"")));
    arena_release(&arena);
    frame = read_as(KIND_POD,
                    "{\"object\":{\"metadata\":{\"uid\":\"u\",\"name\":\"p\",\"resourceVersion\":\"3\"}},"
                    "\"type\":\"DELETED\"}");
    cr_expect_eq(frame.type, FRAME_DELETED);
    arena_release(&arena);
    frame = read_as(KIND_POD,
                    "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"metadata\":{\"resourceVersion\":"
                    "\"9\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}");
    cr_expect_eq(frame.type, FRAME_BOOKMARK);
    cr_expect(frame.initial_end);
    cr_expect_eq(frame.object->kind, KIND_POD);
    arena_release(&arena);
    frame =
        read_as(KIND_POD, "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\"}}}");
    cr_expect_not(frame.initial_end);
    arena_release(&arena);
    frame = read_as(KIND_POD,
                    "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\","
                    "\"message\":\"too old\"}}");
    cr_expect_eq(frame.type, FRAME_ERROR);
    cr_expect_eq(frame.status.code, 410);
    cr_expect(text_equal(frame.status.message, TEXT("too old")));
    arena_release(&arena);
    frame = read_as(KIND_POD, "{\"type\":\"SOMETHING\",\"object\":{}}");
    cr_expect_eq(frame.type, FRAME_UNKNOWN);
    arena_release(&arena);
}

Test(frames, refused) {
    refused_as(KIND_POD, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"p\"", "frame");
    refused_as(KIND_POD, "[]", "no type");
    refused_as(KIND_POD, "{\"type\":\"ADDED\"}", "no type or object");
    refused_as(KIND_POD,
               "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"p\",\"resourceVersion\":\"1\"}}}",
               "without name or UID");
    refused_as(KIND_POD,
               "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"p\",\"uid\":\"u\","
               "\"resourceVersion\":\"x\"}}}",
               "no number");
    refused_as(KIND_NODE,
               "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"p\",\"uid\":\"u\","
               "\"resourceVersion\":\"1\"},"
               "\"status\":{\"allocatable\":{\"cpu\":\"x\"}}}}",
               "nodes p: status.allocatable");
    refused_as(KIND_POD, "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{}}}", "no number");
}

static bool take_item(void *context, struct text item, struct fault *fault) {
    struct lines *lines = context;
    (void)fault;
    snprintf(lines->text + strlen(lines->text), sizeof lines->text - strlen(lines->text), "%.*s;",
             TEXT_ARG(item));
    return ++lines->count != lines->stop_after;
}

Test(frames, lists) {
    struct frame_list list;
    struct fault fault;
    struct lines lines = {.text = ""};
    arena_init(&arena, 1 << 20);
    cr_assert(frame_read_list(
        &arena,
        TEXT("{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"77\",\"continue\":\"abc\"},"
             "\"items\":[{\"a\":1}, {\"b\":2}]}"),
        take_item, &lines, &list, &fault));
    cr_expect_str_eq(lines.text, "{\"a\":1};{\"b\":2};");
    cr_expect_eq(list.resource_version, 77);
    cr_expect(text_equal(list.next, TEXT("abc")));
    cr_assert(frame_read_list(&arena, TEXT("{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":null}"),
                              take_item, &lines, &list, &fault));
    cr_expect_eq(list.next.len, 0);
    cr_expect_not(frame_read_list(&arena, TEXT("{\"items\":[]}"), take_item, &lines, &list, &fault));
    cr_expect_not(frame_read_list(&arena, TEXT("{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[{}"),
                                  take_item, &lines, &list, &fault));
    lines = (struct lines){.stop_after = 1};
    cr_expect_not(frame_read_list(&arena, TEXT("{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[1,2]}"),
                                  take_item, &lines, &list, &fault));
    cr_expect_eq(lines.count, 1);
    arena_release(&arena);
}

Test(frames, status) {
    struct frame_status status;
    arena_init(&arena, 1 << 20);
    frame_read_status(
        &arena,
        TEXT("{\"kind\":\"Status\",\"code\":504,\"message\":\"m\",\"details\":{\"retryAfterSeconds\":1,"
             "\"causes\":[{\"reason\":\"ResourceVersionTooLarge\",\"message\":\"x\"}]}}"),
        &status);
    cr_expect(status.too_large);
    cr_expect_eq(status.retry_after_s, 1);
    frame_read_status(&arena, TEXT("<html>"), &status);
    cr_expect_eq(status.code, 0);
    cr_expect_eq(status.message.len, 0);
    arena_release(&arena);
}
