// SPDX-License-Identifier: Apache-2.0
// Edges of the rules about the shape of mappings and about NUMA attributes.
#include <criterion/criterion.h>
#include <stdio.h>

#include "unit/lib/judge.h"

#define FIXED_36 "\"nodeAllocatableResourceMappings\":{\"memory\":{\"allocationMultiplier\":\"8Gi\"}}"
#define FIXED_37 "\"nodeAllocatableResources\":{\"memory\":{\"mapping\":{\"deviceMultiplier\":\"8Gi\"}}}"

static size_t count_of(const char *rule, int minor, const char *device) {
    struct judged judged;
    judged_init(&judged, slice_with(device), minor);
    judged_run(&judged, rule, RULES_OFFLINE);
    size_t count = judged.findings.count;
    judged_release(&judged);
    return count;
}

static void expect_text(const char *rule, int minor, const char *device, const char *path, const char *hint) {
    struct judged judged;
    judged_init(&judged, slice_with(device), minor);
    judged_run(&judged, rule, RULES_OFFLINE);
    const struct finding *finding = judged_only(&judged);
    cr_expect(text_equal(finding->path, text_of(path)), "%.*s", TEXT_ARG(finding->path));
    cr_expect(text_equal(finding->hint, text_of(hint)), "%.*s", TEXT_ARG(finding->hint));
    judged_release(&judged);
}

Test(mapping_needs_sharing, edges) {
    static const char rule[] = "mapping-needs-sharing";
    const char *by_capacity = "\"capacity\":{\"cpu\":{\"value\":\"8\"}},"
                              "\"nodeAllocatableResourceMappings\":{\"cpu\":{\"capacityKey\":\"cpu\"}}";
    char device[512];
    cr_expect_eq(count_of(rule, 36, by_capacity), 1);
    cr_expect_eq(count_of(rule, 37, by_capacity), 0); // 1.37 does not read this field
    snprintf(device, sizeof device, "\"allowMultipleAllocations\":true,%s", by_capacity);
    cr_expect_eq(count_of(rule, 36, device), 0);
    snprintf(device, sizeof device, "\"allowMultipleAllocations\":null,%s", by_capacity);
    cr_expect_eq(count_of(rule, 36, device), 1);
    cr_expect_eq(count_of(rule, 36, FIXED_36), 0);
    // Upstream refuses an empty key.
    cr_expect_eq(count_of(rule, 36, "\"nodeAllocatableResourceMappings\":{\"cpu\":{\"capacityKey\":\"\"}}"),
                 0);
    cr_expect_eq(
        count_of(rule, 37, "\"nodeAllocatableResources\":{\"cpu\":{\"overhead\":{\"perPod\":\"1\"}}}"), 0);
}

Test(mapping_key_spelling, a_key_that_is_published_in_no_spelling_is_upstreams_matter) {
    cr_expect_eq(count_of("mapping-key-spelling", 36,
                          "\"capacity\":{\"memory\":{\"value\":\"8\"}},\"nodeAllocatableResourceMappings\":{"
                          "\"cpu\":{\"capacityKey\":\"cpu\"}}"),
                 0);
    cr_expect_eq(count_of("mapping-key-spelling", 36,
                          "\"capacity\":{\"other.example.com/cpu\":{\"value\":\"8\"}},"
                          "\"nodeAllocatableResourceMappings\":{\"cpu\":{\"capacityKey\":\"cpu\"}}"),
                 0);
    cr_expect_eq(
        count_of("mapping-key-spelling", 37,
                 "\"capacity\":{\"gpu.example.com/cpu\":{\"value\":\"8\"},\"cpu\":{\"value\":\"8\"},"
                 "\"gpu.example.com/memory\":{\"value\":\"8\"},\"memory\":{\"value\":\"8\"}}," FIXED_37),
        2);
}

Test(mapping_versions, the_equivalent_is_printed) {
    static const char rule[] = "mapping-wrong-version";
    expect_text(
        rule, 37,
        "\"nodeAllocatableResourceMappings\":{\"memory\":{\"allocationMultiplier\":\"8Gi\"},"
        "\"cpu\":{\"capacityKey\":\"cpu\"},\"ephemeral-storage\":{\"allocationMultiplier\":\"1Gi\"}}",
        "spec.devices[0].nodeAllocatableResourceMappings",
        "write nodeAllocatableResources: {memory: {mapping: {deviceMultiplier: \"8Gi\"}}, cpu: {mapping: "
        "{capacityKey: cpu, capacityMultiplier: \"1\"}}, nothing for ephemeral-storage, which 1.37 does "
        "not count}");
    expect_text(rule, 36,
                "\"nodeAllocatableResources\":{\"memory\":{\"mapping\":{\"deviceMultiplier\":\"8Gi\"}},"
                "\"cpu\":{\"mapping\":{\"capacityKey\":\"cpu\",\"capacityMultiplier\":\"2\"}},"
                "\"hugepages-2Mi\":{\"overhead\":{\"perPod\":\"2Mi\"}}}",
                "spec.devices[0].nodeAllocatableResources",
                "write nodeAllocatableResourceMappings: {memory: {allocationMultiplier: \"8Gi\"}, cpu: "
                "{capacityKey: cpu, allocationMultiplier: \"2\"}, nothing for the overhead of hugepages-2Mi, "
                "which 1.36 does not know}");
    expect_text(rule, 37,
                "\"nodeAllocatableResourceMappings\":{\"a\":{},\"b\":{},\"c\":{},\"d\":{},\"e\":{}}",
                "spec.devices[0].nodeAllocatableResourceMappings",
                "write nodeAllocatableResources: {a: {mapping: {deviceMultiplier: \"1\"}}, b: {mapping: "
                "{deviceMultiplier: \"1\"}}, c: {mapping: {deviceMultiplier: \"1\"}}, d: {mapping: "
                "{deviceMultiplier: \"1\"}}, …}");
}

Test(mapping_versions, one_rule_speaks_for_each_case) {
    const char *both = FIXED_36 "," FIXED_37;
    for (int minor = 36; minor <= 37; minor++) {
        cr_expect_eq(count_of("mapping-both-versions", minor, both), 1);
        cr_expect_eq(count_of("mapping-wrong-version", minor, both), 0);
        cr_expect_eq(count_of("mapping-both-versions", minor, FIXED_36), 0);
    }
    cr_expect_eq(count_of("mapping-wrong-version", 36, FIXED_36), 0);
    cr_expect_eq(count_of("mapping-wrong-version", 37, FIXED_37), 0);
    cr_expect_eq(count_of("mapping-wrong-version", 38, FIXED_36), 1); // a newer minor than known
    cr_expect_eq(count_of("mapping-wrong-version", 37, "\"nodeAllocatableResourceMappings\":{}"), 0);
}

static size_t count_numa(const char *attributes, const struct rule_settings *settings) {
    struct judged judged;
    char device[4096];
    snprintf(device, sizeof device, "\"attributes\":{%s}," FIXED_36, attributes);
    judged_init(&judged, slice_with(device), 36);
    judged.input.settings = settings;
    judged_run(&judged, "numa-attribute", RULES_OFFLINE);
    size_t count = judged.findings.count;
    judged_release(&judged);
    return count;
}

Test(numa_attribute, edges) {
    cr_expect_eq(count_numa("\"numaNode\":{\"int\":0}", NULL), 0);
    cr_expect_eq(count_numa("\"numaNode\":{\"ints\":[0,1]}", NULL), 0);
    cr_expect_eq(count_numa("\"numaNode\":{\"ints\":[0,-1]}", NULL), 1);
    cr_expect_eq(count_numa("\"numaNode\":{\"ints\":[]}", NULL), 1);
    cr_expect_eq(count_numa("\"numaNode\":{\"strings\":[\"0\"]}", NULL), 1);
    cr_expect_eq(count_numa("\"numaNode\":{\"bool\":false}", NULL), 1);
    cr_expect_eq(count_numa("\"numaNode\":{\"version\":\"0.0.0\"}", NULL), 1);
    cr_expect_eq(count_numa("\"model\":{\"string\":\"0\"}", NULL), 0);
    // The first of a list is charged, so it is what must agree.
    cr_expect_eq(count_numa("\"numaNode\":{\"int\":0},\"numaNodeID\":{\"ints\":[0,1]}", NULL), 0);
    cr_expect_eq(count_numa("\"numaNode\":{\"int\":1},\"numaNodeID\":{\"ints\":[0,1]}", NULL), 1);
    // A bad one does not also disagree.
    cr_expect_eq(count_numa("\"numaNode\":{\"int\":-1},\"numaNodeID\":{\"int\":0}", NULL), 1);
    // Names of other domains are other attributes.
    cr_expect_eq(count_numa("\"other.example.com/numaNode\":{\"string\":\"0\"}", NULL), 0);
    cr_expect_eq(count_numa("\"gpu.example.com/numaNode\":{\"string\":\"0\"}", NULL), 1);
    cr_expect_eq(count_numa("\"dra.cpu/numaNodeID\":{\"string\":\"0\"}", NULL), 1);
}

// At one place of two devices the attributes may be others.
Test(numa_attribute, devices_with_other_attributes) {
#define NEXT(attributes) "}," FIXED_36 "},{\"name\":\"gpu-1\",\"attributes\":{" attributes
    cr_expect_eq(count_numa("\"numaNode\":{\"int\":0}" NEXT("\"model\":{\"string\":\"x\"}"), NULL), 0);
    cr_expect_eq(count_numa("\"numaNode\":{\"int\":0}" NEXT("\"numaNode\":{\"string\":\"x\"}"), NULL), 1);
    cr_expect_eq(count_numa("\"model\":{\"int\":0}" NEXT("\"numaNode\":{\"string\":\"x\"}"), NULL), 1);
    cr_expect_eq(
        count_numa("\"a\":{\"int\":0},\"numaNode\":{\"int\":0}" NEXT("\"numaNode\":{\"bool\":true}"), NULL),
        1);
#undef NEXT
}

// Those behind the places that are remembered count as well.
Test(numa_attribute, many_attributes) {
    static char attributes[2048];
    size_t len = 0;
    for (unsigned i = 0; i < 64; i++)
        len += (size_t)snprintf(attributes + len, sizeof attributes - len, "\"a%02u\":{\"int\":0},", i);
    snprintf(attributes + len, sizeof attributes - len,
             "\"numaNode\":{\"int\":0},\"numaNodeID\":{\"int\":1}");
    cr_expect_eq(count_numa(attributes, NULL), 1);
}

Test(numa_attribute, policy_names_the_spellings) {
    struct text names[] = {TEXT_INIT("socket")};
    struct rule_settings settings = {.numa_attributes = {.items = names, .count = 1, .set = true}};
    struct rule_settings empty = {.numa_attributes = {.set = true}};
    cr_expect_eq(count_numa("\"socket\":{\"string\":\"0\"}", &settings), 1);
    cr_expect_eq(count_numa("\"gpu.example.com/socket\":{\"string\":\"0\"}", &settings), 1);
    cr_expect_eq(count_numa("\"numaNode\":{\"string\":\"0\"}", &settings), 0);
    cr_expect_eq(count_numa("\"numaNode\":{\"string\":\"0\"}", &empty), 1);
}

Test(numa_missing, only_devices_with_mappings_need_it) {
    cr_expect_eq(count_of("numa-missing", 36, FIXED_36), 1);
    cr_expect_eq(count_of("numa-missing", 36, "\"attributes\":{\"model\":{\"string\":\"x\"}}," FIXED_36), 1);
    cr_expect_eq(count_of("numa-missing", 36, "\"attributes\":{\"numaNode\":{\"int\":0}}," FIXED_36), 0);
    cr_expect_eq(count_of("numa-missing", 36, "\"attributes\":{}"), 0);
}

// Devices that repeat the one before are judged with it, but each that is wrong is told.
Test(mapping, repeated_devices) {
    static const char good[] =
        "\"nodeAllocatableResourceMappings\":{\"cpu\":{\"allocationMultiplier\":\"2\"}}";
    static const char bad[] =
        "\"nodeAllocatableResourceMappings\":{\"cpu\":{\"allocationMultiplier\":\"2Gi\"}}";
    const char *const orders[][4] = {{bad, bad, bad, bad},    {good, good, bad, bad},
                                     {bad, bad, good, good},  {good, bad, good, bad},
                                     {good, good, good, bad}, {good, good, good, good}};
    static const size_t wanted[] = {4, 2, 2, 2, 1, 0};
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        char devices[1024];
        snprintf(devices, sizeof devices,
                 "%s},{\"name\":\"gpu-1\",%s},{\"name\":\"gpu-2\",%s},{\"name\":\"gpu-3\",%s", orders[i][0],
                 orders[i][1], orders[i][2], orders[i][3]);
        cr_expect_eq(count_of("unit-cpu-binary", 36, devices), wanted[i], "order %zu", i);
    }
}

// What a device may not share with the one before it.
Test(mapping, repeated_mappings_of_other_devices) {
    static const char mapping[] = "\"capacity\":{\"cpu\":{\"value\":\"8\"}},"
                                  "\"nodeAllocatableResourceMappings\":{\"cpu\":{\"capacityKey\":\"cpu\"}}";
    char devices[1024];
    snprintf(devices, sizeof devices, "\"allowMultipleAllocations\":true,%s},{\"name\":\"gpu-1\",%s", mapping,
             mapping);
    cr_expect_eq(count_of("mapping-needs-sharing", 36, devices), 1);
}
