// SPDX-License-Identifier: Apache-2.0
// Only the members that a rebuild reads.
#include "server/cli/export_memory.h"

#include <jansson.h>

static json_t *string_of(struct text text) {
    return json_stringn(text.ptr == NULL ? "" : text.ptr, text.len);
}

static json_t *quantities_of(const struct quantity_map *map, struct arena *arena) {
    json_t *object = json_object();
    for (size_t i = 0; i < map->count && object != NULL; i++) {
        struct text key = text_copy(arena, map->items[i].key);
        json_t *value = string_of(quantity_canonical(arena, map->items[i].value));
        if (key.ptr == NULL || json_object_set_new(object, key.ptr, value) != 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static json_t *overhead_of(const struct overhead_resource_list *list, struct arena *arena) {
    json_t *array = json_array();
    for (size_t i = 0; i < list->count && array != NULL; i++) {
        const struct overhead_resource *overhead = &list->items[i];
        json_t *item = json_pack("{s:o,s:o,s:o}", "name", string_of(overhead->name), "perPod",
                                 string_of(quantity_canonical(arena, overhead->per_pod)), "perContainer",
                                 string_of(quantity_canonical(arena, overhead->per_container)));
        if (json_array_append_new(array, item) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *driver_of(const struct node_ledger_driver *driver) {
    return json_pack("{s:o,s:o,s:I,s:I,s:o,s:o}", "driver", string_of(driver->driver), "pool",
                     string_of(driver->pool), "retiredGeneration", (json_int_t)driver->retired_generation,
                     "version", (json_int_t)driver->version, "digest", string_of(driver->digest), "state",
                     string_of(driver->state));
}

static json_t *claim_of(const struct node_ledger_claim *claim, struct arena *arena) {
    json_t *object = json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:I,s:o,s:b,s:o}", "uid", string_of(claim->uid),
                               "namespace", string_of(claim->namespace), "name", string_of(claim->name),
                               "driver", string_of(claim->driver), "pool", string_of(claim->pool), "device",
                               string_of(claim->device), "shareID", string_of(claim->share_id), "version",
                               (json_int_t)claim->version, "digest", string_of(claim->digest), "held",
                               (int)claim->held, "resources", quantities_of(&claim->resources, arena));
    bool fine = object != NULL;
    if (fine && claim->overhead.count > 0)
        fine = json_object_set_new(object, "overhead", overhead_of(&claim->overhead, arena)) == 0;
    if (fine && claim->numa.set)
        fine = json_object_set_new(object, "numa", json_integer(claim->numa.value)) == 0;
    if (fine) return object;
    json_decref(object);
    return NULL;
}

static json_t *status_of(const struct node_ledger *memory, int minor, struct arena *arena) {
    json_t *drivers = json_array();
    json_t *claims = json_array();
    bool fine = drivers != NULL && claims != NULL;
    for (size_t i = 0; i < memory->drivers.count && fine; i++)
        fine = json_array_append_new(drivers, driver_of(&memory->drivers.items[i])) == 0;
    for (size_t i = 0; i < memory->claims.count && fine; i++)
        fine = json_array_append_new(claims, claim_of(&memory->claims.items[i], arena)) == 0;
    struct text version = text_format(arena, "1.%d", minor);
    if (fine && version.ptr != NULL)
        return json_pack("{s:I,s:s,s:o,s:o}", "version", (json_int_t)memory->version, "kubernetesVersion",
                         version.ptr, "drivers", drivers, "claims", claims);
    json_decref(drivers);
    json_decref(claims);
    return NULL;
}

char *export_memory_line(const struct node_ledger *memory, int minor, struct arena *arena) {
    struct text uid = text_format(arena, "NodeLedger:%.*s", TEXT_ARG(memory->metadata.name));
    json_t *status = status_of(memory, minor, arena);
    json_t *name = string_of(memory->metadata.name);
    json_t *event = NULL;
    if (status != NULL && name != NULL && uid.ptr != NULL)
        event = json_pack("{s:s,s:{s:s,s:s,s:{s:O,s:s,s:s},s:O}}", "type", "ADDED", "object", "apiVersion",
                          "drawbridge.dev/v1alpha1", "kind", "NodeLedger", "metadata", "name", name, "uid",
                          uid.ptr, "resourceVersion", "1", "status", status);
    char *line = event == NULL ? NULL : json_dumps(event, JSON_COMPACT);
    json_decref(event);
    json_decref(status);
    json_decref(name);
    return line;
}
