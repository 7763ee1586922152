// SPDX-License-Identifier: Apache-2.0
// Decodes objects for json_test.go, which compares the outcome with what the API server's own decoder makes
// of the same bytes. Each question: a length of four bytes (little-endian), the minor in one byte, the
// document. Each answer: a length of four bytes and lines: "fault TEXT"; or "kind N", then "error PATH" or
// "strict PATH" for each finding, then "PATH=VALUE" for what was read. In paths and values, \ is written
// \\ and a line end \n.
#include <stdio.h>
#include <stdlib.h>

#include "server/codec/decode.h"

#define DOCUMENT_BYTES_LIMIT ((size_t)64 * 1024 * 1024)
#define PATH_LIMIT           128

static FILE *answer;

// The path of what is written: elements that begin with . or [ or are a name at the root.
static struct text path_parts[PATH_LIMIT];
static bool path_is_key[PATH_LIMIT];
static size_t path_count;

static void enter(const char *name) {
    path_is_key[path_count] = false;
    path_parts[path_count++] = text_of(name);
}

static void enter_key(struct text key) {
    path_is_key[path_count] = true;
    path_parts[path_count++] = key;
}

static void leave(void) {
    path_count--;
}

static void write_escaped(struct text text) {
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\n')
            fputs("\\n", answer);
        else if (text.ptr[i] == '\\')
            fputs("\\\\", answer);
        else
            fputc(text.ptr[i], answer);
    }
}

static void put(struct text value) {
    for (size_t i = 0; i < path_count; i++) {
        if (path_is_key[i]) {
            fputc('[', answer);
            write_escaped(path_parts[i]);
            fputc(']', answer);
        } else {
            if (i > 0) fputc('.', answer);
            write_escaped(path_parts[i]);
        }
    }
    fputc('=', answer);
    write_escaped(value);
    fputc('\n', answer);
}

static void put_number(int64_t value) {
    char digits[32];
    int len = snprintf(digits, sizeof digits, "%lld", (long long)value);
    put((struct text){digits, (size_t)len});
}

// The Go types: a text that is empty and a number that is 0 are as good as absent.
static void text_at(const char *name, struct text value) {
    if (value.len == 0) return;
    enter(name);
    put(value);
    leave();
}

static void number_at(const char *name, int64_t value) {
    if (value == 0) return;
    enter(name);
    put_number(value);
    leave();
}

static void count_at(const char *name, size_t count) {
    if (count == 0) return;
    enter(name);
    enter("#");
    put_number((int64_t)count);
    leave();
    leave();
}

static void opt_text_at(const char *name, struct opt_text value) {
    if (!value.set) return;
    enter(name);
    put(value.value);
    leave();
}

static void opt_bool_at(const char *name, struct opt_bool value) {
    if (!value.set) return;
    enter(name);
    put(value.value ? TEXT("true") : TEXT("false"));
    leave();
}

static void opt_int64_at(const char *name, struct opt_int64 value) {
    if (!value.set) return;
    enter(name);
    put_number(value.value);
    leave();
}

static void set_at(const char *name, bool set) {
    if (!set) return;
    enter(name);
    put(TEXT("{}"));
    leave();
}

static struct arena printed;

static void quantity_here(struct quantity quantity) {
    if (!quantity.set || quantity_sign(quantity) == 0) return;
    put(quantity.out_of_range ? TEXT("?") : quantity_text(&printed, quantity));
}

static void quantity_at(const char *name, struct quantity quantity) {
    enter(name);
    quantity_here(quantity);
    leave();
}

static void enter_index(size_t index) {
    static char digits[PATH_LIMIT][24];
    int len = snprintf(digits[path_count], sizeof digits[0], "%zu", index);
    enter_key((struct text){digits[path_count], (size_t)len});
}

// Writes each item of a list behind its index.
#define EACH(name, list, write)                                                                              \
    do {                                                                                                     \
        count_at((name), (list).count);                                                                      \
        enter(name);                                                                                         \
        for (size_t each = 0; each < (list).count; each++) {                                                 \
            enter_index(each);                                                                               \
            write(&(list).items[each]);                                                                      \
            leave();                                                                                         \
        }                                                                                                    \
        leave();                                                                                             \
    } while (0)

// Writes each item of a map behind its key.
#define EACH_KEY(name, map, write)                                                                           \
    do {                                                                                                     \
        count_at((name), (map).count);                                                                       \
        enter(name);                                                                                         \
        for (size_t each = 0; each < (map).count; each++) {                                                  \
            enter_key((map).items[each].key);                                                                \
            write(&(map).items[each]);                                                                       \
            leave();                                                                                         \
        }                                                                                                    \
        leave();                                                                                             \
    } while (0)

static void text_here(const struct text *text) {
    if (text->len > 0) put(*text);
}

static void pair_here(const struct text_pair *pair) {
    text_here(&pair->value);
}

static void entry_here(const struct quantity_entry *entry) {
    quantity_here(entry->value);
}

static void owner_here(const struct owner_reference *owner) {
    text_at("apiVersion", owner->api_version);
    text_at("kind", owner->kind);
    text_at("name", owner->name);
    text_at("uid", owner->uid);
    opt_bool_at("controller", owner->controller);
    opt_bool_at("blockOwnerDeletion", owner->block_owner_deletion);
}

static void metadata_at(const char *name, const struct object_meta *metadata) {
    enter(name);
    text_at("name", metadata->name);
    text_at("generateName", metadata->generate_name);
    text_at("namespace", metadata->namespace);
    text_at("selfLink", metadata->self_link);
    text_at("uid", metadata->uid);
    text_at("resourceVersion", metadata->resource_version);
    number_at("generation", metadata->generation);
    opt_int64_at("deletionGracePeriodSeconds", metadata->deletion_grace_period_seconds);
    EACH_KEY("labels", metadata->labels, pair_here);
    EACH_KEY("annotations", metadata->annotations, pair_here);
    EACH("ownerReferences", metadata->owner_references, owner_here);
    EACH("finalizers", metadata->finalizers, text_here);
    leave();
}

static void requirement_here(const struct node_selector_requirement *requirement) {
    text_at("key", requirement->key);
    text_at("operator", requirement->operator);
    EACH("values", requirement->values, text_here);
}

static void term_here(const struct node_selector_term *term) {
    EACH("matchExpressions", term->match_expressions, requirement_here);
    EACH("matchFields", term->match_fields, requirement_here);
}

static void selector_at(const char *name, const struct node_selector *selector) {
    if (selector == NULL) return;
    set_at(name, true);
    enter(name);
    EACH("nodeSelectorTerms", selector->terms, term_here);
    leave();
}

static void int64_here(const int64_t *value) {
    if (*value != 0) put_number(*value);
}

static void bool_here(const bool *value) {
    if (*value) put(TEXT("true"));
}

static void attribute_here(const struct device_attribute *attribute) {
    opt_int64_at("int", attribute->int_value);
    opt_bool_at("bool", attribute->bool_value);
    opt_text_at("string", attribute->string_value);
    opt_text_at("version", attribute->version_value);
    const struct attribute_lists *lists = attribute_lists(attribute);
    EACH("ints", lists->ints, int64_here);
    EACH("bools", lists->bools, bool_here);
    EACH("strings", lists->strings, text_here);
    EACH("versions", lists->versions, text_here);
}

static void quantity_item(const struct quantity *quantity) {
    quantity_here(*quantity);
}

static void capacity_here(const struct device_capacity *capacity) {
    quantity_at("value", capacity->value);
    const struct capacity_request_policy *policy = capacity->request_policy;
    if (policy == NULL) return;
    set_at("requestPolicy", true);
    enter("requestPolicy");
    quantity_at("default", policy->default_value);
    EACH("validValues", policy->valid_values, quantity_item);
    set_at("validRange", policy->valid_range.set);
    enter("validRange");
    quantity_at("min", policy->valid_range.min);
    quantity_at("max", policy->valid_range.max);
    quantity_at("step", policy->valid_range.step);
    leave();
    leave();
}

static void counter_here(const struct counter *counter) {
    quantity_at("value", counter->value);
}

static void consumption_here(const struct device_counter_consumption *consumption) {
    text_at("counterSet", consumption->counter_set);
    EACH_KEY("counters", consumption->counters, counter_here);
    EACH("compatibilityGroups", consumption->compatibility_groups, text_here);
}

static void taint_here(const struct device_taint *taint) {
    text_at("key", taint->key);
    text_at("value", taint->value);
    text_at("effect", taint->effect);
}

static void resource_here(const struct node_allocatable *item) {
    set_at("mapping", item->mapping_set);
    enter("mapping");
    opt_text_at("capacityKey", item->capacity_key);
    quantity_at("capacityMultiplier", item->capacity_multiplier);
    quantity_at("deviceMultiplier", item->device_multiplier);
    leave();
    set_at("overhead", item->overhead_set);
    enter("overhead");
    quantity_at("perPod", item->per_pod);
    quantity_at("perContainer", item->per_container);
    leave();
}

static void device_here(const struct device *device) {
    text_at("name", device->name);
    EACH_KEY("attributes", device->attributes, attribute_here);
    EACH_KEY("capacity", device->capacity, capacity_here);
    EACH("consumesCounters", device->consumes_counters, consumption_here);
    opt_text_at("nodeName", device->node_name);
    selector_at("nodeSelector", device->node_selector);
    opt_bool_at("allNodes", device->all_nodes);
    EACH("taints", device->taints, taint_here);
    opt_bool_at("bindsToNode", device->binds_to_node);
    EACH("bindingConditions", device->binding_conditions, text_here);
    EACH("bindingFailureConditions", device->binding_failure_conditions, text_here);
    opt_bool_at("allowMultipleAllocations", device->allow_multiple_allocations);
    EACH_KEY("nodeAllocatableResources", device->resources_v137, resource_here);
}

static void counter_set_here(const struct counter_set *set) {
    text_at("name", set->name);
    EACH_KEY("counters", set->counters, counter_here);
}

static void write_slice(const struct resource_slice *slice) {
    metadata_at("metadata", &slice->metadata);
    enter("spec");
    text_at("driver", slice->driver);
    enter("pool");
    text_at("name", slice->pool.name);
    number_at("generation", slice->pool.generation);
    number_at("resourceSliceCount", slice->pool.resource_slice_count);
    leave();
    opt_text_at("nodeName", slice->node_name);
    selector_at("nodeSelector", slice->node_selector);
    opt_bool_at("allNodes", slice->all_nodes);
    EACH("devices", slice->devices, device_here);
    opt_bool_at("perDeviceNodeSelection", slice->per_device_node_selection);
    EACH("sharedCounters", slice->shared_counters, counter_set_here);
    opt_text_at("partitionTypeAttribute", slice->partition_type_attribute);
    EACH("skipNodeOperations", slice->skip_node_operations, text_here);
    leave();
}

static void device_selector_here(const struct device_selector *selector) {
    set_at("cel", selector->cel_set);
    enter("cel");
    text_at("expression", selector->expression);
    leave();
}

static void toleration_here(const struct device_toleration *toleration) {
    text_at("key", toleration->key);
    text_at("operator", toleration->operator);
    text_at("value", toleration->value);
    text_at("effect", toleration->effect);
    opt_int64_at("tolerationSeconds", toleration->toleration_seconds);
}

static void derived_here(const struct derived_attribute *derived) {
    text_at("name", derived->name);
    text_at("expression", derived->expression);
}

static void exact_here(const struct exact_request *request) {
    text_at("name", request->name);
    text_at("deviceClassName", request->device_class_name);
    EACH("selectors", request->selectors, device_selector_here);
    text_at("allocationMode", request->allocation_mode);
    number_at("count", request->count);
    opt_bool_at("adminAccess", request->admin_access);
    EACH("tolerations", request->tolerations, toleration_here);
    set_at("capacity", request->capacity_set);
    enter("capacity");
    EACH_KEY("requests", request->capacity_requests, entry_here);
    leave();
    EACH("derivedAttributes", request->derived_attributes, derived_here);
}

static void request_here(const struct device_request *request) {
    text_at("name", request->name);
    if (request->exactly != NULL) {
        set_at("exactly", true);
        enter("exactly");
        exact_here(request->exactly);
        leave();
    }
    EACH("firstAvailable", request->first_available, exact_here);
}

static void constraint_here(const struct device_constraint *constraint) {
    EACH("requests", constraint->requests, text_here);
    opt_text_at("matchAttribute", constraint->match_attribute);
    opt_text_at("distinctAttribute", constraint->distinct_attribute);
}

static void configuration_here(const struct device_configuration *configuration) {
    text_at("source", configuration->source);
    EACH("requests", configuration->requests, text_here);
    set_at("opaque", configuration->opaque_set);
    enter("opaque");
    text_at("driver", configuration->driver);
    text_at("parameters", configuration->parameters);
    leave();
}

static void write_devices(const struct device_claim *claim) {
    enter("devices");
    EACH("requests", claim->requests, request_here);
    EACH("constraints", claim->constraints, constraint_here);
    EACH("config", claim->config, configuration_here);
    leave();
}

static void result_here(const struct allocation_result *result) {
    text_at("request", result->request);
    text_at("driver", result->driver);
    text_at("pool", result->pool);
    text_at("device", result->device);
    opt_bool_at("adminAccess", result->admin_access);
    EACH("tolerations", result->tolerations, toleration_here);
    EACH("bindingConditions", result->binding_conditions, text_here);
    EACH("bindingFailureConditions", result->binding_failure_conditions, text_here);
    opt_text_at("shareID", result->share_id);
    EACH_KEY("consumedCapacity", result->consumed_capacity, entry_here);
    EACH("skipNodeOperations", result->skip_node_operations, text_here);
}

static void consumer_here(const struct consumer_reference *consumer) {
    text_at("apiGroup", consumer->api_group);
    text_at("resource", consumer->resource);
    text_at("name", consumer->name);
    text_at("uid", consumer->uid);
}

static void condition_here(const struct condition *condition) {
    text_at("type", condition->type);
    text_at("status", condition->status);
    number_at("observedGeneration", condition->observed_generation);
    text_at("reason", condition->reason);
    text_at("message", condition->message);
}

static void report_here(const struct allocated_device_status *report) {
    text_at("driver", report->driver);
    text_at("pool", report->pool);
    text_at("device", report->device);
    opt_text_at("shareID", report->share_id);
    EACH("conditions", report->conditions, condition_here);
    text_at("data", report->data);
    set_at("networkData", report->network_data_set);
    enter("networkData");
    text_at("interfaceName", report->interface_name);
    EACH("ips", report->ips, text_here);
    text_at("hardwareAddress", report->hardware_address);
    leave();
}

static void write_claim(const struct resource_claim *claim) {
    metadata_at("metadata", &claim->metadata);
    enter("spec");
    write_devices(&claim->devices);
    leave();
    enter("status");
    set_at("allocation", claim->allocation.set);
    enter("allocation");
    enter("devices");
    EACH("results", claim->allocation.results, result_here);
    EACH("config", claim->allocation.config, configuration_here);
    leave();
    selector_at("nodeSelector", claim->allocation.node_selector);
    leave();
    EACH("reservedFor", claim->reserved_for, consumer_here);
    EACH("devices", claim->device_statuses, report_here);
    leave();
}

static void write_template(const struct resource_claim_template *claim_template) {
    metadata_at("metadata", &claim_template->metadata);
    enter("spec");
    metadata_at("metadata", &claim_template->spec_metadata);
    enter("spec");
    write_devices(&claim_template->devices);
    leave();
    leave();
}

static void write_class(const struct device_class *device_class) {
    metadata_at("metadata", &device_class->metadata);
    enter("spec");
    EACH("selectors", device_class->selectors, device_selector_here);
    EACH("config", device_class->config, configuration_here);
    opt_text_at("extendedResourceName", device_class->extended_resource_name);
    leave();
}

static void write_object(const struct object *object) {
    text_at("kind", object->kind_name);
    text_at("apiVersion", object->api_version);
    switch (object->kind) {
    case KIND_RESOURCE_SLICE: write_slice(&object->slice); break;
    case KIND_RESOURCE_CLAIM: write_claim(&object->claim); break;
    case KIND_RESOURCE_CLAIM_TEMPLATE: write_template(&object->claim_template); break;
    case KIND_DEVICE_CLASS: write_class(&object->device_class); break;
    default: break;
    }
}

static void decode(struct arena *arena, int minor, struct text document) {
    struct finding_list findings;
    finding_list_init(&findings, arena);
    struct decode_options options = {JSON_STRICT, minor};
    struct object object;
    struct fault fault;
    if (!decode_object(arena, document, &options, &object, &findings, &fault)) {
        fprintf(answer, "fault %s\n", fault.text);
        return;
    }
    fprintf(answer, "kind %d\n", (int)object.kind);
    for (size_t i = 0; i < findings.count; i++) {
        fputs(findings.items[i].type == FINDING_STRICT_DECODING ? "strict " : "error ", answer);
        write_escaped(findings.items[i].path);
        fputc('\n', answer);
    }
    write_object(&object);
}

static void write_length(size_t len) {
    unsigned char bytes[4] = {(unsigned char)len, (unsigned char)(len >> 8), (unsigned char)(len >> 16),
                              (unsigned char)(len >> 24)};
    fwrite(bytes, 1, sizeof bytes, stdout);
}

int main(void) {
    struct arena arena;
    arena_init(&arena, 16 * DOCUMENT_BYTES_LIMIT);
    arena_init(&printed, DOCUMENT_BYTES_LIMIT);
    unsigned char head[5];
    while (fread(head, 1, sizeof head, stdin) == sizeof head) {
        size_t len = (size_t)head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 | (size_t)head[3] << 24;
        // A block of exactly the size, so that a sanitizer sees a byte too far.
        char *bytes = len > DOCUMENT_BYTES_LIMIT ? NULL : malloc(len == 0 ? 1 : len);
        if (bytes == NULL || fread(bytes, 1, len, stdin) != len) return 1;
        char *lines = NULL;
        size_t lines_len = 0;
        answer = open_memstream(&lines, &lines_len);
        if (answer == NULL) return 1;
        decode(&arena, head[4], (struct text){bytes, len});
        fclose(answer);
        write_length(lines_len);
        fwrite(lines, 1, lines_len, stdout);
        fflush(stdout);
        free(lines);
        free(bytes);
        arena_clear(&arena);
        arena_clear(&printed);
    }
    arena_release(&arena);
    arena_release(&printed);
    return 0;
}
