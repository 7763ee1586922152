// SPDX-License-Identifier: Apache-2.0
// Objects and events of a case, on their way into the ledger.
#include "server/cli/suite_world.h"

#include "server/codec/decode.h"
#include "server/feed/kinds.h"
#include "server/feed/stamp.h"
#include "validators/registry/device_judge.h"

static const uint64_t seed[2] = {0x6472617762726964, 0x6765207465737473}; // a suite runs the same each time

struct text suite_world_namespace(const struct suite_object *object) {
    const struct feed_kind *row = feed_kind_of(object->kind);
    if (row == NULL || !row->namespaced) return (struct text){NULL, 0};
    return object->metadata.namespace.len > 0 ? object->metadata.namespace : TEXT("default");
}

static struct world_object *find(const struct suite_world *world, const struct suite_object *object) {
    struct text namespace = suite_world_namespace(object);
    for (size_t i = 0; i < world->objects.count; i++) {
        struct world_object *item = &world->objects.items[i];
        if (item->kind == object->kind && text_equal(item->name, object->metadata.name) &&
            text_equal(item->namespace, namespace))
            return item;
    }
    return NULL;
}

const struct world_object *suite_world_find(const struct suite_world *world,
                                            const struct suite_object *object) {
    const struct world_object *found = find(world, object);
    return found != NULL && found->live ? found : NULL;
}

static struct text uid_of(const struct suite_world *world, const struct suite_object *object,
                          const struct world_object *known) {
    if (object->metadata.uid.len > 0) return object->metadata.uid;
    if (known != NULL && known->live) return known->uid;
    struct text namespace = suite_world_namespace(object);
    unsigned births = known == NULL ? 0 : known->births;
    struct text uid =
        text_format(world->arena, "%.*s:%.*s%s%.*s", TEXT_ARG(object->kind_name), TEXT_ARG(namespace),
                    namespace.len > 0 ? "/" : "", TEXT_ARG(object->metadata.name));
    return births == 0 ? uid : text_format(world->arena, "%.*s#%u", TEXT_ARG(uid), births + 1);
}

struct text suite_world_fill(struct suite_world *world, const struct suite_object *object, bool versioned) {
    const struct world_object *known = find(world, object);
    struct stamp stamp = {.uid = uid_of(world, object, known), .namespace = suite_world_namespace(object)};
    if (versioned && !text_to_int64(object->metadata.resource_version, &stamp.resource_version))
        stamp.resource_version = known == NULL ? 0 : known->resource_version;
    return stamp_object(world->arena, object->json, &stamp);
}

// The place of an object among those that were seen.
static struct world_object *note(struct suite_world *world, const struct suite_object *object) {
    struct world_object *known = find(world, object);
    if (known != NULL) return known;
    known = LIST_APPEND(world->arena, &world->objects);
    if (known == NULL) return NULL;
    known->kind = object->kind;
    known->namespace = suite_world_namespace(object);
    known->name = object->metadata.name;
    return known;
}

static bool decode(struct suite_world *world, struct text json, struct object *ret_object,
                   struct fault *fault) {
    struct decode_options options = {JSON_WIRE, world->suite->minor};
    struct finding_list findings;
    finding_list_init(&findings, world->arena);
    return decode_object(world->arena, json, &options, ret_object, &findings, fault);
}

static bool tell_ledger(struct suite_world *world, enum event_type type, struct text json, int64_t version,
                        struct fault *fault) {
    struct object *object = arena_alloc(world->arena, sizeof *object);
    if (object == NULL || json.len == 0) return fault_set(fault, FAULT_MEMORY, "out of memory");
    if (!decode(world, json, object, fault)) return false;
    struct ledger_event event = {.type = type, .object = object, .resource_version = version};
    return ledger_apply(world->ledger, &event, fault) != LEDGER_FAILED;
}

bool suite_world_apply(struct suite_world *world, const struct suite_event *event, struct fault *fault) {
    const struct suite_object *object = &event->object;
    ledger_watch_alive(world->ledger, object->kind, world->now_ms);
    if (event->type == EVENT_BOOKMARK) return true;
    if (object->metadata.name.len == 0)
        return fault_set(fault, FAULT_INPUT, "the object has no metadata.name");
    struct world_object *known = note(world, object);
    if (known == NULL) return fault_set(fault, FAULT_MEMORY, "out of memory");
    int64_t version;
    if (!text_to_int64(object->metadata.resource_version, &version)) version = world->newest_version + 1;
    if (version > world->newest_version) world->newest_version = version;
    struct text uid = uid_of(world, object, known);
    struct stamp stamp = {.uid = uid, .namespace = known->namespace, .resource_version = version};
    struct text json = stamp_object(world->arena, object->json, &stamp);
    if (json.len == 0) return fault_set(fault, FAULT_INPUT, "the object has no metadata");
    if (!tell_ledger(world, event->type, json, version, fault)) return false;
    if (!known->live && event->type != EVENT_DELETED) known->births++;
    known->uid = uid;
    known->json = json;
    known->resource_version = version;
    known->live = event->type != EVENT_DELETED;
    return true;
}

void suite_world_advance(struct suite_world *world, int64_t ms) {
    world->now_ms += ms;
    ledger_advance(world->ledger, world->now_ms);
}

static bool is_synced(const struct suite_case *one, enum object_kind kind) {
    for (size_t i = 0; i < one->not_synced.count; i++) {
        enum resource_version version;
        static const char *const groups[] = {"v1", "resource.k8s.io/v1", "coordination.k8s.io/v1",
                                             "drawbridge.dev/v1alpha1"};
        for (size_t k = 0; k < sizeof groups / sizeof groups[0]; k++)
            if (decode_kind(text_of(groups[k]), one->not_synced.items[i], &version) == kind) return false;
    }
    return true;
}

static bool list(struct suite_world *world, const struct suite_object_list *objects, enum object_kind kind,
                 struct text *ret_path, struct fault *fault) {
    for (size_t i = 0; i < objects->count; i++) {
        const struct suite_event event = {.type = EVENT_ADDED, .object = objects->items[i]};
        if (objects->items[i].kind != kind) continue;
        *ret_path = objects->items[i].path;
        if (!suite_world_apply(world, &event, fault)) return false;
    }
    return true;
}

static bool list_policy(struct suite_world *world, struct fault *fault) {
    if (world->suite->policy.len == 0) return true;
    struct stamp stamp = {.uid = TEXT("LedgerPolicy:default"), .resource_version = ++world->newest_version};
    struct text json = stamp_object(world->arena, world->suite->policy, &stamp);
    return tell_ledger(world, EVENT_ADDED, json, stamp.resource_version, fault);
}

bool suite_world_start(struct suite_world *world, struct arena *arena, const struct suite *suite,
                       const struct suite_case *one, struct text *ret_path, struct fault *fault) {
    struct ledger_options options = {
        .minor = suite->minor, .seed = {seed[0], seed[1]}, .judge = registry_device_judge()};
    *world = (struct suite_world){.arena = arena, .suite = suite, .now_ms = SUITE_START_MS};
    world->ledger = ledger_new(&options, fault);
    if (world->ledger == NULL) return false;
    ledger_advance(world->ledger, world->now_ms);
    for (size_t i = 0; i < FEED_KIND_COUNT; i++) {
        enum object_kind kind = feed_kinds[i].kind;
        if (!is_synced(one, kind)) continue;
        ledger_list_begin(world->ledger, kind);
        ledger_watch_alive(world->ledger, kind, world->now_ms);
        *ret_path = TEXT("policy");
        if (kind == KIND_LEDGER_POLICY && !list_policy(world, fault)) return false;
        if (!list(world, &suite->objects, kind, ret_path, fault) ||
            !list(world, &one->objects, kind, ret_path, fault))
            return false;
        ledger_list_end(world->ledger, kind);
    }
    return true;
}

void suite_world_release(struct suite_world *world) {
    ledger_free(world->ledger);
    world->ledger = NULL;
}
