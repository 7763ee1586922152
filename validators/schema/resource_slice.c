// SPDX-License-Identifier: Apache-2.0
// The spec of a ResourceSlice: driver, pool, nodes, devices, shared counters, and what an update may not
// change.
#include "validators/schema/resource_slice.h"

#include "validators/schema/key_index.h"
#include "validators/schema/metadata.h"
#include "validators/schema/names.h"
#include "validators/schema/node_selector.h"
#include "validators/schema/slice_check.h"

static const struct text NO_VALUE = {"", 0};

// Bytes of a character's rest at the beginning of a text.
static size_t cut_bytes(struct text text) {
    size_t count = 0;
    while (count < text.len && ((unsigned char)text.ptr[count] & 0xC0) == 0x80) count++;
    return count;
}

// The server cuts between bytes; when it writes its answer, each byte of a cut character becomes U+FFFD.
struct text schema_cut_key(struct text key, struct arena *arena) {
    static const char broken[] = "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD";
    static const char dots[] = "...";
    size_t rest = QUALIFIED_KEY_MAX_BYTES - (sizeof dots - 1);
    size_t head_end = (rest + 1) / 2;
    size_t head_cut = 0;
    if (cut_bytes(text_slice(key, head_end, key.len)) > 0) {
        for (head_cut = 1; ((unsigned char)key.ptr[head_end - head_cut] & 0xC0) == 0x80;) head_cut++;
    }
    struct text tail = text_slice(key, key.len - rest / 2, key.len);
    size_t tail_cut = cut_bytes(tail);
    struct text head = text_slice(key, 0, head_end - head_cut);
    tail = text_slice(tail, tail_cut, tail.len);
    return text_format(arena, "%.*s%.*s%s%.*s%.*s", TEXT_ARG(head), (int)head_cut * 3, broken, dots,
                       (int)tail_cut * 3, broken, TEXT_ARG(tail));
}

void schema_too_many(size_t count, unsigned max_count, const struct path *path,
                     struct finding_list *findings) {
    finding_addf(findings, FINDING_TOO_MANY, path, text_format(findings->arena, "%zu", count),
                 "must have at most %u items", max_count);
}

static void check_pool(const struct slice_check *check, const struct path *spec) {
    const struct resource_pool *pool = &check->slice->pool;
    struct arena *arena = check->findings->arena;
    struct path path = path_field(spec, TEXT("pool"));
    struct path name = path_field(&path, TEXT("name"));
    schema_pool_name(pool->name, &name, check->findings);
    if (pool->resource_slice_count <= 0) {
        struct path count = path_field(&path, TEXT("resourceSliceCount"));
        finding_hint(finding_add(check->findings, FINDING_INVALID, &count,
                                 text_format(arena, "%lld", (long long)pool->resource_slice_count),
                                 TEXT("must be greater than zero")),
                     TEXT("write of how many slices the pool consists, 1 if this is all of it"));
    }
    if (pool->generation < 0) {
        struct path generation = path_field(&path, TEXT("generation"));
        finding_add(check->findings, FINDING_INVALID, &generation,
                    text_format(arena, "%lld", (long long)pool->generation),
                    TEXT("must be greater than or equal to zero"));
    }
}

static void forbid_change(bool same, struct text value, const struct path *path,
                          struct finding_list *findings) {
    if (!same) finding_add(findings, FINDING_INVALID, path, value, TEXT("field is immutable"));
}

// v1beta1 has plain values where the others have optional ones: empty and false are absent there.
static bool node_name_set(const struct slice_check *check, const struct resource_slice *slice) {
    return slice->node_name.set && !(check->v1beta1 && slice->node_name.value.len == 0);
}

static void check_immutable(const struct slice_check *check, const struct path *spec) {
    const struct resource_slice *slice = check->slice;
    const struct resource_slice *old = check->old;
    struct path pool = path_field(spec, TEXT("pool"));
    struct path pool_name = path_field(&pool, TEXT("name"));
    struct path driver = path_field(spec, TEXT("driver"));
    struct path node_name = path_field(spec, TEXT("nodeName"));
    bool set = node_name_set(check, slice);
    bool same_node = set == node_name_set(check, old) &&
                     (!set || text_equal(slice->node_name.value, old->node_name.value));
    forbid_change(text_equal(slice->pool.name, old->pool.name), slice->pool.name, &pool_name,
                  check->findings);
    forbid_change(text_equal(slice->driver, old->driver), slice->driver, &driver, check->findings);
    forbid_change(same_node, slice->node_name.value, &node_name, check->findings);
}

// A boolean that may be absent or true. Returns whether it is true.
static bool check_true(struct opt_bool value, bool plain, struct text field, const struct path *spec,
                       struct finding_list *findings) {
    if (!value.set || value.value) return value.set;
    if (plain) return false;
    struct path path = path_field(spec, field);
    finding_add(findings, FINDING_INVALID, &path, TEXT("false"), TEXT("must be either unset or set to true"));
    return false;
}

static bool check_node_name(const struct slice_check *check, const struct path *spec) {
    if (!node_name_set(check, check->slice)) return false;
    struct text name = check->slice->node_name.value;
    struct path path = path_field(spec, TEXT("nodeName"));
    if (name.len == 0) {
        finding_add(check->findings, FINDING_INVALID, &path, name,
                    TEXT("must be either unset or set to a non-empty string"));
        return false;
    }
    schema_form(why_not_dns1123_subdomain(name), name, &path, check->findings);
    return true;
}

static bool check_node_selector(const struct slice_check *check, const struct path *spec) {
    const struct node_selector *selector = check->slice->node_selector;
    if (selector == NULL) return false;
    struct path path = path_field(spec, TEXT("nodeSelector"));
    schema_node_selector(selector, &path, check->findings);
    if (selector->terms.count != 1) {
        struct path terms = path_field(&path, TEXT("nodeSelectorTerms"));
        finding_add(check->findings, FINDING_INVALID, &terms,
                    text_format(check->findings->arena, "%zu terms", selector->terms.count),
                    TEXT("must have exactly one node selector term"));
    }
    return true;
}

static void check_nodes(const struct slice_check *check, const struct path *spec) {
    const struct resource_slice *slice = check->slice;
    unsigned count = 0;
    count += check_node_name(check, spec);
    count += check_node_selector(check, spec);
    count += check_true(slice->all_nodes, check->v1beta1, TEXT("allNodes"), spec, check->findings);
    count += check_true(slice->per_device_node_selection, false, TEXT("perDeviceNodeSelection"), spec,
                        check->findings);
    if (count == 1) return;
    finding_add(check->findings, count == 0 ? FINDING_REQUIRED : FINDING_INVALID, spec, NO_VALUE,
                TEXT("exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is "
                     "required"));
}

static bool uses_list_attributes(const struct resource_slice *slice) {
    for (size_t i = 0; i < slice->devices.count; i++) {
        const struct device_attribute_map *attributes = &slice->devices.items[i].attributes;
        uint64_t known = attributes->like_before;
        for (size_t j = attribute_without(known, 0); j < attributes->count;
             j = attribute_without(known, j + 1)) {
            const struct attribute_lists *lists = attributes->items[j].lists;
            if (lists == NULL) continue;
            if (lists->ints.set || lists->bools.set || lists->strings.set || lists->versions.set) return true;
        }
    }
    return false;
}

static bool uses_compatibility_groups(const struct resource_slice *slice) {
    for (size_t i = 0; i < slice->devices.count; i++) {
        const struct device_counter_consumption_list *list = &slice->devices.items[i].consumes_counters;
        for (size_t j = 0; j < list->count; j++)
            if (list->items[j].compatibility_groups.count > 0) return true;
    }
    return false;
}

static bool consumes_counters(const struct resource_slice *slice) {
    for (size_t i = 0; i < slice->devices.count; i++)
        if (slice->devices.items[i].consumes_counters.count > 0) return true;
    return false;
}

static bool has_taints(const struct resource_slice *slice) {
    for (size_t i = 0; i < slice->devices.count; i++)
        if (slice->devices.items[i].taints.count > 0) return true;
    return false;
}

// What is handed on from device to device.
struct device_run {
    const struct path *devices;
    bool by_hand;
    uint64_t clean_attributes; // as in struct device_check
    bool clean;                // nothing was found in the last device
};

static void check_device(const struct slice_check *check, size_t i, const struct device *old,
                         struct device_run *run) {
    const struct device *device = &check->slice->devices.items[i];
    size_t found = check->findings->count + check->findings->dropped_count;
    struct path path = path_index(run->devices, i);
    struct path basic = path_field(&path, TEXT("basic"));
    struct device_check device_check = {.slice = check,
                                        .device = device,
                                        .old = old,
                                        .path = &path,
                                        .declared_path = check->declared && check->v1beta1 ? &basic : &path,
                                        .by_hand = run->by_hand,
                                        .clean_attributes = &run->clean_attributes,
                                        .like_before = run->clean && device->like_before && old == NULL,
                                        .rest_before = run->clean && device->rest_before && old == NULL};
    schema_device(&device_check);
    // What was not looked at because it is stored tells nothing.
    run->clean = old == NULL && found == check->findings->count + check->findings->dropped_count;
}

// Names of one length are a group: gpu-9 comes before gpu-10 then, and what was counted up is in order.
static void index_names(struct key_index *index, const struct device_list *devices, struct arena *arena) {
    key_index_init(index, arena, devices->count);
    for (size_t i = 0; i < devices->count; i++)
        key_index_add(index, devices->items[i].name.len, devices->items[i].name, i);
    key_index_sort(index, arena);
}

static size_t first_of_name(const struct key_index *index, struct text name) {
    return key_index_first(index, name.len, name);
}

// The device of this name in the old slice, or NULL: mostly it stands where it stood.
static const struct device *find_old(const struct slice_check *check, const struct key_index *old_names,
                                     size_t position) {
    if (check->old == NULL) return NULL;
    const struct device_list *olds = &check->old->devices;
    struct text name = check->slice->devices.items[position].name;
    if (position < olds->count && !old_names->repeated && text_equal(olds->items[position].name, name))
        return &olds->items[position];
    size_t old = first_of_name(old_names, name);
    return old == KEY_INDEX_NONE ? NULL : &olds->items[old];
}

static void check_devices(const struct slice_check *check, const struct path *spec) {
    const struct device_list *devices = &check->slice->devices;
    struct path path = path_field(spec, TEXT("devices"));
    bool advanced = has_taints(check->slice) || consumes_counters(check->slice) ||
                    (check->list_attributes && uses_list_attributes(check->slice));
    unsigned max_count = advanced ? DEVICES_ADVANCED_MAX_COUNT : DEVICES_MAX_COUNT;
    struct device_run run = {.devices = &path, .by_hand = true};
    if (devices->count > max_count) {
        schema_too_many(devices->count, max_count, &path, check->findings);
        run.by_hand = false;
        for (size_t i = 0; check->declared && i < devices->count; i++) check_device(check, i, NULL, &run);
        return;
    }
    struct key_index names;
    struct key_index old_names = {0};
    index_names(&names, devices, check->findings->arena);
    if (check->old != NULL) index_names(&old_names, &check->old->devices, check->findings->arena);
    for (size_t i = 0; i < devices->count; i++) {
        struct text name = devices->items[i].name;
        check_device(check, i, find_old(check, &old_names, i), &run);
        if (!names.repeated || first_of_name(&names, name) >= i) continue;
        struct path item = path_index(&path, i);
        finding_add(check->findings, FINDING_DUPLICATE, &item, name,
                    TEXT("another device of this slice has the same name"));
    }
}

static const struct device_attribute *find_attribute(const struct device *device, struct text name) {
    for (size_t i = 0; i < device->attributes.count; i++)
        if (text_equal(device->attributes.items[i].key, name)) return &device->attributes.items[i];
    return NULL;
}

// Source: v1.37.2 validatePartitionTypeAttribute.
static void check_partition_type(const struct slice_check *check, const struct path *spec) {
    if (!check->partition_type || !check->slice->partition_type_attribute.set) return;
    struct text name = check->slice->partition_type_attribute.value;
    struct path path = path_field(spec, TEXT("partitionTypeAttribute"));
    if (check->frozen_partition_type && !text_equal(name, check->old->partition_type_attribute.value))
        finding_add(check->findings, FINDING_FORBIDDEN, &path, name,
                    TEXT("may not be changed while the feature DRAPartitionableDevicesType is off"));
    if (!consumes_counters(check->slice)) {
        finding_add(check->findings, FINDING_INVALID, &path, name,
                    TEXT("may only be set on a slice which declares devices that consume counters"));
        return;
    }
    if (!name_is_fully_qualified(name)) return;
    struct text bare = name;
    size_t driver_len = check->slice->driver.len;
    if (text_starts_with(name, check->slice->driver) && driver_len < name.len && name.ptr[driver_len] == '/')
        bare = text_slice(name, driver_len + 1, name.len);
    struct path devices = path_field(spec, TEXT("devices"));
    for (size_t i = 0; i < check->slice->devices.count; i++) {
        const struct device *device = &check->slice->devices.items[i];
        if (device->consumes_counters.count == 0) continue;
        const struct device_attribute *attribute = find_attribute(device, name);
        if (attribute == NULL) attribute = find_attribute(device, bare);
        if (attribute != NULL && attribute->string_value.set) continue;
        struct path item = path_index(&devices, i);
        struct path attributes = path_field(&item, TEXT("attributes"));
        struct path key = path_key(&attributes, name);
        finding_add(check->findings, attribute == NULL ? FINDING_REQUIRED : FINDING_INVALID, &key, NO_VALUE,
                    TEXT("must be a string because `partitionTypeAttribute` names this attribute"));
    }
}

static bool holds_text(const struct text_list *list, struct text text) {
    for (size_t i = 0; i < list->count; i++)
        if (text_equal(list->items[i], text)) return true;
    return false;
}

// Source: v1.37.2 validateSkipNodeOperations and Validate_ResourceSliceSpec.
static void check_skip_operations(const struct slice_check *check, const struct path *spec) {
    static const struct text prepare = TEXT_INIT("NodePrepareResources");
    static const struct text unprepare = TEXT_INIT("NodeUnprepareResources");
    const struct text_list *list = &check->slice->skip_node_operations;
    if (!check->skip_operations || list->count == 0) return;
    struct path path = path_field(spec, TEXT("skipNodeOperations"));
    bool unprepared = holds_text(list, unprepare) || holds_text(list, TEXT("*"));
    if (holds_text(list, prepare) && !unprepared)
        finding_add(check->findings, FINDING_INVALID, &path, prepare,
                    TEXT("NodePrepareResources cannot be skipped unless NodeUnprepareResources is also "
                         "skipped"));
    if (!check->declared) return;
    static const struct text_list none = {.set = false};
    const struct text_list *old = check->old == NULL ? &none : &check->old->skip_node_operations;
    struct key_index index;
    key_index_init(&index, check->findings->arena, list->count);
    for (size_t i = 0; i < list->count; i++) key_index_add(&index, 0, list->items[i], i);
    key_index_sort(&index, check->findings->arena);
    for (size_t i = 0; i < list->count; i++) {
        struct text operation = list->items[i];
        struct path item = path_index(&path, i);
        if (key_index_first(&index, 0, operation) < i)
            finding_add(check->findings, FINDING_DUPLICATE, &item, operation, TEXT("is already in the list"));
        if (text_equal(operation, prepare) || text_equal(operation, unprepare) ||
            text_equal(operation, TEXT("*")) || holds_text(old, operation))
            continue;
        finding_add(check->findings, FINDING_NOT_SUPPORTED, &item, operation,
                    TEXT("supported values: \"*\", \"NodePrepareResources\", \"NodeUnprepareResources\""));
    }
}

static void check_spec(const struct slice_check *check) {
    const struct resource_slice *slice = check->slice;
    struct path spec = path_field(NULL, TEXT("spec"));
    struct path driver = path_field(&spec, TEXT("driver"));
    schema_driver_name(slice->driver, false, &driver, check->findings);
    check_pool(check, &spec);
    if (check->old != NULL) check_immutable(check, &spec);
    check_nodes(check, &spec);
    if (slice->shared_counters.set && slice->devices.set)
        finding_add(check->findings, FINDING_INVALID, &spec, NO_VALUE,
                    TEXT("only one of `sharedCounters` or `devices` is allowed"));
    check_devices(check, &spec);
    schema_counter_sets(check, &spec);
    check_partition_type(check, &spec);
    check_skip_operations(check, &spec);
}

// Whether fields of features that are off by default are there to be looked at.
static void set_features(struct slice_check *check, enum slice_features features) {
    const struct resource_slice *old = check->old;
    bool newer = check->minor >= MINOR_37;
    bool all = features == FEATURES_IN_USE;
    check->list_attributes = all || (old != NULL && uses_list_attributes(old));
    check->partition_type = newer && (all || (old != NULL && old->partition_type_attribute.set));
    check->compatibility_groups = newer && (all || (old != NULL && uses_compatibility_groups(old)));
    check->skip_operations = newer && (all || (old != NULL && old->skip_node_operations.count > 0));
    check->fractional_ranges = newer && all;
    check->frozen_partition_type = check->declared && !all;
}

void schema_resource_slice(const struct resource_slice *slice, enum resource_version version, int minor,
                           enum slice_features features, struct finding_list *findings) {
    struct object_meta meta = slice->metadata;
    meta.generation = 1; // whatever was given
    schema_object_meta(&meta, false, schema_name_subdomain, minor, NULL, findings);
    struct slice_check check = {.slice = slice,
                                .minor = minor,
                                .v1beta1 = version == RESOURCE_V1BETA1,
                                .declared = minor >= MINOR_37,
                                .findings = findings};
    set_features(&check, features);
    check_spec(&check);
}

// The name of a stored slice was judged when it was created. What every update has to pass remains.
// Source: k8s.io/apiserver v0.36.3 pkg/registry/rest/update.go, validateCommonFields.
static void check_stored_name(struct text text, bool prefix, const struct path *path,
                              struct finding_list *findings) {
    schema_form(why_not_path_segment(text, prefix), text, path, findings);
}

void schema_resource_slice_update(const struct resource_slice *slice, const struct resource_slice *old,
                                  enum resource_version version, int minor, enum slice_features features,
                                  struct finding_list *findings) {
    struct object_meta meta = slice->metadata;
    meta.generation = old->metadata.generation; // the server keeps count itself
    schema_object_meta(&meta, false, check_stored_name, minor, NULL, findings);
    schema_object_meta_update(&meta, &old->metadata, NULL, findings);
    bool unchanged = slice->spec_raw.len > 0 && text_equal(slice->spec_raw, old->spec_raw);
    struct slice_check check = {.slice = slice,
                                .old = old,
                                .minor = minor,
                                .v1beta1 = version == RESOURCE_V1BETA1,
                                .declared = minor >= MINOR_37 && !unchanged,
                                .findings = findings};
    set_features(&check, features);
    check_spec(&check);
}
