// SPDX-License-Identifier: Apache-2.0
// Built member by member; the first failure makes the whole one NULL.
#include "server/operate/node_status.h"

#include "server/ledger/clock.h"

#define FNV_OFFSET UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME  UINT64_C(0x100000001b3)

// Sticky: after a failure nothing is added, and the end says so.
struct builder {
    bool failed;
    struct arena *arena;
};

static void put(struct builder *builder, json_t *object, const char *name, json_t *value) {
    if (value == NULL || json_object_set_new(object, name, value) != 0) builder->failed = true;
}

static void put_text(struct builder *builder, json_t *object, const char *name, struct text text) {
    if (text.len > 0) put(builder, object, name, json_stringn(text.ptr, text.len));
}

static void put_time(struct builder *builder, json_t *object, const char *name, int64_t ms) {
    char buffer[TIME_TEXT_BYTES];
    if (ms <= 0) return;
    time_print(ms / 1000 * 1000, buffer);
    put(builder, object, name, json_string(buffer));
}

static bool is_text(const json_t *value, struct text text) {
    const char *have = json_string_value(value);
    return have != NULL && text_equal(text_of(have), text);
}

static void put_cause(struct builder *builder, json_t *object, struct text cause) {
    size_t len = cause.len < NODE_STATUS_CAUSE ? cause.len : NODE_STATUS_CAUSE;
    while (len > 0 && len < cause.len && ((unsigned char)cause.ptr[len] & 0xc0) == 0x80) len--;
    put_text(builder, object, "cause", text_slice(cause, 0, len));
}

static void put_quantity(struct builder *builder, json_t *object, struct text name,
                         struct quantity quantity) {
    struct text key = text_copy(builder->arena, name);
    struct text value = quantity_text(builder->arena, quantity);
    if (key.ptr == NULL || value.ptr == NULL)
        builder->failed = true;
    else
        put(builder, object, key.ptr, json_stringn(value.ptr, value.len));
}

static json_t *quantities(struct builder *builder, const struct quantity_map *map) {
    json_t *object = json_object();
    for (size_t i = 0; i < map->count && i < NODE_STATUS_PARTS; i++)
        put_quantity(builder, object, map->items[i].key, map->items[i].value);
    return object;
}

// ---- parts

static json_t *driver_entry(struct builder *builder, const struct driver_report *driver) {
    json_t *entry = json_object();
    put_text(builder, entry, "driver", driver->driver);
    put_text(builder, entry, "pool", driver->pool);
    put(builder, entry, "retiredGeneration",
        json_integer(driver->retired_generation > 0 ? driver->retired_generation : 0));
    put(builder, entry, "version", json_integer(driver->version > 0 ? driver->version : 0));
    put_text(builder, entry, "digest", text_of(driver->digest));
    put_text(builder, entry, "state", text_of(freshness_name(driver->state)));
    put_cause(builder, entry, driver->cause);
    put_time(builder, entry, "since", driver->since_ms);
    return entry;
}

static json_t *unusable(struct builder *builder, const struct faulty_device_list *list) {
    json_t *array = json_array();
    for (size_t i = 0; i < list->count; i++) {
        json_t *entry = json_object();
        put_text(builder, entry, "driver", list->items[i].driver);
        put_text(builder, entry, "pool", list->items[i].pool);
        put_text(builder, entry, "device", list->items[i].device);
        put_text(builder, entry, "rule", text_of(list->items[i].rule));
        if (json_array_append_new(array, entry) != 0) builder->failed = true;
    }
    return array;
}

static json_t *driver_entries(struct builder *builder, const struct driver_report_list *drivers) {
    json_t *list = json_array();
    for (size_t i = 0; i < drivers->count && i < NODE_STATUS_DRIVERS; i++)
        if (json_array_append_new(list, driver_entry(builder, &drivers->items[i])) != 0)
            builder->failed = true;
    return list;
}

static json_t *entry_of(json_t *list, const struct node_ledger_driver *driver) {
    size_t index;
    json_t *entry;
    json_array_foreach(list, index, entry) {
        if (is_text(json_object_get(entry, "driver"), driver->driver) &&
            is_text(json_object_get(entry, "pool"), driver->pool))
            return entry;
    }
    return NULL;
}

// A ledger that starts anew takes the word Quarantined for this very pool: it must neither be hidden by a
// freeze nor stand there because of another pool of the driver.
static void settle_state(struct builder *builder, json_t *entry, const struct node_ledger_driver *driver) {
    if (text_equal(driver->state, TEXT("Quarantined")))
        put_text(builder, entry, "state", driver->state);
    else if (is_text(json_object_get(entry, "state"), TEXT("Quarantined")))
        put_text(builder, entry, "state", TEXT("Stale"));
}

// Pools that are only remembered have no state.
static void add_memory(struct builder *builder, json_t *list, const struct node_ledger_driver_list *drivers) {
    for (size_t i = 0; i < drivers->count; i++) {
        const struct node_ledger_driver *driver = &drivers->items[i];
        json_t *entry = entry_of(list, driver);
        if (entry == NULL && json_array_size(list) < NODE_STATUS_DRIVERS) {
            entry = json_object();
            put_text(builder, entry, "driver", driver->driver);
            put_text(builder, entry, "pool", driver->pool);
            put(builder, entry, "retiredGeneration",
                json_integer(driver->retired_generation > 0 ? driver->retired_generation : 0));
            if (json_array_append_new(list, entry) != 0) {
                builder->failed = true;
                return;
            }
        }
        if (entry != NULL) settle_state(builder, entry, driver);
    }
}

static json_t *overheads(struct builder *builder, const struct overhead_resource_list *list) {
    json_t *array = json_array();
    for (size_t i = 0; i < list->count && i < NODE_STATUS_PARTS; i++) {
        const struct overhead_resource *overhead = &list->items[i];
        json_t *entry = json_object();
        put_text(builder, entry, "name", overhead->name);
        if (overhead->per_pod.set) put_quantity(builder, entry, TEXT("perPod"), overhead->per_pod);
        if (overhead->per_container.set)
            put_quantity(builder, entry, TEXT("perContainer"), overhead->per_container);
        if (json_array_append_new(array, entry) != 0) builder->failed = true;
    }
    return array;
}

static json_t *claim_entry(struct builder *builder, const struct node_ledger_claim *claim) {
    json_t *entry = json_object();
    put_text(builder, entry, "uid", claim->uid);
    put_text(builder, entry, "namespace", claim->namespace);
    put_text(builder, entry, "name", claim->name);
    put_text(builder, entry, "driver", claim->driver);
    put_text(builder, entry, "pool", claim->pool);
    put_text(builder, entry, "device", claim->device);
    put_text(builder, entry, "shareID", claim->share_id);
    put(builder, entry, "version", json_integer(claim->version));
    put_text(builder, entry, "digest", claim->digest);
    put(builder, entry, "held", json_boolean(claim->held));
    put(builder, entry, "resources", quantities(builder, &claim->resources));
    if (claim->overhead.count > 0) put(builder, entry, "overhead", overheads(builder, &claim->overhead));
    if (claim->numa.set) put(builder, entry, "numa", json_integer(claim->numa.value));
    return entry;
}

static json_t *claim_entries(struct builder *builder, const struct node_ledger_claim_list *claims) {
    json_t *list = json_array();
    for (size_t i = 0; i < claims->count && i < NODE_STATUS_CLAIMS; i++)
        if (json_array_append_new(list, claim_entry(builder, &claims->items[i])) != 0) builder->failed = true;
    return list;
}

static json_t *totals(struct builder *builder, const struct total_report_list *list) {
    json_t *columns[5];
    static const char *const names[] = {"allocatable", "ordinary", "dra", "held", "free"};
    json_t *object = json_object();
    for (size_t k = 0; k < 5; k++) {
        columns[k] = json_object();
        put(builder, object, names[k], columns[k]);
    }
    for (size_t i = 0; i < list->count && i < NODE_STATUS_PARTS && !builder->failed; i++) {
        const struct total_report *total = &list->items[i];
        const struct quantity values[] = {total->allocatable, total->ordinary, total->dra, total->held,
                                          total->free};
        for (size_t k = 0; k < 5; k++)
            if (values[k].set) put_quantity(builder, columns[k], total->resource, values[k]);
    }
    return object;
}

static json_t *numa(struct builder *builder, const struct numa_report_list *list) {
    json_t *array = json_array();
    for (size_t i = 0; i < list->count && i < 2 * NODE_STATUS_PARTS; i++) {
        const struct numa_report *one = &list->items[i];
        json_t *entry = json_object();
        put(builder, entry, "id", one->id.set ? json_integer(one->id.value) : json_null());
        put(builder, entry, "dra", quantities(builder, &one->dra));
        if (json_array_append_new(array, entry) != 0) builder->failed = true;
    }
    return array;
}

// "12/32": what claims take of what the node has.
static void put_share(struct builder *builder, json_t *object, const char *name, struct text resource,
                      const struct total_report_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        const struct total_report *total = &list->items[i];
        if (!text_equal(total->resource, resource) || !total->allocatable.set) continue;
        struct text taken = quantity_text(builder->arena, total->dra);
        struct text whole = quantity_text(builder->arena, total->allocatable);
        put_text(builder, object, name,
                 text_format(builder->arena, "%.*s/%.*s", total->dra.set ? (int)taken.len : 1,
                             total->dra.set ? taken.ptr : "0", TEXT_ARG(whole)));
    }
}

// A claim has a row for each of its devices; they stand next to each other.
static void count_claims(const struct row_report_list *rows, size_t *ret_bound, size_t *ret_held) {
    *ret_bound = 0;
    *ret_held = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (i > 0 && text_equal(rows->items[i].uid, rows->items[i - 1].uid)) continue;
        ++*(rows->items[i].held ? ret_held : ret_bound);
    }
}

static json_t *summary(struct builder *builder, const struct node_report *report) {
    size_t bound, held, diverged = 0;
    json_t *object = json_object();
    count_claims(&report->claims, &bound, &held);
    for (size_t i = 0; i < report->divergence.count; i++) diverged += report->divergence.items[i].settled;
    put_share(builder, object, "cpu", TEXT("cpu"), &report->totals);
    put_share(builder, object, "memory", TEXT("memory"), &report->totals);
    put(builder, object, "claims", json_integer((json_int_t)bound));
    put(builder, object, "held", json_integer((json_int_t)held));
    put(builder, object, "diverged", json_integer((json_int_t)diverged));
    return object;
}

// ---- the whole

static struct text joined_causes(struct builder *builder, const struct node_report *report) {
    struct text all = {NULL, 0};
    for (size_t i = 0; i < report->causes.count && all.len < NODE_STATUS_CAUSE; i++)
        all = i == 0 ? report->causes.items[0]
                     : text_format(builder->arena, "%.*s; %.*s", TEXT_ARG(all),
                                   TEXT_ARG(report->causes.items[i]));
    return all;
}

// Since when the node stands as it does: as the first of the drivers that make it so.
static int64_t since_of(const struct node_report *report) {
    int64_t since_ms = 0;
    for (size_t i = 0; i < report->drivers.count; i++) {
        const struct driver_report *driver = &report->drivers.items[i];
        if (driver->state != report->state || driver->since_ms <= 0) continue;
        if (since_ms == 0 || driver->since_ms < since_ms) since_ms = driver->since_ms;
    }
    return since_ms;
}

static size_t beyond(size_t count, size_t limit) {
    return count > limit ? count - limit : 0;
}

static void put_rest(struct builder *builder, json_t *status, json_t *drivers,
                     const struct node_report *report, const struct node_ledger *memory) {
    add_memory(builder, drivers, &memory->drivers);
    put(builder, status, "claims", claim_entries(builder, &memory->claims));
    put(builder, status, "totals", totals(builder, &report->totals));
    put(builder, status, "numa", numa(builder, &report->numa));
    put(builder, status, "omitted",
        json_integer((json_int_t)(beyond(report->drivers.count, NODE_STATUS_DRIVERS) +
                                  beyond(memory->claims.count, NODE_STATUS_CLAIMS))));
}

json_t *node_status_of(const struct node_report *report, const struct node_ledger *memory, int minor,
                       struct arena *arena) {
    struct builder builder = {.arena = arena};
    json_t *status = json_object(), *drivers = driver_entries(&builder, &report->drivers);
    put_text(&builder, status, "state", text_of(freshness_name(report->state)));
    struct text cause = joined_causes(&builder, report);
    bool needs_cause = report->state != FRESHNESS_FRESH && report->state != FRESHNESS_UNMAPPED;
    put_cause(&builder, status, cause.len == 0 && needs_cause ? TEXT("not told") : cause);
    put_time(&builder, status, "since", since_of(report));
    put(&builder, status, "version", json_integer((json_int_t)report->version));
    put(&builder, status, "kubernetesVersion", json_sprintf("1.%d", minor));
    put(&builder, status, "drivers", drivers);
    put(&builder, status, "unusable", unusable(&builder, &report->unusable));
    put(&builder, status, "summary", summary(&builder, report));
    if (memory != NULL && !builder.failed) put_rest(&builder, status, drivers, report, memory);
    if (!builder.failed && !arena->poisoned) return status;
    json_decref(status);
    return NULL;
}

static uint64_t mix(uint64_t digest, const char *text, bool digits) {
    for (; text != NULL && *text != '\0'; text++)
        if (digits || *text < '0' || *text > '9') digest = (digest ^ (unsigned char)*text) * FNV_PRIME;
    return (digest ^ 0xff) * FNV_PRIME;
}

static uint64_t mix_value(uint64_t digest, json_t *value) {
    const char *name;
    json_t *member;
    size_t index;
    if (json_is_object(value)) {
        json_object_foreach(value, name, member) {
            digest = mix(digest, name, true);
            if (strcmp(name, "cause") == 0)
                digest = mix(digest, json_string_value(member), false);
            else
                digest = mix_value(digest, member);
        }
        return digest;
    }
    if (json_is_array(value)) {
        json_array_foreach(value, index, member) digest = mix_value(digest, member);
        return (digest ^ json_array_size(value)) * FNV_PRIME;
    }
    if (json_is_string(value)) return mix(digest, json_string_value(value), true);
    if (json_is_integer(value)) return (digest ^ (uint64_t)json_integer_value(value)) * FNV_PRIME;
    return (digest ^ (uint64_t)json_typeof(value)) * FNV_PRIME;
}

uint64_t node_status_digest(const json_t *status) {
    const char *name;
    json_t *member;
    uint64_t digest = FNV_OFFSET;
    json_object_foreach((json_t *)status, name, member) {
        // The node's version counts events, our own writes among them: alone it is not worth a write.
        if (strcmp(name, "version") == 0) continue;
        digest = mix(digest, name, true);
        if (strcmp(name, "cause") == 0)
            digest = mix(digest, json_string_value(member), false);
        else
            digest = mix_value(digest, member);
    }
    return digest;
}
