// SPDX-License-Identifier: Apache-2.0
// unit-negative: a capacity, a counter, a request or a consumption is below zero.
//
// The API server takes negative numbers in all these places. A negative request or consumption then gives
// capacity back that nobody had: books shrink, and a device or a node is handed out twice.
//
// Wrong:
//   spec:
//     devices:
//       requests:
//       - name: cpus
//         exactly:
//           deviceClassName: cpu
//           capacity: {requests: {cpu: "-1"}}
// Right: an amount of zero or more, or no request at all.
//
// A claim's consumed capacity is judged where it is new: an update of a claim that was allocated before
// passes, so that every claim can be released.
//
// Reads: ResourceSlice spec.sharedCounters[].counters, spec.devices[].consumesCounters[].counters,
// spec.devices[].capacity with its request policies; ResourceClaim and ResourceClaimTemplate:
// capacity.requests of each request and of each of firstAvailable; ResourceClaim
// status.allocation.devices.results[].consumedCapacity.
//
// Default: deny. Policy cannot change it.
//
// Source: kubernetes v1.36.3 and v1.37.2 pkg/apis/resource/validation/validation.go, validateDeviceCounter
// ("any parsed quantity is valid") and validateDeviceRequestAllocationResult.
#include "validators/rules/rule.h"

static void judge(struct quantity quantity, const struct path *path, struct text what,
                  struct finding_list *findings) {
    if (!quantity.set || quantity_sign(quantity) >= 0) return;
    struct finding *finding = finding_addf(findings, FINDING_INVALID, path, quantity.source,
                                           "%.*s must not be negative", TEXT_ARG(what));
    finding_hint(finding, TEXT("give zero or more"));
}

static void judge_counters(const struct counter_map *counters, const struct path *parent, struct text what,
                           struct finding_list *findings) {
    struct path field = path_field(parent, TEXT("counters"));
    for (size_t i = 0; i < counters->count; i++) {
        struct path key = path_key(&field, counters->items[i].key);
        struct path value = path_field(&key, TEXT("value"));
        judge(counters->items[i].value, &value, what, findings);
    }
}

static void judge_policy(const struct capacity_request_policy *policy, const struct path *capacity,
                         struct finding_list *findings) {
    static const struct text what = TEXT_INIT("an amount that claims may ask for");
    struct path field = path_field(capacity, TEXT("requestPolicy"));
    struct path normal = path_field(&field, TEXT("default"));
    struct path values = path_field(&field, TEXT("validValues"));
    struct path range = path_field(&field, TEXT("validRange"));
    struct path min = path_field(&range, TEXT("min"));
    struct path max = path_field(&range, TEXT("max"));
    struct path step = path_field(&range, TEXT("step"));
    judge(policy->default_value, &normal, what, findings);
    for (size_t i = 0; i < policy->valid_values.count; i++) {
        struct path at = path_index(&values, i);
        judge(policy->valid_values.items[i], &at, what, findings);
    }
    judge(policy->valid_range.min, &min, what, findings);
    judge(policy->valid_range.max, &max, what, findings);
    judge(policy->valid_range.step, &step, what, findings);
}

static void judge_device(const struct device *device, const struct path *path,
                         struct finding_list *findings) {
    struct path capacity = path_field(path, TEXT("capacity"));
    for (size_t i = 0; i < device->capacity.count; i++) {
        const struct device_capacity *entry = &device->capacity.items[i];
        struct path key = path_key(&capacity, entry->key);
        struct path value = path_field(&key, TEXT("value"));
        judge(entry->value, &value, TEXT("a capacity"), findings);
        if (entry->request_policy != NULL) judge_policy(entry->request_policy, &key, findings);
    }
    struct path consumes = path_field(path, TEXT("consumesCounters"));
    for (size_t i = 0; i < device->consumes_counters.count; i++) {
        struct path at = path_index(&consumes, i);
        judge_counters(&device->consumes_counters.items[i].counters, &at, TEXT("a consumption of a counter"),
                       findings);
    }
}

static void judge_slice(const struct resource_slice *slice, struct finding_list *findings) {
    struct path spec = path_field(NULL, TEXT("spec"));
    struct path sets = path_field(&spec, TEXT("sharedCounters"));
    for (size_t i = 0; i < slice->shared_counters.count; i++) {
        struct path at = path_index(&sets, i);
        judge_counters(&slice->shared_counters.items[i].counters, &at, TEXT("a counter"), findings);
    }
    struct path devices = path_field(&spec, TEXT("devices"));
    for (size_t i = 0; i < slice->devices.count; i++) {
        struct path at = path_index(&devices, i);
        judge_device(&slice->devices.items[i], &at, findings);
    }
}

static void judge_map(const struct quantity_map *map, const struct path *path, struct text what,
                      struct finding_list *findings) {
    for (size_t i = 0; i < map->count; i++) {
        struct path key = path_key(path, map->items[i].key);
        judge(map->items[i].value, &key, what, findings);
    }
}

static void judge_request(const struct exact_request *request, const struct path *path,
                          struct finding_list *findings) {
    struct path capacity = path_field(path, TEXT("capacity"));
    struct path requests = path_field(&capacity, TEXT("requests"));
    judge_map(&request->capacity_requests, &requests, TEXT("a request for capacity"), findings);
}

static void judge_requests(const struct device_claim *claim, const struct path *spec,
                           struct finding_list *findings) {
    struct path devices = path_field(spec, TEXT("devices"));
    struct path list = path_field(&devices, TEXT("requests"));
    for (size_t i = 0; i < claim->requests.count; i++) {
        const struct device_request *request = &claim->requests.items[i];
        struct path at = path_index(&list, i);
        struct path exactly = path_field(&at, TEXT("exactly"));
        struct path first = path_field(&at, TEXT("firstAvailable"));
        if (request->exactly != NULL) judge_request(request->exactly, &exactly, findings);
        for (size_t j = 0; j < request->first_available.count; j++) {
            struct path sub = path_index(&first, j);
            judge_request(&request->first_available.items[j], &sub, findings);
        }
    }
}

static void judge_allocation(const struct allocation *allocation, struct finding_list *findings) {
    struct path status = path_field(NULL, TEXT("status"));
    struct path field = path_field(&status, TEXT("allocation"));
    struct path devices = path_field(&field, TEXT("devices"));
    struct path results = path_field(&devices, TEXT("results"));
    for (size_t i = 0; i < allocation->results.count; i++) {
        struct path at = path_index(&results, i);
        struct path consumed = path_field(&at, TEXT("consumedCapacity"));
        judge_map(&allocation->results.items[i].consumed_capacity, &consumed, TEXT("a consumed capacity"),
                  findings);
    }
}

// What has been allocated before stays as it is: whatever the update does, it must be able to release it.
static bool allocation_is_new(const struct rule_input *input) {
    return input->object->claim.allocation.set && (input->old == NULL || !input->old->claim.allocation.set);
}

void rule_unit_negative(const struct rule_input *input, struct finding_list *findings) {
    struct path spec = path_field(NULL, TEXT("spec"));
    struct path inner = path_field(&spec, TEXT("spec"));
    const struct object *object = input->object;
    if (object->kind == KIND_RESOURCE_SLICE) judge_slice(&object->slice, findings);
    if (object->kind == KIND_RESOURCE_CLAIM_TEMPLATE)
        judge_requests(&object->claim_template.devices, &inner, findings);
    if (object->kind != KIND_RESOURCE_CLAIM) return;
    // A write of the status cannot change the spec, and must be able to release a claim that is stored.
    if (input->subresource.len == 0) judge_requests(&object->claim.devices, &spec, findings);
    if (allocation_is_new(input)) judge_allocation(&object->claim.allocation, findings);
}
