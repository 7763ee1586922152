// SPDX-License-Identifier: Apache-2.0
// Attributes of devices.
#include <criterion/criterion.h>

#include "unit/lib/schema_case.h"

#define D0  "spec.devices[0]"
#define A0  D0 ".attributes"
#define X32 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define X64 X32 X32
#define X65 X64 "a"

static const char *attribute(const char *value) {
    return joined("'name':'a','attributes':{'x':%s}", value);
}

Test(device_attributes, one_value) {
    for (int minor = 36; minor <= 37; minor++) {
        EXPECT(device, minor, RESOURCE_V1, attribute("{'int':-1}"), NULL, "");
        EXPECT(device, minor, RESOURCE_V1, attribute("{'bool':false}"), NULL, "");
        EXPECT(device, minor, RESOURCE_V1, attribute("{'string':'" X64 "'}"), NULL, "");
        EXPECT(device, minor, RESOURCE_V1, attribute("{'string':'" X65 "'}"), NULL, A0 "[x].string TooLong");
        EXPECT(device, minor, RESOURCE_V1, attribute("{}"), NULL, A0 "[x] Invalid");
        EXPECT(device, minor, RESOURCE_V1, attribute("{'int':1,'bool':true}"), NULL, A0 "[x] Invalid");
        EXPECT(device, minor, RESOURCE_V1, attribute("{'version':'1','int':1}"), NULL,
               A0 "[x] Invalid, " A0 "[x].version Invalid");
        // Lists are dropped, so nothing is left.
        EXPECT(device, minor, RESOURCE_V1, attribute("{'ints':[1]}"), NULL, A0 "[x] Invalid");
    }
    EXPECT(device, 37, RESOURCE_V1BETA1, "'name':'a','basic':{'attributes':{'x':{}}}", NULL,
           D0 ".basic.attributes[x] Invalid");
    EXPECT(device, 36, RESOURCE_V1BETA1, "'name':'a','basic':{'attributes':{'x':{}}}", NULL,
           A0 "[x] Invalid");
}

Test(device_attributes, versions) {
    static const char *const fine[] = {"0.0.0",        "1.2.3",        "10.20.30",  "1.0.0-a",
                                       "1.0.0-0",      "1.0.0-a.1.0b", "1.0.0--",   "1.0.0+0",
                                       "1.0.0+00.a-b", "1.0.0-a+b",    "1.0.0+a-b", "1.0.0-00a"};
    static const char *const bad[] = {
        "",       "1",      "1.2",        "1.2.3.4",    "01.2.3",   "1.02.3",    "1.2.03",    "v1.2.3",
        "1.2.3-", "1.2.3+", "1.2.3-01",   "1.2.3-a..b", "1.2.3-a.", "1.2.3+a+b", "1.2.3-a_b", "1.2.x",
        "..",     "1..3",   "1.2.3+a..b", "1.2.3 ",     ".2.3",     "1.2."};
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++)
        EXPECT(device, 36, RESOURCE_V1, attribute(joined("{'version':'%s'}", fine[i])), NULL, "");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        EXPECT(device, 37, RESOURCE_V1, attribute(joined("{'version':'%s'}", bad[i])), NULL,
               A0 "[x].version Invalid");
    EXPECT(device, 37, RESOURCE_V1, attribute("{'version':'1.2.3-" X64 "'}"), NULL, A0 "[x].version TooLong");
    EXPECT(device, 37, RESOURCE_V1, attribute("{'version':'" X65 "'}"), NULL,
           A0 "[x].version Invalid, " A0 "[x].version TooLong");
}

Test(device_attributes, names) {
    EXPECT(device, 36, RESOURCE_V1, "'name':'a','attributes':{'d.com/x':{'int':1},'-':{'int':1}}", NULL,
           A0 " Invalid");
    EXPECT(device, 36, RESOURCE_V1, "'name':'a','attributes':{'" X64 "/x':{'int':1}}", NULL, A0 " TooLong");
}

// Keys of more than 96 bytes are cut in paths, but not by the declarative rules.
Test(device_attributes, long_names) {
    EXPECT(device, 36, RESOURCE_V1, "'name':'a','attributes':{'" X64 X32 "b':{}}", NULL,
           A0 " TooLong, " A0 "[" X32 "aaaaaaaaaaaaaaa..." X32 "aaaaaaaaaaaaab] Invalid");
    EXPECT(device, 37, RESOURCE_V1, "'name':'a','attributes':{'" X64 X32 "b':{}}", NULL,
           A0 " TooLong, " A0 "[" X32 "aaaaaaaaaaaaaaa..." X32 "aaaaaaaaaaaaab] Invalid, " A0 "[" X64 X32
              "b] Invalid");
    EXPECT(device, 36, RESOURCE_V1, "'name':'a','attributes':{'" X64 X32 "':{}}", NULL,
           A0 " TooLong, " A0 "[" X64 X32 "] Invalid");
}

// A character that is cut shows as U+FFFD, one for each of its bytes.
Test(device_attributes, long_names_cut_in_characters) {
    const char *key = X32 "aaaaaaaaaaaaaa\xE2\x82\xAC" X32 "aaaaaaaaaaaaa\xE2\x82\xAC" X32 "aaaaaaaaaaaa";
    EXPECT(device, 36, RESOURCE_V1, joined("'name':'a','attributes':{'%s':{}}", key), NULL,
           A0 " Invalid, " A0 " TooLong, " A0 "[" X32
              "aaaaaaaaaaaaaa\xEF\xBF\xBD...\xEF\xBF\xBD\xEF\xBF\xBD" X32 "aaaaaaaaaaaa] Invalid");
}

// An old slice that has lists keeps them.
Test(device_attributes, lists) {
    const char *old = attribute("{'ints':[1]}");
    EXPECT(device, 36, RESOURCE_V1, attribute("{'ints':[1,2]}"), old, "");
    EXPECT(device, 36, RESOURCE_V1, attribute("{'strings':['a','" X65 "']}"), old,
           A0 "[x].strings[1] TooLong");
    EXPECT(device, 37, RESOURCE_V1, attribute("{'versions':['1.2.3','" X65 "']}"), old,
           A0 "[x].versions[1] Invalid, " A0 "[x].versions[1] TooLong");
    EXPECT(device, 37, RESOURCE_V1, attribute("{'ints':[1],'bools':[true]}"), old, A0 "[x] Invalid");
    // By hand an empty list is a value, declaratively it is none.
    EXPECT(device, 36, RESOURCE_V1, attribute("{'bools':[]}"), old, A0 "[x].bools Invalid");
    EXPECT(device, 37, RESOURCE_V1, attribute("{'ints':[]}"), old, A0 "[x] Invalid, " A0 "[x].ints Invalid");
    EXPECT(device, 36, RESOURCE_V1, attribute("{'strings':[],'versions':[]}"), old,
           A0 "[x] Invalid, " A0 "[x].strings Invalid, " A0 "[x].versions Invalid");
    EXPECT(device, 36, RESOURCE_V1, attribute(joined("{'ints':[%s]},'y':{'int':1}", repeated("%d", 48))), old,
           D0 " Invalid");
    EXPECT(device, 36, RESOURCE_V1, attribute(joined("{'ints':[%s]},'y':{'int':1}", repeated("%d", 47))), old,
           "");
}

Test(device_attributes, lists_count_as_advanced) {
    const char *head = "'driver':'d','allNodes':true,'pool':{'name':'w1','resourceSliceCount':1}";
    const char *list = "{'name':'x','attributes':{'x':{'ints':[1]}}}";
    EXPECT(slice_spec, 37, RESOURCE_V1,
           joined("%s,'devices':[%s,%s]", head, list, repeated("{'name':'d%d'}", 64)),
           joined("%s,'devices':[%s]", head, list), "spec.devices TooMany");
}

// A server that has the feature on: its lists are values, off by default they are dropped.
Test(device_attributes, lists_in_use) {
    for (int minor = 36; minor <= 37; minor++) {
        const char *list = attribute("{'ints':[1,2]},'y':{'strings':['a']}");
        EXPECT(device, minor, RESOURCE_V1, list, NULL, A0 "[x] Invalid, " A0 "[y] Invalid");
        EXPECT_IN_USE(device, minor, RESOURCE_V1, list, NULL, "");
        EXPECT_IN_USE(device, minor, RESOURCE_V1, list, attribute("{'int':1}"), "");
        EXPECT_IN_USE(device, minor, RESOURCE_V1, attribute("{}"), NULL, A0 "[x] Invalid");
        EXPECT_IN_USE(device, minor, RESOURCE_V1, attribute("{'ints':[1],'int':1}"), NULL, A0 "[x] Invalid");
        EXPECT_IN_USE(device, minor, RESOURCE_V1, attribute("{'strings':['" X65 "']}"), NULL,
                      A0 "[x].strings[0] TooLong");
    }
}

// Attributes are looked at once where devices repeat them, but what is wrong is told of each device.
Test(device_attributes, repeated_devices) {
    const char *head = "'driver':'d','allNodes':true,'pool':{'name':'w1','resourceSliceCount':1}";
    EXPECT(slice_spec, 36, RESOURCE_V1,
           joined("%s,'devices':[%s]", head,
                  repeated("{'name':'d%d','attributes':{'a':{'int':1},'b':{}},'capacity':{'-':{'value':1}}}",
                           3)),
           NULL,
           "spec.devices[0].attributes[b] Invalid, spec.devices[0].capacity Invalid, "
           "spec.devices[1].attributes[b] Invalid, spec.devices[1].capacity Invalid, "
           "spec.devices[2].attributes[b] Invalid, spec.devices[2].capacity Invalid");
    EXPECT(
        slice_spec, 36, RESOURCE_V1,
        joined(
            "%s,'devices':[{'name':'a','attributes':{'a':{'int':1}}},{'name':'b','attributes':{'a':{'int':1},"
            "'-':{'int':1}}},{'name':'c','attributes':{'-':{'int':1},'a':{'int':1}}}]",
            head),
        NULL, "spec.devices[1].attributes Invalid, spec.devices[2].attributes Invalid");
}
