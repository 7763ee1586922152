// SPDX-License-Identifier: Apache-2.0
// What Pods take of their nodes, as upstream counts it.
#include "server/ledger/pod_requests.h"

#include <criterion/criterion.h>

#include "server/codec/decode_parts.h"
#include "unit/lib/corpus.h"

#define CAP_BYTES ((size_t)64 << 20)

// The sums of one Pod by their names in the corpus.
enum { ORDINARY, WITH_CLAIMS, CONTAINERS, SPEC_ONLY, SUM_COUNT };
static const char *const sum_names[SUM_COUNT] = {"ordinary", "with claims", "containers", "spec alone"};

struct line {
    int64_t minor;
    struct pod pod;
    struct quantity_map sums[SUM_COUNT];
};

static void read_sums(struct json_reader *reader, struct line *ret) {
    static const struct json_name names[] = {JSON_NAME("ordinary"), JSON_NAME("scheduler"),
                                             JSON_NAME("containers"), JSON_NAME("spec")};
    static const struct json_fields fields = JSON_FIELDS(names);
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &fields, &seen, &field)) decode_quantity_map(reader, &ret->sums[field]);
}

static void read_line(struct text text, struct arena *arena, struct line *ret) {
    static const struct json_name names[] = {JSON_NAME("requestsOrdinary"),
                                             JSON_NAME("requestsWithDRA"),
                                             JSON_NAME("containersPlusDRA"),
                                             JSON_NAME("pod"),
                                             JSON_NAME("minor"),
                                             JSON_NAME("requests")};
    static const struct json_fields fields = JSON_FIELDS(names);
    static struct object object;
    object = (struct object){.kind = KIND_POD};
    *ret = (struct line){.minor = MINOR_36};
    struct finding_list findings;
    finding_list_init(&findings, arena);
    struct json_reader reader;
    json_init(&reader, text, arena, &findings, JSON_STRICT);
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(&reader, &fields, &seen, &field)) switch (field) {
        case 3: decode_pod(&reader, &object); break;
        case 4: json_int64(&reader, &ret->minor); break;
        case 5: read_sums(&reader, ret); break;
        default: decode_quantity_map(&reader, &ret->sums[field]); break;
        }
    struct fault fault = {0};
    cr_assert(json_finish(&reader, &fault), "%s", fault.text);
    cr_assert_eq(findings.count, 0);
    ret->pod = object.pod;
}

static void expect(const struct line *line, int sum, struct pod_requests_options options,
                   struct arena *arena) {
    const struct quantity_map *want = &line->sums[sum];
    struct text name = line->pod.metadata.name;
    options.minor = (int)line->minor;
    struct quantity_map got = pod_requests(&line->pod, &options, arena);
    cr_expect_eq(got.count, want->count, "%.*s %s: %zu resources, not %zu", TEXT_ARG(name), sum_names[sum],
                 got.count, want->count);
    for (size_t i = 0; i < want->count && i < got.count; i++) { // both are sorted
        struct text text = quantity_canonical(arena, got.items[i].value);
        struct text want_text = want->items[i].value.source;
        cr_expect(text_equal(got.items[i].key, want->items[i].key) && text_equal(text, want_text),
                  "1.%d %.*s %s: %.*s is %.*s, not %.*s", options.minor, TEXT_ARG(name), sum_names[sum],
                  TEXT_ARG(want->items[i].key), TEXT_ARG(text), TEXT_ARG(want_text));
    }
}

static struct quantity find(const struct quantity_map *map, struct text name) {
    struct quantity nothing = {0};
    for (size_t i = 0; i < map->count; i++)
        if (text_equal(map->items[i].key, name)) return map->items[i].value;
    return nothing;
}

// Taken apart and put together again with what status says of claims, it is what the scheduler counts.
static void expect_demands(const struct line *line, struct arena *arena) {
    const struct quantity_map *want = &line->sums[WITH_CLAIMS];
    struct pod_demand_list demands = pod_demands(&line->pod, (int)line->minor, arena);
    // What claims take: the scheduler's sum of a Pod of nothing but its status' entries.
    struct pod claims_only = {.allocatable_statuses = line->pod.allocatable_statuses};
    struct pod_requests_options options = {.minor = (int)line->minor, .with_claims = true, .spec_only = true};
    struct quantity_map claims = pod_requests(&claims_only, &options, arena);
    static const struct quantity nothing;
    for (size_t i = 0; i < want->count; i++) {
        struct text name = want->items[i].key;
        const struct pod_demand none = {0};
        const struct pod_demand *demand = &none;
        for (size_t k = 0; k < demands.count; k++)
            if (text_equal(demands.items[k].resource, name)) demand = &demands.items[k];
        struct quantity taken = find(&claims, name);
        struct quantity sum = pod_demand_sum(&demand->on_top, &demand->within, &demand->overhead,
                                             demand->pod_level, taken.set ? taken : nothing);
        cr_expect_eq(quantity_compare(sum, want->items[i].value), 0, "1.%d %.*s: %.*s is %.*s, not %.*s",
                     (int)line->minor, TEXT_ARG(line->pod.metadata.name), TEXT_ARG(name),
                     TEXT_ARG(quantity_canonical(arena, sum)), TEXT_ARG(want->items[i].value.source));
    }
    for (size_t i = 1; i < demands.count; i++)
        cr_expect_lt(text_compare(demands.items[i - 1].resource, demands.items[i].resource), 0);
}

static void expect_file(struct text file) {
    size_t at = 0, count = 0;
    struct text text;
    while (test_next_line(file, &at, &text)) {
        struct arena arena;
        arena_init(&arena, CAP_BYTES);
        static struct line line;
        read_line(text, &arena, &line);
        expect(&line, ORDINARY, (struct pod_requests_options){0}, &arena);
        expect(&line, WITH_CLAIMS, (struct pod_requests_options){.with_claims = true}, &arena);
        expect(&line, CONTAINERS, (struct pod_requests_options){.with_claims = true, .containers_only = true},
               &arena);
        if (line.sums[SPEC_ONLY].set)
            expect(&line, SPEC_ONLY, (struct pod_requests_options){.with_claims = true, .spec_only = true},
                   &arena);
        expect_demands(&line, &arena);
        arena_release(&arena);
        count++;
    }
    cr_assert_gt(count, 0);
    test_file_free(file);
}

Test(pod_requests, corpus) {
    expect_file(test_corpus_read("pod-requests.jsonl"));
}

// Made with k8s.io/component-helpers of both minors: statuses, resizes, pod-level requests, both forms of
// claims.
Test(pod_requests, statuses_and_resizes) {
    expect_file(test_file_read(test_source_path("unit/testdata/pods/requests-136.jsonl")));
    expect_file(test_file_read(test_source_path("unit/testdata/pods/requests-137.jsonl")));
}

static struct pod decode(const char *json, struct arena *arena) {
    static struct object object;
    object = (struct object){.kind = KIND_POD};
    struct finding_list findings;
    finding_list_init(&findings, arena);
    struct json_reader reader;
    json_init(&reader, text_of(json), arena, &findings, JSON_STRICT);
    decode_pod(&reader, &object);
    struct fault fault = {0};
    cr_assert(json_finish(&reader, &fault), "%s", fault.text);
    return object.pod;
}

Test(pod_requests, memory_that_runs_out_is_told) {
    struct arena texts;
    arena_init(&texts, CAP_BYTES);
    struct pod pod = decode(
        "{\"spec\":{\"containers\":[{\"name\":\"a\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}],"
        "\"initContainers\":[{\"name\":\"b\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}],"
        "\"resources\":{\"requests\":{\"cpu\":\"3\"}},\"overhead\":{\"memory\":\"1\"}},"
        "\"status\":{\"containerStatuses\":[{\"name\":\"a\",\"resources\":{\"requests\":{\"cpu\":\"2\"}}}],"
        "\"resources\":{\"requests\":{\"cpu\":\"4\"}}}}",
        &texts);
    for (int minor = MINOR_OLDEST; minor <= MINOR_NEWEST; minor++)
        for (size_t n = 1;; n++) {
            struct arena arena;
            arena_init(&arena, CAP_BYTES);
            arena.fail_after = n;
            struct pod_requests_options options = {.minor = minor, .with_claims = true};
            struct quantity_map sum = pod_requests(&pod, &options, &arena);
            bool poisoned = arena.poisoned;
            cr_assert_eq(sum.count, poisoned ? 0 : 2);
            arena_release(&arena);
            if (poisoned) continue;
            cr_assert_gt(n, 10);
            break;
        }
    arena_release(&texts);
}

// As many containers and resources as a Pod of the greatest size can have.
Test(pod_requests, many_containers_and_resources_are_quick, .timeout = 20) {
    enum { MANY = 20000 };
    struct arena arena;
    arena_init(&arena, 4 * CAP_BYTES);
    struct container *containers = arena_zalloc(&arena, MANY, sizeof *containers);
    struct container_status *statuses = arena_zalloc(&arena, MANY, sizeof *statuses);
    struct quantity_entry *entries = arena_zalloc(&arena, MANY, sizeof *entries);
    for (size_t i = 0; i < MANY; i++) {
        entries[i] = (struct quantity_entry){text_format(&arena, "example.com/r%zu", i),
                                             quantity_from_int64(1, QUANTITY_DECIMAL_SI)};
        containers[i] = (struct container){.name = text_format(&arena, "c%zu", i),
                                           .resources.requests = {&entries[i], 1, true}};
        statuses[i] = (struct container_status){.name = containers[i].name};
    }
    containers[0].resources.requests.count = MANY;
    struct pod pod = {.containers = {containers, MANY}, .container_statuses = {statuses, MANY}};
    struct pod_requests_options options = {.minor = 37};
    struct quantity_map sum = pod_requests(&pod, &options, &arena);
    cr_assert_eq(sum.count, MANY);
    cr_assert_eq(quantity_compare(sum.items[0].value, quantity_from_int64(1, QUANTITY_DECIMAL_SI)), 0);
    cr_assert_eq(quantity_compare(sum.items[MANY - 1].value, quantity_from_int64(2, QUANTITY_DECIMAL_SI)), 0);
    cr_assert_eq(pod_demands(&pod, 37, &arena).count, MANY);
    arena_release(&arena);
}
