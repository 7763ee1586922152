// SPDX-License-Identifier: Apache-2.0
// The result of an allocation.
#include "validators/schema/allocation.h"

#include "validators/schema/device_configuration.h"
#include "validators/schema/device_selector.h"
#include "validators/schema/names.h"
#include "validators/schema/node_selector.h"

#define RESULTS_MAX_COUNT            32u
#define ALLOCATION_CONFIG_MAX_COUNT  64u // of the class and of the claim
#define BINDING_CONDITIONS_MAX_COUNT 4u

static void index_texts(const struct text_list *texts, struct key_index *ret_index, struct arena *arena) {
    key_index_init(ret_index, arena, texts->count);
    for (size_t i = 0; i < texts->count; i++) key_index_add(ret_index, 0, texts->items[i], i);
    key_index_sort(ret_index, arena);
}

static void check_conditions(const struct text_list *conditions, const struct key_index *index,
                             const struct path *path, struct finding_list *findings) {
    bool fits = schema_count_fits(conditions->count, BINDING_CONDITIONS_MAX_COUNT, path, findings);
    for (size_t i = 0; i < conditions->count; i++) {
        struct path item_path = path_index(path, i);
        struct text condition = conditions->items[i];
        if (fits) schema_form(why_not_label_key(condition), condition, &item_path, findings);
        if (key_index_first(index, 0, condition) < i)
            finding_add(findings, FINDING_DUPLICATE, &item_path, condition, TEXT("is listed already"));
    }
}

// Source: validateDeviceBindingParameters.
static void check_binding(const struct allocation_result *result, const struct path *path,
                          struct finding_list *findings) {
    const struct text_list *conditions = &result->binding_conditions;
    const struct text_list *failures = &result->binding_failure_conditions;
    struct path conditions_path = path_field(path, TEXT("bindingConditions"));
    struct path failures_path = path_field(path, TEXT("bindingFailureConditions"));
    struct key_index condition_index, failure_index;
    index_texts(conditions, &condition_index, findings->arena);
    index_texts(failures, &failure_index, findings->arena);
    check_conditions(conditions, &condition_index, &conditions_path, findings);
    check_conditions(failures, &failure_index, &failures_path, findings);
    for (size_t i = 0; i < failures->count; i++) {
        struct path item_path = path_index(&failures_path, i);
        if (key_index_first(&condition_index, 0, failures->items[i]) != KEY_INDEX_NONE)
            finding_add(findings, FINDING_INVALID, &item_path, failures->items[i],
                        TEXT("is a binding condition too"));
    }
    if (conditions->count == 0 && failures->count > 0)
        finding_add(findings, FINDING_INVALID, &conditions_path, (struct text){0},
                    TEXT("is needed beside bindingFailureConditions"));
    if (failures->count == 0 && conditions->count > 0)
        finding_add(findings, FINDING_INVALID, &failures_path, (struct text){0},
                    TEXT("is needed beside bindingConditions"));
}

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
    check_binding(result, path, findings);
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
