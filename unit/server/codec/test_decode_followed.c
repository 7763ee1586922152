// SPDX-License-Identifier: Apache-2.0
// The kinds that are followed: Pods, Nodes, Namespaces, Leases, DeviceTaintRules.
#include <criterion/criterion.h>

#include "server/codec/decode_parts.h"

#define CAP_BYTES ((size_t)4 << 20)

static struct arena arena;
static struct object object;

// Reads an object, with ' for ". Nothing of it may be found wrong.
static void decode(void (*decoder)(struct json_reader *reader, struct object *ret), const char *text) {
    arena_init(&arena, CAP_BYTES);
    struct text json = text_copy(&arena, text_of(text));
    char *bytes = (char *)(uintptr_t)json.ptr;
    for (size_t i = 0; i < json.len; i++)
        if (bytes[i] == '\'') bytes[i] = '"';
    struct finding_list findings;
    finding_list_init(&findings, &arena);
    struct json_reader reader;
    json_init(&reader, json, &arena, &findings, JSON_STRICT);
    object = (struct object){0};
    decoder(&reader, &object);
    struct fault fault = {0};
    cr_assert(json_finish(&reader, &fault), "%s", fault.text);
    cr_assert_eq(findings.count, 0);
    cr_assert_eq(reader.mode, JSON_STRICT);
}

#define SAME(text, literal) cr_assert(text_equal((text), TEXT(literal)), "%.*s", TEXT_ARG(text))

Test(decode_followed, pod_spec) {
    decode(decode_pod,
           "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p'},'unknown':1,'spec':{'nodeName':'n',"
           "'schedulerName':'s','schedulingGates':[{'name':'g'},{}],'hostNetwork':true,"
           "'schedulingGroup':{'podGroupName':'gang','unknown':1},"
           "'resourceClaims':[{'name':'a','resourceClaimName':'b'},{'name':'c','resourceClaimTemplateName':'"
           "t'}],"
           "'initContainers':[{'name':'i','restartPolicy':'Always','image':'x'}],'containers':[{'name':'c',"
           "'resources':{'requests':{'cpu':'1'},'limits':{'cpu':2},'claims':[{'name':'a','request':'r'}]}}],"
           "'overhead':{'memory':'1'},'resources':{'requests':{'cpu':'3'}}}}");
    const struct pod *pod = &object.pod;
    SAME(object.api_version, "v1");
    SAME(object.kind_name, "Pod");
    SAME(pod->metadata.name, "p");
    SAME(pod->node_name, "n");
    SAME(pod->scheduler_name, "s");
    cr_assert_eq(pod->scheduling_gates.count, 2);
    SAME(pod->scheduling_gates.items[0], "g");
    SAME(pod->scheduling_group, "gang");
    SAME(pod->resource_claims.items[0].claim_name.value, "b");
    cr_assert_not(pod->resource_claims.items[0].template_name.set);
    SAME(pod->resource_claims.items[1].template_name.value, "t");
    cr_assert(pod->init_containers.items[0].restart_always);
    const struct container *container = &pod->containers.items[0];
    cr_assert_not(container->restart_always);
    cr_assert_eq(container->resources.requests.count, 1);
    cr_assert_eq(container->resources.limits.count, 1);
    SAME(container->resources.claims.items[0], "a");
    cr_assert_eq(pod->overhead.count, 1);
    cr_assert(pod->resources_set);
    cr_assert_eq(pod->resources.requests.count, 1);
    arena_release(&arena);
}

Test(decode_followed, pod_status) {
    decode(decode_pod, "{'status':{'phase':'Running','nominatedNodeName':'n','qosClass':'x',"
                       "'resourceClaimStatuses':[{'name':'a','resourceClaimName':'b'}],"
                       "'extendedResourceClaimStatus':{'resourceClaimName':'e','requestMappings':[]},"
                       "'nodeAllocatableResourceClaimStatuses':[{'resourceClaimName':'c','containers':['x'],"
                       "'resources':{'cpu':'1'},'mapping':[{'name':'cpu','quantity':'2'},{'name':'memory'}],"
                       "'overhead':[{'name':'memory','perPod':'1','perContainer':'2'}]}],"
                       "'initContainerStatuses':[{'name':'i','allocatedResources':{'cpu':'1'}}],"
                       "'containerStatuses':[{'name':'c','resources':{'requests':{'cpu':'1'},'limits':{}}},{'"
                       "resources':null}],"
                       "'allocatedResources':{'cpu':'5'},'resources':{'requests':{'cpu':'6'}}}}");
    const struct pod *pod = &object.pod;
    SAME(pod->phase, "Running");
    SAME(pod->nominated_node_name, "n");
    SAME(pod->claim_statuses.items[0].claim_name.value, "b");
    SAME(pod->extended_claim_name.value, "e");
    const struct node_allocatable_claim_status *claim = &pod->allocatable_statuses.items[0];
    SAME(claim->claim_name, "c");
    SAME(claim->containers.items[0], "x");
    cr_assert_eq(claim->resources.count, 1);
    cr_assert_eq(claim->mapping.count, 2);
    cr_assert_not(claim->mapping.items[1].value.set);
    cr_assert(claim->overhead.items[0].per_pod.set);
    cr_assert(claim->overhead.items[0].per_container.set);
    cr_assert(pod->init_container_statuses.items[0].allocated_resources.set);
    cr_assert(pod->container_statuses.items[0].resources_set);
    cr_assert(pod->container_statuses.items[0].resources.limits.set);
    cr_assert_not(pod->container_statuses.items[1].resources_set);
    cr_assert(pod->allocated_resources.set);
    cr_assert(pod->status_resources_set);
    arena_release(&arena);
}

static void expect_resize(const char *conditions, const char *want) {
    char json[512];
    snprintf(json, sizeof json, "{'status':{'conditions':[%s]}}", conditions);
    decode(decode_pod, json);
    cr_assert(text_equal(object.pod.resize, text_of(want)), "%s", conditions);
    arena_release(&arena);
}

Test(decode_followed, resizes) {
    expect_resize("", "");
    expect_resize("{'type':'Ready','reason':'Infeasible'}", "");
    expect_resize("{'type':'PodResizePending','reason':'Infeasible'}", "Infeasible");
    expect_resize("{'type':'PodResizeInProgress','reason':'Infeasible'}", "InProgress");
    expect_resize("{'type':'PodResizeInProgress'},{'type':'PodResizePending','reason':'Deferred'}",
                  "Deferred");
    expect_resize("{'type':'PodResizePending','reason':'Deferred'},"
                  "{'type':'PodResizePending','reason':'Infeasible'},{'type':'PodResizeInProgress'}",
                  "Deferred");
}

Test(decode_followed, node) {
    decode(decode_node,
           "{'apiVersion':'v1','kind':'Node','metadata':{'name':'n'},'spec':{'unschedulable':true,"
           "'taints':[]},'status':{'capacity':{'cpu':'4'},'allocatable':{'cpu':'3'},"
           "'nodeInfo':{'kubeletVersion':'v1.37.2','osImage':'x'},'declaredFeatures':['F'],'images':[]}}");
    SAME(object.node.metadata.name, "n");
    cr_assert(object.node.unschedulable);
    cr_assert_eq(object.node.capacity.count, 1);
    cr_assert_eq(object.node.allocatable.count, 1);
    SAME(object.node.kubelet_version, "v1.37.2");
    SAME(object.node.declared_features.items[0], "F");
    arena_release(&arena);
}

Test(decode_followed, namespace_and_lease) {
    decode(decode_namespace,
           "{'metadata':{'name':'n','labels':{'a':'b'}},'spec':{'finalizers':['kubernetes']}}");
    SAME(object.namespace.metadata.labels.items[0].value, "b");
    arena_release(&arena);
    decode(decode_lease,
           "{'kind':'Lease','metadata':{'name':'n'},'spec':{'holderIdentity':'h',"
           "'leaseDurationSeconds':40,'renewTime':'2024-01-01T00:00:00.123456Z','strategy':'x'}}");
    SAME(object.kind_name, "Lease");
    SAME(object.lease.holder_identity, "h");
    cr_assert_eq(object.lease.lease_duration_seconds, 40);
    SAME(object.lease.renew_time, "2024-01-01T00:00:00.123456Z");
    arena_release(&arena);
}

Test(decode_followed, device_taint_rule) {
    decode(decode_device_taint_rule,
           "{'metadata':{'name':'r'},'spec':{'deviceSelector':{'driver':'d','pool':'p','device':'v'},"
           "'taint':{'key':'k','value':'x','effect':'NoSchedule','timeAdded':null}},'status':{}}");
    SAME(object.taint_rule.driver.value, "d");
    SAME(object.taint_rule.pool.value, "p");
    SAME(object.taint_rule.device.value, "v");
    SAME(object.taint_rule.taint_key, "k");
    SAME(object.taint_rule.taint_value, "x");
    SAME(object.taint_rule.taint_effect, "NoSchedule");
    arena_release(&arena);
}
