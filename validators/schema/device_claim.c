// SPDX-License-Identifier: Apache-2.0
// What a claim asks for.
#include "validators/schema/device_claim.h"

#include "validators/schema/device_configuration.h"
#include "validators/schema/device_selector.h"

#define DEVICE_CONSTRAINTS_MAX_COUNT 32u
#define DEVICE_CONFIG_MAX_COUNT      32u

static void check_requests(const struct device_request_list *requests, const struct claim_scope *scope,
                           const struct path *path) {
    struct path requests_path = path_field(path, TEXT("requests"));
    if (!schema_count_fits(requests->count, DEVICE_REQUESTS_MAX_COUNT, &requests_path, scope->findings))
        return;
    for (size_t i = 0; i < requests->count; i++) {
        struct path item_path = path_index(&requests_path, i);
        const struct device_request *request = &requests->items[i];
        schema_device_request(request, scope, &item_path);
        if (key_index_first(&scope->names->requests, 0, request->name) < i)
            finding_add(scope->findings, FINDING_DUPLICATE, &item_path, request->name,
                        TEXT("a request of this name is listed already"));
    }
}

void schema_device_claim(const struct device_claim *claim, enum resource_version version, int minor,
                         const struct path *path, struct finding_list *findings) {
    struct request_names names;
    request_names_init(&names, claim, findings->arena);
    struct claim_scope scope = {.version = version, .minor = minor, .names = &names, .findings = findings};
    check_requests(&claim->requests, &scope, path);
    struct path constraints_path = path_field(path, TEXT("constraints"));
    if (schema_count_fits(claim->constraints.count, DEVICE_CONSTRAINTS_MAX_COUNT, &constraints_path,
                          findings))
        for (size_t i = 0; i < claim->constraints.count; i++) {
            struct path item_path = path_index(&constraints_path, i);
            schema_device_constraint(&claim->constraints.items[i], &scope, &item_path);
        }
    struct path config_path = path_field(path, TEXT("config"));
    if (!schema_count_fits(claim->config.count, DEVICE_CONFIG_MAX_COUNT, &config_path, findings)) return;
    for (size_t i = 0; i < claim->config.count; i++) {
        struct path item_path = path_index(&config_path, i);
        struct path references_path = path_field(&item_path, TEXT("requests"));
        const struct device_configuration *config = &claim->config.items[i];
        schema_request_references(&names, &config->requests, &references_path, findings);
        schema_device_configuration(config, minor, false, &item_path, findings);
    }
}
