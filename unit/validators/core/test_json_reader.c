// SPDX-License-Identifier: Apache-2.0
#include "validators/core/json_reader.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

struct item {
    struct text key;
    int64_t number;
};
struct item_list {
    struct item *items;
    size_t count;
};
struct sample {
    struct text name;
    bool flag;
    int64_t number;
    int32_t small;
    struct quantity amount;
    struct item_list list;
    struct item_list map;
    struct text raw;
    struct text later;
};

enum { NAME, FLAG, NUMBER, SMALL, AMOUNT, LIST, MAP, RAW, LATER, OLDER };
static const struct json_name sample_names[] = {
    [NAME] = JSON_NAME("name"),
    [FLAG] = JSON_NAME("flag"),
    [NUMBER] = JSON_NAME("number"),
    [SMALL] = JSON_NAME("small"),
    [AMOUNT] = JSON_NAME("amount"),
    [LIST] = JSON_NAME("list"),
    [MAP] = JSON_NAME("map"),
    [RAW] = JSON_NAME("raw"),
    [LATER] = JSON_NAME_WHEN("later", 0x02),
    [OLDER] = JSON_NAME_WHEN("older", 0x21),
};
static const struct json_fields SAMPLE = JSON_FIELDS(sample_names);
static const struct json_name item_names[] = {JSON_NAME("number")};
static const struct json_fields ITEM = JSON_FIELDS(item_names);

static void read_item(struct json_reader *reader, struct item *item) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &ITEM, &seen, &field)) json_int64(reader, &item->number);
}

static void read_list(struct json_reader *reader, struct item_list *list) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct item *item = JSON_APPEND(reader, list);
        if (item == NULL) return;
        read_item(reader, item);
    }
}

static void read_map(struct json_reader *reader, struct item_list *list) {
    struct json_iterator iterator = {0};
    struct text key;
    while (json_member(reader, &iterator, &key)) {
        struct item *item = JSON_APPEND(reader, list);
        if (item == NULL) return;
        item->key = key;
        read_item(reader, item);
    }
}

static uint64_t read_sample(struct json_reader *reader, struct sample *sample) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &SAMPLE, &seen, &field)) switch (field) {
        case NAME: json_text(reader, &sample->name); break;
        case FLAG: json_bool(reader, &sample->flag); break;
        case NUMBER: json_int64(reader, &sample->number); break;
        case SMALL: json_int32(reader, &sample->small); break;
        case AMOUNT: json_quantity(reader, &sample->amount); break;
        case LIST: read_list(reader, &sample->list); break;
        case MAP: read_map(reader, &sample->map); break;
        case RAW: json_raw(reader, &sample->raw); break;
        case LATER:
        case OLDER: json_text(reader, &sample->later); break;
        }
    return seen;
}

// Everything that one reading needs.
struct bench {
    struct arena arena;
    struct finding_list findings;
    struct json_reader reader;
    struct fault fault;
    struct sample sample;
    uint64_t seen;
    bool fine;
};

static struct bench bench;

static void start(struct text input, enum json_mode mode) {
    arena_release(&bench.arena);
    bench = (struct bench){0};
    arena_init(&bench.arena, (size_t)64 << 20);
    finding_list_init(&bench.findings, &bench.arena);
    json_init(&bench.reader, input, &bench.arena, &bench.findings, mode);
}

static bool read_text(struct text input, enum json_mode mode) {
    start(input, mode);
    bench.seen = read_sample(&bench.reader, &bench.sample);
    bench.fine = json_finish(&bench.reader, &bench.fault);
    return bench.fine;
}

static bool read(const char *input, enum json_mode mode) {
    return read_text(text_of(input), mode);
}

static void stop(void) {
    arena_release(&bench.arena);
}

static void expect_text(struct text got, const char *want, size_t len) {
    cr_expect(text_equal(got, (struct text){want, len}), "got \"%.*s\"", TEXT_ARG(got));
}
#define EXPECT_TEXT(got, literal) expect_text((got), (literal), sizeof(literal) - 1)

// The finding with this index is of this type, at this path, with this detail.
static void expect_finding(size_t at, enum finding_type type, const char *path, const char *detail) {
    cr_assert_lt(at, bench.findings.count, "%s", path);
    const struct finding *finding = &bench.findings.items[at];
    cr_expect_eq(finding->type, type, "%s", path);
    cr_expect(text_equal(finding->path, text_of(path)), "%.*s", TEXT_ARG(finding->path));
    cr_expect(text_equal(finding->detail, text_of(detail)), "%.*s", TEXT_ARG(finding->detail));
}

TestSuite(json_reader, .fini = stop);

Test(json_reader, reads_each_type) {
    const char *input = " { \"name\" : \"n\" ,\t\"flag\":true,\"number\":-9223372036854775808,\r\n"
                        "\"small\":2147483647,\"amount\":\"1Gi\",\"list\":[{\"number\":1},{},null],"
                        "\"map\":{\"a\":{\"number\":2},\"b\":null},\"raw\":[1,{\"x\":null}]} ";
    cr_assert(read(input, JSON_STRICT), "%s", bench.fault.text);
    EXPECT_TEXT(bench.sample.name, "n");
    cr_expect(bench.sample.name.ptr > input && bench.sample.name.ptr < input + strlen(input),
              "a text without escapes is a view of the input");
    cr_expect(bench.sample.flag);
    cr_expect_eq(bench.sample.number, INT64_MIN);
    cr_expect_eq(bench.sample.small, INT32_MAX);
    cr_expect_eq(bench.sample.amount.unscaled, (__int128)1 << 30);
    cr_expect_eq(bench.sample.list.count, 3);
    cr_expect_eq(bench.sample.list.items[0].number, 1);
    cr_expect_eq(bench.sample.map.count, 2);
    EXPECT_TEXT(bench.sample.map.items[1].key, "b");
    EXPECT_TEXT(bench.sample.raw, "[1,{\"x\":null}]");
    cr_expect_eq(bench.findings.count, 0);
    cr_expect(JSON_SEEN(bench.seen, AMOUNT));
    cr_expect(!JSON_SEEN(bench.seen, LATER));
}

Test(json_reader, null_is_absent) {
    cr_assert(
        read("{\"name\":null,\"flag\":null,\"number\":null,\"small\":null,\"amount\":null,\"list\":null,"
             "\"map\":null,\"raw\":null}",
             JSON_STRICT));
    cr_expect_eq(bench.findings.count, 0);
    cr_expect_eq(bench.sample.name.len, 0);
    cr_expect(!bench.sample.amount.set);
    cr_expect(JSON_SEEN(bench.seen, AMOUNT), "that it was there still shows");
    EXPECT_TEXT(bench.sample.raw, "null");
    cr_expect(read("null", JSON_STRICT));
}

Test(json_reader, fields_come_in_any_order) {
    static const char *const values[] = {"\"name\":\"n\"", "\"flag\":true", "\"number\":7", "\"small\":8",
                                         "\"raw\":9"};
    for (unsigned first = 0; first < 5; first++)
        for (unsigned step = 1; step < 5; step++) {
            char input[256];
            int len = snprintf(input, sizeof input, "{");
            for (unsigned i = 0; i < 5; i++)
                len += snprintf(input + len, sizeof input - (size_t)len, "%s%s", i == 0 ? "" : ",",
                                values[(first + i * step) % 5]);
            snprintf(input + len, sizeof input - (size_t)len, "}");
            cr_assert(read(input, JSON_STRICT), "%s", input);
            cr_expect_eq(bench.findings.count, 0);
            cr_expect_eq(bench.sample.number, 7);
            cr_expect_eq(bench.sample.small, 8);
            EXPECT_TEXT(bench.sample.raw, "9");
        }
}

Test(json_reader, undoes_escapes_as_go_does) {
    static const struct {
        const char *written;
        struct text want;
    } cases[] = {
        {"\\\"\\\\\\/\\b\\f\\n\\r\\t", TEXT_INIT("\"\\/\b\f\n\r\t")},
        {"a\\u0000b", TEXT_INIT("a\0b")},
        {"\\u0041\\u00e9\\u20AC", TEXT_INIT("A\xC3\xA9\xE2\x82\xAC")},
        {"\\ud83d\\ude00", TEXT_INIT("\xF0\x9F\x98\x80")},
        {"\\ud83d", TEXT_INIT("\xEF\xBF\xBD")},
        {"\\ude00x", TEXT_INIT("\xEF\xBF\xBDx")},
        {"\\ud83d\\ud83d\\ude00", TEXT_INIT("\xEF\xBF\xBD\xF0\x9F\x98\x80")},
        {"\\ud83d\\u0041", TEXT_INIT("\xEF\xBF\xBD"
                                     "A")},
        {"\\ud83d\\ue000", TEXT_INIT("\xEF\xBF\xBD\xEE\x80\x80")},
        {"\\ud83d\\n", TEXT_INIT("\xEF\xBF\xBD\n")},
        {"\xFF\xC3(\xE2\x82", TEXT_INIT("\xEF\xBF\xBD\xEF\xBF\xBD(\xEF\xBF\xBD\xEF\xBF\xBD")},
        {"\xED\xA0\x80", TEXT_INIT("\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD")},
        {"caf\xC3\xA9\x7F", TEXT_INIT("caf\xC3\xA9\x7F")},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char input[128];
        snprintf(input, sizeof input, "{\"name\":\"%s\"}", cases[i].written);
        cr_assert(read(input, JSON_STRICT), "%s: %s", input, bench.fault.text);
        cr_expect(text_equal(bench.sample.name, cases[i].want), "%s gave %.*s", input,
                  TEXT_ARG(bench.sample.name));
        snprintf(input, sizeof input, "{\"map\":{\"%s\":{}}}", cases[i].written);
        cr_assert(read(input, JSON_STRICT), "%s", input);
        cr_expect(text_equal(bench.sample.map.items[0].key, cases[i].want), "as a key: %s", input);
    }
}

Test(json_reader, finds_what_stops_a_string_at_every_place) {
    char input[128];
    for (size_t len = 0; len < 70; len++)
        for (size_t at = 0; at < len; at++) {
            memset(input, 'x', sizeof input);
            memcpy(input, "{\"name\":\"", 9);
            memcpy(input + 9 + len, "\"}", 2);
            input[9 + at] = '\x01';
            cr_expect(!read_text((struct text){input, len + 11}, JSON_WIRE));
            cr_expect_eq(bench.reader.error, JSON_SYNTAX);
            cr_expect_eq(bench.reader.error_offset, 9 + at);
            input[9 + at] = '\xFE';
            cr_assert(read_text((struct text){input, len + 11}, JSON_WIRE));
            cr_expect_eq(bench.sample.name.len, len + 2);
        }
}

Test(json_reader, keys_are_unescaped_before_they_are_compared) {
    cr_assert(read("{\"n\\u0061me\":\"x\",\"Flag\":true}", JSON_STRICT));
    EXPECT_TEXT(bench.sample.name, "x");
    cr_expect(!bench.sample.flag, "case counts");
    cr_expect_eq(bench.findings.count, 1);
    expect_finding(0, FINDING_STRICT_DECODING, "Flag", "unknown field");
    cr_expect(!read("{\"name\":\"x\",\"n\\u0061me\":\"y\"}", JSON_WIRE));
    cr_expect_eq(bench.reader.error, JSON_DUPLICATE_KEY);
    cr_expect(!read("{\"map\":{\"a\":{},\"\\u0061\":{}}}", JSON_WIRE));
    cr_expect_eq(bench.reader.error, JSON_DUPLICATE_KEY);
    cr_expect(!read("{\"map\":{\"\xFF\":{},\"\xFE\":{}}}", JSON_WIRE), "both are U+FFFD");
}

Test(json_reader, refuses_what_is_no_json) {
    static const struct {
        const char *input;
        enum json_error error;
        size_t offset;
    } cases[] = {
        {"", JSON_TRUNCATED, 0},
        {" ", JSON_TRUNCATED, 1},
        {"x", JSON_SYNTAX, 0},
        {"\xEF\xBB\xBF{}", JSON_SYNTAX, 0},
        {"{", JSON_TRUNCATED, 1},
        {"{}}", JSON_SYNTAX, 2},
        {"{}x", JSON_SYNTAX, 2},
        {"{} {}", JSON_SYNTAX, 3},
        {"{,}", JSON_SYNTAX, 1},
        {"{\"name\"}", JSON_SYNTAX, 7},
        {"{\"name\":}", JSON_SYNTAX, 8},
        {"{\"name\":\"a\",}", JSON_SYNTAX, 12},
        {"{\"name\":\"a\" \"flag\":true}", JSON_SYNTAX, 12},
        {"{name:\"a\"}", JSON_SYNTAX, 1},
        {"{'name':\"a\"}", JSON_SYNTAX, 1},
        {"{\"name\":\"a\n\"}", JSON_SYNTAX, 10},
        {"{\"name\":\"\\x\"}", JSON_SYNTAX, 10},
        {"{\"name\":\"\\'\"}", JSON_SYNTAX, 10},
        {"{\"name\":\"\\u12g4\"}", JSON_SYNTAX, 13},
        {"{\"name\":\"\\u12", JSON_TRUNCATED, 13},
        {"{\"number\":01}", JSON_SYNTAX, 11},
        {"{\"number\":+1}", JSON_SYNTAX, 10},
        {"{\"number\":-}", JSON_SYNTAX, 11},
        {"{\"number\":.5}", JSON_SYNTAX, 10},
        {"{\"number\":5.}", JSON_SYNTAX, 12},
        {"{\"number\":5e}", JSON_SYNTAX, 12},
        {"{\"number\":NaN}", JSON_SYNTAX, 10},
        {"{\"number\":1 2}", JSON_SYNTAX, 12},
        {"{\"flag\":tru}", JSON_SYNTAX, 11},
        {"{\"flag\":trueish}", JSON_SYNTAX, 12},
        {"{\"flag\":nul", JSON_TRUNCATED, 11},
        {"{\"list\":[{}", JSON_TRUNCATED, 11},
        {"{\"list\":[{},]}", JSON_SYNTAX, 12},
        {"{\"list\":[{}}", JSON_SYNTAX, 11},
        {"{\"raw\":[1,2}}", JSON_SYNTAX, 11},
        {"{\"raw\":{\"a\"}}", JSON_SYNTAX, 11},
        {"{\"raw\":{\"a\":1]}", JSON_SYNTAX, 13},
        {"{\"raw\":{1:1}}", JSON_SYNTAX, 8},
        {"{\"raw\":[1,]}", JSON_SYNTAX, 10},
        {"{\"raw\":[/**/]}", JSON_SYNTAX, 8},
        {"{\"unknown\":[}", JSON_SYNTAX, 12},
        {"[}", JSON_SYNTAX, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_expect(!read(cases[i].input, JSON_STRICT), "%s", cases[i].input);
        cr_expect_eq(bench.reader.error, cases[i].error, "%s", cases[i].input);
        cr_expect_eq(bench.reader.error_offset, cases[i].offset, "%s: %zu", cases[i].input,
                     bench.reader.error_offset);
        cr_expect_eq(bench.fault.code, FAULT_INPUT);
    }
}

Test(json_reader, a_nul_byte_is_no_blank) {
    cr_expect(!read_text(TEXT("{}\0"), JSON_WIRE));
    cr_expect(!read_text(TEXT("\0{}"), JSON_WIRE));
    cr_expect(!read_text(TEXT("{\"name\"\0:\"a\"}"), JSON_WIRE));
}

Test(json_reader, integers_are_whole_and_within_the_type) {
    static const struct {
        const char *value;
        bool fine;
        int64_t want;
    } cases[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"123456789012345678", true, 123456789012345678},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"99999999999999999999999", false, 0},
        {"1.0", false, 0},
        {"1.5", false, 0},
        {"1e3", false, 0},
        {"1E2", false, 0},
        {"\"5\"", false, 0},
        {"true", false, 0},
        {"[]", false, 0},
        {"{}", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char input[64];
        snprintf(input, sizeof input, "{\"number\":%s,\"flag\":true}", cases[i].value);
        cr_assert(read(input, JSON_WIRE), "%s", input);
        cr_expect_eq(bench.sample.number, cases[i].want, "%s", input);
        cr_expect_eq(bench.findings.count, cases[i].fine ? 0 : 1, "%s", input);
        cr_expect(bench.sample.flag, "reading goes on behind it");
    }
    cr_assert(read("{\"small\":2147483648}", JSON_WIRE));
    expect_finding(0, FINDING_DECODING, "small",
                   "cannot unmarshal number 2147483648 into a field of type int32");
}

Test(json_reader, wrong_types_are_findings_and_reading_goes_on) {
    cr_assert(read("{\"name\":1.5,\"flag\":\"true\",\"number\":\"7\",\"list\":{\"a\":1},\"map\":[1],"
                   "\"amount\":true,\"raw\":1}",
                   JSON_WIRE));
    cr_assert_eq(bench.findings.count, 6);
    expect_finding(0, FINDING_DECODING, "name", "cannot unmarshal number 1.5 into a field of type string");
    expect_finding(1, FINDING_DECODING, "flag", "cannot unmarshal string into a field of type bool");
    expect_finding(2, FINDING_DECODING, "number", "cannot unmarshal string into a field of type int64");
    EXPECT_TEXT(bench.findings.items[2].value, "7");
    expect_finding(3, FINDING_DECODING, "list", "cannot unmarshal object into a field of type list");
    expect_finding(4, FINDING_DECODING, "map", "cannot unmarshal array into a field of type map");
    cr_expect_eq(bench.findings.items[5].type, FINDING_DECODING);
    EXPECT_TEXT(bench.sample.raw, "1");
    cr_assert(read(
        "{\"list\":[{\"number\":1},5,{\"number\":\"x\"}],\"map\":{\"a.b/c\":{\"number\":[]},\"d\":\"e\"}}",
        JSON_WIRE));
    expect_finding(0, FINDING_DECODING, "list[1]", "cannot unmarshal number 5 into a field of type object");
    expect_finding(1, FINDING_DECODING, "list[2].number",
                   "cannot unmarshal string into a field of type int64");
    expect_finding(2, FINDING_DECODING, "map[a.b/c].number",
                   "cannot unmarshal array into a field of type int64");
    expect_finding(3, FINDING_DECODING, "map[d]", "cannot unmarshal string into a field of type object");
    cr_assert(read("[1,2]", JSON_WIRE));
    expect_finding(0, FINDING_DECODING, "", "cannot unmarshal array into a field of type object");
}

Test(json_reader, thousands_of_wrong_values_do_not_fill_the_arena) {
    size_t count = 200000;
    char *input = malloc(count * 2 + 32);
    size_t len = (size_t)snprintf(input, 16, "{\"list\":[1");
    for (size_t i = 1; i < count; i++) {
        memcpy(input + len, ",1", 2);
        len += 2;
    }
    memcpy(input + len, "]}", 2);
    cr_assert(read_text((struct text){input, len + 2}, JSON_STRICT), "%s", bench.fault.text);
    cr_expect_eq(bench.findings.count, FINDING_LIST_LIMIT);
    cr_expect_eq(bench.findings.dropped_count, count - FINDING_LIST_LIMIT);
    cr_expect_lt(bench.arena.used_bytes, (size_t)32 << 20);
    free(input);
}

Test(json_reader, unknown_fields_are_counted_and_in_strict_mode_noted) {
    const char *input =
        "{\"name\":\"n\",\"x\":{\"deep\":[1]},\"list\":[{\"y\":1}],\"map\":{\"k.a\":{\"z\":2}},"
        "\"x\":2,\"\":3}";
    cr_assert(read(input, JSON_WIRE));
    cr_expect_eq(bench.findings.count, 0);
    cr_expect_eq(bench.reader.unknown_count, 5);
    cr_assert(read(input, JSON_STRICT));
    cr_expect_eq(bench.findings.count, 5);
    expect_finding(0, FINDING_STRICT_DECODING, "x", "unknown field");
    expect_finding(1, FINDING_STRICT_DECODING, "list[0].y", "unknown field");
    expect_finding(2, FINDING_STRICT_DECODING, "map.k.a.z", "unknown field");
    expect_finding(3, FINDING_STRICT_DECODING, "x", "unknown field");
    char many[4096];
    int len = snprintf(many, sizeof many, "{\"flag\":true");
    for (int i = 0; i < 100; i++) len += snprintf(many + len, sizeof many - (size_t)len, ",\"u%d\":%d", i, i);
    snprintf(many + len, sizeof many - (size_t)len, "}");
    cr_assert(read(many, JSON_STRICT));
    cr_expect_eq(bench.findings.count, JSON_UNKNOWN_NOTED_LIMIT);
    cr_expect_eq(bench.reader.unknown_count, 100);
}

Test(json_reader, a_field_of_another_context_is_unknown_but_read) {
    static const struct {
        uint8_t when;
        size_t later;
        size_t older;
    } cases[] = {{0x02, 0, 1}, {0x01, 1, 1}, {0x21, 1, 0}, {0x11, 1, 1}, {0x22, 0, 1}, {0x23, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        start(text_of("{\"later\":\"x\"}"), JSON_STRICT);
        bench.reader.when = cases[i].when;
        read_sample(&bench.reader, &bench.sample);
        cr_assert(json_finish(&bench.reader, &bench.fault));
        EXPECT_TEXT(bench.sample.later, "x");
        cr_expect_eq(bench.findings.count, cases[i].later, "%zu", i);
        start(text_of("{\"older\":\"x\"}"), JSON_STRICT);
        bench.reader.when = cases[i].when;
        read_sample(&bench.reader, &bench.sample);
        cr_assert(json_finish(&bench.reader, &bench.fault));
        cr_expect_eq(bench.findings.count, cases[i].older, "%zu", i);
    }
    start(text_of("{\"later\":\"x\",\"name\":\"y\"}"), JSON_WIRE);
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    struct text text;
    cr_assert(json_field(&bench.reader, &SAMPLE, &seen, &field));
    cr_expect(bench.reader.foreign);
    json_text(&bench.reader, &text);
    cr_assert(json_field(&bench.reader, &SAMPLE, &seen, &field));
    cr_expect(!bench.reader.foreign);
}

Test(json_reader, duplicate_keys) {
    static const struct {
        const char *input;
        const char *path;
    } cases[] = {
        {"{\"name\":\"a\",\"flag\":true,\"name\":\"b\"}", "name"},
        {"{\"name\":null,\"name\":\"b\"}", "name"},
        {"{\"list\":[{\"number\":1,\"number\":2}]}", "list[0].number"},
        {"{\"map\":{\"a\":{},\"b\":{},\"a\":{\"number\":7}}}", "map.a"},
        {"{\"map\":{\"b\":{},\"a\":{},\"b\":null}}", "map.b"},
        {"{\"map\":{\"\":{},\"\":{}}}", "map."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_expect(!read(cases[i].input, JSON_WIRE), "%s", cases[i].input);
        cr_expect_eq(bench.reader.error, JSON_DUPLICATE_KEY);
        cr_expect(strstr(bench.fault.text, "duplicate key") != NULL);
        cr_assert(read(cases[i].input, JSON_STRICT), "%s", cases[i].input);
        cr_expect_eq(bench.findings.count, 1, "%s", cases[i].input);
        expect_finding(0, FINDING_STRICT_DECODING, cases[i].path, "duplicate field");
    }
    cr_assert(read("{\"name\":\"a\",\"name\":\"b\",\"flag\":true}", JSON_STRICT));
    EXPECT_TEXT(bench.sample.name, "a");
    cr_expect(bench.sample.flag);
    cr_assert(read("{\"raw\":{\"a\":1,\"a\":2},\"x\":1,\"x\":{\"b\":1,\"b\":1}}", JSON_WIRE),
              "raw and unknown values may repeat keys");
}

// A map of count keys, written with a step so that they are in order (1), reversed or scattered.
static char *map_of_keys(unsigned count, unsigned step, size_t *ret_len) {
    char *input = malloc((size_t)count * 16 + 32);
    size_t len = (size_t)snprintf(input, 16, "{\"map\":{");
    for (unsigned i = 0; i < count; i++)
        len += (size_t)snprintf(input + len, 16, "%s\"k%05u\":{}", i == 0 ? "" : ",", i * step % count);
    len += (size_t)snprintf(input + len, 8, "}}");
    *ret_len = len;
    return input;
}

Test(json_reader, maps_hold_many_keys_and_find_each_repeated_one) {
    static const unsigned steps[] = {1, 4094, 1777};
    for (size_t s = 0; s < 3; s++) {
        size_t len;
        char *input = map_of_keys(4095, steps[s], &len);
        cr_assert(read_text((struct text){input, len}, JSON_WIRE), "%u: %s", steps[s], bench.fault.text);
        cr_expect_eq(bench.sample.map.count, 4095);
        // Any key again at the end.
        for (unsigned repeated = 0; repeated < 4095; repeated += 273) {
            snprintf(input + len - 2, 16, ",\"k%05u\":1}}", repeated);
            cr_expect(!read_text((struct text){input, len + 11}, JSON_WIRE), "%u", repeated);
            cr_expect_eq(bench.reader.error, JSON_DUPLICATE_KEY, "%u", repeated);
        }
        free(input);
    }
}

// An object of the API server may have that many labels, and Go writes them sorted.
Test(json_reader, sorted_maps_may_hold_any_number_of_keys) {
    size_t len;
    char *input = map_of_keys(50000, 1, &len);
    cr_assert(read_text((struct text){input, len}, JSON_WIRE), "%s", bench.fault.text);
    cr_expect_eq(bench.sample.map.count, 50000);
    snprintf(input + len - 2, 16, ",\"k%05u\":1}}", 49999u);
    cr_expect(!read_text((struct text){input, len + 11}, JSON_WIRE));
    cr_expect_eq(bench.reader.error, JSON_DUPLICATE_KEY);
    snprintf(input + len - 2, 16, ",\"k%05u\":1}}", 49998u);
    cr_expect(!read_text((struct text){input, len + 11}, JSON_WIRE), "repeated, or out of order");
    cr_expect_eq(bench.reader.error, JSON_KEYS);
    free(input);
    input = map_of_keys(4097, 4096, &len);
    cr_expect(!read_text((struct text){input, len}, JSON_WIRE), "unsorted");
    cr_expect_eq(bench.reader.error, JSON_KEYS);
    cr_expect_eq(bench.fault.code, FAULT_LIMIT);
    free(input);
}

Test(json_reader, keys_of_nested_maps_do_not_mix) {
    start(text_of("{\"a\":{\"a\":{\"a\":1,\"b\":2},\"b\":{\"a\":3}},\"b\":{\"a\":{}},\"c\":{}}"), JSON_WIRE);
    struct text key;
    struct json_iterator outer = {0};
    int64_t sum = 0;
    while (json_member(&bench.reader, &outer, &key)) {
        struct json_iterator middle = {0};
        while (json_member(&bench.reader, &middle, &key)) {
            struct json_iterator inner = {0};
            while (json_member(&bench.reader, &inner, &key)) {
                int64_t value = 0;
                json_int64(&bench.reader, &value);
                sum += value;
            }
        }
    }
    cr_assert(json_finish(&bench.reader, &bench.fault), "%s", bench.fault.text);
    cr_expect_eq(sum, 6);
    cr_expect_eq(outer.count, 3);
}

static void read_nested(struct json_reader *reader) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) read_nested(reader);
}

static bool read_brackets(size_t levels, bool typed) {
    char *input = malloc(levels * 2);
    memset(input, '[', levels);
    memset(input + levels, ']', levels);
    start((struct text){input, levels * 2}, JSON_WIRE);
    if (typed)
        read_nested(&bench.reader);
    else
        json_skip(&bench.reader);
    bool fine = json_finish(&bench.reader, &bench.fault);
    free(input);
    return fine;
}

Test(json_reader, depth_is_bounded) {
    cr_expect(read_brackets(JSON_TYPED_DEPTH_LIMIT, true));
    cr_expect(!read_brackets(JSON_TYPED_DEPTH_LIMIT + 1, true));
    cr_expect_eq(bench.reader.error, JSON_DEPTH);
    cr_expect_eq(bench.fault.code, FAULT_LIMIT);
    cr_expect(read_brackets(JSON_RAW_DEPTH_LIMIT, false));
    cr_expect(!read_brackets(JSON_RAW_DEPTH_LIMIT + 1, false));
    cr_expect_eq(bench.reader.error, JSON_DEPTH);
    cr_expect(!read_brackets(3000000, false), "neither stack nor time");
}

Test(json_reader, depth_counts_typed_and_raw_levels_together) {
    size_t levels = JSON_RAW_DEPTH_LIMIT - 1;
    char *input = malloc(levels * 2 + 32);
    for (size_t more = 0; more < 2; more++, levels++) {
        size_t len = (size_t)snprintf(input, 16, "{\"raw\":");
        memset(input + len, '[', levels);
        memset(input + len + levels, ']', levels);
        input[len + levels * 2] = '}';
        cr_expect_eq(read_text((struct text){input, len + levels * 2 + 1}, JSON_WIRE), more == 0);
    }
    free(input);
}

Test(json_reader, raw_values_hold_anything_well_formed) {
    static const char *const values[] = {
        "9223372036854775808",
        "1e308",
        "1e999",
        "\"\\u0000\"",
        "{\"\\u0000\":1}",
        "\"\\ud800\"",
        "\"\xFF\"",
        "{\"a\":1,\"a\":2}",
        "[[[[]],{}],\"\\\\\",-0.0e-0]",
        " null",
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char input[128];
        snprintf(input, sizeof input, "{\"raw\":%s ,\"flag\":true}", values[i]);
        cr_assert(read(input, JSON_WIRE), "%s", input);
        cr_expect(bench.sample.flag);
        cr_expect(text_equal(bench.sample.raw, text_of(values[i] + (values[i][0] == ' '))), "%s", input);
    }
}

Test(json_reader, quantities_as_go_reads_them) {
    static const struct {
        const char *value;
        const char *detail; // NULL: fine
    } cases[] = {
        {"\"1\"", NULL},
        {"1", NULL},
        {"1.5", NULL},
        {"1e3", NULL},
        {"-2E2", NULL},
        {"\" 1Gi\"", NULL},
        {"\"1Gi \"", NULL},
        {"\" \xC2\xA0\xE3\x80\x80\xE2\x80\x8A 1Gi\xE2\x80\xA8\xC2\x85\"", NULL},
        {"\"\"", "quantities must match"},
        {"\" \"", "quantities must match"},
        {"\"1 Gi\"", "quantities must match"},
        {"\"\\u0031\"", "quantities must match"},
        {"\"1\\n\"", "quantities must match"},
        {"\"\xFF\"", "quantities must match"},
        {"\"1\xE2\x80\x8B\"", "quantities must match"},
        {"\"1Qi\"", "quantities must match"},
        {"\"1mm\"", "unable to parse quantity's suffix"},
        {"true", "quantities must match"},
        {"{\"value\":\"1\"}", "quantities must match"},
        {"[1]", "quantities must match"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char input[128];
        snprintf(input, sizeof input, "{\"amount\":%s,\"flag\":true}", cases[i].value);
        cr_assert(read(input, JSON_WIRE), "%s", input);
        cr_expect(bench.sample.flag, "%s", input);
        cr_expect_eq(bench.sample.amount.set, cases[i].detail == NULL, "%s", input);
        cr_expect_eq(bench.findings.count, cases[i].detail == NULL ? 0 : 1, "%s", input);
        if (cases[i].detail != NULL)
            cr_expect(text_starts_with(bench.findings.items[0].detail, text_of(cases[i].detail)), "%s",
                      input);
    }
    cr_expect(!read("{\"amount\":\"1\x01\"}", JSON_WIRE));
    cr_expect(!read("{\"amount\":1x}", JSON_WIRE));
    cr_expect(!read("{\"amount\":nope}", JSON_WIRE));
}

Test(json_reader, peek_tells_the_type) {
    static const struct {
        const char *input;
        enum json_type type;
    } cases[] = {{"null", JSON_NULL}, {"true", JSON_BOOL},   {"false", JSON_BOOL}, {"-1", JSON_NUMBER},
                 {"0", JSON_NUMBER},  {"\"\"", JSON_STRING}, {" []", JSON_ARRAY},  {"{}", JSON_OBJECT},
                 {"", JSON_NONE},     {"}", JSON_NONE},      {"+1", JSON_NONE}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        start(text_of(cases[i].input), JSON_WIRE);
        cr_expect_eq(json_peek(&bench.reader), cases[i].type, "%s", cases[i].input);
        cr_expect_eq(json_peek(&bench.reader), cases[i].type, "looking changes nothing");
    }
}

Test(json_reader, paths_leave_the_envelope_out) {
    start(text_of("{\"raw\":{\"list\":[{\"number\":\"x\"}]}}"), JSON_STRICT);
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    cr_assert(json_field(&bench.reader, &SAMPLE, &seen, &field));
    bench.reader.base = bench.reader.depth;
    read_sample(&bench.reader, &bench.sample);
    bench.reader.base = 0;
    EXPECT_TEXT(json_path(&bench.reader), "raw");
    cr_expect(!json_field(&bench.reader, &SAMPLE, &seen, &field));
    cr_assert(json_finish(&bench.reader, &bench.fault));
    expect_finding(0, FINDING_DECODING, "list[0].number",
                   "cannot unmarshal string into a field of type int64");
}

Test(json_reader, unread_rest_is_an_error) {
    start(text_of("{\"name\":\"a\",\"flag\":true}"), JSON_WIRE);
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    cr_assert(json_field(&bench.reader, &SAMPLE, &seen, &field));
    json_skip(&bench.reader);
    cr_expect(!json_finish(&bench.reader, &bench.fault));
}

static const char good[] = "{\"name\":\"a\\u00e9\",\"flag\":false,\"number\":-12,\"small\":3,\"amount\":\"1."
                           "5Gi\",\"list\":[{\"number\":1},{}],"
                           "\"map\":{\"a\":{\"number\":2},\"\\u0062\":{}},\"raw\":{\"x\":[null,true,1e5,"
                           "\"\xC3\xA9\\ud83d\\ude00\"]},"
                           "\"unknown\":[{\"y\":\"z\"}]}";

Test(json_reader, every_truncation_is_told_and_nothing_is_read_beyond) {
    for (size_t len = 0; len < sizeof good - 1; len++) {
        // A block of its own, so that the sanitizer sees a byte too far.
        char *input = malloc(len + 1);
        memcpy(input, good, len);
        struct text cut = {input + 0, len};
        cr_expect(!read_text(cut, JSON_STRICT), "%zu", len);
        cr_expect_eq(bench.reader.error, JSON_TRUNCATED, "%zu", len);
        cr_expect_eq(bench.reader.error_offset, len, "%zu", len);
        free(input);
    }
    cr_expect(read_text((struct text){good, sizeof good - 1}, JSON_STRICT));
}

Test(json_reader, after_an_error_every_call_is_empty) {
    start(text_of("{\"name\" 5}"), JSON_WIRE);
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    cr_expect(!json_field(&bench.reader, &SAMPLE, &seen, &field));
    struct text text;
    bool flag;
    int64_t number;
    int32_t small;
    struct quantity quantity;
    struct json_iterator iterator = {0};
    cr_expect(!json_field(&bench.reader, &SAMPLE, &seen, &field));
    cr_expect(!json_text(&bench.reader, &text));
    cr_expect(!json_bool(&bench.reader, &flag));
    cr_expect(!json_int64(&bench.reader, &number));
    cr_expect(!json_int32(&bench.reader, &small));
    cr_expect(!json_quantity(&bench.reader, &quantity));
    cr_expect(!json_raw(&bench.reader, &text));
    cr_expect(!json_null(&bench.reader));
    cr_expect(!json_element(&bench.reader, &iterator));
    cr_expect(!json_member(&bench.reader, &iterator, &text));
    json_skip(&bench.reader);
    cr_expect_eq(json_peek(&bench.reader), JSON_NONE);
    cr_expect(!json_finish(&bench.reader, &bench.fault));
    cr_expect_eq(bench.reader.error, JSON_SYNTAX);
    cr_expect_eq(bench.reader.error_offset, 8, "the first error stays");
    cr_expect_eq(bench.findings.count, 0);
}

static bool single_text(const char *input, const char *want) {
    struct text text = {NULL, 0};
    start(text_of(input), JSON_WIRE);
    bool got = json_single_text(&bench.reader, TEXT("{\"a\":\""), &text);
    struct fault fault;
    cr_expect_eq(got, want != NULL, "%s", input);
    if (got) cr_expect(text_equal(text, text_of(want)) && json_finish(&bench.reader, &fault), "%s", input);
    if (!got) cr_expect_eq(bench.reader.at, bench.reader.begin, "%s", input);
    return got;
}

static bool single_int64(const char *input, int64_t want) {
    int64_t value = -1;
    start(text_of(input), JSON_WIRE);
    bool got = json_single_int64(&bench.reader, TEXT("{\"a\":"), &value);
    struct fault fault;
    cr_expect_eq(value, want, "%s", input);
    if (got) cr_expect(json_finish(&bench.reader, &fault), "%s", input);
    if (!got) cr_expect_eq(bench.reader.at, bench.reader.begin, "%s", input);
    return got;
}

// Only the plainest spelling is taken; all else is left to json_field.
Test(json_reader, objects_of_one_field) {
    cr_expect(single_text("{\"a\":\"\"}", ""));
    cr_expect(
        single_text("{\"a\":\"a text of more than sixteen bytes\"}", "a text of more than sixteen bytes"));
    static const char *const others[] = {"",
                                         "{",
                                         "{\"a\":\"",
                                         "{\"a\":\"x",
                                         "{\"a\":\"x\"",
                                         "{\"a\": \"\"}",
                                         "{ \"a\":\"\"}",
                                         "{\"a\":\"\" }",
                                         "{\"a\":\"\\n\"}",
                                         "{\"a\":\"\xC3\xA9\"}",
                                         "{\"a\":5}",
                                         "{\"b\":\"\"}",
                                         "{\"a\":\"x\",\"a\":1}",
                                         "{\"a\":\"x\",\"b\":1}",
                                         "null"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) cr_expect_not(single_text(others[i], NULL));
    cr_expect(single_int64("{\"a\":0}", 0));
    cr_expect(single_int64("{\"a\":123456789012345678}", 123456789012345678));
    static const char *const numbers[] = {"{\"a\":1234567890123456789}",
                                          "{\"a\":-1}",
                                          "{\"a\":00}",
                                          "{\"a\":01}",
                                          "{\"a\":1.0}",
                                          "{\"a\":1e1}",
                                          "{\"a\":}",
                                          "{\"a\":1",
                                          "{\"a\":1 }",
                                          "{\"a\":1,\"a\":2}"};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        cr_expect_not(single_int64(numbers[i], -1));
}

Test(json_reader, members_like_earlier_ones) {
    static const char map[] = "{\"a\":{\"x\":1},\"b\":{\"y\":2}}";
    static const struct text keys[2] = {{map + 2, 1}, {map + 14, 1}};
    static const struct text values[2] = {{map + 5, 7}, {map + 17, 7}};
    struct text key;
    static const struct {
        const char *input;
        enum json_likeness first;
        enum json_likeness second;
        bool fine;
    } cases[] = {
        {map, JSON_LIKE_ALL, JSON_LIKE_ALL, true},
        {"{\"a\":{\"x\":1},\"b\":{\"y\":3}}", JSON_LIKE_ALL, JSON_LIKE_KEY, true},
        {"{\"a\":7,\"b\":{\"y\":2}}", JSON_LIKE_KEY, JSON_LIKE_ALL, true},
        {"{\"a\": 7 ,\"b\":{\"y\":2}}", JSON_LIKE_KEY, JSON_UNLIKE, true},
        {"{\"a\":{\"x\":1}, \"b\":{\"y\":2}}", JSON_LIKE_ALL, JSON_UNLIKE, true},
        {"{ \"a\":{\"x\":1},\"b\":{\"y\":2}}", JSON_UNLIKE, JSON_LIKE_ALL, true},
        {"{\"c\":{\"x\":1},\"b\":{\"y\":2}}", JSON_UNLIKE, JSON_LIKE_ALL, true},
        {"{\"a\":{\"x\":1},\"a\":{\"x\":1}}", JSON_LIKE_ALL, JSON_UNLIKE, false},
        {"{\"b\":{\"x\":1},\"b\":{\"y\":2}}", JSON_UNLIKE, JSON_UNLIKE, false},
        {"{\"a\":{\"x\":1}", JSON_LIKE_ALL, JSON_UNLIKE, false},
        {"{\"a\":{\"x\":1},\"b\":{\"y\":2}", JSON_LIKE_ALL, JSON_LIKE_ALL, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct json_iterator iterator = {0};
        enum json_likeness got[2];
        start(text_of(cases[i].input), JSON_WIRE);
        for (int k = 0; k < 2; k++) {
            got[k] = json_member_like(&bench.reader, &iterator, keys[k], values[k], &key);
            if (got[k] != JSON_UNLIKE) cr_expect(text_equal(key, keys[k]));
            if (got[k] == JSON_LIKE_KEY) json_skip(&bench.reader);
            if (got[k] == JSON_UNLIKE && json_member(&bench.reader, &iterator, &key))
                json_skip(&bench.reader);
        }
        cr_expect_eq(got[0], cases[i].first, "%s", cases[i].input);
        cr_expect_eq(got[1], cases[i].second, "%s", cases[i].input);
        cr_expect_not(json_member(&bench.reader, &iterator, &key));
        cr_expect_eq(json_finish(&bench.reader, &bench.fault), cases[i].fine, "%s", cases[i].input);
    }
}

Test(json_reader, survives_every_failed_allocation) {
    for (size_t n = 1;; n++) {
        start((struct text){good, sizeof good - 1}, JSON_STRICT);
        bench.arena.fail_after = n;
        read_sample(&bench.reader, &bench.sample);
        bool fine = json_finish(&bench.reader, &bench.fault);
        if (!bench.arena.poisoned) {
            cr_expect(fine);
            cr_expect_gt(n, 4, "there was something to fail");
            break;
        }
        cr_expect(!fine, "%zu", n);
        cr_expect_eq(bench.fault.code, FAULT_MEMORY, "%zu", n);
    }
    for (size_t cap = 0; cap < 40000; cap += 1111) {
        start((struct text){good, sizeof good - 1}, JSON_STRICT);
        arena_init(&bench.arena, cap);
        read_sample(&bench.reader, &bench.sample);
        cr_expect_eq(json_finish(&bench.reader, &bench.fault), !bench.arena.poisoned, "%zu", cap);
    }
}

Test(json_reader, the_keys_of_a_large_map_survive_failed_allocations) {
    size_t len;
    char *input = map_of_keys(1000, 999, &len);
    for (size_t n = 1; n < 40; n++) {
        start((struct text){input, len}, JSON_WIRE);
        bench.arena.fail_after = n;
        read_sample(&bench.reader, &bench.sample);
        cr_expect_eq(json_finish(&bench.reader, &bench.fault), !bench.arena.poisoned, "%zu", n);
    }
    free(input);
}
