// SPDX-License-Identifier: Apache-2.0
// Shared counters and their consumption.
#include <criterion/criterion.h>

#include "unit/lib/schema_case.h"

#define HEAD "'driver':'d','nodeName':'w1','pool':{'name':'w1','resourceSliceCount':1}"
#define D0   "spec.devices[0]"

static const char *sets(const char *list) {
    return joined(HEAD ",'sharedCounters':[%s]", list);
}

Test(counters, sets) {
    EXPECT(slice_spec, 36, RESOURCE_V1, sets("{'name':'s','counters':{'a':{'value':'-1'}}}"), NULL, "");
    EXPECT(slice_spec, 37, RESOURCE_V1,
           sets("{'name':'','counters':{}},{'name':'A','counters':{'A':{'value':1}}},"
                "{'name':'','counters':{'a':{'value':1}}}"),
           NULL,
           "spec.sharedCounters[0].counters Required, spec.sharedCounters[0].name Required, "
           "spec.sharedCounters[1].counters Invalid, spec.sharedCounters[1].name Invalid, "
           "spec.sharedCounters[2] Duplicate, spec.sharedCounters[2].name Required");
    EXPECT(slice_spec, 36, RESOURCE_V1, sets(repeated("{'name':'s%d','counters':{'a':{'value':1}}}", 8)),
           NULL, "");
    EXPECT(slice_spec, 36, RESOURCE_V1, sets(repeated("{'name':'S%d'}", 9)), NULL,
           "spec.sharedCounters TooMany");
}

// The declarative rules of v1.37 look at the keys of too many counters, the hand-written ones do not.
Test(counters, too_many_in_a_set) {
    const char *fine = joined("{'name':'s','counters':{%s}}", repeated("'a%d':{'value':1}", 32));
    const char *many =
        joined("{'name':'s','counters':{%s,'A':{'value':1}}}", repeated("'a%d':{'value':1}", 32));
    EXPECT(slice_spec, 36, RESOURCE_V1, sets(fine), NULL, "");
    EXPECT(slice_spec, 36, RESOURCE_V1, sets(many), NULL, "spec.sharedCounters[0].counters TooMany");
    EXPECT(slice_spec, 37, RESOURCE_V1, sets(many), NULL,
           "spec.sharedCounters[0].counters Invalid, spec.sharedCounters[0].counters TooMany");
}

static const char *consumes(const char *list) {
    return joined("'name':'a','consumesCounters':[%s]", list);
}

Test(counters, consumption) {
    const char *one = "{'counterSet':'s','counters':{'a':{'value':1}}}";
    EXPECT(device, 36, RESOURCE_V1, consumes(one), NULL, "");
    EXPECT(device, 37, RESOURCE_V1, consumes(joined("%s,%s", one, one)), NULL,
           D0 ".consumesCounters[1] Duplicate");
    EXPECT(device, 37, RESOURCE_V1, consumes(joined("%s,%s,%s", one, one, one)), NULL,
           D0 ".consumesCounters TooMany");
    EXPECT(device, 36, RESOURCE_V1,
           consumes("{'counterSet':'','counters':{'A':{'value':1}}},{'counterSet':'-','counters':{}}"), NULL,
           D0 ".consumesCounters[0].counterSet Required, " D0 ".consumesCounters[0].counters Invalid, " D0
              ".consumesCounters[1].counterSet Invalid, " D0 ".consumesCounters[1].counters Required");
    EXPECT(device, 37, RESOURCE_V1BETA1,
           joined("'name':'a','basic':{'consumesCounters':[{'counterSet':'-','counters':{%s}}]}",
                  repeated("'A%d':{'value':1}", 33)),
           NULL,
           D0 ".basic.consumesCounters[0].counterSet Invalid, " D0
              ".basic.consumesCounters[0].counters Invalid, " D0 ".consumesCounters[0].counters TooMany");
}

// Compatibility groups are dropped, but where the old slice has some.
Test(counters, compatibility_groups) {
    const char *bad =
        consumes("{'counterSet':'s','counters':{'a':{'value':1}},'compatibilityGroups':['A','A']}");
    const char *many =
        consumes("{'counterSet':'s','counters':{'a':{'value':1}},'compatibilityGroups':['a','b','c']}");
    const char *old = consumes("{'counterSet':'s','counters':{'a':{'value':1}},'compatibilityGroups':['a']}");
    EXPECT(device, 37, RESOURCE_V1, bad, NULL, "");
    EXPECT(device, 37, RESOURCE_V1, bad, consumes("{'counterSet':'s','counters':{'a':{'value':1}}}"), "");
    EXPECT(device, 37, RESOURCE_V1, bad, old,
           D0 ".consumesCounters[0].compatibilityGroups[0] Invalid, " D0
              ".consumesCounters[0].compatibilityGroups[1] Duplicate, " D0
              ".consumesCounters[0].compatibilityGroups[1] Invalid");
    EXPECT(device, 37, RESOURCE_V1, many, old, D0 ".consumesCounters[0].compatibilityGroups TooMany");
}

Test(counters, compatibility_groups_in_use) {
    EXPECT_IN_USE(device, 37, RESOURCE_V1,
                  consumes("{'counterSet':'s','counters':{'a':{'value':1}},'compatibilityGroups':['a','b']}"),
                  NULL, "");
    EXPECT_IN_USE(device, 37, RESOURCE_V1,
                  consumes("{'counterSet':'s','counters':{'a':{'value':1}},'compatibilityGroups':['A']}"),
                  NULL, D0 ".consumesCounters[0].compatibilityGroups[0] Invalid");
}
