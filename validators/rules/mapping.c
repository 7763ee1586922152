// SPDX-License-Identifier: Apache-2.0
// Walking the mappings of a slice.
#include "validators/rules/mapping.h"

static const struct text hugepages_prefix = TEXT_INIT("hugepages-");

bool resource_is_cpu(struct text resource) {
    return text_equal(resource, TEXT("cpu"));
}

bool resource_is_memory(struct text resource) {
    return text_equal(resource, TEXT("memory"));
}

bool resource_is_hugepages(struct text resource) {
    return text_starts_with(resource, hugepages_prefix);
}

bool resource_is_bytes(struct text resource) {
    return resource_is_memory(resource) || resource_is_hugepages(resource) ||
           text_equal(resource, TEXT("ephemeral-storage"));
}

bool resource_page_bytes(struct text resource, int64_t *ret_bytes) {
    struct quantity size;
    int64_t bytes;
    if (!resource_is_hugepages(resource)) return false;
    if (!quantity_parse(text_slice(resource, hugepages_prefix.len, resource.len), &size, NULL)) return false;
    if (size.out_of_range || !quantity_is_whole(size) || !quantity_value(size, &bytes) || bytes <= 0)
        return false;
    *ret_bytes = bytes;
    return true;
}

const struct node_allocatable_map *mapping_entries(const struct device *device, int minor) {
    return minor >= MINOR_37 ? &device->resources_v137 : &device->mappings_v136;
}

struct text mapping_field(int minor) {
    return minor >= MINOR_37 ? TEXT("nodeAllocatableResources") : TEXT("nodeAllocatableResourceMappings");
}

static const struct device_capacity *find_capacity(const struct device *device, struct text key) {
    for (size_t i = 0; i < device->capacity.count; i++)
        if (text_equal(device->capacity.items[i].key, key)) return &device->capacity.items[i];
    return NULL;
}

// A visit of amounts inside a visit of entries: what the inner one needs.
struct amount_visit {
    const struct rule_input *input;
    const struct mapping_entry *entry;
    mapping_visit_amount *visit;
    struct finding_list *findings;
};

static void visit_amount(const struct amount_visit *in, struct quantity multiplier, bool by_capacity,
                         const struct path *parent, struct text field) {
    if (!multiplier.set || quantity_sign(multiplier) <= 0) return;
    const struct node_allocatable *mapping = in->entry->mapping;
    struct path path = path_field(parent, field);
    struct mapping_amount amount = {.device = in->entry->device,
                                    .resource = mapping->key,
                                    .multiplier = multiplier,
                                    .value = multiplier.source,
                                    .by_capacity = by_capacity,
                                    .path = &path};
    if (by_capacity) amount.capacity = find_capacity(in->entry->device, mapping->capacity_key.value);
    in->visit(in->input, &amount, in->findings);
}

static void visit_v136(const struct amount_visit *in) {
    const struct node_allocatable *mapping = in->entry->mapping;
    struct quantity multiplier = mapping->allocation_multiplier;
    if (!multiplier.set) {
        multiplier = quantity_from_int64(1, QUANTITY_DECIMAL_SI);
        multiplier.source = TEXT("1");
    }
    visit_amount(in, multiplier, mapping->capacity_key.set, in->entry->path, TEXT("allocationMultiplier"));
}

static void visit_v137(const struct amount_visit *in) {
    const struct node_allocatable *m = in->entry->mapping;
    struct path mapping = path_field(in->entry->path, TEXT("mapping"));
    struct path overhead = path_field(in->entry->path, TEXT("overhead"));
    visit_amount(in, m->device_multiplier, false, &mapping, TEXT("deviceMultiplier"));
    visit_amount(in, m->capacity_multiplier, true, &mapping, TEXT("capacityMultiplier"));
    visit_amount(in, m->per_pod, false, &overhead, TEXT("perPod"));
    visit_amount(in, m->per_container, false, &overhead, TEXT("perContainer"));
}

// What a walk does at each entry: one of the two.
struct walk {
    mapping_visit_entry *visit_entry;
    mapping_visit_amount *visit_amount;
};

static void walk_device(const struct rule_input *input, const struct walk *walk, const struct device *device,
                        const struct path *path, struct finding_list *findings) {
    const struct node_allocatable_map *entries = mapping_entries(device, input->minor);
    struct path field = path_field(path, mapping_field(input->minor));
    for (size_t i = 0; i < entries->count; i++) {
        struct path key = path_key(&field, entries->items[i].key);
        struct mapping_entry entry = {device, &entries->items[i], &key};
        struct amount_visit in = {input, &entry, walk->visit_amount, findings};
        if (walk->visit_entry != NULL)
            walk->visit_entry(input, &entry, findings);
        else if (input->minor >= MINOR_37)
            visit_v137(&in);
        else
            visit_v136(&in);
    }
}

void mapping_for_each_device(const struct rule_input *input, mapping_visit_device *visit, const void *context,
                             struct finding_list *findings) {
    const struct device_list *devices = &input->object->slice.devices;
    struct path spec = path_field(NULL, TEXT("spec"));
    struct path list = path_field(&spec, TEXT("devices"));
    bool clean = false; // the last device that was visited had no findings
    for (size_t i = 0; i < devices->count; i++) {
        const struct device *device = &devices->items[i];
        if (clean && device->like_before) continue;
        size_t found = findings->count + findings->dropped_count;
        struct path at = path_index(&list, i);
        visit(input, device, &at, context, findings);
        clean = found == findings->count + findings->dropped_count;
    }
}

static void visit_device(const struct rule_input *input, const struct device *device, const struct path *path,
                         const void *context, struct finding_list *findings) {
    walk_device(input, context, device, path, findings);
}

void mapping_for_each_entry(const struct rule_input *input, mapping_visit_entry *visit,
                            struct finding_list *findings) {
    struct walk walk = {.visit_entry = visit};
    mapping_for_each_device(input, visit_device, &walk, findings);
}

void mapping_for_each_amount(const struct rule_input *input, mapping_visit_amount *visit,
                             struct finding_list *findings) {
    struct walk walk = {.visit_amount = visit};
    mapping_for_each_device(input, visit_device, &walk, findings);
}

struct path mapping_capacity_key_path(const struct rule_input *input, const struct mapping_entry *entry,
                                      struct path *room) {
    *room = path_field(entry->path, TEXT("mapping"));
    return path_field(input->minor >= MINOR_37 ? room : entry->path, TEXT("capacityKey"));
}

struct mapping_consumption mapping_consumption_of(const struct device_capacity *capacity, int minor) {
    struct mapping_consumption consumption = {.whole = capacity->value};
    const struct capacity_request_policy *policy = capacity->request_policy;
    if (policy == NULL) return consumption;
    if (policy->valid_range.set && policy->valid_range.step.set) {
        consumption.least = policy->valid_range.min;
        consumption.step = policy->valid_range.step;
        int64_t least;
        int64_t step;
        if (minor < MINOR_37 && quantity_value(consumption.least, &least) &&
            quantity_value(consumption.step, &step)) {
            consumption.least = quantity_from_int64(least, QUANTITY_DECIMAL_SI);
            consumption.step = quantity_from_int64(step, QUANTITY_DECIMAL_SI);
        }
    } else if (!policy->valid_range.set && policy->valid_values.count > 0) {
        consumption.values = &policy->valid_values;
    }
    return consumption;
}

// Whether consumed × multiplier keeps to the form; what cannot be held is another rule's matter.
static bool product_keeps(const struct mapping_amount *amount, struct quantity consumed, mapping_form *form,
                          struct quantity *ret_product) {
    struct quantity product = quantity_multiply(consumed, amount->multiplier);
    if (!consumed.set || product.out_of_range || form(product)) return true;
    *ret_product = product;
    return false;
}

bool mapping_keeps(const struct mapping_amount *amount, int minor, mapping_form *form,
                   struct quantity *ret_product) {
    if (amount->multiplier.out_of_range) return true;
    if (!amount->by_capacity) {
        if (form(amount->multiplier)) return true;
        *ret_product = amount->multiplier;
        return false;
    }
    if (amount->capacity == NULL) return true;
    struct mapping_consumption consumption = mapping_consumption_of(amount->capacity, minor);
    if (consumption.values != NULL) {
        for (size_t i = 0; i < consumption.values->count; i++)
            if (product_keeps(amount, consumption.values->items[i], form, ret_product)) return true;
        return false;
    }
    if (consumption.step.set)
        return product_keeps(amount, consumption.least, form, ret_product) &&
               product_keeps(amount, consumption.step, form, ret_product);
    return product_keeps(amount, consumption.whole, form, ret_product);
}
