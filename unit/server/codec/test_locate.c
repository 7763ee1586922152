// SPDX-License-Identifier: Apache-2.0
#include "server/codec/locate.h"

#include <criterion/criterion.h>

#include "validators/core/arena.h"

static struct arena arena;
static struct locator locator;
static const char *source;

static void start(void) {
    arena_init(&arena, 1 << 20);
}
static void stop(void) {
    arena_release(&arena);
}
TestSuite(locate, .init = start, .fini = stop);

static void use(const char *json) {
    source = json;
    locator_init(&locator, text_of(json), &arena);
}

// The value at a path must be this text; a NULL key means that the value has none.
static void expect_at(const char *path, const char *key, const char *value, bool exact) {
    struct json_spot spot = locator_find(&locator, text_of(path));
    cr_expect_eq(spot.exact, exact, "%s", path);
    struct text found = text_slice(text_of(source), spot.value, spot.value_end);
    cr_expect(text_equal(found, text_of(value)), "%s: %.*s", path, TEXT_ARG(found));
    if (key == NULL)
        cr_expect_eq(spot.key, spot.value, "%s", path);
    else
        cr_expect(strncmp(source + spot.key, key, strlen(key)) == 0, "%s", path);
}

Test(locate, walks_paths_as_upstream_prints_them) {
    use(" {\"spec\": {\"devices\": [ {\"name\":\"a\"}, {\"capacity\": {\"dra.example.com/cpu\": {\"value\": "
        "3}, \"a]b\": 4}} ] } }");
    expect_at("spec.devices[0].name", "\"name\"", "\"a\"", true);
    expect_at("spec.devices[1].capacity[dra.example.com/cpu].value", "\"value\"", "3", true);
    expect_at("spec.devices[1].capacity[a]b]", "\"a]b\"", "4", true);
    expect_at("spec.devices[0]", NULL, "{\"name\":\"a\"}", true);
    expect_at("spec.devices[2].name", "\"devices\"",
              "[ {\"name\":\"a\"}, {\"capacity\": {\"dra.example.com/cpu\": "
              "{\"value\": 3}, \"a]b\": 4}} ]",
              false);
    expect_at("spec.devices[0].bindsToNode", NULL, "{\"name\":\"a\"}", false);
    expect_at("spec.devices[0].name.more", "\"name\"", "\"a\"", false);
    expect_at("spec.devices[x]", "\"devices\"",
              "[ {\"name\":\"a\"}, {\"capacity\": {\"dra.example.com/cpu\": "
              "{\"value\": 3}, \"a]b\": 4}} ]",
              false);
    expect_at("", NULL, source + 1, true);
    expect_at("[0]", NULL, source + 1, false);
}

Test(locate, keys_with_dots_and_keys_that_begin_alike) {
    use("{\"a\":{\"b\":1,\"b.c\":2,\"bc\":3},\"d.b\":4}");
    expect_at("a.b.c", "\"b.c\"", "2", true);
    expect_at("a.bc", "\"bc\"", "3", true);
    expect_at("d.b", "\"d.b\"", "4", true);
}

Test(locate, the_last_of_equal_keys) {
    use("{\"a\":1,\"a\":2}");
    expect_at("a", "\"a\":2", "2", true);
}

Test(locate, levels_that_only_one_side_has) {
    use("{\"spec\":{\"devices\":[{\"name\":\"x\",\"basic\":{\"capacity\":{\"m\":1}}}],\"requests\":[{"
        "\"deviceClassName\":\"c\"}]}}");
    expect_at("spec.devices[0].capacity[m]", "\"m\"", "1", true);
    expect_at("spec.devices[0].basic.capacity[m]", "\"m\"", "1", true);
    expect_at("spec.requests[0].exactly.deviceClassName", "\"deviceClassName\"", "\"c\"", true);
}

Test(locate, long_arrays_are_walked_once) {
    struct text json = TEXT("{\"l\":[");
    for (int i = 0; i < 100; i++)
        json = text_format(&arena, "%.*s%s{\"n\":%d}", TEXT_ARG(json), i > 0 ? "," : "", i);
    json = text_format(&arena, "%.*s]}", TEXT_ARG(json));
    use(json.ptr);
    expect_at("l[42].n", "\"n\"", "42", true);
    expect_at("l[99].n", "\"n\"", "99", true);
    expect_at("l[7].n", "\"n\"", "7", true);
    cr_expect_eq(locator.array_count, 1);
    // Without memory nothing is found, and nothing breaks.
    use(json.ptr);
    arena.fail_after = 1;
    struct json_spot spot = locator_find(&locator, TEXT("l[42].n"));
    cr_expect_not(spot.exact);
}

Test(locate, more_long_arrays_than_are_kept) {
    struct text part = TEXT("[1,2,3,4,5,6,7,8,9]");
    struct text json = text_format(&arena, "[%.*s,%.*s,%.*s,%.*s,%.*s,%.*s,%.*s,%.*s]", TEXT_ARG(part),
                                   TEXT_ARG(part), TEXT_ARG(part), TEXT_ARG(part), TEXT_ARG(part),
                                   TEXT_ARG(part), TEXT_ARG(part), TEXT_ARG(part));
    use(json.ptr);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 8; i++) {
            char path[16];
            snprintf(path, sizeof path, "[%d][%d]", i, i);
            char value[2] = {(char)('1' + i), '\0'};
            expect_at(path, NULL, value, true);
        }
}

Test(locate, broken_text_is_no_danger) {
    static const char *const broken[] = {"",  "{",  "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\" 1}",
                                         "[", "[1", "[1,",    "{1:2}",   "{\"a\":[}"};
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        use(broken[i]);
        struct json_spot spot = locator_find(&locator, TEXT("a[0].b"));
        cr_expect_leq(spot.value_end, strlen(broken[i]), "%s", broken[i]);
        cr_expect_not(spot.exact, "%s", broken[i]);
    }
}

Test(locate, lines_and_columns) {
    struct line_index index = {.text = TEXT("ab\n\xc3\xa9x\r\n\nend")};
    static const uint32_t want[][3] = {{0, 1, 1}, {2, 1, 3}, {3, 2, 1},  {5, 2, 2},
                                       {8, 3, 1}, {9, 4, 1}, {12, 4, 4}, {99, 4, 4}};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        uint32_t line, column;
        line_index_place(&index, want[i][0], &line, &column);
        cr_expect(line == want[i][1] && column == want[i][2], "%u: %u:%u", want[i][0], line, column);
    }
    cr_expect(text_equal(line_index_line(&index, 2), TEXT("\xc3\xa9x")));
    cr_expect(text_equal(line_index_line(&index, 3), TEXT("")));
    cr_expect(text_equal(line_index_line(&index, 4), TEXT("end")));
    cr_expect_eq(line_index_line(&index, 5).len, 0);
    cr_expect_eq(line_index_line(&index, 0).len, 0);
    line_index_release(&index);
    line_index_release(NULL);
}

Test(locate, columns_of_very_long_lines_are_bytes) {
    size_t len = LINE_COUNTED_BYTES + 100;
    char *long_line = arena_alloc(&arena, len);
    memset(long_line, 'x', len);
    struct line_index index = {.text = {long_line, len}};
    uint32_t line, column;
    line_index_place(&index, len - 1, &line, &column);
    cr_expect(line == 1 && column == len);
    line_index_release(&index);
}
