// SPDX-License-Identifier: Apache-2.0
// DeviceClass.
#include "validators/schema/device_class.h"

#include "validators/schema/device_configuration.h"
#include "validators/schema/device_selector.h"
#include "validators/schema/metadata.h"
#include "validators/schema/names.h"
#include "validators/schema/slice_check.h"

#define CLASS_CONFIG_MAX_COUNT 32u

// The name alone is judged, not generateName: of a class, upstream looks at what was generated.
static void check_class_name(struct text text, bool prefix, const struct path *path,
                             struct finding_list *findings) {
    if (!prefix) schema_form(why_not_dns1123_subdomain(text), text, path, findings);
}

// Once all else is fine, the server looks for what cannot be in the path of a URL. Only a generateName that
// is too long, and so does not end up in the name, comes that far. Source: k8s.io/apiserver v0.36.3
// pkg/registry/rest/create.go, BeforeCreate.
static void check_generate_name(const struct object_meta *meta, struct finding_list *findings) {
    struct path metadata = path_field(NULL, TEXT("metadata"));
    struct path path = path_field(&metadata, TEXT("generateName"));
    schema_form(why_not_path_segment(meta->generate_name, true), meta->generate_name, &path, findings);
}

static bool same_selectors(const struct device_selector_list *a, const struct device_selector_list *b) {
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->items[i].cel_set != b->items[i].cel_set ||
            !text_equal(a->items[i].expression, b->items[i].expression))
            return false;
    return true;
}

static bool same_config(const struct device_configuration_list *a,
                        const struct device_configuration_list *b) {
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->items[i].opaque_set != b->items[i].opaque_set ||
            !text_equal(a->items[i].driver, b->items[i].driver) ||
            !text_equal(a->items[i].parameters, b->items[i].parameters))
            return false;
    return true;
}

static void check_config(const struct device_configuration_list *config, int minor, bool stored,
                         const struct path *spec, struct finding_list *findings) {
    struct path path = path_field(spec, TEXT("config"));
    if (config->count > CLASS_CONFIG_MAX_COUNT) {
        schema_too_many(config->count, CLASS_CONFIG_MAX_COUNT, &path, findings);
        return;
    }
    for (size_t i = 0; i < config->count; i++) {
        struct path item = path_index(&path, i);
        schema_device_configuration(&config->items[i], minor, stored, &item, findings);
    }
}

static void check_spec(const struct device_class *device_class, const struct device_class *old, int minor,
                       struct finding_list *findings) {
    struct path spec = path_field(NULL, TEXT("spec"));
    struct path selectors = path_field(&spec, TEXT("selectors"));
    bool stored_selectors = old != NULL && same_selectors(&device_class->selectors, &old->selectors);
    bool stored_config = old != NULL && same_config(&device_class->config, &old->config);
    schema_device_selectors(&device_class->selectors, minor, stored_selectors, &selectors, findings);
    check_config(&device_class->config, minor, stored_config, &spec, findings);
    if (!device_class->extended_resource_name.set) return;
    struct text name = device_class->extended_resource_name.value;
    struct path path = path_field(&spec, TEXT("extendedResourceName"));
    schema_form(why_not_extended_resource(name), name, &path, findings);
}

void schema_device_class(const struct device_class *device_class, enum resource_version version, int minor,
                         struct finding_list *findings) {
    (void)version;
    struct object_meta meta = device_class->metadata;
    meta.generation = 1; // whatever was given
    size_t count_before = findings->count;
    schema_object_meta(&meta, false, check_class_name, minor, NULL, findings);
    check_spec(device_class, NULL, minor, findings);
    if (findings->count == count_before) check_generate_name(&meta, findings);
}

void schema_device_class_update(const struct device_class *device_class, const struct device_class *old,
                                enum resource_version version, int minor, struct finding_list *findings) {
    (void)version;
    struct object_meta meta = device_class->metadata;
    meta.generation = old->metadata.generation; // the server keeps count itself
    schema_object_meta(&meta, false, check_class_name, minor, NULL, findings);
    schema_object_meta_update(&meta, &old->metadata, NULL, findings);
    check_generate_name(&meta, findings);
    check_spec(device_class, old, minor, findings);
}
