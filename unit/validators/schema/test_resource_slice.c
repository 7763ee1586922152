// SPDX-License-Identifier: Apache-2.0
// The spec of a slice, its metadata, and updates.
#include <criterion/criterion.h>

#include "server/codec/decode.h"
#include "unit/lib/schema_case.h"
#include "validators/schema/resource_slice.h"

#define POOL  "'pool':{'name':'w1','generation':1,'resourceSliceCount':1}"
#define HEAD  "'driver':'d.example.com'," POOL
#define FIXED HEAD ",'nodeName':'w1'"

Test(resource_slice, minimal) {
    for (int minor = 36; minor <= 37; minor++) {
        EXPECT(slice_spec, minor, RESOURCE_V1, FIXED, NULL, "");
        EXPECT(slice_spec, minor, RESOURCE_V1BETA2, FIXED ",'devices':[]", NULL, "");
        EXPECT(slice_spec, minor, RESOURCE_V1BETA1, FIXED ",'sharedCounters':[]", NULL, "");
        EXPECT(slice_spec, minor, RESOURCE_V1, "", NULL,
               "spec Required, spec.driver Required, spec.pool.name Required, spec.pool.resourceSliceCount "
               "Invalid");
    }
}

Test(resource_slice, metadata) {
    EXPECT(slice, 36, RESOURCE_V1, "'metadata':{'name':'A'},'spec':{" FIXED "}", NULL,
           "metadata.name Invalid");
    EXPECT(slice, 36, RESOURCE_V1, "'metadata':{},'spec':{" FIXED "}", NULL, "metadata.name Required");
    EXPECT(slice, 36, RESOURCE_V1, "'metadata':{'name':'a','generation':-1},'spec':{" FIXED "}", NULL, "");
    EXPECT(slice, 37, RESOURCE_V1, "'metadata':{'name':'a','namespace':'b'},'spec':{" FIXED "}", NULL, "");
}

Test(resource_slice, driver_and_pool) {
    EXPECT(slice_spec, 37, RESOURCE_V1, "'driver':'a_b'," POOL ",'allNodes':true", NULL,
           "spec.driver Invalid");
    EXPECT(slice_spec, 36, RESOURCE_V1,
           "'driver':'D.example.com','pool':{'name':'a//b','generation':-1,'resourceSliceCount':-1},"
           "'allNodes':true",
           NULL,
           "spec.pool.generation Invalid, spec.pool.name Invalid, spec.pool.resourceSliceCount Invalid");
}

Test(resource_slice, nodes) {
    EXPECT(slice_spec, 36, RESOURCE_V1, HEAD ",'nodeName':''", NULL, "spec Required, spec.nodeName Invalid");
    EXPECT(slice_spec, 36, RESOURCE_V1BETA1, HEAD ",'nodeName':''", NULL, "spec Required");
    EXPECT(slice_spec, 36, RESOURCE_V1, HEAD ",'nodeName':'a_b'", NULL, "spec.nodeName Invalid");
    EXPECT(slice_spec, 36, RESOURCE_V1, HEAD ",'allNodes':false", NULL,
           "spec Required, spec.allNodes Invalid");
    EXPECT(slice_spec, 36, RESOURCE_V1BETA1, FIXED ",'allNodes':false", NULL, "");
    EXPECT(slice_spec, 37, RESOURCE_V1, FIXED ",'perDeviceNodeSelection':false", NULL,
           "spec.perDeviceNodeSelection Invalid");
    EXPECT(slice_spec, 37, RESOURCE_V1BETA1, FIXED ",'perDeviceNodeSelection':false", NULL,
           "spec.perDeviceNodeSelection Invalid");
    EXPECT(slice_spec, 37, RESOURCE_V1, FIXED ",'allNodes':true", NULL, "spec Invalid");
    EXPECT(slice_spec, 37, RESOURCE_V1, HEAD ",'perDeviceNodeSelection':true", NULL, "");
    const char *term = "{'matchExpressions':[{'key':'z','operator':'Exists'}]}";
    EXPECT(slice_spec, 37, RESOURCE_V1, joined(HEAD ",'nodeSelector':{'nodeSelectorTerms':[%s]}", term), NULL,
           "");
    EXPECT(slice_spec, 37, RESOURCE_V1,
           joined(HEAD ",'nodeSelector':{'nodeSelectorTerms':[%s,%s]}", term, term), NULL,
           "spec.nodeSelector.nodeSelectorTerms Invalid");
    EXPECT(slice_spec, 37, RESOURCE_V1, HEAD ",'nodeSelector':{'nodeSelectorTerms':[]}", NULL,
           "spec.nodeSelector.nodeSelectorTerms Required, spec.nodeSelector.nodeSelectorTerms Invalid");
}

Test(resource_slice, devices_or_counters) {
    EXPECT(slice_spec, 37, RESOURCE_V1, FIXED ",'devices':[],'sharedCounters':[]", NULL, "spec Invalid");
    EXPECT(slice_spec, 36, RESOURCE_V1, FIXED ",'devices':null,'sharedCounters':[]", NULL, "");
}

Test(resource_slice, device_names) {
    EXPECT(slice_spec, 36, RESOURCE_V1,
           FIXED ",'devices':[{'name':'a'},{'name':'b'},{'name':'a'},{'name':''},{'name':'a'}]", NULL,
           "spec.devices[2] Duplicate, spec.devices[3].name Invalid, spec.devices[4] Duplicate");
    EXPECT(slice_spec, 37, RESOURCE_V1, joined(FIXED ",'devices':[%s]", repeated("{'name':'d%d'}", 128)),
           NULL, "");
    EXPECT(slice_spec, 37, RESOURCE_V1, joined(FIXED ",'devices':[%s]", repeated("{'name':'D%d'}", 129)),
           NULL, "spec.devices TooMany");
}

Test(resource_slice, fewer_devices_with_advanced_features) {
    const char *plain = repeated("{'name':'d%d'}", 63);
    const char *taint = "{'name':'t','taints':[{'key':'k','effect':'None'}]}";
    const char *counter = "{'name':'c','consumesCounters':[{'counterSet':'s','counters':{'a':{'value':1}}}]}";
    EXPECT(slice_spec, 36, RESOURCE_V1, joined(FIXED ",'devices':[%s,%s]", plain, taint), NULL, "");
    EXPECT(slice_spec, 36, RESOURCE_V1, joined(FIXED ",'devices':[%s,%s,%s]", plain, taint, counter), NULL,
           "spec.devices TooMany");
    EXPECT(slice_spec, 36, RESOURCE_V1, joined(FIXED ",'devices':[%s,%s,{'name':'x'}]", plain, counter), NULL,
           "spec.devices TooMany");
    // Lists as attributes are dropped.
    EXPECT(slice_spec, 36, RESOURCE_V1,
           joined(FIXED ",'devices':[%s,{'name':'x','attributes':{'a':{'int':1,'ints':[1]}}},{'name':'y'}]",
                  plain),
           NULL, "");
}

// In v1.37 the declarative rules look at devices that the others skip.
Test(resource_slice, too_many_devices_are_still_declared) {
    const char *plain = repeated("{'name':'D%d'}", 128);
    const char *faulty =
        "{'name':'X','taints':[{'key':'-','effect':'Y'}],'attributes':{'-':{}},'capacity':{'-':{'value':1}},"
        "'bindingConditions':['-','b','c','d','e'],'bindingFailureConditions':['1','2','3','4','5'],"
        "'consumesCounters':[{'counterSet':'','counters':{}}]}";
    EXPECT(slice_spec, 36, RESOURCE_V1, joined(FIXED ",'devices':[%s,%s]", plain, faulty), NULL,
           "spec.devices TooMany");
    EXPECT(slice_spec, 37, RESOURCE_V1, joined(FIXED ",'devices':[%s,%s]", plain, faulty), NULL,
           "spec.devices TooMany, spec.devices[128].attributes[-] Invalid, "
           "spec.devices[128].bindingConditions TooMany, spec.devices[128].bindingFailureConditions TooMany, "
           "spec.devices[128].consumesCounters[0].counterSet Required, "
           "spec.devices[128].consumesCounters[0].counters Required, "
           "spec.devices[128].taints[0].effect NotSupported");
}

#define META "'metadata':{'name':'a'}"

Test(resource_slice, immutable) {
    const char *old = FIXED;
    EXPECT(slice_spec, 36, RESOURCE_V1, FIXED ",'devices':[]", old, "");
    EXPECT(slice_spec, 37, RESOURCE_V1,
           "'driver':'e.example.com','pool':{'name':'w2','generation':1,'resourceSliceCount':1},'nodeName':"
           "'w2'",
           old, "spec.driver Invalid, spec.nodeName Invalid, spec.pool.name Invalid");
    EXPECT(slice_spec, 37, RESOURCE_V1, HEAD ",'allNodes':true", old, "spec.nodeName Invalid");
    EXPECT(slice_spec, 37, RESOURCE_V1BETA1, HEAD ",'allNodes':true,'nodeName':''", HEAD ",'allNodes':true",
           "");
    EXPECT(slice, 36, RESOURCE_V1, "'metadata':{'name':'b','generation':-5},'spec':{" FIXED "}",
           META ",'spec':{" FIXED "}", "metadata.name Invalid");
    EXPECT(slice, 36, RESOURCE_V1, "'metadata':{'name':'a','generateName':'-'},'spec':{" FIXED "}",
           META ",'spec':{" FIXED "}", "");
    EXPECT(slice, 36, RESOURCE_V1, "'metadata':{'name':'a','generateName':'%'},'spec':{" FIXED "}",
           META ",'spec':{" FIXED "}", "metadata.generateName Invalid");
}

Test(resource_slice, update_of_a_device_in_use) {
    EXPECT(slice_spec, 37, RESOURCE_V1, FIXED ",'devices':[{'name':'a'},{'name':'B'}]",
           FIXED ",'devices':[{'name':'B'}]", "spec.devices[1].name Invalid");
}

// Fields of features that are off stay where the old slice has them.
Test(resource_slice, partition_type_of_old_slices) {
    const char *counter = "'consumesCounters':[{'counterSet':'s','counters':{'a':{'value':1}}}]";
    const char *old = FIXED ",'partitionTypeAttribute':'d.example.com/p'";
    EXPECT(slice_spec, 37, RESOURCE_V1, old, NULL, "");
    EXPECT(slice_spec, 37, RESOURCE_V1, old, FIXED, "");
    EXPECT(slice_spec, 37, RESOURCE_V1, old, old, "spec.partitionTypeAttribute Invalid");
    EXPECT(slice_spec, 37, RESOURCE_V1, FIXED, old, "");
    EXPECT(slice_spec, 37, RESOURCE_V1, FIXED ",'partitionTypeAttribute':'d.example.com/q'", old,
           "spec.partitionTypeAttribute Invalid, spec.partitionTypeAttribute Forbidden");
    EXPECT(slice_spec, 37, RESOURCE_V1,
           joined("%s,'devices':[{'name':'a','attributes':{'p':{'string':'x'}},%s},"
                  "{'name':'b','attributes':{'d.example.com/p':{'string':'x'}},%s},"
                  "{'name':'c','attributes':{'p':{'int':1}},%s},{'name':'d',%s},{'name':'e'}]",
                  old, counter, counter, counter, counter),
           old,
           "spec.devices[2].attributes[d.example.com/p] Invalid, "
           "spec.devices[3].attributes[d.example.com/p] Required");
    EXPECT(slice_spec, 37, RESOURCE_V1,
           joined(FIXED ",'partitionTypeAttribute':'x','devices':[{'name':'a',%s}]", counter),
           FIXED ",'partitionTypeAttribute':'x'", "");
    EXPECT(slice_spec, 37, RESOURCE_V1,
           joined(FIXED ",'partitionTypeAttribute':'e.example.com/p','devices':[{'name':'a',%s}]", counter),
           FIXED ",'partitionTypeAttribute':'e.example.com/p'",
           "spec.devices[0].attributes[e.example.com/p] Required");
}

Test(resource_slice, skipped_operations_of_old_slices) {
    const char *old = FIXED ",'skipNodeOperations':['*','old']";
    EXPECT(slice_spec, 37, RESOURCE_V1, FIXED ",'skipNodeOperations':['x','x']", FIXED, "");
    EXPECT(slice_spec, 37, RESOURCE_V1, FIXED ",'skipNodeOperations':['NodePrepareResources']", old,
           "spec.skipNodeOperations Invalid");
    EXPECT(slice_spec, 37, RESOURCE_V1,
           FIXED ",'skipNodeOperations':['NodePrepareResources','NodeUnprepareResources','old','x','x']", old,
           "spec.skipNodeOperations[3] NotSupported, spec.skipNodeOperations[4] Duplicate, "
           "spec.skipNodeOperations[4] NotSupported");
    EXPECT(slice_spec, 37, RESOURCE_V1, old, old, "");
}

// Whatever allocation fails, nothing crashes and nobody can take the findings for complete.
Test(resource_slice, memory_runs_out) {
    static const char slice[] =
        "{\"apiVersion\":\"resource.k8s.io/"
        "v1\",\"kind\":\"ResourceSlice\",\"metadata\":{\"name\":\"A\"},\"spec\":{"
        "\"driver\":\"d\",\"pool\":{\"name\":\"_\"},\"devices\":[{\"name\":\"a\",\"capacity\":{\"c\":{"
        "\"value\":1}},"
        "\"bindingConditions\":[\"a\",\"a\"],\"nodeAllocatableResources\":{\"x\":{\"overhead\":{}}}},"
        "{\"name\":\"a\",\"attributes\":{\"-\":{}}}]}}";
    struct arena arena;
    arena_init(&arena, 1 << 20);
    struct finding_list decoded;
    struct object object = {0};
    struct fault fault = {0};
    struct decode_options options = {.mode = JSON_STRICT, .minor = 37};
    finding_list_init(&decoded, &arena);
    cr_assert(decode_object(&arena, TEXT(slice), &options, &object, &decoded, &fault), "%s", fault.text);
    size_t failing = 1;
    for (;; failing++) {
        struct arena scarce;
        struct finding_list findings;
        arena_init(&scarce, 1 << 20);
        scarce.fail_after = failing;
        finding_list_init(&findings, &scarce);
        schema_resource_slice(&object.slice, object.version, 37, FEATURES_BY_DEFAULT, &findings);
        bool sound = finding_list_is_sound(&findings);
        cr_assert(!sound || findings.count > 5);
        arena_release(&scarce);
        if (sound) break;
    }
    cr_expect_gt(failing, 20);
    arena_release(&arena);
}

// A server that has the features on lets them be set and changed.
Test(resource_slice, partition_type_in_use) {
    const char *rest = "'devices':[{'name':'a','attributes':{'p':{'string':'x'},'q':{'string':'x'}},"
                       "'consumesCounters':[{'counterSet':'s','counters':{'a':{'value':1}}}]}]";
    const char *old = joined(FIXED ",'partitionTypeAttribute':'d.example.com/p',%s", rest);
    const char *changed = joined(FIXED ",'partitionTypeAttribute':'d.example.com/q',%s", rest);
    EXPECT_IN_USE(slice_spec, 37, RESOURCE_V1, old, NULL, "");
    EXPECT_IN_USE(slice_spec, 37, RESOURCE_V1, changed, old, "");
    EXPECT_IN_USE(slice_spec, 37, RESOURCE_V1, changed, joined(FIXED ",%s", rest), "");
    EXPECT_IN_USE(slice_spec, 37, RESOURCE_V1, FIXED ",'partitionTypeAttribute':'d.example.com/p'", NULL,
                  "spec.partitionTypeAttribute Invalid");
}

Test(resource_slice, skipped_operations_in_use) {
    const char *both = FIXED ",'skipNodeOperations':['NodePrepareResources','NodeUnprepareResources']";
    EXPECT_IN_USE(slice_spec, 37, RESOURCE_V1, both, NULL, "");
    EXPECT_IN_USE(slice_spec, 37, RESOURCE_V1, both, FIXED, "");
    EXPECT_IN_USE(slice_spec, 37, RESOURCE_V1, FIXED ",'skipNodeOperations':['NodePrepareResources','x']",
                  NULL, "spec.skipNodeOperations Invalid, spec.skipNodeOperations[1] NotSupported");
}
