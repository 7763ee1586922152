// SPDX-License-Identifier: Apache-2.0
// Survey and plan for Pods, over a store that was told of a small cluster.
#include "server/operate/survey.h"

#include <criterion/criterion.h>

#include "server/operate/taint_plan.h"
#include "unit/lib/ledger_rig.h"

#define NOW_MS INT64_C(1796083200000)

static struct ledger_rig rig;
static struct arena arena;

static void tell(const char *json) {
    ledger_rig_tell(&rig, EVENT_ADDED, text_of(json));
}

static void node(const char *name, const char *version) {
    char json[512];
    snprintf(json, sizeof json,
             "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"%s\",\"uid\":\"%s\","
             "\"resourceVersion\":\"%s\"},\"status\":{\"allocatable\":{\"cpu\":\"16\",\"memory\":\"64Gi\"}}}",
             name, name, version);
    tell(json);
}

static void slice(const char *node_name, const char *version) {
    char json[1024];
    snprintf(
        json, sizeof json,
        "{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceSlice\",\"metadata\":{\"name\":\"s-%s\","
        "\"uid\":\"s-%s\",\"resourceVersion\":\"%s\"},\"spec\":{\"driver\":\"cpu.example.com\","
        "\"nodeName\":\"%s\",\"pool\":{\"name\":\"%s\",\"generation\":1,\"resourceSliceCount\":1},"
        "\"devices\":[{\"name\":\"d0\",\"nodeAllocatableResourceMappings\":{\"cpu\":"
        "{\"allocationMultiplier\":\"2\"}}}]}}",
        node_name, node_name, version, node_name, node_name);
    tell(json);
}

static void policy(const char *spec, const char *version) {
    char json[1024];
    snprintf(json, sizeof json,
             "{\"apiVersion\":\"drawbridge.dev/v1alpha1\",\"kind\":\"LedgerPolicy\",\"metadata\":{\"name\":"
             "\"default\",\"uid\":\"policy\",\"resourceVersion\":\"%s\"},\"spec\":%s}",
             version, spec);
    tell(json);
}

static void advance(struct ledger *ledger, void *context) {
    (void)context;
    ledger_advance(ledger, NOW_MS);
}

static void start(void) {
    static const enum object_kind kinds[] = {
        KIND_RESOURCE_SLICE, KIND_RESOURCE_CLAIM, KIND_RESOURCE_CLAIM_TEMPLATE,
        KIND_DEVICE_CLASS,   KIND_NODE,           KIND_POD,
        KIND_NAMESPACE,      KIND_LEDGER_POLICY};
    arena_init(&arena, 1 << 24);
    rig.folder = temp_folder_new();
    ledger_rig_open(&rig, 36, 1 << 20);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) store_set_synced(rig.store, kinds[i], true);
    store_with_ledger(rig.store, advance, NULL);
    node("node-a", "1");
    node("node-b", "2");
    slice("node-a", "3");
    slice("node-b", "4");
    tell("{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"DeviceClass\",\"metadata\":{\"name\":\"cpus\","
         "\"uid\":\"class\",\"resourceVersion\":\"5\"},\"spec\":{\"selectors\":[{\"cel\":{\"expression\":"
         "\"device.driver == \\\"cpu.example.com\\\"\"}}]}}");
    tell("{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceClaim\",\"metadata\":{\"name\":\"c\","
         "\"namespace\":\"work\",\"uid\":\"claim-uid\",\"resourceVersion\":\"6\"},\"spec\":{\"devices\":"
         "{\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"cpus\"}}]}}}");
    tell(
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"namespace\":\"work\",\"uid\":"
        "\"pod-uid\",\"resourceVersion\":\"7\"},\"spec\":{\"schedulingGates\":[{\"name\":"
        "\"drawbridge.dev/ledger\"}],\"resourceClaims\":[{\"name\":\"r\",\"resourceClaimName\":\"c\"}],"
        "\"containers\":[{\"name\":\"c\"}]},\"status\":{\"phase\":\"Pending\"}}");
}
static void stop(void) {
    ledger_rig_close(&rig);
    temp_folder_remove(&rig.folder);
    arena_release(&arena);
}
TestSuite(survey, .init = start, .fini = stop);

static const char *member(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text == NULL ? "" : text;
}

Test(survey, every_node_is_new_once) {
    char *first = survey_changed(rig.store), *second = survey_changed(rig.store);
    cr_expect_str_eq(first, "node-a");
    cr_expect_str_eq(second, "node-b");
    cr_expect_null(survey_changed(rig.store));
    slice("node-b", "40");
    free(first);
    free(second);
    first = survey_changed(rig.store);
    cr_expect_str_eq(first, "node-b");
    free(first);
}

Test(survey, a_fresh_node_holds_nobody) {
    struct survey_node found;
    struct pod_plan plan;
    cr_assert(survey_node(rig.store, "node-a", 36, true, &found));
    cr_expect_str_eq(member(found.status, "state"), "Fresh");
    cr_expect(survey_is_synced(found.status));
    survey_node_release(&found);
    cr_assert(survey_pods(rig.store, &arena, &plan));
    cr_assert_eq(plan.count, 1u);
    cr_expect(plan.items[0].gated);
    cr_expect_not(plan.items[0].held);
}

Test(survey, a_frozen_node_makes_its_drivers_frozen_and_pods_go_elsewhere) {
    struct survey_node found;
    struct pod_plan plan;
    struct taint_plan taints;
    policy(
        "{\"freezes\":[{\"node\":\"node-a\",\"reason\":\"new disks\",\"expires\":\"2026-12-02T00:00:00Z\"}]}",
        "8");
    cr_assert(survey_node(rig.store, "node-a", 36, false, &found));
    const json_t *driver = json_array_get(json_object_get(found.status, "drivers"), 0);
    cr_expect_str_eq(member(driver, "state"), "Frozen");
    cr_expect_not_null(strstr(member(driver, "cause"), "new disks"));
    cr_assert(taint_plan_init(&taints));
    cr_assert(taint_plan_add(&taints, found.status));
    json_t *wanted = taint_plan_wanted(&taints);
    cr_expect_eq(json_object_size(wanted), 1u);
    json_decref(wanted);
    taint_plan_release(&taints);
    survey_node_release(&found);
    cr_assert(survey_pods(rig.store, &arena, &plan));
    cr_expect_not(plan.items[0].held);
}

Test(survey, no_candidate_holds_the_pod_and_says_why) {
    struct pod_plan plan;
    policy("{\"freezes\":[{\"driver\":\"cpu.example.com\",\"reason\":\"firmware\",\"expires\":"
           "\"2026-12-02T00:00:00Z\"}]}",
           "8");
    cr_assert(survey_pods(rig.store, &arena, &plan));
    cr_assert_eq(plan.count, 1u);
    cr_expect(plan.items[0].held);
    cr_expect(text_equal(plan.items[0].drivers, TEXT("cpu.example.com")));
    cr_expect(text_equal(plan.items[0].state, TEXT("Frozen")));
    cr_expect(text_equal(plan.items[0].claim_uid, TEXT("claim-uid")));
    policy("{\"freezes\":[{\"driver\":\"cpu.example.com\",\"reason\":\"over\",\"expires\":"
           "\"2026-12-01T00:00:00Z\"}]}",
           "9");
    cr_assert(survey_pods(rig.store, &arena, &plan));
    cr_expect_not(plan.items[0].held);
}

// Its drivers are not known before: let go, it would run in a freeze as soon as the claim is there.
Test(survey, a_gated_pod_stays_until_the_claim_of_its_template_is_made) {
    static const char pod[] =
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"t\",\"namespace\":\"work\",\"uid\":"
        "\"t-uid\",\"resourceVersion\":\"%s\"},\"spec\":{\"schedulingGates\":[{\"name\":"
        "\"drawbridge.dev/ledger\"}],\"resourceClaims\":[{\"name\":\"r\",\"resourceClaimTemplateName\":"
        "\"cpus\"}],\"containers\":[{\"name\":\"c\"}]},\"status\":{\"phase\":\"Pending\"%s}}";
    char json[1024];
    struct pod_plan plan;
    snprintf(json, sizeof json, pod, "8", "");
    tell(json);
    cr_assert(survey_pods(rig.store, &arena, &plan));
    cr_assert_eq(plan.count, 2u);
    const struct pod_verdict *found = &plan.items[text_equal(plan.items[0].name, TEXT("t")) ? 0 : 1];
    cr_expect(found->gated);
    cr_expect(found->awaits);
    cr_expect_not(found->held);
    snprintf(json, sizeof json, pod, "9",
             ",\"resourceClaimStatuses\":[{\"name\":\"r\",\"resourceClaimName\":\"c\"}]");
    ledger_rig_tell(&rig, EVENT_MODIFIED, text_of(json));
    cr_assert(survey_pods(rig.store, &arena, &plan));
    found = &plan.items[text_equal(plan.items[0].name, TEXT("t")) ? 0 : 1];
    cr_expect_not(found->awaits);
}

Test(survey, a_frozen_namespace_holds_its_pods) {
    struct pod_plan plan;
    policy(
        "{\"freezes\":[{\"namespace\":\"work\",\"reason\":\"quiet\",\"expires\":\"2026-12-02T00:00:00Z\"}]}",
        "8");
    cr_assert(survey_pods(rig.store, &arena, &plan));
    cr_expect(plan.items[0].held);
    cr_expect_not_null(strstr(plan.items[0].cause.ptr, "quiet"));
}

Test(survey, gates_switched_off_let_everybody_go) {
    struct pod_plan plan;
    policy("{\"hold\":{\"gate\":false,\"taint\":false},\"freezes\":[{\"cluster\":true,\"reason\":\"r\","
           "\"expires\":\"2026-12-02T00:00:00Z\"}]}",
           "8");
    cr_assert(survey_pods(rig.store, &arena, &plan));
    cr_expect_not(plan.items[0].held);
    struct survey_policy found;
    survey_policy(rig.store, NOW_MS, &found);
    cr_expect_not(found.hold_taint);
    cr_expect_eq(found.frozen[0], 1u);
    survey_policy(rig.store, NOW_MS + INT64_C(86400000), &found);
    cr_expect_eq(found.frozen[0], 0u);
    cr_expect_eq(found.expired, 1u);
}

Test(survey, a_pod_with_a_node_does_not_wait) {
    struct pod_plan plan;
    ledger_rig_tell(&rig, EVENT_MODIFIED,
                    TEXT("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"namespace\":"
                         "\"work\",\"uid\":\"pod-uid\",\"resourceVersion\":\"20\"},\"spec\":{\"nodeName\":"
                         "\"node-b\",\"resourceClaims\":[{\"name\":\"r\",\"resourceClaimName\":\"c\"}],"
                         "\"containers\":[{\"name\":\"c\"}]},\"status\":{\"phase\":\"Pending\"}}"));
    cr_assert(survey_pods(rig.store, &arena, &plan));
    cr_expect_eq(plan.count, 0u);
}

Test(survey, a_status_is_read_back_by_a_ledger_that_starts_anew) {
    struct survey_node found, again;
    tell(
        "{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceClaim\",\"metadata\":{\"name\":\"d\","
        "\"namespace\":\"work\",\"uid\":\"claim-d\",\"resourceVersion\":\"30\"},\"spec\":{\"devices\":"
        "{\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"cpus\"}}]}},\"status\":"
        "{\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":\"cpu.example.com\","
        "\"pool\":"
        "\"node-a\",\"device\":\"d0\"}]},\"nodeSelector\":{\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":"
        "\"metadata.name\",\"operator\":\"In\",\"values\":[\"node-a\"]}]}]}}}}");
    cr_assert(survey_node(rig.store, "node-a", 36, true, &found));
    const json_t *claims = json_object_get(found.status, "claims");
    cr_assert_eq(json_array_size(claims), 1u);
    cr_expect_str_eq(member(json_array_get(claims, 0), "uid"), "claim-d");
    json_t *object = json_pack("{s:s, s:s, s:{s:s, s:s, s:s}, s:O}", "apiVersion", "drawbridge.dev/v1alpha1",
                               "kind", "NodeLedger", "metadata", "name", "node-a", "uid", "ledger-a",
                               "resourceVersion", "31", "status", found.status);
    char *json = json_dumps(object, 0);
    tell(json);
    cr_assert(survey_node(rig.store, "node-a", 36, true, &again));
    cr_expect(json_equal(json_object_get(again.status, "claims"), claims));
    free(json);
    json_decref(object);
    survey_node_release(&found);
    survey_node_release(&again);
}

Test(survey, a_device_in_two_slices_is_faulty) {
    struct survey_node found;
    cr_assert(survey_node(rig.store, "node-a", 36, false, &found));
    cr_expect_eq(json_array_size(found.faulty), 0u);
    survey_node_release(&found);
    tell(
        "{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceSlice\",\"metadata\":{\"name\":\"other\","
        "\"uid\":\"other\",\"resourceVersion\":\"50\"},\"spec\":{\"driver\":\"cpu.example.com\",\"nodeName\":"
        "\"node-a\",\"pool\":{\"name\":\"node-a\",\"generation\":1,\"resourceSliceCount\":2},\"devices\":"
        "[{\"name\":\"d0\"},{\"name\":\"d1\"}]}}");
    cr_assert(survey_node(rig.store, "node-a", 36, false, &found));
    cr_assert_eq(json_array_size(found.faulty), 1u);
    cr_expect_str_eq(member(json_array_get(found.faulty, 0), "device"), "d0");
    cr_expect_str_eq(member(json_array_get(found.faulty, 0), "rule"), "device-duplicate");
    survey_node_release(&found);
}

Test(survey, a_namesake_of_another_driver_is_faulty_on_36_unless_policy_says_otherwise) {
    struct survey_node found;
    tell(
        "{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceSlice\",\"metadata\":{\"name\":\"other\","
        "\"uid\":\"other\",\"resourceVersion\":\"50\"},\"spec\":{\"driver\":\"gpu.example.com\",\"nodeName\":"
        "\"node-a\",\"pool\":{\"name\":\"node-a\",\"generation\":1,\"resourceSliceCount\":1},\"devices\":"
        "[{\"name\":\"d0\"},{\"name\":\"d1\"}]}}");
    cr_assert(survey_node(rig.store, "node-a", 36, false, &found));
    // The other driver's device takes nothing, so that it is left alone.
    cr_assert_eq(json_array_size(found.faulty), 1u);
    cr_expect_str_eq(member(json_array_get(found.faulty, 0), "driver"), "cpu.example.com");
    cr_expect_str_eq(member(json_array_get(found.faulty, 0), "rule"), "device-ambiguous");
    survey_node_release(&found);
    policy("{\"rules\":[{\"id\":\"device-ambiguous\",\"action\":\"warn\"}]}", "51");
    cr_assert(survey_node(rig.store, "node-a", 36, false, &found));
    cr_expect_eq(json_array_size(found.faulty), 0u);
    survey_node_release(&found);
}

// ---- who a denied write was for

static const struct denied_write denied_write = {.namespace = TEXT_INIT("work"),
                                                 .claim = TEXT_INIT("c"),
                                                 .claim_uid = TEXT_INIT("claim-uid"),
                                                 .pod_uid = TEXT_INIT("pod-uid"),
                                                 .node = TEXT_INIT("node-b")};

Test(survey, the_pod_of_a_denied_write_is_found_by_what_the_ledger_has) {
    struct survey_consumer consumer;
    cr_assert(survey_consumer(rig.store, &denied_write, &arena, &consumer));
    cr_expect(text_equal(consumer.pod, TEXT("p")));
    cr_expect(text_equal(consumer.node, TEXT("node-b")));
    struct denied_write write = denied_write;
    write.node = TEXT("node-z");
    cr_assert(survey_consumer(rig.store, &write, &arena, &consumer));
    cr_expect(text_equal(consumer.node, TEXT("")), "a node that is not known is not told of");
}

// Whoever reaches the port may send a review: what does not fit the ledger leads to no Event.
Test(survey, a_forged_write_has_no_pod) {
    struct survey_consumer consumer;
    struct denied_write write = denied_write;
    write.pod_uid = TEXT("another-pod");
    cr_expect_not(survey_consumer(rig.store, &write, &arena, &consumer));
    write = denied_write;
    write.claim_uid = TEXT("another-claim");
    cr_expect_not(survey_consumer(rig.store, &write, &arena, &consumer));
    write = denied_write;
    write.claim = TEXT("d");
    cr_expect_not(survey_consumer(rig.store, &write, &arena, &consumer));
    write = denied_write;
    write.namespace = TEXT("elsewhere");
    cr_expect_not(survey_consumer(rig.store, &write, &arena, &consumer));
    write = denied_write;
    write.claim_uid = (struct text){NULL, 0};
    cr_expect_not(survey_consumer(rig.store, &write, &arena, &consumer));
}

// A slice of two devices in a pool of a name; the second has what is given of a mapping.
static void two_devices(const char *node_name, const char *pool, const char *second, const char *version) {
    char json[1024];
    snprintf(
        json, sizeof json,
        "{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceSlice\",\"metadata\":{\"name\":\"t-%s\","
        "\"uid\":\"t-%s\",\"resourceVersion\":\"%s\"},\"spec\":{\"driver\":\"gpu.example.com\",\"nodeName\":"
        "\"%s\",\"pool\":{\"name\":\"%s\",\"generation\":1,\"resourceSliceCount\":1},\"devices\":"
        "[{\"name\":\"g0\",\"nodeAllocatableResourceMappings\":{\"memory\":{\"allocationMultiplier\":\"1Gi\"}"
        "}},"
        "{\"name\":\"g1\",\"nodeAllocatableResourceMappings\":{%s}}]}}",
        node_name, node_name, version, node_name, pool, second);
    tell(json);
}

static size_t faulty_on(const char *node_name, struct survey_node *ret_found) {
    cr_assert(survey_node(rig.store, node_name, 36, true, ret_found));
    return json_array_size(ret_found->faulty);
}

Test(survey, a_device_whose_mapping_is_denied_is_faulty_and_its_node_is_fresh) {
    struct survey_node found;
    two_devices("node-a", "gpus", "\"memory\":{\"allocationMultiplier\":\"500m\"}", "60");
    cr_assert_eq(faulty_on("node-a", &found), 1u);
    cr_expect_str_eq(member(json_array_get(found.faulty, 0), "device"), "g1");
    cr_expect_str_eq(member(json_array_get(found.faulty, 0), "rule"), "unit-bytes-fraction");
    cr_expect_str_eq(member(found.status, "state"), "Fresh");
    const json_t *shown = json_array_get(json_object_get(found.status, "unusable"), 0);
    cr_expect_str_eq(member(shown, "device"), "g1");
    cr_expect_str_eq(member(shown, "rule"), "unit-bytes-fraction");
    survey_node_release(&found);
    policy("{\"rules\":[{\"id\":\"unit-bytes-fraction\",\"action\":\"audit\",\"drivers\":[\"gpu.example."
           "com\"]}]}",
           "61");
    cr_expect_eq(faulty_on("node-a", &found), 0u);
    survey_node_release(&found);
}

Test(survey, a_faulty_device_is_not_kept_away_where_its_sound_namesake_would_be_too) {
    struct survey_node found;
    two_devices("node-a", "gpus", "\"memory\":{\"allocationMultiplier\":\"500m\"}", "60");
    two_devices("node-b", "gpus", "\"memory\":{\"allocationMultiplier\":\"2Gi\"}", "61");
    cr_expect_eq(faulty_on("node-a", &found), 0u);
    cr_expect_eq(json_array_size(json_object_get(found.status, "unusable")), 1u);
    survey_node_release(&found);
    two_devices("node-b", "gpus", "\"Memory\":{\"allocationMultiplier\":\"2Gi\"}", "62");
    cr_expect_eq(faulty_on("node-a", &found), 1u);
    survey_node_release(&found);
    cr_expect_eq(faulty_on("node-b", &found), 1u);
    survey_node_release(&found);
}

Test(survey, a_pool_of_faulty_devices_is_one_entry) {
    struct survey_node found;
    tell(
        "{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceSlice\",\"metadata\":{\"name\":\"other\","
        "\"uid\":\"other\",\"resourceVersion\":\"50\"},\"spec\":{\"driver\":\"gpu.example.com\",\"nodeName\":"
        "\"node-a\",\"pool\":{\"name\":\"gpus\",\"generation\":1,\"resourceSliceCount\":1},\"devices\":"
        "[{\"name\":\"g0\",\"nodeAllocatableResourceMappings\":{\"mem\":{}}},"
        "{\"name\":\"g1\",\"nodeAllocatableResourceMappings\":{\"mem\":{}}}]}}");
    cr_assert_eq(faulty_on("node-a", &found), 1u);
    cr_expect_str_eq(member(json_array_get(found.faulty, 0), "device"), "");
    cr_expect_str_eq(member(json_array_get(found.faulty, 0), "rule"), "resource-name");
    cr_expect_null(json_object_get(json_array_get(json_object_get(found.status, "unusable"), 0), "device"));
    survey_node_release(&found);
}
