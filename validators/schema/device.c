// SPDX-License-Identifier: Apache-2.0
// One device of a ResourceSlice.
#include "validators/schema/binding_conditions.h"
#include "validators/schema/names.h"
#include "validators/schema/node_selector.h"
#include "validators/schema/slice_check.h"

static const struct text NO_VALUE = {"", 0};

static bool check_node_name(const struct device_check *check) {
    if (!check->device->node_name.set) return false;
    struct text name = check->device->node_name.value;
    struct path path = path_field(check->path, TEXT("nodeName"));
    if (name.len == 0) {
        finding_add(check->slice->findings, FINDING_INVALID, &path, name, TEXT("must not be empty"));
        return false;
    }
    schema_form(why_not_dns1123_subdomain(name), name, &path, check->slice->findings);
    return true;
}

static bool check_node_selector(const struct device_check *check) {
    if (check->device->node_selector == NULL) return false;
    struct path path = path_field(check->path, TEXT("nodeSelector"));
    schema_node_selector(check->device->node_selector, &path, check->slice->findings);
    return true;
}

static bool check_all_nodes(const struct device_check *check) {
    struct opt_bool all_nodes = check->device->all_nodes;
    if (!all_nodes.set || all_nodes.value) return all_nodes.set;
    struct path path = path_field(check->path, TEXT("allNodes"));
    finding_add(check->slice->findings, FINDING_INVALID, &path, TEXT("false"),
                TEXT("must be either unset or set to true"));
    return false;
}

static void check_nodes(const struct device_check *check) {
    const struct device *device = check->device;
    struct opt_bool per_device = check->slice->slice->per_device_node_selection;
    if (!per_device.set || !per_device.value) {
        if (device->node_name.set || device->node_selector != NULL || device->all_nodes.set)
            finding_add(check->slice->findings, FINDING_INVALID, check->path, NO_VALUE,
                        TEXT("`nodeName`, `nodeSelector` and `allNodes` can only be set if "
                             "`perDeviceNodeSelection` is set to true in the ResourceSlice spec"));
        return;
    }
    unsigned count = 0;
    count += check_node_name(check);
    count += check_node_selector(check);
    count += check_all_nodes(check);
    if (count == 1) return;
    finding_add(check->slice->findings, count == 0 ? FINDING_REQUIRED : FINDING_INVALID, check->path,
                NO_VALUE,
                TEXT("exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when "
                     "`perDeviceNodeSelection` is set to true in the ResourceSlice spec"));
}

static size_t list_values(const struct device_attribute *attribute) {
    const struct attribute_lists *lists = attribute_lists(attribute);
    return lists->ints.count + lists->bools.count + lists->strings.count + lists->versions.count;
}

static void check_counts(const struct device_check *check) {
    const struct device *device = check->device;
    struct arena *arena = check->slice->findings->arena;
    size_t names = device->attributes.count + device->capacity.count;
    if (names > ATTRIBUTES_CAPACITIES_MAX_COUNT)
        finding_addf(check->slice->findings, FINDING_INVALID, check->path, text_format(arena, "%zu", names),
                     "the total number of attributes and capacities must not exceed %u",
                     ATTRIBUTES_CAPACITIES_MAX_COUNT);
    if (!check->slice->list_attributes) return; // as many values as attributes: told already
    size_t values = 0;
    for (size_t i = 0; i < device->attributes.count; i++) {
        size_t of_lists = list_values(&device->attributes.items[i]);
        values += of_lists == 0 ? 1 : of_lists;
    }
    if (values > ATTRIBUTE_VALUES_MAX_COUNT)
        finding_addf(check->slice->findings, FINDING_INVALID, check->path, text_format(arena, "%zu", values),
                     "the total number of attribute values must not exceed %u", ATTRIBUTE_VALUES_MAX_COUNT);
}

static void check_declared_sizes(const struct text_list *list, struct text field,
                                 const struct device_check *check) {
    if (list->count <= BINDING_CONDITIONS_MAX_COUNT) return;
    struct path path = path_field(check->declared_path, field);
    schema_too_many(list->count, BINDING_CONDITIONS_MAX_COUNT, &path, check->slice->findings);
}

// All but the name and the attributes.
static void check_rest(const struct device_check *check) {
    const struct device *device = check->device;
    schema_device_taints(check);
    schema_counter_consumptions(check);
    if (!check->like_before) schema_node_allocatable(check);
    if (!check->by_hand) {
        check_declared_sizes(&device->binding_conditions, TEXT("bindingConditions"), check);
        check_declared_sizes(&device->binding_failure_conditions, TEXT("bindingFailureConditions"), check);
        return;
    }
    if (!check->like_before) schema_device_capacity(check);
    check_nodes(check);
    schema_binding_conditions(&device->binding_conditions, &device->binding_failure_conditions, check->path,
                              check->declared_path, check->slice->findings);
}

void schema_device(const struct device_check *check) {
    schema_device_attributes(check);
    if (!check->rest_before) check_rest(check);
    if (!check->by_hand) return;
    struct path name = path_field(check->path, TEXT("name"));
    schema_form(why_not_dns1123_label(check->device->name), check->device->name, &name,
                check->slice->findings);
    check_counts(check);
}
