// SPDX-License-Identifier: Apache-2.0
// Claims as plain structs: sizes that a tenant may send, and memory that runs out.
#include "validators/schema/resource_claim.h"

#include <criterion/criterion.h>

#include "unit/lib/found.h"
#include "validators/schema/resource_claim_status.h"
#include "validators/schema/resource_claim_template.h"

#define MANY 50000u

static struct exact_request exact = {.device_class_name = TEXT_INIT("c")};

// MANY requests with as many subrequests in the last, and references to them.
static void fill_many(struct resource_claim *claim, struct arena *arena) {
    struct device_request *requests = arena_zalloc(arena, MANY, sizeof *requests);
    struct exact_request *subs = arena_zalloc(arena, MANY, sizeof *subs);
    struct text *references = arena_zalloc(arena, 32, sizeof *references);
    struct device_constraint *constraints = arena_zalloc(arena, 32, sizeof *constraints);
    for (size_t i = 0; i < MANY; i++) {
        requests[i] = (struct device_request){.name = text_format(arena, "r%zu", i), .exactly = &exact};
        subs[i] =
            (struct exact_request){.name = text_format(arena, "s%zu", i), .device_class_name = TEXT("c")};
    }
    requests[MANY - 1].exactly = NULL;
    requests[MANY - 1].first_available = (struct exact_request_list){subs, MANY, true};
    for (size_t i = 0; i < 32; i++) references[i] = text_format(arena, "r%u/s%zu", MANY - 1, i * 1000);
    references[31] = TEXT("r5/s5");
    for (size_t i = 0; i < 32; i++)
        constraints[i] = (struct device_constraint){.requests = {references, 32, true},
                                                    .match_attribute = {TEXT("a.b/c"), true}};
    claim->metadata.name = TEXT("a");
    claim->devices.requests = (struct device_request_list){requests, MANY};
    claim->devices.constraints = (struct device_constraint_list){constraints, 32};
}

Test(resource_claim, many_requests_are_looked_up_quickly, .timeout = 20) {
    struct found found;
    found_init(&found);
    struct resource_claim claim = {0};
    fill_many(&claim, &found.arena);
    schema_resource_claim(&claim, RESOURCE_V1, 37, &found.findings);
    cr_assert_eq(found.findings.count, 33); // too many requests, and one bad reference in each constraint
    found_release(&found);
}

Test(resource_claim, many_reported_devices_are_looked_up_quickly, .timeout = 20) {
    struct found found;
    found_init(&found);
    struct resource_claim claim = {0};
    struct allocated_device_status *statuses = arena_zalloc(&found.arena, MANY, sizeof *statuses);
    struct owner_reference *owners = arena_zalloc(&found.arena, MANY, sizeof *owners);
    for (size_t i = 0; i < MANY; i++) {
        statuses[i] = (struct allocated_device_status){
            .driver = TEXT("d"), .pool = TEXT("p"), .device = text_format(&found.arena, "x%zu", i / 2)};
        owners[i] = (struct owner_reference){TEXT("v1"), TEXT("Pod"), TEXT("p"), TEXT("u"), {0}, {0}};
    }
    claim.device_statuses = (struct allocated_device_status_list){statuses, MANY};
    struct resource_claim old = {0};
    schema_resource_claim_status(&claim, &old, 37, &found.findings);
    cr_assert_eq(found.findings.count, FINDING_LIST_LIMIT);
    cr_assert(finding_list_denies(&found.findings));
    finding_list_init(&found.findings, &found.arena);
    claim.metadata.name = TEXT("a");
    claim.metadata.owner_references = (struct owner_reference_list){owners, MANY, true};
    schema_resource_claim(&claim, RESOURCE_V1, 37, &found.findings);
    FOUND(&found, "");
    found_release(&found);
}

// A claim, its old form and its status, with something wrong in every part.
struct torture {
    struct text texts[3];
    struct owner_reference owners[2];
    struct device_selector selector;
    struct device_toleration toleration;
    struct exact_request exact;
    struct device_request requests[2];
    struct device_constraint constraint;
    struct device_configuration config;
    struct allocation_result result;
    struct consumer_reference consumers[2];
    struct condition conditions[2];
    struct allocated_device_status statuses[2];
    struct resource_claim claim;
    struct resource_claim old;
    struct resource_claim_template claim_template;
};

static void fill_torture(struct torture *all) {
    *all = (struct torture){.texts = {TEXT("zz"), TEXT("zz"), TEXT("a b")},
                            .selector = {.cel_set = true},
                            .toleration = {.key = TEXT("a b"), .value = TEXT("a b")},
                            .constraint = {.match_attribute = {TEXT("x"), true}},
                            .consumers = {{.uid = TEXT("u")}, {.uid = TEXT("u")}}};
    all->exact = (struct exact_request){
        .selectors = {&all->selector, 1}, .tolerations = {&all->toleration, 1}, .count = -1};
    all->requests[0] = (struct device_request){
        .name = TEXT("A"), .exactly = &all->exact, .first_available = {&all->exact, 1, true}};
    all->requests[1] = all->requests[0];
    all->constraint.requests = (struct text_list){all->texts, 2, true};
    all->config = (struct device_configuration){.opaque_set = true, .requests = {all->texts, 2, true}};
    all->result = (struct allocation_result){.binding_conditions = {all->texts, 3, true},
                                             .binding_failure_conditions = {all->texts, 3, true},
                                             .share_id = {TEXT("x"), true}};
    all->statuses[0] = (struct allocated_device_status){
        .conditions = {all->conditions, 2}, .network_data_set = true, .ips = {all->texts, 3, true}};
    all->statuses[1] = all->statuses[0];
    all->claim.metadata = (struct object_meta){.generate_name = TEXT("A"),
                                               .namespace = TEXT("A"),
                                               .generation = -1,
                                               .owner_references = {all->owners, 2, true},
                                               .finalizers = {all->texts, 3, true},
                                               .deletion_grace_period_seconds = {3, true}};
    all->claim.devices = (struct device_claim){
        .requests = {all->requests, 2}, .constraints = {&all->constraint, 1}, .config = {&all->config, 1}};
    all->claim.allocation =
        (struct allocation){.set = true, .results = {&all->result, 1}, .config = {&all->config, 1}};
    all->claim.reserved_for = (struct consumer_reference_list){all->consumers, 2};
    all->claim.device_statuses = (struct allocated_device_status_list){all->statuses, 2};
    all->old.metadata.deletion_timestamp = TEXT("2024-01-01T00:00:00Z");
    all->claim_template.metadata = all->claim.metadata;
    all->claim_template.spec_metadata = all->claim.metadata;
    all->claim_template.devices = all->claim.devices;
}

static void run_torture(const struct torture *all, struct finding_list *findings) {
    static const struct resource_claim_template none;
    schema_resource_claim(&all->claim, RESOURCE_V1BETA1, 37, findings);
    schema_resource_claim_update(&all->claim, &all->old, 36, findings);
    schema_resource_claim_status(&all->claim, &all->old, 37, findings);
    schema_resource_claim_status(&all->claim, &all->claim, 36, findings);
    schema_resource_claim_template(&all->claim_template, RESOURCE_V1, 36, findings);
    schema_resource_claim_template_update(&all->claim_template, &none, RESOURCE_V1, 37, findings);
}

Test(resource_claim, memory_that_runs_out_is_told, .timeout = 60) {
    static struct torture all;
    fill_torture(&all);
    size_t allocation_count = 0;
    for (size_t n = 1;; n++) {
        struct found found;
        found_init(&found);
        found.arena.fail_after = n;
        run_torture(&all, &found.findings);
        bool sound = finding_list_is_sound(&found.findings);
        if (sound) cr_assert_gt(found.findings.count, 100);
        found_release(&found);
        if (sound) break;
        allocation_count++;
    }
    cr_assert_gt(allocation_count, 200);
}

Test(resource_claim, an_update_with_the_same_bytes_is_not_looked_into) {
    struct found found;
    found_init(&found);
    struct device_request request = {.name = TEXT("r"), .exactly = &exact};
    struct resource_claim old = {.metadata = {.name = TEXT("a")}, .spec_raw = TEXT("{}")};
    struct resource_claim claim = old;
    claim.devices.requests = (struct device_request_list){&request, 1};
    schema_resource_claim_update(&claim, &old, 36, &found.findings);
    FOUND(&found, "");
    claim.spec_raw = TEXT("{ }");
    schema_resource_claim_update(&claim, &old, 36, &found.findings);
    FOUND(&found, "spec Invalid");
    found_release(&found);
}
