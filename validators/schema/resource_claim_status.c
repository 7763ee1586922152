// SPDX-License-Identifier: Apache-2.0
// ResourceClaim status.
#include "validators/schema/resource_claim_status.h"

#include "validators/schema/allocation.h"
#include "validators/schema/claim_equal.h"
#include "validators/schema/device_selector.h"
#include "validators/schema/device_status.h"
#include "validators/schema/key_index.h"

#define RESERVED_FOR_MAX_COUNT 256u

static const struct path STATUS = {.kind = PATH_FIELD, .name = TEXT_INIT("status")};

static const struct text NO_VALUE = {"", 0};

static void require(struct text value, struct text name, const struct path *path,
                    struct finding_list *findings) {
    if (value.len > 0) return;
    struct path field_path = path_field(path, name);
    finding_add(findings, FINDING_REQUIRED, &field_path, value, TEXT("is required"));
}

static void check_consumers(const struct consumer_reference_list *consumers, const struct path *path,
                            struct finding_list *findings) {
    if (!schema_count_fits(consumers->count, RESERVED_FOR_MAX_COUNT, path, findings)) return;
    struct key_index index;
    key_index_init(&index, findings->arena, consumers->count);
    for (size_t i = 0; i < consumers->count; i++) key_index_add(&index, 0, consumers->items[i].uid, i);
    key_index_sort(&index, findings->arena);
    for (size_t i = 0; i < consumers->count; i++) {
        const struct consumer_reference *consumer = &consumers->items[i];
        struct path item_path = path_index(path, i);
        require(consumer->resource, TEXT("resource"), &item_path, findings);
        require(consumer->name, TEXT("name"), &item_path, findings);
        require(consumer->uid, TEXT("uid"), &item_path, findings);
        if (key_index_first(&index, 0, consumer->uid) < i)
            finding_add(findings, FINDING_DUPLICATE, &item_path, consumer->uid,
                        TEXT("this consumer is listed already"));
    }
}

static struct text consumer_key(const struct consumer_reference *consumer, struct arena *arena) {
    const struct text parts[] = {consumer->api_group, consumer->resource, consumer->name, consumer->uid};
    return key_compose(arena, parts, sizeof parts / sizeof parts[0]);
}

static bool has_new_consumer(const struct consumer_reference_list *consumers,
                             const struct consumer_reference_list *old, struct arena *arena) {
    struct key_index index;
    key_index_init(&index, arena, old->count);
    for (size_t i = 0; i < old->count; i++) key_index_add(&index, 0, consumer_key(&old->items[i], arena), i);
    key_index_sort(&index, arena);
    for (size_t i = 0; i < consumers->count; i++)
        if (key_index_first(&index, 0, consumer_key(&consumers->items[i], arena)) == KEY_INDEX_NONE)
            return true;
    return false;
}

static void check_reservations(const struct resource_claim *claim, const struct resource_claim *old,
                               struct finding_list *findings) {
    struct path path = path_field(&STATUS, TEXT("reservedFor"));
    check_consumers(&claim->reserved_for, &path, findings);
    if (claim->reserved_for.count == 0) return;
    if (!claim->allocation.set)
        finding_add(findings, FINDING_FORBIDDEN, &path, NO_VALUE,
                    TEXT("a claim that is not allocated cannot be reserved"));
    else if (old->metadata.deletion_timestamp.len > 0 &&
             has_new_consumer(&claim->reserved_for, &old->reserved_for, findings->arena))
        finding_add(findings, FINDING_FORBIDDEN, &path, NO_VALUE,
                    TEXT("no consumer can be added while the claim is being deleted"));
}

// An absent share ID is the empty one.
static struct text device_key(struct text driver, struct text pool, struct text device,
                              struct opt_text share_id, struct arena *arena) {
    struct text share = share_id.set ? share_id.value : NO_VALUE;
    const struct text parts[] = {driver, pool, device, share};
    return key_compose(arena, parts, sizeof parts / sizeof parts[0]);
}

static void index_allocation(const struct allocation *allocation, struct key_index *ret_index,
                             struct arena *arena) {
    const struct allocation_result_list *results = &allocation->results;
    key_index_init(ret_index, arena, results->count);
    for (size_t i = 0; i < results->count; i++) {
        const struct allocation_result *result = &results->items[i];
        key_index_add(ret_index, 0,
                      device_key(result->driver, result->pool, result->device, result->share_id, arena), i);
    }
    key_index_sort(ret_index, arena);
}

static void check_devices(const struct resource_claim *claim, const struct resource_claim *old, int minor,
                          struct finding_list *findings) {
    const struct allocated_device_status_list *statuses = &claim->device_statuses;
    struct arena *arena = findings->arena;
    struct key_index allocated, allocated_before, seen;
    index_allocation(&claim->allocation, &allocated, arena);
    index_allocation(&old->allocation, &allocated_before, arena);
    key_index_init(&seen, arena, statuses->count);
    struct text *keys = arena_zalloc(arena, statuses->count + 1, sizeof *keys);
    if (keys == NULL) return;
    for (size_t i = 0; i < statuses->count; i++) {
        const struct allocated_device_status *status = &statuses->items[i];
        keys[i] = device_key(status->driver, status->pool, status->device, status->share_id, arena);
        key_index_add(&seen, 0, keys[i], i);
    }
    key_index_sort(&seen, arena);
    struct path devices_path = path_field(&STATUS, TEXT("devices"));
    size_t position = 0; // of those that the server does not drop
    for (size_t i = 0; i < statuses->count; i++) {
        bool is_allocated = key_index_first(&allocated, 0, keys[i]) != KEY_INDEX_NONE;
        if (!is_allocated && key_index_first(&allocated_before, 0, keys[i]) != KEY_INDEX_NONE) continue;
        struct path item_path = path_index(&devices_path, position++);
        schema_device_status(&statuses->items[i], minor, &item_path, findings);
        if (!is_allocated)
            finding_add(findings, FINDING_INVALID, &item_path, statuses->items[i].device,
                        TEXT("is not a device that is allocated for the claim"));
        if (key_index_first(&seen, 0, keys[i]) < i)
            finding_add(findings, FINDING_DUPLICATE, &item_path, statuses->items[i].device,
                        TEXT("this device is listed already"));
    }
}

void schema_resource_claim_status(const struct resource_claim *claim, const struct resource_claim *old,
                                  int minor, struct finding_list *findings) {
    check_reservations(claim, old, findings);
    check_devices(claim, old, minor, findings);
    if (!claim->allocation.set) return;
    struct path path = path_field(&STATUS, TEXT("allocation"));
    if (!old->allocation.set) {
        struct request_names names;
        request_names_init(&names, &old->devices, findings->arena);
        schema_allocation(&claim->allocation, &names, minor, &path, findings);
    } else if (!allocation_equal(&claim->allocation, &old->allocation, findings->arena)) {
        finding_hint(
            finding_add(findings, FINDING_INVALID, &path, NO_VALUE, TEXT("cannot be changed once it is set")),
            TEXT("deallocate the claim first"));
    }
}
