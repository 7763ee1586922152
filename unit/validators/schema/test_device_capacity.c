// SPDX-License-Identifier: Apache-2.0
// Capacity of devices and request policies.
#include <criterion/criterion.h>

#include "unit/lib/schema_case.h"

#define C0 "spec.devices[0].capacity"
#define P0 C0 "[c].requestPolicy"

static const char *policy(const char *value, const char *text) {
    return joined("'name':'a','allowMultipleAllocations':true,'capacity':{'c':{'value':'%s','requestPolicy':"
                  "{%s}}}",
                  value, text);
}

#define BOTH(value, text, want)                                                                              \
    do {                                                                                                     \
        EXPECT(device, 36, RESOURCE_V1, policy(value, text), NULL, want);                                    \
        EXPECT(device, 37, RESOURCE_V1, policy(value, text), NULL, want);                                    \
    } while (0)

Test(device_capacity, names) {
    EXPECT(device, 36, RESOURCE_V1, "'name':'a','capacity':{'d/c':{'value':-1},'-':{'value':1}}", NULL,
           C0 " Invalid");
    EXPECT(device, 36, RESOURCE_V1, "'name':'a','capacity':{'c':{'value':1,'requestPolicy':{}}}", NULL,
           P0 " Forbidden");
    EXPECT(device, 37, RESOURCE_V1,
           "'name':'a','allowMultipleAllocations':false,'capacity':{'c':{'value':1,'requestPolicy':{}}}",
           NULL, P0 " Forbidden");
}

Test(device_capacity, policies) {
    BOTH("8", "", "");
    BOTH("8", "'default':'9'", "");
    BOTH("8", "'validValues':['1'],'validRange':{'min':'1'}", P0 " Forbidden");
    BOTH("8", "'validValues':['1']", P0 ".default Required");
    BOTH("8", "'validRange':{'min':'1'}", P0 ".default Required");
    BOTH("8", "'default':'1','validRange':{}", P0 ".validRange.min Required");
}

Test(device_capacity, valid_values) {
    BOTH("8", "'default':'4','validValues':['1','4','8']", "");
    BOTH("8", "'default':'3','validValues':['1','4','9']",
         P0 ".validValues Invalid, " P0 ".validValues[2] Invalid");
    BOTH("8", "'default':'1','validValues':['4','1']", P0 ".validValues[1] Invalid");
    BOTH("8", "'default':'1','validValues':['1','1','1']",
         P0 ".validValues[1] Duplicate, " P0 ".validValues[2] Duplicate");
    BOTH("8", "'default':'0.5','validValues':['0.5','1']", P0 ".validValues[1] Duplicate");
    BOTH("99", joined("'default':'1','validValues':[%s]", repeated("%d", 10)), "");
    BOTH("99", joined("'default':'1','validValues':[%s]", repeated("%d", 11)),
         P0 ".validValues Invalid, " P0 ".validValues TooMany");
}

// Value() of what does not fit an int64: 0 for few digits, the low 64 bits for many.
Test(device_capacity, duplicates_of_large_values) {
    BOTH("1e40", "'default':'10E','validValues':['10E','20E']", P0 ".validValues[1] Duplicate");
    BOTH("1e40", "'default':'0','validValues':['0','18446744073709551616']", P0 ".validValues[1] Duplicate");
    BOTH("1e40", "'default':'1','validValues':['1','18446744073709551616.5']",
         P0 ".validValues[1] Duplicate");
    BOTH("1e40", "'default':'1','validValues':['1','18446744073709551618']", "");
    BOTH("1e60", "'default':'0','validValues':['0','1234567890123456789012345678901234567890123456789']",
         P0 ".validValues[1] Duplicate");
    BOTH("1e60", "'default':'-1','validValues':['-9223372036854775809','-1']",
         P0 ".validValues[1] Duplicate");
    BOTH("1e60", "'default':'1','validValues':['-18446744073709551616.5','1']",
         P0 ".validValues[1] Duplicate");
    BOTH("1e60", "'default':'1','validValues':['-123456789012345678901.5','1','4362896300']",
         P0 ".validValues[2] Duplicate");
    BOTH("1e60", "'default':'-1','validValues':['-1.0000000001','-1','0']", P0 ".validValues[2] Duplicate");
}

Test(device_capacity, ranges) {
    BOTH("8", "'default':'2','validRange':{'min':'1'}", "");
    BOTH("8", "'default':'2','validRange':{'min':'1','max':'8','step':'1'}", "");
    BOTH("8", "'default':'9','validRange':{'min':'9'}", P0 ".validRange.min Invalid");
    BOTH("8", "'default':'2','validRange':{'min':'1','max':'9'}", P0 ".validRange.max Invalid");
}

// v1.37 names the default where v1.36 names the limit that it breaks.
Test(device_capacity, default_out_of_range) {
    const char *low = policy("8", "'default':'1','validRange':{'min':'2'}");
    const char *high = policy("8", "'default':'5','validRange':{'min':'2','max':'4'}");
    EXPECT(device, 36, RESOURCE_V1, low, NULL, P0 ".validRange.min Invalid");
    EXPECT(device, 37, RESOURCE_V1, low, NULL, P0 ".validRange.default Invalid");
    EXPECT(device, 36, RESOURCE_V1, high, NULL, P0 ".validRange.max Invalid");
    EXPECT(device, 37, RESOURCE_V1, high, NULL, P0 ".validRange.default Invalid");
    const char *turned = policy("8", "'default':'3','validRange':{'min':'3','max':'2'}");
    EXPECT(device, 36, RESOURCE_V1, turned, NULL, P0 ".validRange.max Invalid");
    EXPECT(device, 37, RESOURCE_V1, turned, NULL,
           P0 ".validRange.default Invalid, " P0 ".validRange.max Invalid");
}

Test(device_capacity, steps) {
    BOTH("8", "'default':'4','validRange':{'min':'1','step':'2'}", P0 ".validRange.step Invalid");
    BOTH("8", "'default':'3','validRange':{'min':'1','max':'6','step':'2'}", P0 ".validRange.step Invalid");
    BOTH("8", "'default':'1','validRange':{'min':'1','step':'8'}", P0 ".validRange.step Invalid");
    BOTH("8", "'default':'3','validRange':{'min':'1','max':'7','step':'2'}", "");
    const char *zero = policy("8", "'default':'1','validRange':{'min':'1','step':'0'}");
    EXPECT(device, 36, RESOURCE_V1, zero, NULL, P0 ".validRange.step InternalError");
    EXPECT(device, 37, RESOURCE_V1, zero, NULL, P0 ".validRange.step Invalid");
    const char *negative = policy("8", "'default':'3','validRange':{'min':'1','step':'-1'}");
    EXPECT(device, 36, RESOURCE_V1, negative, NULL, "");
    EXPECT(device, 37, RESOURCE_V1, negative, NULL, P0 ".validRange.step Invalid");
}

Test(device_capacity, steps_of_large_values) {
    const char *large = policy("1e30", "'default':'1','validRange':{'min':'1','max':'10E','step':'10E'}");
    EXPECT(device, 36, RESOURCE_V1, large, NULL, P0 ".validRange.step InternalError");
    EXPECT(device, 37, RESOURCE_V1, large, NULL,
           P0 ".validRange.max Invalid, " P0 ".validRange.step Invalid");
    const char *negative = policy("1e30", "'default':'-1','validRange':{'min':'-2','step':'1'}");
    EXPECT(device, 36, RESOURCE_V1, negative, NULL, "");
    EXPECT(device, 37, RESOURCE_V1, negative, NULL,
           P0 ".validRange.default Invalid, " P0 ".validRange.min Invalid");
}

Test(device_capacity, unchanged_is_not_looked_at_in_v137) {
    const char *old = policy("8", "'default':'1','validRange':{'min':'2','max':'8','step':'1'}");
    EXPECT(device, 37, RESOURCE_V1, joined("%s,'bindsToNode':true", old), old, "");
    EXPECT(device, 36, RESOURCE_V1, joined("%s,'bindsToNode':true", old), old, P0 ".validRange.min Invalid");
    EXPECT(device, 37, RESOURCE_V1, policy("9", "'default':'1','validRange':{'min':'2'}"), old,
           P0 ".validRange.default Invalid");
    EXPECT(device, 37, RESOURCE_V1, policy("8", "'default':'1','validRange':{'min':'2'}"), old,
           P0 ".validRange.default Invalid");
    EXPECT(device, 37, RESOURCE_V1, policy("8", "'default':'1','validValues':['2']"), old,
           P0 ".validValues Invalid");
    EXPECT(device, 37, RESOURCE_V1, policy("8", "'default':'1','validValues':['3']"),
           policy("8", "'default':'1','validValues':['2']"), P0 ".validValues Invalid");
    EXPECT(device, 37, RESOURCE_V1, policy("8", "'default':'1','validValues':['2']"),
           "'name':'a','capacity':{'c':{'value':'8'}}", P0 ".validValues Invalid");
    EXPECT(device, 37, RESOURCE_V1, "'name':'a','capacity':{'-':{'value':1}}", old, C0 " Invalid");
    EXPECT(device, 37, RESOURCE_V1, "'name':'a','capacity':{'c':{'value':1},'-':{'value':1}}", old,
           C0 " Invalid");
}

// DRAFractionalCapacityRange may be on: what only breaks whole numbers passes.
Test(device_capacity, fractions_in_use) {
    const char *values = policy("8", "'default':'0.5','validValues':['0.5','1']");
    EXPECT(device, 37, RESOURCE_V1, values, NULL, P0 ".validValues[1] Duplicate");
    EXPECT_IN_USE(device, 37, RESOURCE_V1, values, NULL, "");
    EXPECT_IN_USE(device, 36, RESOURCE_V1, values, NULL, P0 ".validValues[1] Duplicate");
    EXPECT_IN_USE(device, 37, RESOURCE_V1, policy("8", "'default':'0.5','validValues':['0.5','500m']"), NULL,
                  P0 ".validValues[1] Duplicate");
    const char *range = policy("8", "'default':'1.5','validRange':{'min':'500m','max':'3','step':'500m'}");
    EXPECT_IN_USE(device, 37, RESOURCE_V1, range, NULL, "");
    range = policy("8", "'default':'3.5','validRange':{'min':'2','max':'6.5','step':'1.5'}");
    EXPECT(device, 37, RESOURCE_V1, range, NULL, P0 ".validRange.step Invalid");
    EXPECT_IN_USE(device, 37, RESOURCE_V1, range, NULL, "");
    EXPECT_IN_USE(device, 37, RESOURCE_V1, policy("8", "'default':'3','validRange':{'min':'1','step':'3'}"),
                  NULL, P0 ".validRange.step Invalid");
}
