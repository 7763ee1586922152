// SPDX-License-Identifier: Apache-2.0
// Device classes.
#include <criterion/criterion.h>

#include "unit/lib/schema_case.h"

#define FIXED "{'opaque':{'driver':'d.example.com','parameters':{}}}"

Test(device_class, metadata) {
    EXPECT(class, 36, RESOURCE_V1, "'metadata':{'name':'a.b','generation':-1},'spec':{}", NULL, "");
    EXPECT(class, 37, RESOURCE_V1, "'metadata':{'name':'A'},'spec':{}", NULL, "metadata.name Invalid");
    EXPECT(class, 37, RESOURCE_V1BETA1, "'metadata':{},'spec':{}", NULL, "metadata.name Required");
    EXPECT(class, 36, RESOURCE_V1, "'metadata':{'name':'a','namespace':'b'},'spec':{}", NULL, "");
    EXPECT(class, 36, RESOURCE_V1, "'metadata':{'generateName':'a-'},'spec':{}", NULL, "");
    // Of a class, the generated name is judged, not what it is made of.
    EXPECT(class, 36, RESOURCE_V1, "'metadata':{'generateName':'A-'},'spec':{}", NULL,
           "metadata.name Invalid");
    const char *longer = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    EXPECT(class, 36, RESOURCE_V1, joined("'metadata':{'generateName':'%sA'},'spec':{}", longer), NULL, "");
    EXPECT(class, 36, RESOURCE_V1, joined("'metadata':{'generateName':'%s/'},'spec':{}", longer), NULL,
           "metadata.generateName Invalid");
    EXPECT(class, 36, RESOURCE_V1, joined("'metadata':{'generateName':'%s%%'},'spec':{}", longer), NULL,
           "metadata.generateName Invalid");
}

Test(device_class, selectors) {
    EXPECT(class_spec, 36, RESOURCE_V1, "'selectors':[{'cel':{'expression':'true'}},{}]", NULL,
           "spec.selectors[1].cel Required");
    EXPECT(class_spec, 37, RESOURCE_V1, joined("'selectors':[%s]", repeated("{}", 33)), NULL,
           "spec.selectors TooMany");
    const char *x16 = "xxxxxxxxxxxxxxxx";
    char expression[10242];
    memset(expression, 'x', sizeof expression);
    expression[10241] = '\0';
    const char *too_long = joined("'selectors':[{'cel':{'expression':'%s'}}]", expression);
    EXPECT(class_spec, 36, RESOURCE_V1, too_long, NULL, "spec.selectors[0].cel.expression TooLong");
    EXPECT(class_spec, 36, RESOURCE_V1, too_long, too_long, "spec.selectors[0].cel.expression TooLong");
    EXPECT(class_spec, 37, RESOURCE_V1, too_long, too_long, "");
    EXPECT(class_spec, 37, RESOURCE_V1, too_long, joined("'selectors':[{'cel':{'expression':'%s'}}]", x16),
           "spec.selectors[0].cel.expression TooLong");
    EXPECT(class_spec, 37, RESOURCE_V1, too_long, "", "spec.selectors[0].cel.expression TooLong");
}

Test(device_class, config) {
    EXPECT(class_spec, 36, RESOURCE_V1, "'config':[" FIXED "]", NULL, "");
    EXPECT(class_spec, 36, RESOURCE_V1, "'config':[{}]", NULL, "spec.config[0].opaque Required");
    EXPECT(class_spec, 37, RESOURCE_V1, "'config':[{'opaque':{'driver':'','parameters':[]}}]", NULL,
           "spec.config[0].opaque.driver Required, spec.config[0].opaque.parameters Invalid");
    EXPECT(class_spec, 37, RESOURCE_V1, joined("'config':[%s]", repeated(FIXED, 32)), NULL, "");
    EXPECT(class_spec, 37, RESOURCE_V1, joined("'config':[%s]", repeated("{}", 33)), NULL,
           "spec.config TooMany");
}

Test(device_class, stored_config_may_be_long) {
    char filler[10241];
    memset(filler, 'x', sizeof filler);
    filler[10240] = '\0';
    const char *too_long =
        joined("'config':[{'opaque':{'driver':'d.example.com','parameters':{'a':'%s'}}}]", filler);
    EXPECT(class_spec, 37, RESOURCE_V1, too_long, NULL, "spec.config[0].opaque.parameters TooLong");
    EXPECT(class_spec, 37, RESOURCE_V1, too_long, too_long, "");
    EXPECT(class_spec, 37, RESOURCE_V1, too_long, "'config':[" FIXED "]",
           "spec.config[0].opaque.parameters TooLong");
    EXPECT(class_spec, 37, RESOURCE_V1, too_long, "", "spec.config[0].opaque.parameters TooLong");
}

Test(device_class, extended_resource) {
    EXPECT(class_spec, 36, RESOURCE_V1, "'extendedResourceName':'example.com/gpu'", NULL, "");
    EXPECT(class_spec, 36, RESOURCE_V1, "'extendedResourceName':'gpu'", NULL,
           "spec.extendedResourceName Invalid");
    EXPECT(class_spec, 37, RESOURCE_V1, "'extendedResourceName':''", NULL,
           "spec.extendedResourceName Invalid");
}

Test(device_class, update) {
    EXPECT(class, 37, RESOURCE_V1, "'metadata':{'name':'b','generation':-1},'spec':{}",
           "'metadata':{'name':'a'},'spec':{}", "metadata.name Invalid");
    EXPECT(class, 37, RESOURCE_V1, "'metadata':{'name':'a','generateName':'-/'},'spec':{}",
           "'metadata':{'name':'a'},'spec':{}", "metadata.generateName Invalid");
    EXPECT(class, 37, RESOURCE_V1, "'metadata':{'name':'a','labels':{'-':'a'}},'spec':{}",
           "'metadata':{'name':'a'},'spec':{}", "metadata.labels Invalid");
}
