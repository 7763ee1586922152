// SPDX-License-Identifier: Apache-2.0
// Pools that are not of one node: whom they concern, and when they are complete.
#include <criterion/criterion.h>

#include "server/ledger/replay.h"
#include "server/ledger/report.h"

#define CAP_BYTES ((size_t)16 << 20)

static struct ledger *replayed(const char *events) {
    struct fault fault = {0};
    struct ledger_options options = {.minor = MINOR_36, .seed = {1, 2}};
    struct ledger *ledger = ledger_new(&options, &fault);
    struct replay replay;
    replay_init(&replay, ledger, MINOR_36);
    cr_assert(replay_lines(&replay, text_of(events), &fault), "%s", fault.text);
    replay_end(&replay);
    replay_release(&replay);
    return ledger;
}

// How many drivers with mappings a node has, and how it stands.
static void expect_node(const struct ledger *ledger, const char *node, size_t drivers, enum freshness state) {
    struct arena arena;
    struct node_report report;
    arena_init(&arena, CAP_BYTES);
    cr_assert(ledger_node_report(ledger, text_of(node), true, &arena, &report));
    cr_expect_eq(report.drivers.count, drivers, "%s has %zu drivers", node, report.drivers.count);
    cr_expect_eq(report.state, state, "%s is %s", node, freshness_name(report.state));
    arena_release(&arena);
}

#define NODE(name, rv, labels)                                                                               \
    "{\"type\":\"ADDED\",\"object\":{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"" name \
    "\",\"uid\":\"" name "\",\"resourceVersion\":\"" rv "\",\"labels\":{" labels "}}}}\n"
#define MAPPED(name, more)                                                                                   \
    "{\"name\":\"" name "\"" more                                                                            \
    ",\"nodeAllocatableResourceMappings\":{\"cpu\":{\"allocationMultiplier\":\"1\"}}}"
#define SLICE(name, rv, count, scope, devices)                                                               \
    "{\"type\":\"ADDED\",\"object\":{\"apiVersion\":\"resource.k8s.io/"                                      \
    "v1\",\"kind\":\"ResourceSlice\",\"metadata\":"                                                          \
    "{\"name\":\"" name "\",\"uid\":\"" name "\",\"resourceVersion\":\"" rv                                  \
    "\"},\"spec\":{\"driver\":\"d.example\","                                                                \
    "\"pool\":{\"name\":\"p\",\"generation\":1,\"resourceSliceCount\":" count "}," scope                     \
    ",\"devices\":[" devices "]}}}\n"
#define EXPRESSION(key, operator, values)                                                                    \
    "\"nodeSelector\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"" key "\",\"operator\":\""   \
    operator"\"," values "}]}]}"

static const char nodes[] = NODE("a", "1", "\"zone\":\"x\",\"size\":\"4\"") NODE("b", "2", "\"zone\":\"y\"");

// Owner: static, until the next call.
static const char *with_nodes(const char *more) {
    static char events[8192];
    snprintf(events, sizeof events, "%s%s", nodes, more);
    return events;
}

static void expect_both(const char *slices, size_t on_a, size_t on_b) {
    struct ledger *ledger = replayed(with_nodes(slices));
    expect_node(ledger, "a", on_a, on_a > 0 ? FRESHNESS_FRESH : FRESHNESS_UNMAPPED);
    expect_node(ledger, "b", on_b, on_b > 0 ? FRESHNESS_FRESH : FRESHNESS_UNMAPPED);
    ledger_free(ledger);
}

Test(selector, operators) {
    expect_both(SLICE("s", "3", "1", "\"allNodes\":true", MAPPED("d", "")), 1, 1);
    expect_both(SLICE("s", "3", "1", EXPRESSION("zone", "In", "\"values\":[\"w\",\"x\"]"), MAPPED("d", "")),
                1, 0);
    expect_both(SLICE("s", "3", "1", EXPRESSION("zone", "NotIn", "\"values\":[\"x\"]"), MAPPED("d", "")), 0,
                1);
    expect_both(SLICE("s", "3", "1", EXPRESSION("size", "NotIn", "\"values\":[\"9\"]"), MAPPED("d", "")), 1,
                1);
    expect_both(SLICE("s", "3", "1", EXPRESSION("size", "Exists", "\"values\":[]"), MAPPED("d", "")), 1, 0);
    expect_both(SLICE("s", "3", "1", EXPRESSION("size", "DoesNotExist", "\"values\":[]"), MAPPED("d", "")), 0,
                1);
    expect_both(SLICE("s", "3", "1", EXPRESSION("size", "Gt", "\"values\":[\"3\"]"), MAPPED("d", "")), 1, 0);
    expect_both(SLICE("s", "3", "1", EXPRESSION("size", "Lt", "\"values\":[\"4\"]"), MAPPED("d", "")), 0, 0);
    expect_both(SLICE("s", "3", "1", EXPRESSION("size", "Gt", "\"values\":[\"big\"]"), MAPPED("d", "")), 0,
                0);
    expect_both(SLICE("s", "3", "1", EXPRESSION("size", "Near", "\"values\":[\"4\"]"), MAPPED("d", "")), 0,
                0);
    expect_both(SLICE("s", "3", "1", "\"nodeSelector\":{\"nodeSelectorTerms\":[{}]}", MAPPED("d", "")), 0, 0);
}

Test(selector, devices_that_say_for_themselves) {
    expect_both(SLICE("s", "3", "1", "\"perDeviceNodeSelection\":true",
                      MAPPED("d", ",\"nodeName\":\"b\"") "," MAPPED("e", ",\"nodeName\":\"c\"")),
                0, 1);
    expect_both(SLICE("s", "3", "1", "\"perDeviceNodeSelection\":true", MAPPED("d", ",\"allNodes\":true")), 1,
                1);
    expect_both(SLICE("s", "3", "1", "\"perDeviceNodeSelection\":true",
                      MAPPED("d", "," EXPRESSION("zone", "In", "\"values\":[\"x\"]"))),
                1, 0);
}

// A pool of two slices for different nodes is complete for each, although a node sees but one.
Test(selector, a_pool_is_complete_wherever_its_slices_are) {
    expect_both(SLICE("s", "3", "2", EXPRESSION("zone", "In", "\"values\":[\"x\"]"), MAPPED("d", ""))
                    SLICE("t", "4", "2", EXPRESSION("zone", "In", "\"values\":[\"y\"]"), MAPPED("e", "")),
                1, 1);
    struct ledger *ledger = replayed(with_nodes(SLICE("s", "3", "2", "\"allNodes\":true", MAPPED("d", ""))));
    expect_node(ledger, "a", 1, FRESHNESS_REBUILDING);
    ledger_free(ledger);
}

// Two slices of one generation that disagree how many they are.
Test(selector, a_pool_whose_slices_disagree_is_not_fresh) {
    struct ledger *ledger =
        replayed(with_nodes(SLICE("s", "3", "2", "\"allNodes\":true", MAPPED("d", ""))
                                SLICE("t", "4", "3", "\"allNodes\":true", MAPPED("e", ""))));
    expect_node(ledger, "a", 1, FRESHNESS_REBUILDING);
    ledger_free(ledger);
}
