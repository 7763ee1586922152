// SPDX-License-Identifier: Apache-2.0
#include "server/codec/decode.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "unit/lib/corpus.h"

#define ARENA_CAP_BYTES ((size_t)64 << 20)

struct bench {
    struct arena arena;
    struct finding_list findings;
    struct object object;
    struct fault fault;
    char *input;
};
static struct bench bench;

static void stop(void) {
    arena_release(&bench.arena);
    free(bench.input);
    bench = (struct bench){0};
}

static bool decode_text(struct text input, enum json_mode mode, int minor) {
    arena_release(&bench.arena);
    arena_init(&bench.arena, ARENA_CAP_BYTES);
    finding_list_init(&bench.findings, &bench.arena);
    struct decode_options options = {mode, minor};
    return decode_object(&bench.arena, input, &options, &bench.object, &bench.findings, &bench.fault);
}

// Reads JSON that is written with ' for ", so that it can be read here too.
static bool decode(const char *written, enum json_mode mode, int minor) {
    free(bench.input);
    bench.input = malloc(strlen(written) + 1);
    memcpy(bench.input, written, strlen(written) + 1);
    for (char *at = bench.input; *at != '\0'; at++)
        if (*at == '\'') *at = '"';
    return decode_text(text_of(bench.input), mode, minor);
}

static void expect_text(struct text got, const char *want) {
    cr_expect(text_equal(got, text_of(want)), "got \"%.*s\", want \"%s\"", TEXT_ARG(got), want);
}

static void print_findings(void) {
    for (size_t i = 0; i < bench.findings.count; i++) {
        const struct finding *finding = &bench.findings.items[i];
        fprintf(stderr, "%.*s: %.*s (%.*s)\n", TEXT_ARG(finding->path), TEXT_ARG(finding->detail),
                TEXT_ARG(finding->hint));
    }
}

// Reads without any finding.
static void decode_clean(const char *written, int minor) {
    cr_assert(decode(written, JSON_STRICT, minor), "%s", bench.fault.text);
    print_findings();
    cr_assert_eq(bench.findings.count, 0);
}

static bool has_finding(enum finding_type type, const char *path) {
    for (size_t i = 0; i < bench.findings.count; i++)
        if (bench.findings.items[i].type == type && text_equal(bench.findings.items[i].path, text_of(path)))
            return true;
    return false;
}

#define METADATA                                                                                             \
    "'metadata':{'name':'n','generateName':'g-','namespace':'ns','selfLink':'/x','uid':'u',"                 \
    "'resourceVersion':'5','generation':3,'creationTimestamp':'2025-01-02T03:04:05Z',"                       \
    "'deletionTimestamp':'2025-01-02T03:04:06Z','deletionGracePeriodSeconds':30,'labels':{'l':'v'},"         \
    "'annotations':{'a':'w'},'ownerReferences':[{'apiVersion':'v1','kind':'Node','name':'w1','uid':'o',"     \
    "'controller':true,'blockOwnerDeletion':false}],'finalizers':['f'],'managedFields':[{'manager':'m',"     \
    "'operation':'Update','apiVersion':'v1','time':'2025-01-02T03:04:05Z','fieldsType':'FieldsV1',"          \
    "'fieldsV1':{'f:spec':{}},'subresource':'status'}]}"
#define SELECTOR                                                                                             \
    "{'nodeSelectorTerms':[{'matchExpressions':[{'key':'k','operator':'In','values':['x']}],"                \
    "'matchFields':[{'key':'metadata.name','operator':'In','values':['w1']}]}]}"
#define DEVICE_PARTS                                                                                         \
    "'attributes':{'i':{'int':4},'b':{'bool':true},'s':{'string':'x'},'v':{'version':'1.2.3'},"              \
    "'is':{'ints':[1,2]},'bs':{'bools':[true]},'ss':{'strings':['y']},'vs':{'versions':['0.1.0']}},"         \
    "'capacity':{'cpu':{'value':'8','requestPolicy':{'default':'1','validValues':['1','2'],"                 \
    "'validRange':{'min':'1','max':'8','step':'1'}}}},'consumesCounters':[{'counterSet':'cs',"               \
    "'counters':{'c':{'value':'1'}}}],'nodeName':'w2','nodeSelector':" SELECTOR                              \
    ",'allNodes':false,'taints':[{'key':'k','value':'v','effect':'NoSchedule','timeAdded':"                  \
    "'2025-01-02T03:04:05+02:00'}],'bindsToNode':true,'bindingConditions':['bc'],"                           \
    "'bindingFailureConditions':['bf'],'allowMultipleAllocations':true"
#define SLICE_PARTS                                                                                          \
    "'driver':'d','pool':{'name':'p','generation':2,'resourceSliceCount':1},'nodeName':'w1','nodeSelector'"  \
    ":" SELECTOR ",'allNodes':true,'perDeviceNodeSelection':true,'sharedCounters':[{'name':'cs',"            \
    "'counters':{'c':{'value':'9'}}}]"

static const char slice_36[] =
    "{'kind':'ResourceSlice','apiVersion':'resource.k8s.io/v1'," METADATA ",'spec':{" SLICE_PARTS
    ",'devices':[{'name':'dev'," DEVICE_PARTS
    ",'nodeAllocatableResourceMappings':{'cpu':{'capacityKey':'cpu','allocationMultiplier':'2'}}}]}}";
static const char slice_37[] =
    "{'kind':'ResourceSlice','apiVersion':'resource.k8s.io/v1'," METADATA ",'spec':{" SLICE_PARTS
    ",'partitionTypeAttribute':'d/p','skipNodeOperations':['Prepare'],'devices':[{'name':'dev'," DEVICE_PARTS
    ",'nodeAllocatableResources':{'cpu':{'mapping':{'capacityKey':'cpu','capacityMultiplier':'2',"
    "'deviceMultiplier':'3'},'overhead':{'perPod':'100m','perContainer':'10m'}}}}]}}";
static const char slice_v1beta1[] =
    "{'kind':'ResourceSlice','apiVersion':'resource.k8s.io/v1beta1'," METADATA ",'spec':{" SLICE_PARTS
    ",'devices':[{'name':'dev','basic':{" DEVICE_PARTS
    ",'nodeAllocatableResourceMappings':{'cpu':{'capacityKey':'cpu','allocationMultiplier':'2'}}}}]}}";

#define TOLERATIONS                                                                                          \
    "'tolerations':[{'key':'k','operator':'Equal','value':'v','effect':'NoExecute','tolerationSeconds':7}]"
#define SHARED_REQUEST                                                                                       \
    "'deviceClassName':'c','selectors':[{'cel':{'expression':'true'}}],'allocationMode':'ExactCount',"       \
    "'count':2," TOLERATIONS ",'capacity':{'requests':{'cpu':'3'}}"
#define DERIVED ",'derivedAttributes':[{'name':'d/a','expression':'1'}]"
#define OPAQUE  "'opaque':{'driver':'d','parameters':{'kind':'K'}}"
#define CLAIM_REST                                                                                           \
    "'constraints':[{'requests':['r'],'matchAttribute':'d/m','distinctAttribute':'d/x'}],"                   \
    "'config':[{'requests':['r']," OPAQUE "}]"
#define CLAIM_SPEC                                                                                           \
    "{'devices':{'requests':[{'name':'r','exactly':{" SHARED_REQUEST ",'adminAccess':true}},"                \
    "{'name':'q','firstAvailable':[{'name':'s'," SHARED_REQUEST "}]}]," CLAIM_REST "}}"
#define STATUS_START                                                                                         \
    "'status':{'allocation':{'devices':{'results':[{'request':'r','driver':'d','pool':'p','device':'dev',"   \
    "'adminAccess':false," TOLERATIONS ",'bindingConditions':['bc'],'bindingFailureConditions':['bf'],"      \
    "'shareID':'sh','consumedCapacity':{'cpu':'1'}"
#define STATUS_END                                                                                           \
    "}],'config':[{'source':'FromClass','requests':['r']," OPAQUE "}]},'nodeSelector':" SELECTOR             \
    ",'allocationTimestamp':'2025-01-02T03:04:05.678Z'},'reservedFor':[{'apiGroup':'g','resource':'pods',"   \
    "'name':'pod','uid':'pu'}],'devices':[{'driver':'d','pool':'p','device':'dev','shareID':'sh',"           \
    "'conditions':[{'type':'Ready','status':'True','observedGeneration':4,"                                  \
    "'lastTransitionTime':'2025-01-02T03:04:05Z','reason':'R','message':'m'}],'data':{'k':[1]},"             \
    "'networkData':{'interfaceName':'eth0','ips':['10.0.0.1/24'],'hardwareAddress':'aa:bb'}}]}"

static const char claim_36[] = "{'kind':'ResourceClaim','apiVersion':'resource.k8s.io/v1beta2'," METADATA
                               ",'spec':" CLAIM_SPEC "," STATUS_START STATUS_END "}";
static const char claim_37[] =
    "{'kind':'ResourceClaim','apiVersion':'resource.k8s.io/v1'," METADATA
    ",'spec':{'devices':{'requests':[{'name':'r','exactly':{" SHARED_REQUEST DERIVED
    ",'adminAccess':true}},{'name':'q','firstAvailable':[{'name':'s'," SHARED_REQUEST DERIVED
    "}]}]," CLAIM_REST "}}," STATUS_START ",'skipNodeOperations':['Prepare']" STATUS_END "}";
static const char claim_v1beta1[] =
    "{'kind':'ResourceClaim','apiVersion':'resource.k8s.io/v1beta1'," METADATA
    ",'spec':{'devices':{'requests':[{'name':'r'," SHARED_REQUEST
    ",'adminAccess':true},{'name':'q','firstAvailable':[{'name':'s'," SHARED_REQUEST "}]}]," CLAIM_REST "}}}";
static const char template_36[] =
    "{'kind':'ResourceClaimTemplate','apiVersion':'resource.k8s.io/v1'," METADATA ",'spec':{" METADATA
    ",'spec':" CLAIM_SPEC "}}";
static const char class_36[] = "{'kind':'DeviceClass','apiVersion':'resource.k8s.io/v1'," METADATA
                               ",'spec':{'selectors':[{'cel':{'expression':'true'}}],'config':[{" OPAQUE
                               "}],'extendedResourceName':'example.com/gpu'}}";

static const struct {
    const char *written;
    int minor;
} wholes[] = {{slice_36, 36}, {slice_37, 37},      {slice_v1beta1, 36}, {claim_36, 36},
              {claim_37, 37}, {claim_v1beta1, 36}, {template_36, 36},   {class_36, 36}};
#define WHOLE_COUNT (sizeof wholes / sizeof wholes[0])

TestSuite(decode, .fini = stop);

Test(decode, knows_kinds_and_versions) {
    enum resource_version version = RESOURCE_V1BETA1;
    cr_expect_eq(decode_kind(TEXT("resource.k8s.io/v1"), TEXT("DeviceClass"), &version), KIND_DEVICE_CLASS);
    cr_expect_eq(version, RESOURCE_V1);
    cr_expect_eq(decode_kind(TEXT("resource.k8s.io/v1beta2"), TEXT("ResourceClaim"), &version),
                 KIND_RESOURCE_CLAIM);
    cr_expect_eq(version, RESOURCE_V1BETA2);
    cr_expect_eq(decode_kind(TEXT("resource.k8s.io/v1beta1"), TEXT("ResourceSlice"), &version),
                 KIND_RESOURCE_SLICE);
    cr_expect_eq(version, RESOURCE_V1BETA1);
    cr_expect_eq(decode_kind(TEXT("resource.k8s.io/v1"), TEXT("ResourceClaimTemplate"), &version),
                 KIND_RESOURCE_CLAIM_TEMPLATE);
    cr_expect_eq(decode_kind(TEXT("resource.k8s.io/v1alpha3"), TEXT("ResourceSlice"), &version), KIND_OTHER);
    cr_expect_eq(decode_kind(TEXT("v1"), TEXT("ResourceSlice"), &version), KIND_OTHER);
    cr_expect_eq(decode_kind(TEXT("resource.k8s.io/v1"), TEXT("resourceslice"), &version), KIND_OTHER);
    cr_expect_eq(decode_when(36, RESOURCE_V1), WHEN_MINOR_36 | WHEN_V1);
    cr_expect_eq(decode_when(37, RESOURCE_V1BETA2), WHEN_MINOR_37 | WHEN_V1BETA2);
    cr_expect_eq(decode_when(41, RESOURCE_V1BETA1), WHEN_MINOR_37 | WHEN_V1BETA1);
}

static void expect_metadata(const struct object_meta *metadata) {
    expect_text(metadata->name, "n");
    expect_text(metadata->generate_name, "g-");
    expect_text(metadata->namespace, "ns");
    expect_text(metadata->self_link, "/x");
    expect_text(metadata->uid, "u");
    expect_text(metadata->resource_version, "5");
    cr_expect_eq(metadata->generation, 3);
    expect_text(metadata->creation_timestamp, "2025-01-02T03:04:05Z");
    expect_text(metadata->deletion_timestamp, "2025-01-02T03:04:06Z");
    cr_expect(metadata->deletion_grace_period_seconds.set);
    cr_expect_eq(metadata->deletion_grace_period_seconds.value, 30);
    cr_assert_eq(metadata->labels.count, 1);
    expect_text(metadata->labels.items[0].key, "l");
    expect_text(metadata->labels.items[0].value, "v");
    cr_assert_eq(metadata->annotations.count, 1);
    expect_text(metadata->annotations.items[0].value, "w");
    cr_assert_eq(metadata->owner_references.count, 1);
    const struct owner_reference *owner = metadata->owner_references.items;
    expect_text(owner->api_version, "v1");
    expect_text(owner->kind, "Node");
    expect_text(owner->name, "w1");
    expect_text(owner->uid, "o");
    cr_expect(owner->controller.set && owner->controller.value);
    cr_expect(owner->block_owner_deletion.set && !owner->block_owner_deletion.value);
    cr_assert_eq(metadata->finalizers.count, 1);
    expect_text(metadata->finalizers.items[0], "f");
    cr_expect(text_starts_with(metadata->managed_fields, TEXT("[{\"manager\"")));
    cr_expect(text_ends_with(metadata->managed_fields, TEXT("}]")));
}

static void expect_selector(const struct node_selector *selector) {
    cr_assert_not_null(selector);
    cr_expect(selector->set);
    cr_expect(text_starts_with(selector->raw, TEXT("{\"nodeSelectorTerms\":[")));
    cr_expect(text_ends_with(selector->raw, TEXT("}]}")));
    cr_assert_eq(selector->terms.count, 1);
    const struct node_selector_term *term = selector->terms.items;
    cr_assert_eq(term->match_expressions.count, 1);
    expect_text(term->match_expressions.items[0].key, "k");
    expect_text(term->match_expressions.items[0].operator, "In");
    expect_text(term->match_expressions.items[0].values.items[0], "x");
    cr_assert_eq(term->match_fields.count, 1);
    expect_text(term->match_fields.items[0].key, "metadata.name");
}

static void expect_quantity(struct quantity quantity, const char *want) {
    cr_expect(quantity.set);
    expect_text(quantity.source, want);
}

static void expect_attributes(const struct device_attribute_map *attributes) {
    cr_assert_eq(attributes->count, 8);
    const struct device_attribute *items = attributes->items;
    expect_text(items[0].key, "i");
    cr_expect(items[0].int_value.set && items[0].int_value.value == 4);
    cr_expect(!items[0].bool_value.set && !items[0].string_value.set && items[0].lists == NULL);
    cr_expect(items[1].bool_value.set && items[1].bool_value.value);
    expect_text(items[2].string_value.value, "x");
    expect_text(items[3].version_value.value, "1.2.3");
    const struct int64_list *ints = &items[4].lists->ints;
    cr_expect(ints->set && ints->count == 2 && ints->items[1] == 2);
    cr_expect(items[5].lists->bools.set && items[5].lists->bools.items[0]);
    expect_text(items[6].lists->strings.items[0], "y");
    expect_text(items[7].lists->versions.items[0], "0.1.0");
}

static void expect_device(const struct device *device) {
    expect_text(device->name, "dev");
    expect_attributes(&device->attributes);
    cr_assert_eq(device->capacity.count, 1);
    expect_text(device->capacity.items[0].key, "cpu");
    expect_quantity(device->capacity.items[0].value, "8");
    const struct capacity_request_policy *policy = device->capacity.items[0].request_policy;
    cr_assert_not_null(policy);
    cr_expect(policy->set && policy->valid_values.set && policy->valid_range.set);
    expect_quantity(policy->default_value, "1");
    expect_quantity(policy->valid_values.items[1], "2");
    expect_quantity(policy->valid_range.min, "1");
    expect_quantity(policy->valid_range.max, "8");
    expect_quantity(policy->valid_range.step, "1");
    cr_assert_eq(device->consumes_counters.count, 1);
    expect_text(device->consumes_counters.items[0].counter_set, "cs");
    expect_quantity(device->consumes_counters.items[0].counters.items[0].value, "1");
    expect_text(device->node_name.value, "w2");
    expect_selector(device->node_selector);
    cr_expect(device->all_nodes.set && !device->all_nodes.value);
    cr_assert_eq(device->taints.count, 1);
    expect_text(device->taints.items[0].key, "k");
    expect_text(device->taints.items[0].value, "v");
    expect_text(device->taints.items[0].effect, "NoSchedule");
    expect_text(device->taints.items[0].time_added, "2025-01-02T03:04:05+02:00");
    cr_expect(device->binds_to_node.set && device->binds_to_node.value);
    expect_text(device->binding_conditions.items[0], "bc");
    expect_text(device->binding_failure_conditions.items[0], "bf");
    cr_expect(device->allow_multiple_allocations.set && device->allow_multiple_allocations.value);
}

static void expect_slice(const struct resource_slice *slice) {
    expect_metadata(&slice->metadata);
    expect_text(slice->driver, "d");
    expect_text(slice->pool.name, "p");
    cr_expect_eq(slice->pool.generation, 2);
    cr_expect_eq(slice->pool.resource_slice_count, 1);
    cr_expect(slice->node_name.set);
    expect_text(slice->node_name.value, "w1");
    expect_selector(slice->node_selector);
    cr_expect(slice->all_nodes.set && slice->all_nodes.value);
    cr_expect(slice->per_device_node_selection.set && slice->per_device_node_selection.value);
    cr_expect(slice->shared_counters.set);
    cr_assert_eq(slice->shared_counters.count, 1);
    expect_text(slice->shared_counters.items[0].name, "cs");
    expect_text(slice->shared_counters.items[0].counters.items[0].key, "c");
    expect_quantity(slice->shared_counters.items[0].counters.items[0].value, "9");
    cr_expect(text_starts_with(slice->spec_raw, TEXT("{\"driver\"")));
    cr_expect(text_ends_with(slice->spec_raw, TEXT("}]}")));
    cr_expect(slice->devices.set);
    cr_assert_eq(slice->devices.count, 1);
    expect_device(slice->devices.items);
}

Test(decode, a_slice_of_each_version) {
    static const char *const written[] = {slice_36, slice_v1beta1};
    for (size_t i = 0; i < 2; i++) {
        decode_clean(written[i], 36);
        cr_expect_eq(bench.object.kind, KIND_RESOURCE_SLICE);
        cr_expect_eq(bench.object.version, i == 0 ? RESOURCE_V1 : RESOURCE_V1BETA1);
        expect_text(bench.object.kind_name, "ResourceSlice");
        expect_slice(&bench.object.slice);
        const struct node_allocatable_map *mappings = &bench.object.slice.devices.items[0].mappings_v136;
        cr_expect(mappings->set);
        cr_assert_eq(mappings->count, 1);
        expect_text(mappings->items[0].key, "cpu");
        expect_text(mappings->items[0].capacity_key.value, "cpu");
        cr_expect(mappings->items[0].mapping_set);
        expect_quantity(mappings->items[0].allocation_multiplier, "2");
        cr_expect(!bench.object.slice.devices.items[0].resources_v137.set);
    }
}

Test(decode, a_slice_of_the_newer_minor) {
    decode_clean(slice_37, 37);
    expect_slice(&bench.object.slice);
    expect_text(bench.object.slice.partition_type_attribute.value, "d/p");
    expect_text(bench.object.slice.skip_node_operations.items[0], "Prepare");
    const struct node_allocatable_map *resources = &bench.object.slice.devices.items[0].resources_v137;
    cr_assert_eq(resources->count, 1);
    const struct node_allocatable *item = resources->items;
    cr_expect(item->mapping_set && item->overhead_set);
    expect_text(item->capacity_key.value, "cpu");
    expect_quantity(item->capacity_multiplier, "2");
    expect_quantity(item->device_multiplier, "3");
    expect_quantity(item->per_pod, "100m");
    expect_quantity(item->per_container, "10m");
    decode_clean(slice_37, 38);
}

#define LIKE_SLICE(devices)                                                                                  \
    "{'apiVersion':'resource.k8s.io/"                                                                        \
    "v1','kind':'ResourceSlice','metadata':{'name':'s'},'spec':{'driver':'d',"                               \
    "'nodeName':'n','pool':{'name':'n','generation':1,'resourceSliceCount':1},'devices':[" devices "]}}"
#define LIKE_CAPACITY "'capacity':{'memory':{'value':'80Gi'}}"
#define LIKE_MAPPING  "'nodeAllocatableResourceMappings':{'cpu':{'allocationMultiplier':'2'}}"

static void expect_like(const char *first, const char *second, bool want) {
    char json[2048];
    snprintf(json, sizeof json, LIKE_SLICE("{'name':'a'%s%s},{'name':'b'%s%s}"), *first != '\0' ? "," : "",
             first, *second != '\0' ? "," : "", second);
    cr_assert(decode(json, JSON_WIRE, 36), "%s", bench.fault.text);
    const struct device *devices = bench.object.slice.devices.items;
    cr_expect_not(devices[0].like_before);
    cr_expect_eq(devices[1].like_before, want, "%s / %s", first, second);
}

// Devices that are written alike share what is judged together, and say so.
Test(decode, devices_like_the_one_before) {
    decode_clean(LIKE_SLICE("{'name':'a'," LIKE_CAPACITY "," LIKE_MAPPING "},{'name':'b'," LIKE_CAPACITY
                            "," LIKE_MAPPING ",'attributes':{'x':{'int':1}}}"),
                 36);
    const struct device *devices = bench.object.slice.devices.items;
    cr_assert_eq(bench.object.slice.devices.count, 2);
    cr_expect(devices[1].like_before);
    cr_assert_eq(devices[1].capacity.count, 1);
    expect_text(devices[1].capacity.items[0].key, "memory");
    expect_text(devices[1].capacity.items[0].value.source, "80Gi");
    cr_assert_eq(devices[1].mappings_v136.count, 1);
    cr_expect(devices[1].mappings_v136.set);
    expect_text(devices[1].mappings_v136.items[0].key, "cpu");
    cr_assert_eq(devices[1].attributes.count, 1);
    expect_like("", "", true);
    expect_like(LIKE_CAPACITY, LIKE_CAPACITY, true);
    expect_like(LIKE_CAPACITY, "", false);
    expect_like("", LIKE_CAPACITY, false);
    expect_like(LIKE_CAPACITY, "'capacity':{'memory':{'value':'81Gi'}}", false);
    expect_like(LIKE_CAPACITY, "'capacity':{'memory':{'value':'80Gi'},'x':{'value':'1'}}", false);
    expect_like(LIKE_CAPACITY "," LIKE_MAPPING, LIKE_MAPPING "," LIKE_CAPACITY, true);
    expect_like(LIKE_MAPPING, "'nodeAllocatableResourceMappings':{}", false);
    expect_like("'nodeAllocatableResourceMappings':{}", "", false);
    expect_like("'allowMultipleAllocations':true", "", false);
    expect_like("'allowMultipleAllocations':true", "'allowMultipleAllocations':true", true);
    expect_like("'nodeName':'a'", "'nodeName':'b'", false);
    expect_like("'nodeName':'a'", "'nodeName':'a'", true);
    expect_like("'nodeAllocatableResources':{'cpu':{'mapping':{'deviceMultiplier':'2'}}}",
                "'nodeAllocatableResources':{'cpu':{'mapping':{'deviceMultiplier':'2'}}}", true);
}

// The same for attributes: same place, same key, same value.
Test(decode, attributes_like_those_before) {
    decode_clean(LIKE_SLICE("{'name':'a','attributes':{'a':{'int':1},'b':{'string':'x'},'c':{'bool':true}}},"
                            "{'name':'b','attributes':{'a':{'int':1},'b':{'string':'y'},'d':{'bool':true}}},"
                            "{'name':'c','attributes':{'a':{'int':1},'b':{'string':'y'}}}"),
                 36);
    const struct device *devices = bench.object.slice.devices.items;
    cr_expect_eq(devices[0].attributes.like_before, 0);
    cr_expect_eq(devices[0].attributes.key_before, 0);
    const struct device_attribute *second = devices[1].attributes.items;
    cr_expect_eq(devices[1].attributes.like_before, 1);
    cr_expect_eq(devices[1].attributes.key_before, 3);
    cr_expect_eq(second[0].int_value.value, 1);
    expect_text(second[1].string_value.value, "y");
    expect_text(second[2].key, "d");
    cr_expect_eq(devices[2].attributes.like_before, 3);
    cr_expect_eq(devices[2].attributes.key_before, 3);
    expect_text(devices[2].attributes.items[1].string_value.value, "y");
    cr_expect_eq(devices[2].attributes.count, 2);
    // Keys that come twice still end the document.
    cr_expect_not(decode(LIKE_SLICE("{'name':'a','attributes':{'a':{'int':1},'b':{'int':1}}},"
                                    "{'name':'b','attributes':{'a':{'int':1},'a':{'int':1}}}"),
                         JSON_WIRE, 36));
}

// A key that only reads like another one is another one.
Test(decode, attributes_with_escaped_keys_are_read) {
    cr_assert(decode(LIKE_SLICE("{'name':'a','attributes':{'a':{'int':1},'x\\u0022:{\\u0022int\\u0022:1},"
                                "\\u0022y':{'int':2}}},"
                                "{'name':'b','attributes':{'a':{'int':1},'x':{'int':1},'y':{'int':2}}},"
                                "{'name':'c','attributes':{'a':{'int':1},'x':{'int':1},'y':{'int':2},"
                                "'x':{'int':1}}}"),
                     JSON_STRICT, 36));
    const struct device *devices = bench.object.slice.devices.items;
    cr_assert_eq(devices[0].attributes.count, 2);
    cr_assert_eq(devices[1].attributes.count, 3);
    expect_text(devices[1].attributes.items[1].key, "x");
    cr_expect_eq(devices[1].attributes.like_before, 1);
    cr_expect_eq(devices[1].attributes.key_before, 1);
    cr_assert_eq(devices[2].attributes.count, 3);
    cr_expect_eq(devices[2].attributes.like_before, 7);
    cr_expect_eq(devices[2].attributes.key_before, 7);
    cr_assert_eq(bench.findings.count, 1);
    expect_text(bench.findings.items[0].path, "spec.devices[2].attributes.x");
}

static struct object decode_after(const char *written, const struct object *like) {
    struct json_reader reader;
    struct object object;
    struct fault fault = {0};
    char *copy = arena_alloc(&bench.arena, strlen(written) + 1);
    cr_assert_not_null(copy);
    for (size_t i = 0; i <= strlen(written); i++) copy[i] = (char)(written[i] == '\'' ? '"' : written[i]);
    json_init(&reader, text_of(copy), &bench.arena, &bench.findings, JSON_WIRE);
    reader.when = decode_when(36, RESOURCE_V1);
    decode_object_like(&reader, KIND_RESOURCE_SLICE, RESOURCE_V1, like, &object);
    cr_assert(json_finish(&reader, &fault), "%s", fault.text);
    return object;
}

// An object that repeats another one shares its devices, place by place, and differs where it differs.
Test(decode, an_object_like_another) {
    decode_clean(LIKE_SLICE("{'name':'a'," LIKE_CAPACITY "},{'name':'b'," LIKE_CAPACITY
                            ",'attributes':{'x':{'int':1}}},{'name':'c'}"),
                 36);
    struct object first = bench.object;
    struct object second =
        decode_after(LIKE_SLICE("{'name':'a'," LIKE_CAPACITY "},{'name':'b'," LIKE_CAPACITY
                                ",'attributes':{'x':{'int':2}}},{'name':'c'},{'name':'d'}"),
                     &first);
    cr_assert_eq(second.slice.devices.count, 4);
    const struct device *devices = second.slice.devices.items;
    cr_expect_eq(devices[0].capacity.items, first.slice.devices.items[0].capacity.items);
    cr_expect_eq(devices[1].attributes.items[0].int_value.value, 2);
    expect_text(devices[1].capacity.items[0].value.source, "80Gi");
    expect_text(devices[2].name, "c");
    expect_text(devices[3].name, "d");
    // Before a shared device may stand another one than there, so nothing is said of the one before.
    struct object like =
        decode_after(LIKE_SLICE("{'name':'a','attributes':{'x':{'int':1}},'bindsToNode':true},"
                                "{'name':'b','attributes':{'x':{'int':1}},'bindsToNode':true}"),
                     NULL);
    cr_expect(like.slice.devices.items[1].rest_before);
    cr_expect_eq(like.slice.devices.items[1].attributes.like_before, 1);
    struct object changed = decode_after(
        LIKE_SLICE("{'name':'a'},{'name':'b','attributes':{'x':{'int':1}},'bindsToNode':true}"), &like);
    const struct device *after = &changed.slice.devices.items[1];
    cr_expect_eq(after->attributes.items, like.slice.devices.items[1].attributes.items);
    cr_expect_not(after->rest_before);
    cr_expect_eq(after->attributes.like_before, 0);
    cr_expect_eq(after->attributes.key_before, 0);
    struct object shifted = decode_after(LIKE_SLICE("{'name':'b'," LIKE_CAPACITY "},{'name':'c'}"), &first);
    cr_assert_eq(shifted.slice.devices.count, 2);
    expect_text(shifted.slice.devices.items[0].name, "b");
    expect_text(shifted.slice.devices.items[0].capacity.items[0].key, "memory");
    cr_expect_not(shifted.slice.devices.items[1].like_before);
}

// What was noted in one device is noted in the next one too.
Test(decode, findings_are_not_shared) {
    cr_assert(decode(LIKE_SLICE("{'name':'a','capacity':{'memory':{'value':'x'}}},"
                                "{'name':'b','capacity':{'memory':{'value':'x'}}}"),
                     JSON_WIRE, 36));
    cr_assert_eq(bench.findings.count, 2);
    expect_text(bench.findings.items[1].path, "spec.devices[1].capacity[memory].value");
    cr_expect_not(bench.object.slice.devices.items[1].like_before);
    cr_assert(decode(LIKE_SLICE("{'name':'a','capacity':{'memory':{'values':'x'}}},"
                                "{'name':'b','capacity':{'memory':{'values':'x'}}}"),
                     JSON_STRICT, 36));
    cr_assert_eq(bench.findings.count, 2);
}

Test(decode, fields_of_the_other_minor_are_unknown) {
    cr_assert(decode(slice_37, JSON_STRICT, 36));
    cr_expect_eq(bench.findings.count, 3);
    cr_expect(has_finding(FINDING_STRICT_DECODING, "spec.partitionTypeAttribute"));
    cr_expect(has_finding(FINDING_STRICT_DECODING, "spec.skipNodeOperations"));
    cr_expect(has_finding(FINDING_STRICT_DECODING, "spec.devices[0].nodeAllocatableResources"));
    cr_expect(!bench.object.slice.partition_type_attribute.set, "dropped, as the server does");
    cr_expect_eq(bench.object.slice.devices.items[0].resources_v137.count, 1, "but mappings are read");
    cr_assert(decode(slice_36, JSON_STRICT, 37));
    cr_expect_eq(bench.findings.count, 1);
    cr_expect(has_finding(FINDING_STRICT_DECODING, "spec.devices[0].nodeAllocatableResourceMappings"));
    cr_expect_eq(bench.object.slice.devices.items[0].mappings_v136.count, 1);
    cr_assert(decode(slice_36, JSON_WIRE, 37));
    cr_expect_eq(bench.findings.count, 0);
    cr_assert(decode(claim_37, JSON_STRICT, 36));
    cr_expect_eq(bench.findings.count, 3);
    cr_expect(has_finding(FINDING_STRICT_DECODING, "spec.devices.requests[0].exactly.derivedAttributes"));
    cr_expect(
        has_finding(FINDING_STRICT_DECODING, "spec.devices.requests[1].firstAvailable[0].derivedAttributes"));
    cr_expect(
        has_finding(FINDING_STRICT_DECODING, "status.allocation.devices.results[0].skipNodeOperations"));
}

Test(decode, compatibility_groups_of_the_newer_minor) {
    const char *written = "{'kind':'ResourceSlice','apiVersion':'resource.k8s.io/v1','spec':{'devices':[{"
                          "'consumesCounters':[{'counterSet':'s','compatibilityGroups':['a','b']}]}]}}";
    decode_clean(written, 37);
    const struct device_counter_consumption_list *list =
        &bench.object.slice.devices.items[0].consumes_counters;
    cr_assert_eq(list->items[0].compatibility_groups.count, 2);
    expect_text(list->items[0].compatibility_groups.items[1], "b");
    cr_assert(decode(written, JSON_STRICT, 36));
    cr_expect(
        has_finding(FINDING_STRICT_DECODING, "spec.devices[0].consumesCounters[0].compatibilityGroups"));
    cr_expect_eq(bench.object.slice.devices.items[0].consumes_counters.items[0].compatibility_groups.count,
                 0);
}

Test(decode, nothing_inside_a_foreign_mapping_is_a_finding) {
    const char *written =
        "{'kind':'ResourceSlice','apiVersion':'resource.k8s.io/v1','spec':{'devices':[{"
        "'nodeAllocatableResources':{'cpu':{'mapping':{'deviceMultiplier':'x','y':1}},'a':5}}]}}";
    cr_assert(decode(written, JSON_WIRE, 36));
    cr_expect_eq(bench.findings.count, 0);
    cr_assert(decode(written, JSON_STRICT, 36));
    cr_expect_eq(bench.findings.count, 1);
    cr_assert(decode(written, JSON_STRICT, 37));
    cr_expect_eq(bench.findings.count, 3);
}

Test(decode, versions_differ_in_form) {
    // v1beta1: empty is absent.
    decode_clean("{'kind':'ResourceSlice','apiVersion':'resource.k8s.io/v1beta1','spec':{'nodeName':'',"
                 "'allNodes':false,'devices':[{'name':'a'},{'name':'b','basic':null}]}}",
                 36);
    cr_expect(!bench.object.slice.node_name.set);
    cr_expect(!bench.object.slice.all_nodes.set);
    cr_expect_eq(bench.object.slice.devices.count, 2);
    decode_clean("{'kind':'ResourceSlice','apiVersion':'resource.k8s.io/v1beta2','spec':{'nodeName':'',"
                 "'allNodes':false}}",
                 36);
    cr_expect(bench.object.slice.node_name.set);
    cr_expect(bench.object.slice.all_nodes.set);
    // The form of one version in another.
    cr_assert(
        decode("{'kind':'ResourceSlice','apiVersion':'resource.k8s.io/v1','spec':{'devices':[{'name':'a',"
               "'basic':{'attributes':{'x':{'int':1}},'bogus':1}}]}}",
               JSON_STRICT, 36));
    cr_expect_eq(bench.findings.count, 1);
    cr_expect(has_finding(FINDING_STRICT_DECODING, "spec.devices[0].basic"));
    cr_expect_eq(bench.object.slice.devices.items[0].attributes.count, 0);
    cr_assert(decode("{'kind':'ResourceSlice','apiVersion':'resource.k8s.io/v1beta1','spec':{'devices':[{"
                     "'name':'a','attributes':{'x':{'int':1}},'basic':{'bogus':1}}]}}",
                     JSON_STRICT, 36));
    cr_expect_eq(bench.findings.count, 2);
    cr_expect(has_finding(FINDING_STRICT_DECODING, "spec.devices[0].attributes"));
    cr_expect(has_finding(FINDING_STRICT_DECODING, "spec.devices[0].basic.bogus"));
}

static void expect_request(const struct exact_request *request) {
    cr_assert_not_null(request);
    expect_text(request->device_class_name, "c");
    cr_assert_eq(request->selectors.count, 1);
    cr_expect(request->selectors.items[0].cel_set);
    expect_text(request->selectors.items[0].expression, "true");
    expect_text(request->allocation_mode, "ExactCount");
    cr_expect_eq(request->count, 2);
    cr_assert_eq(request->tolerations.count, 1);
    expect_text(request->tolerations.items[0].key, "k");
    expect_text(request->tolerations.items[0].operator, "Equal");
    expect_text(request->tolerations.items[0].value, "v");
    expect_text(request->tolerations.items[0].effect, "NoExecute");
    cr_expect_eq(request->tolerations.items[0].toleration_seconds.value, 7);
    cr_expect(request->capacity_set && request->capacity_requests.set);
    expect_quantity(request->capacity_requests.items[0].value, "3");
}

static void expect_configuration(const struct device_configuration *configuration) {
    cr_expect(configuration->opaque_set);
    expect_text(configuration->driver, "d");
    expect_text(configuration->parameters, "{\"kind\":\"K\"}");
}

static void expect_device_claim(const struct device_claim *claim) {
    cr_assert_eq(claim->requests.count, 2);
    expect_text(claim->requests.items[0].name, "r");
    expect_request(claim->requests.items[0].exactly);
    cr_expect(claim->requests.items[0].exactly->admin_access.value);
    cr_expect(!claim->requests.items[0].first_available.set);
    cr_expect_null(claim->requests.items[1].exactly);
    cr_assert_eq(claim->requests.items[1].first_available.count, 1);
    expect_text(claim->requests.items[1].first_available.items[0].name, "s");
    expect_request(&claim->requests.items[1].first_available.items[0]);
    cr_assert_eq(claim->constraints.count, 1);
    expect_text(claim->constraints.items[0].requests.items[0], "r");
    expect_text(claim->constraints.items[0].match_attribute.value, "d/m");
    expect_text(claim->constraints.items[0].distinct_attribute.value, "d/x");
    cr_assert_eq(claim->config.count, 1);
    expect_text(claim->config.items[0].requests.items[0], "r");
    expect_configuration(claim->config.items);
}

static void expect_status(const struct resource_claim *claim) {
    cr_expect(claim->allocation.set);
    cr_assert_eq(claim->allocation.results.count, 1);
    const struct allocation_result *result = claim->allocation.results.items;
    expect_text(result->request, "r");
    expect_text(result->driver, "d");
    expect_text(result->pool, "p");
    expect_text(result->device, "dev");
    cr_expect(result->admin_access.set && !result->admin_access.value);
    cr_expect_eq(result->tolerations.count, 1);
    expect_text(result->binding_conditions.items[0], "bc");
    expect_text(result->binding_failure_conditions.items[0], "bf");
    expect_text(result->share_id.value, "sh");
    expect_quantity(result->consumed_capacity.items[0].value, "1");
    expect_text(claim->allocation.config.items[0].source, "FromClass");
    expect_configuration(claim->allocation.config.items);
    expect_selector(claim->allocation.node_selector);
    expect_text(claim->allocation.allocation_timestamp, "2025-01-02T03:04:05.678Z");
    cr_assert_eq(claim->reserved_for.count, 1);
    expect_text(claim->reserved_for.items[0].api_group, "g");
    expect_text(claim->reserved_for.items[0].resource, "pods");
    expect_text(claim->reserved_for.items[0].name, "pod");
    expect_text(claim->reserved_for.items[0].uid, "pu");
    cr_assert_eq(claim->device_statuses.count, 1);
    const struct allocated_device_status *status = claim->device_statuses.items;
    expect_text(status->share_id.value, "sh");
    expect_text(status->data, "{\"k\":[1]}");
    cr_expect(status->network_data_set);
    expect_text(status->interface_name, "eth0");
    expect_text(status->ips.items[0], "10.0.0.1/24");
    expect_text(status->hardware_address, "aa:bb");
    cr_assert_eq(status->conditions.count, 1);
    expect_text(status->conditions.items[0].type, "Ready");
    expect_text(status->conditions.items[0].status, "True");
    cr_expect_eq(status->conditions.items[0].observed_generation, 4);
    expect_text(status->conditions.items[0].last_transition_time, "2025-01-02T03:04:05Z");
    expect_text(status->conditions.items[0].reason, "R");
    expect_text(status->conditions.items[0].message, "m");
}

Test(decode, claims_templates_and_classes) {
    decode_clean(claim_36, 36);
    expect_metadata(&bench.object.claim.metadata);
    expect_device_claim(&bench.object.claim.devices);
    expect_status(&bench.object.claim);
    cr_expect(text_starts_with(bench.object.claim.spec_raw, TEXT("{\"devices\"")));
    decode_clean(claim_37, 37);
    expect_device_claim(&bench.object.claim.devices);
    expect_status(&bench.object.claim);
    const struct device_claim *devices = &bench.object.claim.devices;
    expect_text(devices->requests.items[0].exactly->derived_attributes.items[0].name, "d/a");
    expect_text(devices->requests.items[1].first_available.items[0].derived_attributes.items[0].expression,
                "1");
    expect_text(bench.object.claim.allocation.results.items[0].skip_node_operations.items[0], "Prepare");
    decode_clean(claim_v1beta1, 36);
    expect_device_claim(&bench.object.claim.devices);
    decode_clean(template_36, 36);
    expect_metadata(&bench.object.claim_template.metadata);
    expect_metadata(&bench.object.claim_template.spec_metadata);
    expect_device_claim(&bench.object.claim_template.devices);
    cr_expect(text_starts_with(bench.object.claim_template.spec_raw, TEXT("{\"metadata\"")));
    decode_clean(class_36, 36);
    expect_metadata(&bench.object.device_class.metadata);
    expect_text(bench.object.device_class.selectors.items[0].expression, "true");
    expect_configuration(bench.object.device_class.config.items);
    expect_text(bench.object.device_class.extended_resource_name.value, "example.com/gpu");
    cr_expect(text_starts_with(bench.object.device_class.spec_raw, TEXT("{\"selectors\"")));
}

// Source: kubernetes v1.36.3 pkg/apis/resource/v1beta1/conversion.go, hasAnyMainRequestFieldsSet.
Test(decode, a_flat_request_is_exact_when_any_of_its_fields_is_set) {
    static const struct {
        const char *field;
        bool exact;
    } cases[] = {
        {"'deviceClassName':'c'", true},
        {"'deviceClassName':''", false},
        {"'selectors':[]", true},
        {"'selectors':null", false},
        {"'allocationMode':'All'", true},
        {"'allocationMode':''", false},
        {"'count':1", true},
        {"'count':0", false},
        {"'adminAccess':false", true},
        {"'tolerations':[]", true},
        {"'tolerations':null", false},
        {"'capacity':{}", true},
        {"'capacity':null", false},
        {"'firstAvailable':[]", false},
        {"'derivedAttributes':[]", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char written[256];
        snprintf(written, sizeof written,
                 "{'kind':'ResourceClaim','apiVersion':'resource.k8s.io/v1beta1','spec':{'devices':{"
                 "'requests':[{'name':'r',%s}]}}}",
                 cases[i].field);
        decode_clean(written, 37);
        cr_expect_eq(bench.object.claim.devices.requests.items[0].exactly != NULL, cases[i].exact, "%s",
                     cases[i].field);
    }
    cr_assert(decode("{'kind':'ResourceClaim','apiVersion':'resource.k8s.io/v1beta1','spec':{'devices':{"
                     "'requests':[{'derivedAttributes':[]}]}}}",
                     JSON_WIRE, 36));
    cr_expect_null(bench.object.claim.devices.requests.items[0].exactly, "v1.36 drops the field");
}

Test(decode, absent_null_and_empty_differ) {
    decode_clean("{'kind':'ResourceSlice','apiVersion':'resource.k8s.io/v1','spec':{'devices':[],"
                 "'sharedCounters':null,'nodeSelector':null}}",
                 36);
    cr_expect(bench.object.slice.devices.set);
    cr_expect(!bench.object.slice.shared_counters.set);
    cr_expect_null(bench.object.slice.node_selector);
    decode_clean("{'kind':'ResourceSlice','apiVersion':'resource.k8s.io/v1','spec':{'devices':["
                 "{'capacity':{'a':{'value':null},'b':null},'nodeAllocatableResourceMappings':{}},null]}}",
                 36);
    cr_assert_eq(bench.object.slice.devices.count, 2);
    const struct device *device = bench.object.slice.devices.items;
    cr_expect_eq(device->capacity.count, 2);
    cr_expect(!device->capacity.items[0].value.set);
    cr_expect(device->mappings_v136.set);
    decode_clean(
        "{'kind':'ResourceClaim','apiVersion':'resource.k8s.io/v1','metadata':null,'spec':{'devices':{"
        "'requests':[{'exactly':{}},{'exactly':null}],'config':[{'opaque':{'parameters':null}}]}},"
        "'status':{'allocation':null}}",
        36);
    cr_expect_not_null(bench.object.claim.devices.requests.items[0].exactly);
    cr_expect_null(bench.object.claim.devices.requests.items[1].exactly);
    cr_expect(bench.object.claim.devices.config.items[0].opaque_set);
    cr_expect_eq(bench.object.claim.devices.config.items[0].parameters.len, 0);
    cr_expect(!bench.object.claim.allocation.set);
}

Test(decode, finds_the_kind_wherever_it_stands) {
    decode_clean("{'spec':{'driver':'d'},'metadata':{'labels':{'kind':'Pod'}},'kind':'ResourceSlice',"
                 "'apiVersion':'resource.k8s.io/v1'}",
                 36);
    cr_expect_eq(bench.object.kind, KIND_RESOURCE_SLICE);
    expect_text(bench.object.slice.driver, "d");
    decode_clean("{'k\\u0069nd':'DeviceCl\\u0061ss','apiVersion':'resource.k8s.io\\/v1'}", 36);
    cr_expect_eq(bench.object.kind, KIND_DEVICE_CLASS);
}

Test(decode, objects_that_nobody_judges) {
    decode_clean("{'apiVersion':'v1','kind':'ConfigMap','data':{'anything':[1,2,{}]},'x':1}", 36);
    cr_expect_eq(bench.object.kind, KIND_OTHER);
    expect_text(bench.object.api_version, "v1");
    expect_text(bench.object.kind_name, "ConfigMap");
    decode_clean("{'apiVersion':'resource.k8s.io/v1alpha3','kind':'ResourceSlice'}", 36);
    cr_expect_eq(bench.object.kind, KIND_OTHER);
    decode_clean("{}", 36);
    cr_expect_eq(bench.object.kind, KIND_OTHER);
    cr_assert(decode("{'apiVersion':1,'kind':['x']}", JSON_STRICT, 36));
    cr_expect_eq(bench.object.kind, KIND_OTHER);
    cr_expect(has_finding(FINDING_DECODING, "apiVersion"));
    cr_expect(has_finding(FINDING_DECODING, "kind"));
}

Test(decode, what_is_no_object_is_a_fault) {
    static const char *const written[] = {"",    " ", "null", "[]", "1",
                                          "'x'", "{", "{}x",  "[",  "{'kind':'A','kind':'B'}"};
    for (size_t i = 0; i < sizeof written / sizeof written[0]; i++) {
        bench.fault = (struct fault){0};
        struct object before = bench.object;
        cr_expect(!decode(written[i], JSON_WIRE, 36), "%s", written[i]);
        cr_expect_eq(bench.fault.code, FAULT_INPUT, "%s", written[i]);
        cr_expect_eq(memcmp(&before, &bench.object, sizeof before), 0, "untouched");
    }
    cr_expect(!decode("{'kind':'DeviceClass','apiVersion':'resource.k8s.io/v1','spec':{},'spec':{}}",
                      JSON_WIRE, 36));
    cr_assert(decode("{'kind':'DeviceClass','apiVersion':'resource.k8s.io/v1','spec':{},'spec':{}}",
                     JSON_STRICT, 36));
    cr_expect(has_finding(FINDING_STRICT_DECODING, "spec"));
}

Test(decode, decodes_inside_an_envelope) {
    struct text input = TEXT("{\"object\":{\"spec\":{\"pool\":{\"generation\":\"x\"},\"driver\":\"d\"}}}");
    static const struct json_name names[] = {JSON_NAME("object")};
    static const struct json_fields envelope = JSON_FIELDS(names);
    arena_init(&bench.arena, ARENA_CAP_BYTES);
    finding_list_init(&bench.findings, &bench.arena);
    struct json_reader reader;
    json_init(&reader, input, &bench.arena, &bench.findings, JSON_WIRE);
    reader.when = decode_when(36, RESOURCE_V1);
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(&reader, &envelope, &seen, &field))
        decode_object_at(&reader, KIND_RESOURCE_SLICE, RESOURCE_V1, &bench.object);
    cr_assert(json_finish(&reader, &bench.fault));
    expect_text(bench.object.slice.driver, "d");
    cr_expect(has_finding(FINDING_DECODING, "spec.pool.generation"), "the path begins at the object");
}

// Source: go 1.26 src/time/format.go; each of these was given to time.Parse(time.RFC3339, …).
Test(decode, times_as_go_parses_them) {
    static const struct {
        const char *time;
        bool fine;
    } cases[] = {
        {"2006-01-02T15:04:05Z", true},
        {"2006-01-02T15:04:05.1Z", true},
        {"2006-01-02T15:04:05,123456789012Z", true},
        {"2006-01-02T5:04:05Z", true},
        {"2006-01-02T15:04:05+24:60", true},
        {"2006-01-02T15:04:05-07:00", true},
        {"2024-02-29T00:00:00Z", true},
        {"2000-02-29T00:00:00Z", true},
        {"0000-01-01T00:00:00Z", true},
        {"2023-02-29T00:00:00Z", false},
        {"1900-02-29T00:00:00Z", false},
        {"2006-04-31T00:00:00Z", false},
        {"2006-13-01T00:00:00Z", false},
        {"2006-00-01T00:00:00Z", false},
        {"2006-01-00T00:00:00Z", false},
        {"2006-01-02T24:00:00Z", false},
        {"2006-01-02T15:60:05Z", false},
        {"2006-01-02T15:04:60Z", false},
        {"2006-01-02T15:4:05Z", false},
        {"2006-1-02T15:04:05Z", false},
        {"2006-01-02 15:04:05Z", false},
        {"2006-01-02t15:04:05Z", false},
        {"2006-01-02T15:04:05z", false},
        {"2006-01-02T15:04:05", false},
        {"2006-01-02T15:04:05.Z", false},
        {"2006-01-02T15:04:05+25:00", false},
        {"2006-01-02T15:04:05+00:61", false},
        {"2006-01-02T15:04:05+0000", false},
        {"2006-01-02T15:04:05ZZ", false},
        {"2006-01-02", false},
        {"", false},
        {"now", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char written[256];
        snprintf(
            written, sizeof written,
            "{'kind':'DeviceClass','apiVersion':'resource.k8s.io/v1','metadata':{'creationTimestamp':'%s'}}",
            cases[i].time);
        cr_assert(decode(written, JSON_WIRE, 36));
        cr_expect_eq(bench.findings.count, cases[i].fine ? 0 : 1, "%s", cases[i].time);
        expect_text(bench.object.device_class.metadata.creation_timestamp,
                    cases[i].fine ? cases[i].time : "");
    }
}

Test(decode, hostile_parameters_change_nothing) {
    static const char *const values[] = {
        "9223372036854775808",       "{'x':1e308}", "'\\u0000'", "{'\\u0000':1}", "'\\ud800'", "'\xFF'",
        "{'a':1,'a':{'b':2,'b':3}}", "1e999",
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char written[512];
        snprintf(written, sizeof written,
                 "{'kind':'ResourceClaim','apiVersion':'resource.k8s.io/v1','spec':{'devices':{'config':[{"
                 "'opaque':{'driver':'d','parameters':%s}}]}}}",
                 values[i]);
        decode_clean(written, 36);
        expect_text(bench.object.claim.devices.config.items[0].driver, "d");
        cr_expect_eq(bench.object.claim.devices.config.items[0].parameters.len, strlen(values[i]));
        cr_assert(decode(written, JSON_WIRE, 36));
    }
    char *deep = malloc(8192);
    int len = snprintf(deep, 512,
                       "{'kind':'DeviceClass','apiVersion':'resource.k8s.io/v1','spec':{'config':[{'opaque':{"
                       "'parameters':");
    memset(deep + len, '[', 3000);
    memset(deep + len + 3000, ']', 3000);
    memcpy(deep + len + 6000, "}}]}}", 6);
    decode_clean(deep, 36);
    free(deep);
}

struct hint_case {
    const char *written;
    int minor;
    const char *path;
    const char *hint;
};
#define SLICE_OF(version, spec)                                                                              \
    "{'apiVersion':'resource.k8s.io/" version "','kind':'ResourceSlice','spec':{" spec "}}"
#define DEVICE_OF(parts) SLICE_OF("v1", "'devices':[{" parts "}]")

Test(decode, known_mistakes_get_a_hint) {
    static const struct hint_case cases[] = {
        {DEVICE_OF("'capacity':{'cpu':'128'}"), 36, "spec.devices[0].capacity[cpu]",
         "write {value: \"128\"}"},
        {DEVICE_OF("'capacity':{'cpu':128}"), 36, "spec.devices[0].capacity[cpu]", "write {value: \"128\"}"},
        {DEVICE_OF("'attributes':{'m':'x'}"), 36, "spec.devices[0].attributes[m]", "write {string: \"x\"}"},
        {DEVICE_OF("'attributes':{'m':3}"), 36, "spec.devices[0].attributes[m]", "write {int: 3}"},
        {DEVICE_OF("'attributes':{'m':true}"), 36, "spec.devices[0].attributes[m]", "write {bool: true}"},
        {SLICE_OF("v1beta1", "'devices':[{'basic':{'attributes':{'m':3}}}]"), 36,
         "spec.devices[0].basic.attributes[m]", "write {int: 3}"},
        {DEVICE_OF("'attributes':{'m':{'quantity':'3'}}"), 36, "spec.devices[0].attributes.m.quantity",
         "an attribute is one of int, bool, string, version; a quantity is written in capacity: {value: …}"},
        {DEVICE_OF("'basic':{}"), 36, "spec.devices[0].basic",
         "basic is the form of v1beta1: write its fields in the device itself"},
        {SLICE_OF("v1beta1", "'devices':[{'attributes':{}}]"), 36, "spec.devices[0].attributes",
         "v1beta1 has the fields of a device under basic: write basic: {attributes: …}"},
        {SLICE_OF("v1", "'driverName':'d'"), 36, "spec.driverName", "the field is called driver"},
        {SLICE_OF("v1", "'nodeAllocatableResourceMappings':{}"), 36, "spec.nodeAllocatableResourceMappings",
         "mappings are a field of each device: write it in spec.devices[]"},
        {SLICE_OF("v1", "'pool':{'resourceSliceCount':'1'}"), 36, "spec.pool.resourceSliceCount",
         "write a whole number without quotes"},
        {DEVICE_OF("'nodeAllocatableResourceMappings':{'cpu':'1'}"), 36,
         "spec.devices[0].nodeAllocatableResourceMappings[cpu]", "write {allocationMultiplier: \"1\"}"},
        {DEVICE_OF("'nodeAllocatableResourceMappings':[{'resourceName':'cpu'}]"), 36,
         "spec.devices[0].nodeAllocatableResourceMappings", "a map by resource, not a list: write cpu: {…}"},
        {DEVICE_OF("'nodeAllocatableResourceMappings':{'cpu':{'multiplier':'1'}}"), 36,
         "spec.devices[0].nodeAllocatableResourceMappings.cpu.multiplier",
         "v1.36 has one multiplier, called allocationMultiplier"},
        {DEVICE_OF("'attributes':[{'name':'a'}]"), 36, "spec.devices[0].attributes",
         "a map by name, not a list: write NAME: {int: 1}"},
        {SLICE_OF("v1", "'pool':'n1'"), 36, "spec.pool",
         "write {name: \"n1\", generation: 1, resourceSliceCount: 1}"},
        {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim','spec':{'resourceClassName':'c'}}", 36,
         "spec.resourceClassName",
         "that is the form of v1alpha2: write devices: {requests: [{name: …, exactly: {deviceClassName: "
         "…}}]}"},
        {DEVICE_OF("'nodeAllocatableResourceMappings':{}"), 37,
         "spec.devices[0].nodeAllocatableResourceMappings",
         "that is the field of v1.36: v1.37 has nodeAllocatableResources"},
        {DEVICE_OF("'nodeAllocatableResources':{}"), 36, "spec.devices[0].nodeAllocatableResources",
         "that is the field of v1.37: v1.36 has nodeAllocatableResourceMappings"},
        {DEVICE_OF("'nodeAllocatableResources':{'cpu':{'capacityKey':'c'}}"), 37,
         "spec.devices[0].nodeAllocatableResources.cpu.capacityKey",
         "write it one level down: mapping: {capacityKey: …}"},
        {"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim','spec':{'devices':{'requests':[{"
         "'deviceClassName':'c'}]}}}",
         36, "spec.devices.requests[0].deviceClassName",
         "flat requests are the form of v1beta1: write exactly: {deviceClassName: …}"},
        {DEVICE_OF("'capacity':{'cpu':{'value':'lots'}}"), 36, "spec.devices[0].capacity[cpu].value",
         "write a number with an optional suffix, such as 500m, 4, 8Gi"},
        {DEVICE_OF("'capacity':{'cpu':'\x1b[31m'}"), 36, "", NULL},
        {SLICE_OF("v1", "'bogus':1"), 36, "spec.bogus", ""},
        {SLICE_OF("v1", "'\\u0000':1"), 36, "", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool fine = decode(cases[i].written, JSON_STRICT, cases[i].minor);
        if (cases[i].hint == NULL) {
            cr_expect(!fine, "a control byte is no JSON");
            continue;
        }
        cr_assert(fine, "%s", cases[i].written);
        cr_assert_eq(bench.findings.count, 1, "%s", cases[i].written);
        if (cases[i].path[0] != '\0') expect_text(bench.findings.items[0].path, cases[i].path);
        expect_text(bench.findings.items[0].hint, cases[i].hint);
    }
}

// What stands at a place of a whole object.
struct place {
    char path[256];
    bool is_map;      // its keys are free
    bool is_raw;      // anything goes in there
    bool is_quantity; // a number or a text
};

static bool is_one_of(const char *name, const char *const *names) {
    for (; *names != NULL; names++)
        if (strcmp(name, *names) == 0) return true;
    return false;
}

static bool ends_with(const char *path, const char *end) {
    return text_ends_with(text_of(path), text_of(end));
}

static struct place place_below(const struct place *parent, const char *key) {
    static const char *const maps[] = {"labels",
                                       "annotations",
                                       "attributes",
                                       "counters",
                                       "consumedCapacity",
                                       "nodeAllocatableResourceMappings",
                                       "nodeAllocatableResources",
                                       NULL};
    static const char *const raws[] = {"parameters", "data", "fieldsV1", NULL};
    static const char *const quantities[] = {"allocationMultiplier",
                                             "capacityMultiplier",
                                             "deviceMultiplier",
                                             "perPod",
                                             "perContainer",
                                             "default",
                                             "min",
                                             "max",
                                             "step",
                                             NULL};
    struct place place = {0};
    if (parent->is_map) {
        snprintf(place.path, sizeof place.path, "%s[%s]", parent->path, key);
        place.is_quantity =
            ends_with(parent->path, ".consumedCapacity") || ends_with(parent->path, ".requests");
        return place;
    }
    snprintf(place.path, sizeof place.path, "%s%s%s", parent->path, parent->path[0] == '\0' ? "" : ".", key);
    place.is_map = is_one_of(key, maps);
    if (strcmp(key, "capacity") == 0)
        place.is_map =
            strstr(parent->path, "equests[") == NULL && strstr(parent->path, "firstAvailable") == NULL;
    if (strcmp(key, "requests") == 0) place.is_map = ends_with(parent->path, ".capacity");
    place.is_raw = is_one_of(key, raws);
    bool is_amount = strcmp(key, "value") == 0 &&
                     (strstr(parent->path, "apacity[") != NULL || strstr(parent->path, "counters[") != NULL);
    place.is_quantity = is_amount || is_one_of(key, quantities);
    return place;
}

// The whole object that is changed, and in which minor.
static const char *whole;
static int whole_minor;
static size_t places_tried;

// Decodes the whole object with the bytes from start to end replaced.
static void decode_changed(size_t start, size_t end, const char *instead, enum json_mode mode) {
    static char changed[16384];
    int len = snprintf(changed, sizeof changed, "%.*s%s%s", (int)start, whole, instead, whole + end);
    cr_assert(len > 0 && (size_t)len < sizeof changed);
    cr_assert(decode_text((struct text){changed, (size_t)len}, mode, whole_minor), "%s: %s", bench.fault.text,
              changed);
}

static void try_types(size_t start, size_t end, const struct place *place) {
    static const char *const values[] = {"null", "\"zz\"", "7", "true", "[]", "{}"};
    static const char firsts[] = "n\"0t[{";
    char first = whole[start] == 'f' ? 't' : whole[start] >= '0' && whole[start] <= '9' ? '0' : whole[start];
    bool is_name = strcmp(place->path, "kind") == 0 || strcmp(place->path, "apiVersion") == 0;
    bool is_time = strstr(place->path, "Timestamp") != NULL || ends_with(place->path, "ime") ||
                   ends_with(place->path, "timeAdded");
    for (size_t type = 0; type < sizeof values / sizeof values[0] && !is_name; type++) {
        decode_changed(start, end, values[type], JSON_WIRE);
        bool fits = type == 0 || firsts[type] == first || place->is_raw;
        if (place->is_quantity) fits = type == 0 || firsts[type] == '0'; // "zz" is none
        if (is_time) fits = type == 0;
        cr_expect_eq(bench.findings.count, fits ? 0 : 1, "%s: %s", place->path, values[type]);
        cr_expect_eq(has_finding(FINDING_DECODING, place->path), !fits, "%s: %s", place->path, values[type]);
        places_tried++;
    }
}

// A field that nobody knows, put first into the object at this offset.
static void try_unknown_field(size_t at, const struct place *place) {
    decode_changed(at + 1, at + 1, whole[at + 1] == '}' ? "\"bogus\":1" : "\"bogus\":1,", JSON_WIRE);
    cr_expect_eq(bench.findings.count, 0, "%s", place->path);
    decode_changed(at + 1, at + 1, whole[at + 1] == '}' ? "\"bogus\":1" : "\"bogus\":1,", JSON_STRICT);
    cr_assert_eq(bench.findings.count, 1, "%s", place->path);
    cr_expect_eq(bench.findings.items[0].type, FINDING_STRICT_DECODING, "%s", place->path);
    cr_expect(text_ends_with(bench.findings.items[0].path, TEXT("bogus")), "%s", place->path);
    places_tried++;
}

// Moves past a string of a whole object; they have no escapes.
static size_t skip_string(size_t at) {
    return at + 2 + strcspn(whole + at + 1, "\"");
}

// Walks over a value of the whole object, which has no blanks, and returns where it ends.
static size_t walk(size_t at, const struct place *place) {
    size_t start = at;
    bool is_object = whole[at] == '{';
    if (whole[at] == '"') {
        at = skip_string(at);
    } else if (!is_object && whole[at] != '[') {
        at += strcspn(whole + at, ",]}");
    } else {
        if (is_object && !place->is_map && !place->is_raw) try_unknown_field(at, place);
        at++;
        for (size_t index = 0; whole[at] != '}' && whole[at] != ']'; index++) {
            if (whole[at] == ',') at++;
            struct place below = {0};
            if (is_object) {
                char key[64];
                size_t behind = skip_string(at);
                snprintf(key, sizeof key, "%.*s", (int)(behind - at - 2), whole + at + 1);
                below = place_below(place, key);
                at = behind + 1;
            } else {
                snprintf(below.path, sizeof below.path, "%s[%zu]", place->path, index);
                below.is_quantity = ends_with(place->path, "validValues");
            }
            if (place->is_raw) below = *place;
            at = walk(at, &below);
        }
        at++;
    }
    if (place->path[0] != '\0') try_types(start, at, place);
    return at;
}

Test(decode, every_field_with_every_type_and_every_level_with_an_unknown_field, .timeout = 120) {
    for (size_t i = 0; i < WHOLE_COUNT; i++) {
        decode_clean(wholes[i].written, wholes[i].minor);
        whole = bench.input;
        whole_minor = wholes[i].minor;
        struct place root = {0};
        cr_expect_eq(walk(0, &root), strlen(whole));
    }
    cr_expect_gt(places_tried, 3000, "%zu", places_tried);
}

Test(decode, every_truncation_is_a_fault) {
    for (size_t i = 0; i < WHOLE_COUNT; i++) {
        decode_clean(wholes[i].written, wholes[i].minor);
        size_t size = strlen(bench.input);
        for (size_t len = 0; len < size; len++) {
            char *cut = malloc(len + 1);
            memcpy(cut, bench.input, len);
            cr_expect(!decode_text((struct text){cut, len}, JSON_STRICT, wholes[i].minor), "%zu of %zu", len,
                      i);
            cr_expect_eq(bench.fault.code, FAULT_INPUT);
            free(cut);
        }
    }
}

Test(decode, survives_every_failed_allocation) {
    for (size_t i = 0; i < WHOLE_COUNT; i++) {
        decode_clean(wholes[i].written, wholes[i].minor);
        struct text input = text_of(bench.input);
        struct decode_options options = {JSON_STRICT, wholes[i].minor == 36 ? 37 : 36};
        bool poisoned = true;
        for (size_t n = 1; poisoned; n++) {
            arena_release(&bench.arena);
            arena_init(&bench.arena, ARENA_CAP_BYTES);
            bench.arena.fail_after = n;
            finding_list_init(&bench.findings, &bench.arena);
            bool fine =
                decode_object(&bench.arena, input, &options, &bench.object, &bench.findings, &bench.fault);
            poisoned = bench.arena.poisoned;
            cr_expect_eq(fine, !poisoned, "%zu", n);
            if (poisoned) cr_expect_eq(bench.fault.code, FAULT_MEMORY, "%zu: %s", n, bench.fault.text);
        }
        for (size_t cap = 1; cap < 40000; cap += 977) {
            arena_release(&bench.arena);
            arena_init(&bench.arena, cap);
            finding_list_init(&bench.findings, &bench.arena);
            bool fine =
                decode_object(&bench.arena, input, &options, &bench.object, &bench.findings, &bench.fault);
            cr_expect_eq(fine, !bench.arena.poisoned, "%zu", cap);
        }
    }
}

// The bytes of the object of a corpus line, as they were sent.
static struct text object_of(struct text line) {
    static const char before[] = "\"object\":";
    static const char behind[] = ",\"verdict\":";
    const char *begin = memmem(line.ptr, line.len, before, sizeof before - 1);
    cr_assert_not_null(begin);
    begin += sizeof before - 1;
    const char *end = begin;
    for (const char *at = begin; at != NULL;
         at = memmem(at + 1, (size_t)(line.ptr + line.len - at - 1), behind, sizeof behind - 1))
        end = at;
    return (struct text){begin, (size_t)(end - begin)};
}

// The part of a corpus line that tells what one minor said.
static struct text verdict_of(struct text line, const char *minor_name) {
    struct text object = object_of(line);
    struct text verdict = {object.ptr + object.len, line.len - (size_t)(object.ptr + object.len - line.ptr)};
    char name[16];
    int len = snprintf(name, sizeof name, "\"%s\":{", minor_name);
    const char *begin = memmem(verdict.ptr, verdict.len, name, (size_t)len);
    cr_assert_not_null(begin);
    verdict = (struct text){begin, (size_t)(verdict.ptr + verdict.len - begin)};
    const char *next = memmem(begin + 1, verdict.len - 1, "\"1.3", 4);
    return next == NULL ? verdict : (struct text){begin, (size_t)(next - begin)};
}

// Every unknown field that the server named was found too. The message is still written as JSON.
static void expect_unknown_fields(struct text verdict, const char *minor_name) {
    static const char words[] = "unknown field \\\"";
    const char *at = verdict.ptr;
    const char *end = verdict.ptr + verdict.len;
    while ((at = memmem(at, (size_t)(end - at), words, sizeof words - 1)) != NULL) {
        at += sizeof words - 1;
        char path[256];
        snprintf(path, sizeof path, "%.*s", (int)text_find((struct text){at, (size_t)(end - at)}, '\\', 0),
                 at);
        cr_expect(has_finding(FINDING_STRICT_DECODING, path), "%s: %s", minor_name, path);
    }
}

static void judge_line(struct text line, const char *minor_name, int minor) {
    struct text verdict = verdict_of(line, minor_name);
    bool refused = memmem(verdict.ptr, verdict.len, "\"code\":400", 10) != NULL;
    struct text name = text_slice(line, 0, 24);
    cr_assert(decode_text(object_of(line), JSON_STRICT, minor), "%.*s: %s", TEXT_ARG(name), bench.fault.text);
    cr_expect_eq(bench.findings.count > 0, refused, "%.*s in %s", TEXT_ARG(name), minor_name);
    expect_unknown_fields(verdict, minor_name);
}

Test(decode, agrees_with_the_servers_about_what_cannot_be_decoded) {
    struct text file = test_corpus_read("schema.jsonl");
    size_t at = 0;
    size_t count = 0;
    struct text line;
    while (test_next_line(file, &at, &line)) {
        if (line.len == 0) continue;
        judge_line(line, "1.36", 36);
        judge_line(line, "1.37", 37);
        count++;
    }
    cr_expect_gt(count, 400);
    test_file_free(file);
}
