// SPDX-License-Identifier: Apache-2.0
// Edges of the rules about units: fixed footprints, ratios, request policies, ranges.
#include <criterion/criterion.h>
#include <stdio.h>

#include "unit/lib/judge.h"

struct unit_case {
    const char *resource;
    const char *capacity;   // NULL: a fixed footprint; else the inside of the capacity "c"
    const char *multiplier; // a JSON value
    bool found;
};

static void expect_cases(const char *rule, const struct unit_case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        for (int minor = 36; minor <= 37; minor++) {
            struct judged judged;
            char more[1024];
            const struct unit_case *c = &cases[i];
            snprintf(more, sizeof more, "\"allowMultipleAllocations\":true,\"capacity\":{\"c\":{%s}}",
                     c->capacity == NULL ? "\"value\":\"1\"" : c->capacity);
            judged_init(
                &judged,
                slice_mapping(minor, c->resource, c->capacity == NULL ? NULL : "c", c->multiplier, more),
                minor);
            judged_run(&judged, rule, RULES_OFFLINE);
            cr_expect_eq(judged.findings.count, c->found ? 1 : 0, "%s: %s of %s for %s on 1.%d", rule,
                         c->multiplier, c->capacity == NULL ? "fixed" : c->capacity, c->resource, minor);
            judged_release(&judged);
        }
    }
}
#define EXPECT_CASES(rule, cases) expect_cases((rule), (cases), sizeof(cases) / sizeof((cases)[0]))

Test(unit_bytes_fraction, edges) {
    static const struct unit_case cases[] = {
        {"memory", NULL, "\"1000m\"", false},
        {"memory", NULL, "\"1001m\"", true},
        {"memory", NULL, "\"1.5Gi\"", false},
        {"memory", NULL, "\"1.1Gi\"", true},
        {"memory", NULL, "0.5", true},
        {"memory", NULL, "\"1e3\"", false},
        {"memory", NULL, "\"1n\"", true},
        {"memory", NULL, "\"99999999999999999999E\"", false}, // unit-range tells
        {"hugepages-2Mi", NULL, "\"512m\"", true},
        {"cpu", NULL, "\"512m\"", false},
        {"gpu", NULL, "\"512m\"", false}, // resource-name tells
        {"memory", "\"value\":\"64Gi\"", "\"500m\"", false},
        {"memory", "\"value\":\"64Gi\"", "\"0.1\"", true},
        {"memory", "\"value\":\"80Gi\"", "\"0.1\"", false},
        {"memory", "\"value\":\"3\"", "\"500m\"", true},
        {"memory", "\"value\":\"0.5\"", "\"2Gi\"", false},
        {"memory", "\"value\":\"99999999999999999999E\"", "\"500m\"", false},
        // The smallest amount and the step make whole bytes, the whole capacity is never consumed.
        {"memory",
         "\"value\":\"5\",\"requestPolicy\":{\"default\":\"2\",\"validRange\":{\"min\":\"2\","
         "\"step\":\"2\"}}",
         "\"500m\"", false},
        {"memory",
         "\"value\":\"5\",\"requestPolicy\":{\"default\":\"1\",\"validRange\":{\"min\":\"1\","
         "\"step\":\"2\"}}",
         "\"500m\"", true},
        // A range without a step: any amount, so the whole capacity counts.
        {"memory", "\"value\":\"4\",\"requestPolicy\":{\"default\":\"1\",\"validRange\":{\"min\":\"1\"}}",
         "\"500m\"", false},
        {"memory", "\"value\":\"4\",\"requestPolicy\":{\"default\":\"1\"}", "\"500m\"", false},
        {"memory", "\"value\":\"4\",\"requestPolicy\":{\"default\":\"1\",\"validValues\":[\"1\",\"3\"]}",
         "\"500m\"", true},
    };
    EXPECT_CASES("unit-bytes-fraction", cases);
}

Test(unit_bytes_fraction, steps_are_whole_numbers_in_1_36) {
    static const char more[] =
        "\"allowMultipleAllocations\":true,\"capacity\":{\"cpu\":{\"value\":\"8\",\"requestPolicy\":{"
        "\"default\":\"1\",\"validRange\":{\"min\":\"100m\",\"step\":\"100m\"}}}}";
    for (int minor = 36; minor <= 37; minor++) {
        struct judged judged;
        judged_init(&judged, slice_mapping(minor, "memory", "cpu", "\"1Gi\"", more), minor);
        judged_run(&judged, "unit-bytes-fraction", RULES_OFFLINE);
        cr_expect_eq(judged.findings.count, minor == 36 ? 0 : 1);
        judged_release(&judged);
    }
}

static void expect_bytes_hint(const char *multiplier, const char *hint) {
    struct judged judged;
    judged_init(&judged, slice_mapping(36, "memory", NULL, multiplier, NULL), 36);
    judged_run(&judged, "unit-bytes-fraction", RULES_OFFLINE);
    const struct finding *finding = judged_only(&judged);
    cr_expect(text_equal(finding->hint, text_of(hint)), "%s: %.*s", multiplier, TEXT_ARG(finding->hint));
    judged_release(&judged);
}

Test(unit_bytes_fraction, hints) {
    expect_bytes_hint("\"500m\"", "did you mean 500Mi?");
    expect_bytes_hint("\"512m\"", "did you mean 512Mi?");
    expect_bytes_hint("\"1181116006400m\"", "the next whole number of bytes is 1181116007");
    expect_bytes_hint("\"1.1Gi\"", "the next whole number of bytes is 1181116007");
    expect_bytes_hint("\"0.5m\"", "write bytes, such as 512Mi");
    expect_bytes_hint("0.5", "write bytes, such as 512Mi");
}

Test(unit_cpu_binary, edges) {
    static const struct unit_case cases[] = {
        {"cpu", NULL, "\"1Gi\"", true},     {"cpu", NULL, "\"2\"", false},
        {"cpu", NULL, "\"1G\"", false},     {"cpu", NULL, "\"1e3\"", false},
        {"memory", NULL, "\"1Gi\"", false}, {"cpu", "\"value\":\"1\"", "\"1Ki\"", false},
    };
    EXPECT_CASES("unit-cpu-binary", cases);
}

Test(unit_cpu_precision, edges) {
    static const struct unit_case cases[] = {
        {"cpu", NULL, "\"1m\"", false},
        {"cpu", NULL, "\"0.0015\"", true},
        {"cpu", NULL, "\"1n\"", true},
        {"memory", NULL, "\"1n\"", false},
        {"cpu", "\"value\":\"16\"", "\"1\"", false},
        {"cpu", "\"value\":\"3\"", "\"0.0005\"", true},
        {"cpu", "\"value\":\"2\"", "\"0.0005\"", false},
        {"cpu", NULL, "\"99999999999999999999E\"", false},
    };
    EXPECT_CASES("unit-cpu-precision", cases);
}

Test(unit_suspicious, edges) {
    static const struct unit_case cases[] = {
        {"memory", NULL, "\"1048575\"", true},
        {"memory", NULL, "\"1Mi\"", false},
        {"memory", NULL, "\"1M\"", true},
        {"memory", NULL, "\"500m\"", false}, // unit-bytes-fraction has the better guess
        {"memory", "\"value\":\"64Gi\"", "\"1\"", false},
        {"cpu", NULL, "\"10000\"", false},
        {"cpu", NULL, "\"10000001m\"", true},
        {"cpu", "\"value\":\"10000\"", "\"1\"", false},
        {"cpu", "\"value\":\"10001\"", "\"1\"", true},
        {"hugepages-2Mi", NULL, "\"256\"", true},
        {"hugepages-2Mi", NULL, "\"2Mi\"", false},
        {"hugepages-1Gi", NULL, "\"512Mi\"", true},
        {"hugepages-x", NULL, "\"1\"", false},
        {"hugepages-1Gi", "\"value\":\"224\"", "\"1\"", false},
        {"gpu", NULL, "\"1\"", false},
    };
    EXPECT_CASES("unit-suspicious", cases);
}

Test(unit_hugepage_multiple, edges) {
    static const struct unit_case cases[] = {
        {"hugepages-2Mi", NULL, "\"2Mi\"", false},
        {"hugepages-2Mi", NULL, "\"3Mi\"", true},
        {"hugepages-2Mi", NULL, "\"2M\"", true},
        {"hugepages-2Mi", NULL, "\"100m\"", true},
        {"hugepages-2M", NULL, "\"3\"", false}, // hugepage-size tells
        {"hugepages-x", NULL, "\"3\"", false},
        {"hugepages-2Mi", NULL, "\"99999999999999999999E\"", false},
        {"memory", NULL, "\"3\"", false},
        {"hugepages-1Gi", "\"value\":\"224\"", "\"1Gi\"", false},
        {"hugepages-1Gi", "\"value\":\"224\"", "\"1\"", true},
        {"hugepages-2Mi", "\"value\":\"5Mi\"", "\"1\"", true},
        {"hugepages-2Mi", "\"value\":\"5Mi\"", "\"2\"", false},
        {"hugepages-2Mi", "\"value\":\"9E\"", "\"9E\"", false}, // unit-range tells
        // 1Mi, 2Mi, 3Mi …: every second amount makes whole pages.
        {"hugepages-2Mi",
         "\"value\":\"9Mi\",\"requestPolicy\":{\"default\":\"1Mi\",\"validRange\":{"
         "\"min\":\"1Mi\",\"step\":\"1Mi\"}}",
         "\"1\"", false},
        // 1Mi, 3Mi, 5Mi …: none does.
        {"hugepages-2Mi",
         "\"value\":\"9Mi\",\"requestPolicy\":{\"default\":\"1Mi\",\"validRange\":{"
         "\"min\":\"1Mi\",\"step\":\"2Mi\"}}",
         "\"1\"", true},
        // Whole steps, but even the whole capacity is less than a page.
        {"hugepages-1Gi",
         "\"value\":\"224\",\"requestPolicy\":{\"default\":\"1\",\"validRange\":{"
         "\"min\":\"1\",\"step\":\"1\"}}",
         "\"1\"", true},
        // Fractions of a byte are another rule's matter.
        {"hugepages-2Mi",
         "\"value\":\"9\",\"requestPolicy\":{\"default\":\"1\",\"validRange\":{"
         "\"min\":\"1\",\"step\":\"2\"}}",
         "\"500m\"", false},
        {"hugepages-2Mi",
         "\"value\":\"9\",\"requestPolicy\":{\"default\":\"2\",\"validRange\":{"
         "\"min\":\"2\",\"step\":\"1\"}}",
         "\"500m\"", false},
        {"hugepages-2Mi",
         "\"value\":\"8Mi\",\"requestPolicy\":{\"default\":\"3Mi\",\"validValues\":["
         "\"3Mi\",\"4Mi\"]}",
         "\"1\"", false},
        {"hugepages-2Mi",
         "\"value\":\"8Mi\",\"requestPolicy\":{\"default\":\"0\",\"validValues\":["
         "\"0\",\"3Mi\"]}",
         "\"1\"", true},
    };
    EXPECT_CASES("unit-hugepage-multiple", cases);
}

static void expect_pages_hint(const char *multiplier, const char *hint) {
    struct judged judged;
    judged_init(&judged, slice_mapping(37, "hugepages-2Mi", NULL, multiplier, NULL), 37);
    judged_run(&judged, "unit-hugepage-multiple", RULES_OFFLINE);
    const struct finding *finding = judged_only(&judged);
    cr_expect(text_equal(finding->hint, text_of(hint)), "%s: %.*s", multiplier, TEXT_ARG(finding->hint));
    judged_release(&judged);
}

Test(unit_hugepage_multiple, hints) {
    expect_pages_hint("\"256\"", "256 pages are 512Mi");
    expect_pages_hint("1", "1 page is 2Mi");
    expect_pages_hint("\"5Mi\"", "the next multiple is 6Mi");
    expect_pages_hint("\"500m\"", "the next multiple is 2Mi");
    expect_pages_hint("\"9223372036854775807\"", ""); // the next one does not fit
}

Test(unit_dimension, edges) {
    static const struct unit_case cases[] = {
        {"cpu", "\"value\":\"64Gi\"", "\"1\"", true},   {"cpu", "\"value\":\"64Gi\"", "\"1n\"", false},
        {"cpu", "\"value\":\"64Gi\"", "\"1u\"", false}, {"cpu", "\"value\":\"64Gi\"", "\"2u\"", true},
        {"cpu", "\"value\":\"16\"", "\"1\"", false},    {"cpu", NULL, "\"1\"", false},
        {"memory", "\"value\":\"16\"", "\"1\"", false}, // "c" says nothing
    };
    EXPECT_CASES("unit-dimension", cases);
}

static void expect_dimension(const char *resource, const char *key, const char *value, const char *multiplier,
                             bool found) {
    struct judged judged;
    char more[512];
    snprintf(more, sizeof more, "\"allowMultipleAllocations\":true,\"capacity\":{\"%s\":{\"value\":\"%s\"}}",
             key, value);
    judged_init(&judged, slice_mapping(36, resource, key, multiplier, more), 36);
    judged_run(&judged, "unit-dimension", RULES_OFFLINE);
    cr_expect_eq(judged.findings.count, found ? 1 : 0, "%s %s × %s to %s", key, value, multiplier, resource);
    judged_release(&judged);
}

Test(unit_dimension, names_tell_what_a_capacity_measures) {
    expect_dimension("memory", "cpu", "16", "\"1\"", true);
    expect_dimension("memory", "gpu.example.com/vCPUs", "16", "\"1\"", true);
    expect_dimension("memory", "a_long_name_that_ends_in_cores", "16", "\"1\"", true);
    expect_dimension("memory", "cpu", "16", "\"1Mi\"", false);
    expect_dimension("ephemeral-storage", "cores", "16", "\"1023Ki\"", true);
    expect_dimension("hugepages-2Mi", "cpu", "16", "\"1\"", false); // unit-hugepage-multiple tells
    expect_dimension("memory", "cpu", "16Gi", "\"1\"", false);
    expect_dimension("memory", "slots", "16", "\"1\"", false);
    expect_dimension("cpu", "memory", "68719476736", "\"1\"", true);
    expect_dimension("cpu", "memory", "8", "\"1\"", false); // perhaps gibibytes
    expect_dimension("cpu", "cpu", "16", "\"1\"", false);
}

Test(unit_range, edges) {
    static const struct unit_case cases[] = {
        {"memory", NULL, "\"9223372036854775807\"", false},
        {"memory", NULL, "\"9223372036854775808\"", true},
        {"memory", NULL, "\"8191Pi\"", false},
        {"memory", NULL, "\"8Ei\"", true},
        {"memory", NULL, "\"99999999999999999999999999999999999999999999999999\"", true},
        {"cpu", NULL, "\"9223372036854775\"", false},
        {"cpu", NULL, "\"9223372036854776\"", true},
        {"memory", "\"value\":\"9223372036854775807\"", "\"1\"", false},
        {"memory", "\"value\":\"9223372036854775807\"", "\"2\"", true},
        {"memory", "\"value\":\"-9223372036854775807\"", "\"2\"", false}, // unit-negative tells
        {"cpu", "\"value\":\"9223372036854775\"", "\"2\"", true},
        {"memory", "\"value\":\"1\"", "\"9223372036854775808\"", true},
    };
    EXPECT_CASES("unit-range", cases);
}

Test(units, a_capacity_key_that_names_nothing_is_upstreams_matter) {
    static const char *const rules[] = {"unit-bytes-fraction", "unit-cpu-precision",
                                        "unit-suspicious",     "unit-dimension",
                                        "unit-range",          "unit-hugepage-multiple"};
    static const char *const resources[] = {"memory", "cpu", "hugepages-2Mi"};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        for (size_t j = 0; j < sizeof resources / sizeof resources[0]; j++) {
            struct judged judged;
            judged_init(&judged, slice_mapping(36, resources[j], "nothing", "\"3m\"", NULL), 36);
            judged_run(&judged, rules[i], RULES_OFFLINE);
            cr_expect_eq(judged.findings.count, 0, "%s for %s", rules[i], resources[j]);
            judged_release(&judged);
        }
    }
}

static const char claim_json[] =
    "{\"apiVersion\":\"resource.k8s.io/"
    "v1\",\"kind\":\"ResourceClaim\",\"metadata\":{\"name\":\"c\"},\"spec\":{"
    "\"devices\":{\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"c\",\"capacity\":{"
    "\"requests\":{\"cpu\":\"-1\"}}}}]}},\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"request\":"
    "\"r\",\"driver\":\"d\",\"pool\":\"p\",\"device\":\"x\",\"consumedCapacity\":{\"cpu\":\"-1\"}}]}}}}";
static const char unallocated_json[] =
    "{\"apiVersion\":\"resource.k8s.io/"
    "v1\",\"kind\":\"ResourceClaim\",\"metadata\":{\"name\":\"c\"},\"spec\":{"
    "\"devices\":{\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"c\",\"capacity\":{"
    "\"requests\":{\"cpu\":\"-1\"}}}}]}}}";

static size_t count_negative(const char *now, const char *old, const char *subresource) {
    struct judged judged;
    judged_init(&judged, now, 36);
    if (old != NULL) judged_set_old(&judged, old);
    judged.input.online = true;
    judged.input.subresource = text_of(subresource);
    judged_run(&judged, "unit-negative", RULES_OFFLINE);
    size_t count = judged.findings.count;
    judged_release(&judged);
    return count;
}

Test(unit_negative, a_stored_claim_can_always_be_released) {
    cr_expect_eq(count_negative(claim_json, NULL, ""), 2);
    cr_expect_eq(count_negative(claim_json, unallocated_json, "status"), 1); // the scheduler allocates
    cr_expect_eq(count_negative(claim_json, claim_json, "status"), 0);       // stored before
    cr_expect_eq(count_negative(unallocated_json, claim_json, "status"), 0); // released
    cr_expect_eq(count_negative(claim_json, claim_json, ""), 0);             // an unchanged spec
    cr_expect_eq(count_negative(claim_json, claim_json, "binding"), 0);
}
