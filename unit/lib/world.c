// SPDX-License-Identifier: Apache-2.0
// A small cluster at random.
#include "unit/lib/world.h"

#include <stdio.h>
#include <stdlib.h>

#define WIDE_ALL  (WORLD_NODES * 2) // for all nodes; its devices may be had by many claims, in parts
#define WIDE_ZONE (WIDE_ALL + 1)    // for the nodes of zone 0

const enum object_kind world_object_kinds[WORLD_KINDS] = {KIND_NODE, KIND_RESOURCE_SLICE, KIND_RESOURCE_CLAIM,
                                                          KIND_POD};

void world_must(bool fine, const char *what) {
    if (fine) return;
    fprintf(stderr, "world: %s\n", what);
    abort();
}

uint64_t world_random(struct world *world) {
    world->random ^= world->random << 13;
    world->random ^= world->random >> 7;
    world->random ^= world->random << 17;
    return world->random;
}

int world_below(struct world *world, int count) {
    return (int)(world_random(world) % (uint64_t)count);
}

// ---- objects as an API server would send them

static struct object_meta meta(struct arena *arena, const char *kind, int number,
                               const struct world_thing *thing) {
    return (struct object_meta){.name = text_format(arena, "%s-%d", kind, number),
                                .uid = text_format(arena, "uid-%d", thing->uid)};
}

static struct text driver_of(int pool) {
    return pool % 2 == 0 ? TEXT("a.example") : TEXT("b.example");
}

static struct text pool_name(struct arena *arena, int pool) {
    return text_format(arena, "pool-%d", pool / 2);
}

struct device_key world_device(struct arena *arena, int pool, int device) {
    return (struct device_key){driver_of(pool), pool_name(arena, pool), text_format(arena, "dev-%d", device)};
}

static struct quantity milli(int value) {
    return quantity_from_milli(value, QUANTITY_DECIMAL_SI);
}

static struct object node_object(const struct world *world, struct arena *arena, int index) {
    const struct world_node *node = &world->nodes[index];
    struct object object = {.kind = KIND_NODE};
    object.node.metadata = meta(arena, "node", index, &node->thing);
    object.node.unschedulable = node->cordoned;
    struct text_pair *label = LIST_APPEND(arena, &object.node.metadata.labels);
    *label = (struct text_pair){TEXT("zone"), text_format(arena, "%d", node->zone)};
    struct quantity_entry *entry = LIST_APPEND(arena, &object.node.allocatable);
    *entry = (struct quantity_entry){TEXT("cpu"), milli(node->cpu)};
    return object;
}

static void fill_device(const struct world *world, struct arena *arena, struct device *device, int millis,
                        int number, bool shareable) {
    device->name = text_format(arena, "dev-%d", number);
    struct device_attribute *numa = LIST_APPEND(arena, &device->attributes);
    *numa = (struct device_attribute){.key = TEXT("numaNode"), .int_value = {number % 2, true}};
    // Some mappings are faulty: a NUMA node that cannot be read, a negative capacity.
    if (millis == 1500) *numa = (struct device_attribute){.key = TEXT("numaNode")};
    if (millis == 2000) {
        struct device_capacity *bad = LIST_APPEND(arena, &device->capacity);
        *bad = (struct device_capacity){.key = TEXT("cores"), .value = milli(-1000)};
    }
    struct node_allocatable_map *map = world->minor < 37 ? &device->mappings_v136 : &device->resources_v137;
    struct node_allocatable *entry = LIST_APPEND(arena, map);
    entry->key = TEXT("cpu");
    entry->mapping_set = true;
    entry->allocation_multiplier = entry->device_multiplier = entry->capacity_multiplier = milli(millis);
    entry->overhead_set = world->minor >= 37;
    if (entry->overhead_set) entry->per_pod = milli(millis / 10);
    if (!shareable) return;
    entry->capacity_key = (struct opt_text){TEXT("units"), true};
    device->allow_multiple_allocations = (struct opt_bool){true, true};
    struct device_capacity *capacity = LIST_APPEND(arena, &device->capacity);
    *capacity = (struct device_capacity){.key = TEXT("units"), .value = milli(millis * 8)};
}

static const struct node_selector *selector(struct arena *arena, bool field, struct text key,
                                            struct text value) {
    struct node_selector *made = arena_zalloc(arena, 1, sizeof *made);
    struct node_selector_term *term = LIST_APPEND(arena, &made->terms);
    struct node_selector_requirement *requirement =
        LIST_APPEND(arena, field ? &term->match_fields : &term->match_expressions);
    requirement->key = key;
    requirement->operator= TEXT("In");
    struct text *place = LIST_APPEND(arena, &requirement->values);
    *place = value;
    made->set = true;
    made->raw = text_format(arena, "%.*s=%.*s", TEXT_ARG(key), TEXT_ARG(value));
    return made;
}

// NULL: all nodes.
static const struct node_selector *nodes_of(struct arena *arena, int pool) {
    if (pool == WIDE_ALL) return NULL;
    if (pool == WIDE_ZONE) return selector(arena, false, TEXT("zone"), TEXT("0"));
    return selector(arena, true, TEXT("metadata.name"), text_format(arena, "node-%d", pool / 2));
}

static struct object slice_object(const struct world *world, struct arena *arena, int pool, int index) {
    const struct world_slice *source = &world->slices[pool][index];
    struct object object = {.kind = KIND_RESOURCE_SLICE};
    struct resource_slice *slice = &object.slice;
    slice->metadata = meta(arena, "slice", pool * WORLD_POOL_SLICES + index, &source->thing);
    slice->driver = driver_of(pool);
    slice->pool = (struct resource_pool){pool_name(arena, pool), source->generation, source->count};
    if (pool == WIDE_ALL)
        slice->all_nodes = (struct opt_bool){true, true};
    else if (pool == WIDE_ZONE)
        slice->node_selector = nodes_of(arena, pool);
    else
        slice->node_name = (struct opt_text){text_format(arena, "node-%d", pool / 2), true};
    for (int i = 0; i < WORLD_DEVICES; i++) {
        struct device *device = LIST_APPEND(arena, &slice->devices);
        fill_device(world, arena, device, source->millis[i], index * WORLD_DEVICES + i, pool == WIDE_ALL);
    }
    return object;
}

static void allocate(const struct world_claim *source, struct arena *arena, struct resource_claim *claim) {
    claim->allocation.set = true;
    claim->allocation.allocation_timestamp = text_format(arena, "time-%d", source->allocations);
    claim->allocation.node_selector = nodes_of(arena, source->pool);
    struct device_key key = world_device(arena, source->pool, source->device);
    struct allocation_result *result = LIST_APPEND(arena, &claim->allocation.results);
    *result = (struct allocation_result){.driver = key.driver, .pool = key.pool, .device = key.device};
    if (source->pool != WIDE_ALL) return;
    result->share_id = (struct opt_text){text_format(arena, "share-%d", source->thing.uid), true};
    result->consumed_capacity.set = true;
    struct quantity_entry *consumed = LIST_APPEND(arena, &result->consumed_capacity);
    *consumed = (struct quantity_entry){TEXT("units"), milli(1000 * (1 + source->thing.uid % 3))};
}

static struct object claim_object(const struct world *world, struct arena *arena, int index) {
    const struct world_claim *source = &world->claims[index];
    struct object object = {.kind = KIND_RESOURCE_CLAIM};
    struct resource_claim *claim = &object.claim;
    claim->metadata = meta(arena, "claim", index, &source->thing);
    claim->metadata.namespace = TEXT("default");
    if (!source->allocated) return object;
    allocate(source, arena, claim);
    for (int i = 0; i < source->pod_count; i++) {
        struct consumer_reference *consumer = LIST_APPEND(arena, &claim->reserved_for);
        *consumer = (struct consumer_reference){.resource = TEXT("pods"),
                                                .name = text_format(arena, "pod-%d", source->pods[i]),
                                                .uid = text_format(arena, "uid-%d", source->pod_uids[i])};
    }
    if (source->group < 0) return object;
    struct consumer_reference *group = LIST_APPEND(arena, &claim->reserved_for);
    *group = (struct consumer_reference){.api_group = TEXT("scheduling.k8s.io"),
                                         .resource = TEXT("podgroups"),
                                         .name = text_format(arena, "gang-%d", source->group),
                                         .uid = text_format(arena, "uid-gang-%d", source->group)};
    return object;
}

static void report_status(const struct world *world, struct arena *arena, struct pod *pod, int index) {
    const struct world_pod *source = &world->pods[index];
    if (source->reports < 0) return;
    struct node_allocatable_claim_status *status = LIST_APPEND(arena, &pod->allocatable_statuses);
    status->claim_name = text_format(arena, "claim-%d", source->claim);
    struct quantity_entry *entry =
        LIST_APPEND(arena, world->minor < 37 ? &status->resources : &status->mapping);
    *entry = (struct quantity_entry){TEXT("cpu"), milli(source->reports)};
}

static struct object pod_object(const struct world *world, struct arena *arena, int index) {
    const struct world_pod *source = &world->pods[index];
    struct object object = {.kind = KIND_POD};
    struct pod *pod = &object.pod;
    pod->metadata = meta(arena, "pod", index, &source->thing);
    pod->metadata.namespace = TEXT("default");
    pod->scheduled = source->scheduled;
    pod->phase = source->done ? TEXT("Succeeded") : TEXT("Running");
    if (source->node >= 0) pod->node_name = text_format(arena, "node-%d", source->node);
    if (source->nominated >= 0) pod->nominated_node_name = text_format(arena, "node-%d", source->nominated);
    if (source->group >= 0) pod->scheduling_group = text_format(arena, "gang-%d", source->group);
    struct container *container = LIST_APPEND(arena, &pod->containers);
    container->name = TEXT("c");
    struct quantity_entry *request = LIST_APPEND(arena, &container->resources.requests);
    *request = (struct quantity_entry){TEXT("cpu"), milli(100)};
    struct quantity_entry *limit = LIST_APPEND(arena, &container->resources.limits);
    *limit = (struct quantity_entry){TEXT("cpu"), milli(200)};
    struct text *reference = LIST_APPEND(arena, &container->resources.claims);
    *reference = TEXT("claim");
    if (source->thing.uid % 2 == 0) {
        pod->resources_set = true;
        limit = LIST_APPEND(arena, &pod->resources.limits);
        *limit = (struct quantity_entry){TEXT("cpu"), milli(900)};
    }
    struct pod_resource_claim *claim = LIST_APPEND(arena, &pod->resource_claims);
    claim->name = TEXT("claim");
    claim->claim_name = (struct opt_text){text_format(arena, "claim-%d", source->claim), true};
    report_status(world, arena, pod, index);
    return object;
}

static struct object object_of(const struct world *world, struct arena *arena, enum world_kind kind, int a,
                               int b) {
    switch (kind) {
    case WORLD_NODE: return node_object(world, arena, a);
    case WORLD_SLICE: return slice_object(world, arena, a, b);
    case WORLD_CLAIM: return claim_object(world, arena, a);
    default: return pod_object(world, arena, a);
    }
}

// ---- events

static void tell(struct world *world, enum event_type type, enum world_kind kind, int a, int b,
                 const struct world_thing *thing) {
    struct object *object = arena_zalloc(world->arena, 1, sizeof *object);
    world_must(object != NULL, "no memory");
    *object = object_of(world, world->arena, kind, a, b);
    struct ledger_event event = {.type = type, .object = object, .resource_version = thing->version};
    world->event(world->context, kind, &event);
}

static void made(struct world *world, enum world_kind kind, int a, int b, struct world_thing *thing) {
    thing->exists = true;
    thing->uid = ++world->uid;
    thing->version = ++world->version;
    tell(world, EVENT_ADDED, kind, a, b, thing);
}

static void changed(struct world *world, enum world_kind kind, int a, int b, struct world_thing *thing) {
    thing->version = ++world->version;
    tell(world, EVENT_MODIFIED, kind, a, b, thing);
}

static void gone(struct world *world, enum world_kind kind, int a, int b, struct world_thing *thing) {
    thing->version = ++world->version;
    tell(world, EVENT_DELETED, kind, a, b, thing);
    thing->exists = false;
}

// ---- what happens in a cluster

static void step_node(struct world *world) {
    int index = world_below(world, WORLD_NODES);
    struct world_node *node = &world->nodes[index];
    if (!node->thing.exists) {
        node->cpu = 8000;
        node->zone = world_below(world, 2);
        made(world, WORLD_NODE, index, 0, &node->thing);
        return;
    }
    int choice = world_below(world, 6);
    if (choice == 0) {
        gone(world, WORLD_NODE, index, 0, &node->thing);
        return;
    }
    if (choice == 1)
        node->zone = world_below(world, 2);
    else if (choice == 2)
        node->cordoned = !node->cordoned;
    else
        node->cpu = 1000 * (1 + world_below(world, 64));
    changed(world, WORLD_NODE, index, 0, &node->thing);
}

static void fill_slice(struct world *world, struct world_slice *slice, int generation, int count) {
    slice->generation = generation;
    slice->count = count;
    for (int i = 0; i < WORLD_DEVICES; i++)
        slice->millis[i] = 500 + (world_below(world, 3) == 0 ? 500 * world_below(world, 4) : 0);
}

// A driver publishes what it has, takes all away, changes one slice, or begins again.
static void step_driver(struct world *world) {
    int pool = world_below(world, WORLD_POOLS);
    int count = 1 + world_below(world, WORLD_POOL_SLICES);
    int highest = 0;
    for (int i = 0; i < WORLD_POOL_SLICES; i++)
        if (world->slices[pool][i].thing.exists && world->slices[pool][i].generation > highest)
            highest = world->slices[pool][i].generation;
    int choice = world_below(world, 5);
    for (int i = 0; i < WORLD_POOL_SLICES; i++) {
        struct world_slice *slice = &world->slices[pool][i];
        bool wanted = choice != 0 && i < count;
        if (choice == 1 && i != count - 1) continue; // one slice alone: a pool that is not complete
        if (wanted) fill_slice(world, slice, choice == 2 ? highest : highest + 1, count);
        if (wanted && slice->thing.exists)
            changed(world, WORLD_SLICE, pool, i, &slice->thing);
        else if (wanted)
            made(world, WORLD_SLICE, pool, i, &slice->thing);
        else if (slice->thing.exists)
            gone(world, WORLD_SLICE, pool, i, &slice->thing);
    }
}

static bool device_taken(const struct world *world, int pool, int device) {
    for (int i = 0; i < WORLD_CLAIMS; i++)
        if (world->claims[i].thing.exists && world->claims[i].allocated && world->claims[i].pool == pool &&
            world->claims[i].device == device)
            return pool != WIDE_ALL;
    return false;
}

// For Pods that name the claim, or for their PodGroup.
static void reserve(struct world *world, int index) {
    struct world_claim *claim = &world->claims[index];
    claim->pod_count = 0;
    claim->group = world_below(world, 3) == 0 ? world_below(world, WORLD_GROUPS) : -1;
    for (int i = 0; i < WORLD_PODS && claim->pod_count < WORLD_CONSUMERS; i++) {
        const struct world_pod *pod = &world->pods[i];
        if (!pod->thing.exists || pod->done || pod->claim != index) continue;
        if (claim->pod_count > 0 && world_below(world, 3) != 0) continue;
        claim->pods[claim->pod_count] = i;
        claim->pod_uids[claim->pod_count++] = pod->thing.uid;
    }
}

static void ask_review(struct world *world, int index, int64_t old_version) {
    if (world->review == NULL || world_below(world, 2) == 0) return;
    const struct world_claim *claim = &world->claims[index];
    struct object object = claim_object(world, world->arena, index);
    struct text pod = {NULL, 0};
    struct text node = {NULL, 0};
    if (object.claim.reserved_for.count > 0) pod = object.claim.reserved_for.items[0].uid;
    if (claim->pool < WIDE_ALL) node = text_format(world->arena, "node-%d", claim->pool / 2);
    world->review(world->context, &object.claim, old_version, pod, node);
}

static void step_allocation(struct world *world, int index, int pool, int device) {
    struct world_claim *claim = &world->claims[index];
    claim->allocated = true;
    claim->allocations++;
    claim->pool = pool;
    claim->device = device;
    reserve(world, index);
    ask_review(world, index, claim->thing.version);
    if (world_below(world, 8) == 0) { // somebody else refuses it
        claim->allocated = false;
        claim->let_in = true;
        return;
    }
    changed(world, WORLD_CLAIM, index, 0, &claim->thing);
}

static void step_claim(struct world *world) {
    int index = world_below(world, WORLD_CLAIMS);
    struct world_claim *claim = &world->claims[index];
    int pool = world_below(world, WORLD_POOLS);
    int device = world_below(world, WORLD_POOL_SLICES * WORLD_DEVICES);
    if (!claim->thing.exists) {
        claim->allocated = claim->let_in = false;
        made(world, WORLD_CLAIM, index, 0, &claim->thing);
    } else if (!claim->allocated && !device_taken(world, pool, device)) {
        step_allocation(world, index, pool, device);
    } else if (world_below(world, 3) == 0) {
        claim->allocated = false;
        changed(world, WORLD_CLAIM, index, 0, &claim->thing);
    } else if (world_below(world, 4) == 0) {
        gone(world, WORLD_CLAIM, index, 0, &claim->thing);
    } else {
        reserve(world, index);
        if (claim->allocated) ask_review(world, index, claim->thing.version);
        changed(world, WORLD_CLAIM, index, 0, &claim->thing);
    }
}

void world_end_reviews(struct world *world) {
    for (int i = 0; i < WORLD_CLAIMS; i++) {
        if (!world->claims[i].thing.exists || !world->claims[i].let_in) continue;
        world->claims[i].let_in = false;
        changed(world, WORLD_CLAIM, i, 0, &world->claims[i].thing);
    }
}

static void make_pod(struct world *world, int index) {
    struct world_pod *pod = &world->pods[index];
    *pod = (struct world_pod){.thing = pod->thing, .node = -1, .nominated = -1, .reports = -1, .group = -1};
    if (world_below(world, 5) == 0) pod->node = world_below(world, WORLD_NODES); // preset
    if (world_below(world, 2) == 0) pod->group = world_below(world, WORLD_GROUPS);
    pod->claim = world_below(world, WORLD_CLAIMS);
    made(world, WORLD_POD, index, 0, &pod->thing);
}

static void step_pod(struct world *world) {
    int index = world_below(world, WORLD_PODS);
    struct world_pod *pod = &world->pods[index];
    const struct world_claim *claim = &world->claims[pod->claim];
    if (!pod->thing.exists) {
        make_pod(world, index);
    } else if (pod->node < 0 && world_below(world, 3) == 0) {
        pod->nominated = world_below(world, 4) == 0 ? -1 : world_below(world, WORLD_NODES);
        changed(world, WORLD_POD, index, 0, &pod->thing);
    } else if (pod->node < 0) {
        bool pinned = claim->allocated && claim->pool < WIDE_ALL;
        pod->node = pinned ? claim->pool / 2 : world_below(world, WORLD_NODES);
        pod->scheduled = true;
        pod->reports = world_below(world, 3) == 0 ? -1 : world_below(world, 2) == 0 ? 500 : 777;
        changed(world, WORLD_POD, index, 0, &pod->thing);
    } else if (world_below(world, 3) == 0) {
        pod->done = true;
        changed(world, WORLD_POD, index, 0, &pod->thing);
    } else if (world_below(world, 3) == 0) {
        gone(world, WORLD_POD, index, 0, &pod->thing);
    }
}

void world_step(struct world *world) {
    void (*const steps[])(struct world * world) = {step_node,  step_driver, step_driver, step_claim,
                                                   step_claim, step_claim,  step_pod,    step_pod};
    steps[world_below(world, 8)](world);
}

// ---- lists

static void list_thing(const struct world *world, enum world_kind kind, int a, int b, struct arena *arena,
                       world_visit *visit, void *context, const struct world_thing *thing) {
    if (!thing->exists) return;
    struct object object = object_of(world, arena, kind, a, b);
    struct ledger_event event = {.type = EVENT_ADDED, .object = &object, .resource_version = thing->version};
    visit(context, &event);
}

void world_list(const struct world *world, enum world_kind kind, struct arena *arena, world_visit *visit,
                void *context) {
    for (int i = 0; i < WORLD_NODES && kind == WORLD_NODE; i++)
        list_thing(world, kind, i, 0, arena, visit, context, &world->nodes[i].thing);
    for (int i = 0; i < WORLD_POOLS && kind == WORLD_SLICE; i++)
        for (int k = 0; k < WORLD_POOL_SLICES; k++)
            list_thing(world, kind, i, k, arena, visit, context, &world->slices[i][k].thing);
    for (int i = 0; i < WORLD_CLAIMS && kind == WORLD_CLAIM; i++)
        list_thing(world, kind, i, 0, arena, visit, context, &world->claims[i].thing);
    for (int i = 0; i < WORLD_PODS && kind == WORLD_POD; i++)
        list_thing(world, kind, i, 0, arena, visit, context, &world->pods[i].thing);
}
