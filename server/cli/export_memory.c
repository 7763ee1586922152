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

static json_t *driver_of(const struct driver_report *driver) {
    return json_pack("{s:o,s:o,s:I,s:I,s:s}", "driver", string_of(driver->driver), "pool",
                     string_of(driver->pool), "retiredGeneration", (json_int_t)driver->retired_generation,
                     "version", (json_int_t)driver->version, "digest", driver->digest);
}

static json_t *claim_of(const struct row_report *row, struct arena *arena) {
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:I,s:s,s:b,s:o}", "uid", string_of(row->uid), "namespace",
                     string_of(row->namespace), "name", string_of(row->name), "driver",
                     string_of(row->driver), "pool", string_of(row->pool), "device", string_of(row->device),
                     "shareID", string_of(row->share_id), "version", (json_int_t)row->version, "digest",
                     row->digest, "held", (int)row->held, "resources", quantities_of(&row->resources, arena));
}

static json_t *status_of(const struct node_report *report, int minor, struct arena *arena) {
    json_t *drivers = json_array();
    json_t *claims = json_array();
    bool fine = drivers != NULL && claims != NULL;
    for (size_t i = 0; i < report->drivers.count && fine; i++)
        fine = json_array_append_new(drivers, driver_of(&report->drivers.items[i])) == 0;
    for (size_t i = 0; i < report->claims.count && fine; i++)
        // A row whose mapping is not known remembers nothing.
        if (report->claims.items[i].version > 0)
            fine = json_array_append_new(claims, claim_of(&report->claims.items[i], arena)) == 0;
    struct text version = text_format(arena, "1.%d", minor);
    if (fine && version.ptr != NULL)
        return json_pack("{s:s,s:I,s:s,s:o,s:o}", "state", freshness_name(report->state), "version",
                         (json_int_t)report->version, "kubernetesVersion", version.ptr, "drivers", drivers,
                         "claims", claims);
    json_decref(drivers);
    json_decref(claims);
    return NULL;
}

char *export_memory_line(const struct node_report *report, int minor, struct arena *arena) {
    struct text uid = text_format(arena, "NodeLedger:%.*s", TEXT_ARG(report->name));
    json_t *status = status_of(report, minor, arena);
    json_t *name = string_of(report->name);
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
