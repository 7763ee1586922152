// SPDX-License-Identifier: Apache-2.0
// Node-allocatable resources of a device, in the form of either minor.
#include <criterion/criterion.h>

#include "unit/lib/schema_case.h"

#define D0   "spec.devices[0]"
#define M36  D0 ".nodeAllocatableResourceMappings"
#define M37  D0 ".nodeAllocatableResources"
#define HAVE "'name':'a','capacity':{'cpu':{'value':8}},"

Test(node_allocatable, mappings_of_v136) {
    EXPECT(device, 36, RESOURCE_V1,
           HAVE
           "'nodeAllocatableResourceMappings':{'cpu':{},'x.kubernetes.io/y':{'allocationMultiplier':'1m'},"
           "'memory':{'capacityKey':'cpu'}}",
           NULL, "");
    EXPECT(
        device, 36, RESOURCE_V1,
        HAVE "'nodeAllocatableResourceMappings':{'a/b':{'allocationMultiplier':'0'},'cpu':{'capacityKey':''},"
             "'memory':{'capacityKey':'Cpu','allocationMultiplier':'-1'}}",
        NULL,
        M36 "[a/b] Invalid, " M36 "[a/b].allocationMultiplier Invalid, " M36 "[cpu].capacityKey Invalid, " M36
            "[memory].allocationMultiplier Invalid, " M36 "[memory].capacityKey NotFound");
    EXPECT(device, 36, RESOURCE_V1BETA1,
           "'name':'a','basic':{'nodeAllocatableResourceMappings':{'cpu':{'capacityKey':'cpu'}}}", NULL,
           M36 "[cpu].capacityKey NotFound");
}

static const char *resource(const char *key, const char *value) {
    return joined(HAVE "'nodeAllocatableResources':{'%s':%s}", key, value);
}

Test(node_allocatable, mappings_of_v137) {
    EXPECT(device, 37, RESOURCE_V1,
           resource("cpu", "{'mapping':{'capacityKey':'cpu','capacityMultiplier':'1'}}"), NULL, "");
    EXPECT(device, 37, RESOURCE_V1, resource("memory", "{'mapping':{'deviceMultiplier':'1Gi'}}"), NULL, "");
    EXPECT(device, 37, RESOURCE_V1, resource("hugepages-2Mi", "{'overhead':{'perPod':'0'}}"), NULL, "");
    EXPECT(device, 37, RESOURCE_V1, resource("ephemeral-storage", "{'overhead':{'perPod':'0'}}"), NULL,
           M37 "[ephemeral-storage] Invalid");
    EXPECT(device, 37, RESOURCE_V1, resource("cpu", "{}"), NULL, M37 "[cpu] Required");
    EXPECT(device, 37, RESOURCE_V1, resource("cpu", "{'mapping':{}}"), NULL, M37 "[cpu].mapping Invalid");
    EXPECT(device, 37, RESOURCE_V1,
           resource("cpu", "{'mapping':{'capacityKey':'cpu','capacityMultiplier':'1','deviceMultiplier':1}}"),
           NULL, M37 "[cpu].mapping Invalid");
    EXPECT(device, 37, RESOURCE_V1, resource("cpu", "{'mapping':{'capacityKey':'x'}}"), NULL,
           M37 "[cpu].mapping.capacityKey NotFound, " M37 "[cpu].mapping.capacityMultiplier Required");
    EXPECT(device, 37, RESOURCE_V1, resource("cpu", "{'mapping':{'capacityKey':''}}"), NULL,
           M37 "[cpu].mapping.capacityKey Invalid, " M37 "[cpu].mapping.capacityMultiplier Required");
    EXPECT(device, 37, RESOURCE_V1,
           resource("cpu", "{'mapping':{'capacityMultiplier':'0','deviceMultiplier':'0'}}"), NULL,
           M37 "[cpu].mapping.capacityKey Required, " M37 "[cpu].mapping.deviceMultiplier Invalid");
    EXPECT(device, 37, RESOURCE_V1,
           resource("cpu", "{'mapping':{'capacityKey':'cpu','capacityMultiplier':'0'}}"), NULL,
           M37 "[cpu].mapping.capacityMultiplier Invalid");
}

Test(node_allocatable, overhead) {
    EXPECT(device, 37, RESOURCE_V1, resource("cpu", "{'overhead':{}}"), NULL, M37 "[cpu].overhead Invalid");
    EXPECT(device, 37, RESOURCE_V1, resource("cpu", "{'overhead':{'perPod':'-1','perContainer':'-1n'}}"),
           NULL, M37 "[cpu].overhead.perContainer Invalid, " M37 "[cpu].overhead.perPod Invalid");
}

Test(node_allocatable, declared_path) {
    EXPECT(device, 37, RESOURCE_V1BETA1,
           "'name':'a','basic':{'nodeAllocatableResources':{'cpu':{'mapping':{}},'x':{}}}", NULL,
           D0 ".basic.nodeAllocatableResources[cpu].mapping Invalid, " M37 "[x] Required, " M37
              "[x] Invalid");
}
