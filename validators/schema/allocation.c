// SPDX-License-Identifier: Apache-2.0
// The result of an allocation.
#include "validators/schema/allocation.h"

#include "validators/schema/binding_conditions.h"
#include "validators/schema/device_configuration.h"
#include "validators/schema/device_selector.h"
#include "validators/schema/names.h"
#include "validators/schema/node_selector.h"

#define RESULTS_MAX_COUNT           32u
#define ALLOCATION_CONFIG_MAX_COUNT 64u // of the class and of the claim

static void check_result(const struct allocation_result *result, const struct request_names *names, int minor,
                         const struct path *path, struct finding_list *findings) {
    struct path request_path = path_field(path, TEXT("request"));
    schema_request_reference(names, result->request, &request_path, findings);
    struct path driver_path = path_field(path, TEXT("driver"));
    schema_driver_name(result->driver, minor >= 37, &driver_path, findings);
    struct path pool_path = path_field(path, TEXT("pool"));
    schema_pool_name(result->pool, &pool_path, findings);
    struct path device_path = path_field(path, TEXT("device"));
    schema_form(why_not_dns1123_label(result->device), result->device, &device_path, findings);
    schema_binding_conditions(&result->binding_conditions, &result->binding_failure_conditions, path, path,
                              findings);
    struct path tolerations_path = path_field(path, TEXT("tolerations"));
    for (size_t i = 0; i < result->tolerations.count && minor >= 37; i++) {
        struct path item_path = path_index(&tolerations_path, i);
        schema_toleration_declared(&result->tolerations.items[i], &item_path, findings);
        schema_toleration_value(&result->tolerations.items[i], &item_path, findings);
    }
    if (!result->share_id.set) return;
    struct path share_path = path_field(path, TEXT("shareID"));
    schema_form(why_not_uuid(result->share_id.value), result->share_id.value, &share_path, findings);
}

static void check_source(struct text source, const struct path *path, struct finding_list *findings) {
    if (text_equal(source, TEXT("FromClass")) || text_equal(source, TEXT("FromClaim"))) return;
    struct path source_path = path_field(path, TEXT("source"));
    finding_add(findings, source.len == 0 ? FINDING_REQUIRED : FINDING_NOT_SUPPORTED, &source_path, source,
                TEXT("must be FromClass or FromClaim"));
}

void schema_allocation(const struct allocation *allocation, const struct request_names *names, int minor,
                       const struct path *path, struct finding_list *findings) {
    struct path devices_path = path_field(path, TEXT("devices"));
    struct path results_path = path_field(&devices_path, TEXT("results"));
    if (schema_count_fits(allocation->results.count, RESULTS_MAX_COUNT, &results_path, findings))
        for (size_t i = 0; i < allocation->results.count; i++) {
            struct path item_path = path_index(&results_path, i);
            check_result(&allocation->results.items[i], names, minor, &item_path, findings);
        }
    struct path config_path = path_field(&devices_path, TEXT("config"));
    if (schema_count_fits(allocation->config.count, ALLOCATION_CONFIG_MAX_COUNT, &config_path, findings))
        for (size_t i = 0; i < allocation->config.count; i++) {
            const struct device_configuration *config = &allocation->config.items[i];
            struct path item_path = path_index(&config_path, i);
            struct path references_path = path_field(&item_path, TEXT("requests"));
            check_source(config->source, &item_path, findings);
            schema_request_references(names, &config->requests, &references_path, findings);
            schema_device_configuration(config, minor, false, &item_path, findings);
        }
    if (allocation->node_selector == NULL) return;
    struct path selector_path = path_field(path, TEXT("nodeSelector"));
    schema_node_selector(allocation->node_selector, &selector_path, findings);
}
