// SPDX-License-Identifier: Apache-2.0
#include "server/codec/yaml.h"

#include <stdlib.h>
#include <time.h>

#include <criterion/criterion.h>

#include "validators/core/json_scan.h"

static struct arena arena;
static void start(void) {
    arena_init(&arena, (size_t)64 << 20);
}
static void stop(void) {
    arena_release(&arena);
}
TestSuite(yaml, .init = start, .fini = stop);

// The JSON without the blanks that overwritten members leave.
static struct text squeeze(struct text json) {
    char *out = arena_alloc(&arena, json.len + 1);
    size_t len = 0;
    bool quoted = false;
    for (size_t i = 0; i < json.len; i++) {
        if (json.ptr[i] == '"' && (i == 0 || json.ptr[i - 1] != '\\')) quoted = !quoted;
        if (json.ptr[i] != ' ' || quoted) out[len++] = json.ptr[i];
    }
    out[len] = '\0';
    return (struct text){out, len};
}

static void expect_json(const char *yaml, const char *want) {
    struct yaml_json json;
    struct fault fault = {0};
    cr_expect(yaml_to_json(&arena, text_of(yaml), 1, &json, NULL, &fault), "%s: %s", yaml, fault.text);
    if (fault.code != FAULT_NONE) return;
    cr_expect_str_eq(squeeze(json.json).ptr, want, "%s: %s", yaml, squeeze(json.json).ptr);
}

static void expect_fault(const char *yaml, enum fault_code code, const char *words, uint32_t line,
                         uint32_t column) {
    struct yaml_json json;
    struct yaml_place place = {0};
    struct fault fault = {0};
    cr_expect_not(yaml_to_json(&arena, text_of(yaml), 1, &json, &place, &fault), "%s", yaml);
    cr_expect_eq(fault.code, code, "%s: %d", yaml, fault.code);
    cr_expect(strstr(fault.text, words) != NULL, "%s: %s", yaml, fault.text);
    cr_expect(place.line == line && place.column == column, "%s: %u:%u", yaml, place.line, place.column);
}

Test(yaml, collections) {
    expect_json("a: 1\nb: [x, {c: d}]\n", "{\"a\":1,\"b\":[\"x\",{\"c\":\"d\"}]}");
    expect_json("- a\n- - b\n  - c\n-\n", "[\"a\",[\"b\",\"c\"],null]");
    expect_json("{}", "{}");
    expect_json("[]", "[]");
    expect_json("{a, b: }", "{\"a\":null,\"b\":null}");
    expect_json("? a\n: b\n? c\n", "{\"a\":\"b\",\"c\":null}");
    expect_json("\xef\xbb\xbf"
                "a: b",
                "{\"a\":\"b\"}");
    expect_json("a: 1\na: 2\n", "{\"a\":1,\"a\":2}");
    expect_json("", "null");
    expect_json("# nothing\n", "null");
}

Test(yaml, scalars_as_go_resolves_them) {
    expect_json("[y, Y, yes, Yes, YES, true, True, on, ON]",
                "[true,true,true,true,true,true,true,true,true]");
    expect_json("[n, N, no, No, NO, false, False, off, OFF]",
                "[false,false,false,false,false,false,false,false,false]");
    expect_json("[~, null, Null, NULL]", "[null,null,null,null]");
    expect_json("[tRUE, yEs, nULL, oN]", "[\"tRUE\",\"yEs\",\"nULL\",\"oN\"]");
    expect_json("[0, -0, 00, 07, 0777, 0o17, 0x1F, -0x1f, 0b101, -0b11]", "[0,0,0,7,511,15,31,-31,5,-3]");
    expect_json("[08, 0o8, 0x, 0b2, 0b-1, 0b+1]", "[8,\"0o8\",\"0x\",\"0b2\",-1,1]");
    expect_json("[1_000, 1__0, _1, 1_, 0x_f]", "[1000,10,\"_1\",1,15]");
    expect_json("[9223372036854775807, 9223372036854775808, -9223372036854775808]",
                "[9223372036854775807,9223372036854775808,-9223372036854775808]");
    expect_json("[+9223372036854775808, -9223372036854775809]", "[9223372036854776000,-9223372036854776000]");
    expect_json("[18446744073709551615, 18446744073709551616]",
                "[18446744073709551615,18446744073709552000]");
    expect_json("[1.5, .5, -.5, +.5, 1., -0.0, 1.0, 0.1]", "[1.5,0.5,-0.5,0.5,1,-0,1,0.1]");
    expect_json("[1e3, 1E+3, 1e-3, 1e20, 1e21, 1e-6, 1e-7, 1.5e-9, 1e-10]",
                "[1000,1000,0.001,100000000000000000000,1e+21,0.000001,1e-7,1.5e-9,1e-10]");
    expect_json("[1e400, e1, .e1, ., .., 1.2.3, 1:30, 12h, 500m]",
                "[\"1e400\",\"e1\",\".e1\",\".\",\"..\",\"1.2.3\",\"1:30\",\"12h\",\"500m\"]");
    expect_json("[2001-12-14, 2001-12-14T21:59:43Z]", "[\"2001-12-14\",\"2001-12-14T21:59:43Z\"]");
    expect_json("['1', \"yes\", '~', '']", "[\"1\",\"yes\",\"~\",\"\"]");
    expect_json("a: |\n  1\n", "{\"a\":\"1\\n\"}");
    expect_json("\"\\0\\t\\r\\n\\e\\\\\\\"\"", "\"\\u0000\\t\\r\\n\\u001b\\\\\\\"\"");
}

Test(yaml, tags) {
    expect_json("[!!str 1, !!str , !!int '5', !!float 5, !!bool 'no', !!null '']",
                "[\"1\",\"\",5,5,false,null]");
    expect_json("[!!timestamp 2000-02-29, !!timestamp '2001-12-14 1:2:3.5', !foo 1, ! 1]",
                "[\"2000-02-29\",\"2001-12-14 1:2:3.5\",\"1\",\"1\"]");
    static const char *const wrong[] = {"!!int x",
                                        "!!int 1.5",
                                        "!!bool 1",
                                        "!!null x",
                                        "!!float yes",
                                        "!!timestamp x",
                                        "!!binary eA==",
                                        "!!timestamp 2001-02-29",
                                        "!!timestamp 2001-1-1T1"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        expect_fault(wrong[i], FAULT_INPUT, "not what its tag says", 1, 1);
}

Test(yaml, keys_become_text) {
    expect_json("1: a\ntrue: b\nyes: c\n'1': d", "{\"1\":\"a\",\"true\":\"b\",\"true\":\"c\",\"1\":\"d\"}");
    expect_json("1.5: a\n1e6: b\n0.00001: c\n0x10: d\n.inf: e\n-.inf: f\n.nan: g\n100000.0: h",
                "{\"1.5\":\"a\",\"1e+06\":\"b\",\"1e-05\":\"c\",\"16\":\"d\",\".inf\":\"e\",\"-.inf\":\"f\","
                "\".nan\":\"g\",\"100000\":\"h\"}");
    expect_json("1e300: a", "{\".inf\":\"a\"}");
    expect_fault("~: a", FAULT_INPUT, "a key is empty or null", 1, 1);
    expect_fault("a: 1\n? \n: b", FAULT_INPUT, "a key is empty or null", 2, 2);
    expect_fault("18446744073709551615: a", FAULT_INPUT, "too large for a key", 1, 1);
    expect_fault("? [a]\n: b", FAULT_INPUT, "only scalars can be keys", 1, 3);
    expect_fault("a: &x {b: c}\n*x : d", FAULT_INPUT, "only scalars can be keys", 2, 1);
}

Test(yaml, anchors_and_aliases) {
    expect_json("a: &x {p: [1, 2]}\nb: *x\nc: [*x, *x]",
                "{\"a\":{\"p\":[1,2]},\"b\":{\"p\":[1,2]},\"c\":[{\"p\":[1,2]},{\"p\":[1,2]}]}");
    expect_json("a: &x 1\nb: *x\n*x : c", "{\"a\":1,\"b\":1,\"1\":\"c\"}");
    expect_json("&k yes: 1\nb: *k", "{\"true\":1,\"b\":true}");
    expect_json("a: &x 1\nb: &x 2\nc: *x", "{\"a\":1,\"b\":2,\"c\":2}");
    expect_json("a: &x [&y {q: 1}, *y]\nb: *x\nc: *y",
                "{\"a\":[{\"q\":1},{\"q\":1}],\"b\":[{\"q\":1},{\"q\":1}],\"c\":{\"q\":1}}");
    expect_fault("a: *x", FAULT_INPUT, "names an anchor (&) that is not there", 1, 4);
    expect_fault("a: &x [*x]", FAULT_INPUT, "contains itself", 1, 8);
}

Test(yaml, merge_keys_in_the_order_as_written) {
    expect_json("a: &x {p: 1, q: 2}\nb: {<<: *x, q: 3}", "{\"a\":{\"p\":1,\"q\":2},\"b\":{\"p\":1,\"q\":3}}");
    expect_json("a: &x {p: 1, q: 2}\nb: {q: 3, <<: *x}", "{\"a\":{\"p\":1,\"q\":2},\"b\":{\"p\":1,\"q\":2}}");
    expect_json("<<: [{a: 1, b: 2}, {a: 3, c: 4}]\nz: 1", "{\"c\":4,\"a\":1,\"b\":2,\"z\":1}");
    expect_json("<<: {}\na: 1", "{\"a\":1}");
    expect_json("<<: []\n", "{}");
    expect_json("a: {<<: {b: 1}, <<: {b: 2}}", "{\"a\":{\"b\":2}}");
    expect_json("a: {<<: {<<: {b: 1}, c: 2}, b: 3}", "{\"a\":{\"c\":2,\"b\":3}}");
    expect_json("a: 1\na: 2\n<<: {b: 3}", "{\"a\":1,\"a\":2,\"b\":3}");
    expect_json("'<<': 1\na: <<", "{\"<<\":1,\"a\":\"<<\"}");
    expect_json("! <<: {a: 1}", "{\"a\":1}");
    expect_json("!!merge '<<': {a: 1}", "{\"a\":1}");
    // What is overwritten may still be asked for by an alias.
    expect_json("m: {<<: {a: &k {z: [1]}, b: 2}, a: 5}\nn: *k",
                "{\"m\":{\"b\":2,\"a\":5},\"false\":{\"z\":[1]}}");
    expect_json("m: &m {<<: {a: 1}, a: 2}\no: *m", "{\"m\":{\"a\":2},\"o\":{\"a\":2}}");
    expect_fault("<<: 1", FAULT_INPUT, "a merge key (<<) takes a mapping", 1, 5);
    expect_fault("a: &x [b]\n<<: *x", FAULT_INPUT, "a merge key (<<) takes a mapping", 2, 5);
    expect_fault("<<: [1]", FAULT_INPUT, "a merge key (<<) takes a mapping", 1, 7);
    expect_fault("a: &x 1\n<<: *x", FAULT_INPUT, "a merge key (<<) takes a mapping", 2, 5);
}

Test(yaml, faults_say_where_and_what) {
    expect_fault("a: b: c\n", FAULT_INPUT, "mapping values are not allowed", 1, 5);
    expect_fault("a:\n\tb: 1\n", FAULT_INPUT, "takes no tabs as indentation", 2, 1);
    expect_fault("a: [1\nb: 2\n", FAULT_INPUT, "that begins in line 1", 2, 2);
    expect_fault("a: .inf", FAULT_INPUT, "infinite or no number", 1, 4);
    expect_fault("a: {b: x?y}", FAULT_INPUT, "question mark", 1, 8);
    expect_fault("a: b\nc: \xff\n", FAULT_INPUT, "byte 0xff", 2, 4);
    expect_fault("a: 1\n...\nb: 2\n", FAULT_INPUT, "text follows the end of the document", 3, 1);
    struct yaml_json json;
    struct yaml_place place = {0};
    struct fault fault = {0};
    cr_expect_not(yaml_to_json(&arena, TEXT("a: b: c"), 100, &json, &place, &fault));
    cr_expect_eq(place.line, 100);
}

Test(yaml, places_lead_back) {
    struct yaml_json json;
    struct fault fault = {0};
    struct text yaml = TEXT("a: &x\n  b: 1\n\nc:\n- d\n- *x\n");
    cr_assert(yaml_to_json(&arena, yaml, 10, &json, NULL, &fault), "%s", fault.text);
    cr_assert_str_eq(squeeze(json.json).ptr, "{\"a\":{\"b\":1},\"c\":[\"d\",{\"b\":1}]}");
    size_t last = 0;
    for (size_t i = 0; i < json.place_count; i++) {
        cr_expect(i == 0 || json.places[i].json_offset > last);
        last = json.places[i].json_offset;
    }
    const char *d = memmem(json.json.ptr, json.json.len, "\"d\"", 3);
    const struct yaml_place *place = yaml_find_place(&json, (size_t)(d - json.json.ptr));
    cr_expect(place->line == 14 && place->column == 3, "%u:%u", place->line, place->column);
    // What an alias brings points to where it was written.
    place = yaml_find_place(&json, json.json.len - 4);
    cr_expect(place->line == 11 && place->column == 6, "%u:%u", place->line, place->column);
    cr_expect_null(yaml_find_place(&(struct yaml_json){0}, 0));
}

static struct text repeat(const char *part, size_t count) {
    size_t len = strlen(part);
    char *out = arena_alloc(&arena, len * count + 1);
    for (size_t i = 0; i < count; i++) memcpy(out + i * len, part, len);
    return (struct text){out, len * count};
}

static void expect_bomb(struct text yaml, const char *words) {
    struct yaml_json json;
    struct fault fault = {0};
    clock_t begin = clock();
    cr_expect_not(yaml_to_json(&arena, yaml, 1, &json, NULL, &fault), "%s", words);
    cr_expect_eq(fault.code, FAULT_LIMIT, "%s", fault.text);
    cr_expect(strstr(fault.text, words) != NULL, "%s", fault.text);
    // Processor time, so that a busy machine does not matter; 5 s also holds under sanitizers.
    cr_expect(clock() - begin < 5 * CLOCKS_PER_SEC);
}

Test(yaml, bombs_end_early) {
    expect_bomb(repeat("[", 200000), "nested too deeply");
    expect_bomb(repeat("- ", 200000), "nested too deeply");
    expect_bomb(repeat("{a: ", 100000), "nested too deeply");
    expect_bomb(repeat("- &a 1\n", YAML_ANCHORS_LIMIT + 1), "too many anchors");
    struct text aliases = text_format(&arena, "- &a 1\n%.*s", TEXT_ARG(repeat("- *a\n", 10000)));
    struct yaml_json json;
    struct fault fault = {0};
    cr_expect(yaml_to_json(&arena, aliases, 1, &json, NULL, &fault), "%s", fault.text);
    struct text laughs = TEXT("a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i < 12; i++)
        laughs = text_format(&arena, "%.*sa%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", TEXT_ARG(laughs),
                             i, i, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    expect_bomb(laughs, "comes from aliases");
    // Few nodes, many bytes.
    struct text long_text = repeat("x", 60000);
    struct text items = repeat("*a,", 2000);
    struct text heavy =
        text_format(&arena, "a: &a [%.*s]\nb: [%.*s]\n", TEXT_ARG(long_text), TEXT_ARG(items));
    expect_bomb(heavy, "aliases add more than");
    // Nesting that only the aliases make.
    struct text deep = TEXT("a0: &a0 [[[[[[[[[[x]]]]]]]]]]\n");
    for (int i = 1; i < 14; i++)
        deep = text_format(&arena, "%.*sa%d: &a%d [[[[[[[[[[*a%d]]]]]]]]]]\n", TEXT_ARG(deep), i, i, i - 1);
    expect_bomb(deep, "nested too deeply, aliases followed");
}

Test(yaml, too_many_aliases) {
    struct text many = text_format(&arena, "- &a 1\n%.*s", TEXT_ARG(repeat("- 1\n- *a\n", 7000)));
    struct yaml_json json;
    struct fault fault = {0};
    cr_expect(yaml_to_json(&arena, many, 1, &json, NULL, &fault), "%s", fault.text);
    struct text head = TEXT("- &a 1\n");
    struct text tail = repeat("- *a\n", YAML_ALIASES_LIMIT + 1);
    char *all = arena_alloc(&arena, head.len + tail.len);
    memcpy(all, head.ptr, head.len);
    memcpy(all + head.len, tail.ptr, tail.len);
    expect_bomb((struct text){all, head.len + tail.len}, "too many aliases");
}

Test(yaml, memory_that_runs_out_is_a_fault) {
    static const char yaml[] =
        "a: &x {p: [1, 2], \"q\": 'text'}\nb: {<<: *x, p: 2, <<: [{r: &y {s: 1}}, *x]}\nc: *y\n"
        "d: [aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, \"\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\"]\n";
    struct yaml_json json;
    struct fault fault;
    bool fine = false;
    size_t failures = 0;
    for (size_t n = 1; !fine; n++) {
        struct arena small;
        arena_init(&small, (size_t)1 << 20);
        small.fail_after = n;
        fault.code = FAULT_NONE;
        fine = yaml_to_json(&small, text_of(yaml), 1, &json, NULL, &fault);
        cr_assert(fine || fault.code == FAULT_MEMORY, "allocation %zu: %s", n, fault.text);
        failures += !fine;
        arena_release(&small);
        cr_assert(n < 1000);
    }
    cr_expect_gt(failures, 8);
}

Test(yaml, a_document_that_outgrows_the_arena) {
    struct arena small;
    arena_init(&small, 40000);
    struct yaml_json json;
    struct fault fault = {0};
    cr_expect_not(yaml_to_json(&small, repeat("- a\n", 20000), 1, &json, NULL, &fault));
    cr_expect_eq(fault.code, FAULT_MEMORY);
    arena_release(&small);
}

Test(yaml, long_texts_take_no_more_room_than_they_need) {
    struct text plain = text_format(&arena, "a: %.*s", TEXT_ARG(repeat("x", 50000)));
    struct yaml_json json;
    struct fault fault = {0};
    cr_assert(yaml_to_json(&arena, plain, 1, &json, NULL, &fault), "%s", fault.text);
    cr_expect_eq(json.json.len, 50000 + 8);
    struct text quoted = text_format(&arena, "a: \"%.*s\"", TEXT_ARG(repeat("\\\"x", 20000)));
    cr_assert(yaml_to_json(&arena, quoted, 1, &json, NULL, &fault), "%s", fault.text);
    cr_expect_eq(json.json.len, 60000 + 8);
}

Test(yaml, cutting_as_kubectl_does) {
    struct yaml_cutter cutter = {
        .file = TEXT("# head\n--- # one\na: 1\nx: ---\n---\n---\t\n\nb: 2\n--- c\n----\nd: 3\n---")};
    static const struct {
        const char *text;
        uint32_t line;
        bool bad;
    } want[] = {{"# head\n", 1, false}, {"a: 1\nx: ---\n", 3, false}, {"\nb: 2\n", 7, false},
                {"--- c", 9, true},     {"----", 10, true},           {"d: 3\n", 11, false}};
    struct yaml_piece piece;
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        cr_assert(yaml_next_piece(&cutter, &piece), "%zu", i);
        cr_expect(text_equal(piece.text, text_of(want[i].text)), "%zu: %.*s", i, TEXT_ARG(piece.text));
        cr_expect_eq(piece.line, want[i].line, "%zu: %u", i, piece.line);
        cr_expect_eq(piece.bad_separator, want[i].bad);
    }
    cr_expect_not(yaml_next_piece(&cutter, &piece));
    cutter = (struct yaml_cutter){0};
    cr_expect_not(yaml_next_piece(&cutter, &piece));
}
