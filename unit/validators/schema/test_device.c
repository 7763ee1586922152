// SPDX-License-Identifier: Apache-2.0
// One device of a slice: name, counts, nodes, taints, binding conditions.
#include <criterion/criterion.h>

#include "unit/lib/schema_case.h"

#define D0 "spec.devices[0]"

Test(device, counts) {
    for (int minor = 36; minor <= 37; minor++) {
        EXPECT(device, minor, RESOURCE_V1,
               joined("'name':'a','attributes':{%s},'capacity':{%s}", repeated("'a%d':{'int':1}", 16),
                      repeated("'a%d':{'value':1}", 16)),
               NULL, "");
        EXPECT(device, minor, RESOURCE_V1,
               joined("'name':'a','attributes':{%s},'capacity':{%s}", repeated("'a%d':{'int':1}", 17),
                      repeated("'a%d':{'value':1}", 16)),
               NULL, D0 " Invalid");
    }
}

Test(device, names) {
    EXPECT(device, 36, RESOURCE_V1, "'name':'a.b'", NULL, D0 ".name Invalid");
    EXPECT(device, 37, RESOURCE_V1BETA1, "'name':'A','basic':{}", NULL, D0 ".name Invalid");
}

static const char *per_device(const char *device) {
    return joined("'driver':'d','perDeviceNodeSelection':true,'pool':{'name':'w1','resourceSliceCount':1},"
                  "'devices':[{'name':'a'%s}]",
                  device);
}

Test(device, nodes) {
    EXPECT(device, 36, RESOURCE_V1, "'name':'a','nodeName':'x'", NULL, D0 " Invalid");
    EXPECT(device, 36, RESOURCE_V1, "'name':'a','nodeSelector':{'nodeSelectorTerms':[]}", NULL,
           D0 " Invalid");
    EXPECT(device, 36, RESOURCE_V1, "'name':'a','allNodes':false", NULL, D0 " Invalid");
    EXPECT(slice_spec, 37, RESOURCE_V1, per_device(""), NULL, D0 " Required");
    EXPECT(slice_spec, 37, RESOURCE_V1, per_device(",'nodeName':'x'"), NULL, "");
    EXPECT(slice_spec, 37, RESOURCE_V1, per_device(",'nodeName':'_'"), NULL, D0 ".nodeName Invalid");
    EXPECT(slice_spec, 37, RESOURCE_V1, per_device(",'nodeName':''"), NULL,
           D0 " Required, " D0 ".nodeName Invalid");
    EXPECT(slice_spec, 37, RESOURCE_V1, per_device(",'allNodes':true"), NULL, "");
    EXPECT(slice_spec, 37, RESOURCE_V1, per_device(",'allNodes':false"), NULL,
           D0 " Required, " D0 ".allNodes Invalid");
    EXPECT(slice_spec, 37, RESOURCE_V1, per_device(",'allNodes':true,'nodeName':'x'"), NULL, D0 " Invalid");
    EXPECT(slice_spec, 37, RESOURCE_V1, per_device(",'nodeSelector':{'nodeSelectorTerms':[]}"), NULL,
           D0 ".nodeSelector.nodeSelectorTerms Required");
    EXPECT(slice_spec, 37, RESOURCE_V1, per_device(",'nodeSelector':{'nodeSelectorTerms':[{},{}]}"), NULL,
           "");
}

Test(device, taints) {
    EXPECT(device, 36, RESOURCE_V1,
           "'name':'a','taints':[{'key':'a/b','value':'c','effect':'NoExecute'},{'key':'','value':'-'},"
           "{'key':'k','effect':'noschedule'},{'key':'k','effect':'NoSchedule'}]",
           NULL,
           D0 ".taints[1].effect Required, " D0 ".taints[1].key Invalid, " D0 ".taints[1].value Invalid, " D0
              ".taints[2].effect NotSupported");
    const char *many = joined("'name':'a','taints':[%s]", repeated("{'key':'-','effect':'x'}", 17));
    EXPECT(device, 36, RESOURCE_V1, many, NULL, D0 ".taints TooMany");
    EXPECT(device, 37, RESOURCE_V1,
           joined("'name':'a','taints':[%s,{'key':'-'}]", repeated("{'key':'-','effect':'None'}", 16)), NULL,
           D0 ".taints TooMany, " D0 ".taints[16].effect Required");
    EXPECT(device, 37, RESOURCE_V1BETA1, "'name':'a','basic':{'taints':[{'key':'-','effect':'x'}]}", NULL,
           D0 ".basic.taints[0].effect NotSupported, " D0 ".taints[0].key Invalid");
    EXPECT(device, 36, RESOURCE_V1BETA1, "'name':'a','basic':{'taints':[{'key':'-','effect':'x'}]}", NULL,
           D0 ".taints[0].effect NotSupported, " D0 ".taints[0].key Invalid");
}

Test(device, unchanged_taints_are_not_looked_at) {
    const char *old = "'name':'a','taints':[{'key':'-','value':'v','effect':'x','timeAdded':"
                      "'2025-01-01T00:00:00Z'}]";
    EXPECT(device, 37, RESOURCE_V1, old, old, "");
    EXPECT(device, 37, RESOURCE_V1, "'name':'b','taints':[{'key':'-','effect':'None'}]", old,
           D0 ".taints[0].key Invalid");
    EXPECT(device, 36, RESOURCE_V1, "'name':'a','taints':[{'key':'-','value':'w','effect':'x'}]", old,
           D0 ".taints[0].effect NotSupported, " D0 ".taints[0].key Invalid");
    EXPECT(device, 36, RESOURCE_V1, "'name':'a','taints':[{'key':'-','value':'v','effect':'x'}]", old,
           D0 ".taints[0].effect NotSupported, " D0 ".taints[0].key Invalid");
    EXPECT(device, 36, RESOURCE_V1, "'name':'a','taints':[{'key':'k','effect':'None'},{'key':'-'}]", old,
           D0 ".taints[1].effect Required, " D0 ".taints[1].key Invalid");
}

Test(device, binding_conditions) {
    EXPECT(device, 36, RESOURCE_V1, "'name':'a','bindingConditions':['a'],'bindingFailureConditions':['b']",
           NULL, "");
    EXPECT(device, 36, RESOURCE_V1, "'name':'a','bindingConditions':['a']", NULL,
           D0 ".bindingFailureConditions Invalid");
    EXPECT(device, 36, RESOURCE_V1, "'name':'a','bindingFailureConditions':['a']", NULL,
           D0 ".bindingConditions Invalid");
    EXPECT(device, 37, RESOURCE_V1,
           "'name':'a','bindingConditions':['a','a','-'],'bindingFailureConditions':['b','a','b']", NULL,
           D0 ".bindingConditions[1] Duplicate, " D0 ".bindingConditions[2] Invalid, " D0
              ".bindingFailureConditions[1] Invalid, " D0 ".bindingFailureConditions[2] Duplicate");
    EXPECT(device, 37, RESOURCE_V1,
           "'name':'a','bindingConditions':['a','b','c','d','-','a'],'bindingFailureConditions':['f']", NULL,
           D0 ".bindingConditions TooMany, " D0 ".bindingConditions[5] Duplicate");
    EXPECT(device, 37, RESOURCE_V1BETA1,
           "'name':'a','basic':{'bindingConditions':['a','b','c','d','e'],'bindingFailureConditions':['-']}",
           NULL, D0 ".basic.bindingConditions TooMany, " D0 ".bindingFailureConditions[0] Invalid");
}
