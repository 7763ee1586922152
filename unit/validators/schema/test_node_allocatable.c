// SPDX-License-Identifier: Apache-2.0
// Node-allocatable resources of a device, in the form of either minor.
#include <criterion/criterion.h>

#include "unit/lib/schema_case.h"
#include "validators/schema/resource_slice.h"

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

static struct text hint_of(const char *key, struct arena *arena) {
    static struct device_capacity capacity[2] = {{.key = TEXT_INIT("dra.cpu/cpu")},
                                                 {.key = TEXT_INIT("memory")}};
    struct node_allocatable mapping = {
        .key = TEXT("cpu"), .mapping_set = true, .capacity_key = {.value = text_of(key), .set = true}};
    struct device device = {.name = TEXT("a"),
                            .capacity = {.items = capacity, .count = 2},
                            .mappings_v136 = {.items = &mapping, .count = 1, .set = true}};
    struct resource_slice slice = {.devices = {.items = &device, .count = 1, .set = true}};
    struct finding_list findings;
    finding_list_init(&findings, arena);
    schema_resource_slice(&slice, RESOURCE_V1, 36, FEATURES_BY_DEFAULT, &findings);
    for (size_t i = 0; i < findings.count; i++)
        if (findings.items[i].type == FINDING_NOT_FOUND) return findings.items[i].hint;
    return (struct text){"", 0};
}

Test(node_allocatable, hints) {
    struct arena arena;
    arena_init(&arena, 1 << 20);
    cr_expect(text_equal(hint_of("memory", &arena), TEXT("")));
    cr_expect(text_equal(hint_of("dra.cpu/CPu", &arena), TEXT("did you mean dra.cpu/cpu?")));
    cr_expect(text_equal(hint_of("Memory", &arena), TEXT("did you mean memory?")));
    cr_expect(text_equal(hint_of("bandwidth", &arena),
                         TEXT("name a key of the device's `capacity`, spelled as it is there")));
    arena_release(&arena);
}
