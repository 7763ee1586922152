// SPDX-License-Identifier: Apache-2.0
// Long random runs: whatever the order in which a ledger is told what happens in a cluster, it ends equal to
// one that is made of a fresh list and of what NodeLedgers remember.
#include <criterion/criterion.h>

#include "server/ledger/report.h"
#include "validators/registry/device_judge.h"

#define NODES       4
#define POOLS       (NODES * 2) // two drivers on each node, with one pool name
#define POOL_SLICES 2
#define DEVICES     4 // per slice
#define CLAIMS      14
#define PODS        10
#define CAP_BYTES   ((size_t)256 << 20)
#define QUEUE       4096

// ---- the cluster as it is

struct thing {
    bool exists;
    int uid; // rises with each making
    int64_t version;
};
struct world {
    uint64_t random;
    int minor;
    int64_t version;
    int uid;
    struct thing nodes[NODES];
    int node_cpu[NODES];
    struct thing slices[POOLS][POOL_SLICES];
    int generation[POOLS][POOL_SLICES];
    int slice_count[POOLS][POOL_SLICES];
    int millis[POOLS][POOL_SLICES][DEVICES]; // what each device takes of cpu
    struct thing claims[CLAIMS];
    bool allocated[CLAIMS];
    int allocations[CLAIMS]; // how often: the time of the allocation
    int claim_pool[CLAIMS];
    int claim_device[CLAIMS]; // slice * DEVICES + device
    int claim_pod[CLAIMS];    // reserved for; -1: none
    int claim_pod_uid[CLAIMS];
    struct thing pods[PODS];
    int pod_node[PODS]; // -1: not bound
    int pod_claim[PODS];
    bool pod_scheduled[PODS];
    bool pod_done[PODS];
    int pod_reports[PODS]; // millis that status names; -1: no entry
};

static uint64_t next_random(struct world *world) {
    world->random ^= world->random << 13;
    world->random ^= world->random >> 7;
    world->random ^= world->random << 17;
    return world->random;
}

static int below(struct world *world, int count) {
    return (int)(next_random(world) % (uint64_t)count);
}

static void change(struct world *world, struct thing *thing) {
    thing->version = ++world->version;
}

static void make(struct world *world, struct thing *thing) {
    thing->exists = true;
    thing->uid = ++world->uid;
    change(world, thing);
}

// ---- objects as an API server would send them

// Texts live in the arena that is given.
static struct object_meta meta(struct arena *arena, const char *kind, int number, const struct thing *thing) {
    return (struct object_meta){.name = text_format(arena, "%s-%d", kind, number),
                                .uid = text_format(arena, "uid-%d", thing->uid)};
}

static struct text driver_of(int pool) {
    return pool % 2 == 0 ? TEXT("a.example") : TEXT("b.example");
}

static struct text pool_name(struct arena *arena, int pool) {
    return text_format(arena, "pool-%d", pool / 2);
}

static struct quantity milli(int value) {
    return quantity_from_milli(value, QUANTITY_DECIMAL_SI);
}

static struct object node_object(const struct world *world, struct arena *arena, int index) {
    struct object object = {.kind = KIND_NODE};
    object.node.metadata = meta(arena, "node", index, &world->nodes[index]);
    struct quantity_entry *entry = LIST_APPEND(arena, &object.node.allocatable);
    *entry = (struct quantity_entry){TEXT("cpu"), milli(world->node_cpu[index])};
    return object;
}

static void fill_device(const struct world *world, struct arena *arena, struct device *device, int millis,
                        int number) {
    device->name = text_format(arena, "dev-%d", number);
    struct device_attribute *numa = LIST_APPEND(arena, &device->attributes);
    *numa = (struct device_attribute){.key = TEXT("numaNode"), .int_value = {number % 2, true}};
    // Some mappings are faulty: a NUMA node that cannot be read, a negative capacity.
    if (millis % 5 == 0) *numa = (struct device_attribute){.key = TEXT("numaNode")};
    if (millis % 4 == 0) {
        struct device_capacity *capacity = LIST_APPEND(arena, &device->capacity);
        *capacity = (struct device_capacity){.key = TEXT("cores"), .value = milli(-1000)};
    }
    struct node_allocatable_map *map = world->minor < 37 ? &device->mappings_v136 : &device->resources_v137;
    struct node_allocatable *entry = LIST_APPEND(arena, map);
    entry->key = TEXT("cpu");
    entry->mapping_set = true;
    entry->allocation_multiplier = entry->device_multiplier = milli(millis);
    entry->overhead_set = world->minor >= 37;
    if (entry->overhead_set) entry->per_pod = milli(millis / 10);
}

static struct object slice_object(const struct world *world, struct arena *arena, int pool, int index) {
    struct object object = {.kind = KIND_RESOURCE_SLICE};
    struct resource_slice *slice = &object.slice;
    slice->metadata = meta(arena, "slice", pool * POOL_SLICES + index, &world->slices[pool][index]);
    slice->driver = driver_of(pool);
    slice->pool = (struct resource_pool){pool_name(arena, pool), world->generation[pool][index],
                                         world->slice_count[pool][index]};
    slice->node_name = (struct opt_text){text_format(arena, "node-%d", pool / 2), true};
    for (int i = 0; i < DEVICES; i++) {
        struct device *device = LIST_APPEND(arena, &slice->devices);
        fill_device(world, arena, device, world->millis[pool][index][i], index * DEVICES + i);
    }
    return object;
}

static const struct node_selector *only_node(struct arena *arena, int node) {
    struct node_selector *selector = arena_zalloc(arena, 1, sizeof *selector);
    struct node_selector_term *term = LIST_APPEND(arena, &selector->terms);
    struct node_selector_requirement *field = LIST_APPEND(arena, &term->match_fields);
    field->key = TEXT("metadata.name");
    field->operator= TEXT("In");
    struct text *value = LIST_APPEND(arena, &field->values);
    *value = text_format(arena, "node-%d", node);
    return selector;
}

static struct object claim_object(const struct world *world, struct arena *arena, int index) {
    struct object object = {.kind = KIND_RESOURCE_CLAIM};
    struct resource_claim *claim = &object.claim;
    claim->metadata = meta(arena, "claim", index, &world->claims[index]);
    claim->metadata.namespace = TEXT("default");
    if (!world->allocated[index]) return object;
    claim->allocation.set = true;
    claim->allocation.allocation_timestamp = text_format(arena, "time-%d", world->allocations[index]);
    claim->allocation.node_selector = only_node(arena, world->claim_pool[index] / 2);
    struct allocation_result *result = LIST_APPEND(arena, &claim->allocation.results);
    result->driver = driver_of(world->claim_pool[index]);
    result->pool = pool_name(arena, world->claim_pool[index]);
    result->device = text_format(arena, "dev-%d", world->claim_device[index]);
    if (world->claim_pod[index] < 0) return object;
    struct consumer_reference *consumer = LIST_APPEND(arena, &claim->reserved_for);
    consumer->uid = text_format(arena, "uid-%d", world->claim_pod_uid[index]);
    return object;
}

static void report_status(const struct world *world, struct arena *arena, struct pod *pod, int index) {
    if (world->pod_reports[index] < 0) return;
    struct node_allocatable_claim_status *status = LIST_APPEND(arena, &pod->allocatable_statuses);
    status->claim_name = text_format(arena, "claim-%d", world->pod_claim[index]);
    struct quantity_entry *entry =
        LIST_APPEND(arena, world->minor < 37 ? &status->resources : &status->mapping);
    *entry = (struct quantity_entry){TEXT("cpu"), milli(world->pod_reports[index])};
}

static struct object pod_object(const struct world *world, struct arena *arena, int index) {
    struct object object = {.kind = KIND_POD};
    struct pod *pod = &object.pod;
    pod->metadata = meta(arena, "pod", index, &world->pods[index]);
    pod->metadata.namespace = TEXT("default");
    pod->scheduled = world->pod_scheduled[index];
    pod->phase = world->pod_done[index] ? TEXT("Succeeded") : TEXT("Running");
    if (world->pod_node[index] >= 0) pod->node_name = text_format(arena, "node-%d", world->pod_node[index]);
    struct container *container = LIST_APPEND(arena, &pod->containers);
    container->name = TEXT("c");
    struct quantity_entry *request = LIST_APPEND(arena, &container->resources.requests);
    *request = (struct quantity_entry){TEXT("cpu"), milli(100)};
    struct text *reference = LIST_APPEND(arena, &container->resources.claims);
    *reference = TEXT("claim");
    struct pod_resource_claim *claim = LIST_APPEND(arena, &pod->resource_claims);
    claim->name = TEXT("claim");
    claim->claim_name = (struct opt_text){text_format(arena, "claim-%d", world->pod_claim[index]), true};
    report_status(world, arena, pod, index);
    return object;
}

// ---- events: one queue a kind, so that kinds come in any order among each other

struct queued {
    enum event_type type;
    int64_t version;
    struct object object;
};
enum { QUEUE_NODES, QUEUE_SLICES, QUEUE_CLAIMS, QUEUE_PODS, QUEUES };
static const enum object_kind queue_kinds[QUEUES] = {KIND_NODE, KIND_RESOURCE_SLICE, KIND_RESOURCE_CLAIM,
                                                     KIND_POD};
struct run {
    struct world world;
    struct arena arena; // of queued objects
    struct queued *queues[QUEUES];
    size_t head[QUEUES];
    size_t tail[QUEUES];
    struct ledger *ledger;
    size_t failures;
    bool short_of_memory; // each event is tried with each of its allocations failing
};

static struct object object_of(const struct world *world, struct arena *arena, int queue, int a, int b) {
    switch (queue) {
    case QUEUE_NODES: return node_object(world, arena, a);
    case QUEUE_SLICES: return slice_object(world, arena, a, b);
    case QUEUE_CLAIMS: return claim_object(world, arena, a);
    default: return pod_object(world, arena, a);
    }
}

static void tell(struct run *run, enum event_type type, int queue, int a, int b, const struct thing *thing) {
    cr_assert_lt(run->tail[queue], QUEUE);
    run->queues[queue][run->tail[queue]++] =
        (struct queued){type, thing->version, object_of(&run->world, &run->arena, queue, a, b)};
}

static void made(struct run *run, int queue, int a, int b, struct thing *thing) {
    make(&run->world, thing);
    tell(run, EVENT_ADDED, queue, a, b, thing);
}

static void changed(struct run *run, int queue, int a, int b, struct thing *thing) {
    change(&run->world, thing);
    tell(run, EVENT_MODIFIED, queue, a, b, thing);
}

static void gone(struct run *run, int queue, int a, int b, struct thing *thing) {
    change(&run->world, thing);
    tell(run, EVENT_DELETED, queue, a, b, thing);
    thing->exists = false;
}

static void try_without_memory(struct run *run, const struct ledger_event *event);

static void apply(struct run *run, const struct queued *queued) {
    struct fault fault = {0};
    struct ledger_event event = {
        .type = queued->type, .object = &queued->object, .resource_version = queued->version};
    if (run->short_of_memory) try_without_memory(run, &event);
    cr_assert_neq(ledger_apply(run->ledger, &event, &fault), LEDGER_FAILED, "%s", fault.text);
}

// Delivers the next event of a queue; now and then an older one comes again.
static void deliver(struct run *run, int queue) {
    if (run->head[queue] == run->tail[queue]) return;
    apply(run, &run->queues[queue][run->head[queue]++]);
    if (below(&run->world, 4) == 0)
        apply(run, &run->queues[queue][next_random(&run->world) % run->head[queue]]);
}

// ---- what happens in a cluster

static void step_node(struct run *run) {
    struct world *world = &run->world;
    int node = below(world, NODES);
    struct thing *thing = &world->nodes[node];
    if (!thing->exists) {
        made(run, QUEUE_NODES, node, 0, thing);
    } else if (below(world, 6) == 0) {
        gone(run, QUEUE_NODES, node, 0, thing);
    } else {
        world->node_cpu[node] = 1000 * (1 + below(world, 64));
        changed(run, QUEUE_NODES, node, 0, thing);
    }
}

static void fill_slice(struct world *world, int pool, int index, int generation, int count) {
    world->generation[pool][index] = generation;
    world->slice_count[pool][index] = count;
    for (int i = 0; i < DEVICES; i++)
        world->millis[pool][index][i] = 500 + (below(world, 3) == 0 ? 500 * below(world, 4) : 0);
}

// A driver publishes what it has, takes all away, changes one slice, or begins again.
static void step_driver(struct run *run) {
    struct world *world = &run->world;
    int pool = below(world, POOLS);
    int count = 1 + below(world, POOL_SLICES);
    int highest = 0;
    for (int i = 0; i < POOL_SLICES; i++)
        if (world->slices[pool][i].exists && world->generation[pool][i] > highest)
            highest = world->generation[pool][i];
    int choice = below(world, 5);
    for (int i = 0; i < POOL_SLICES; i++) {
        struct thing *slice = &world->slices[pool][i];
        bool wanted = choice != 0 && i < count;
        if (choice == 1 && i != count - 1) continue; // one slice alone: a pool that is not complete
        if (wanted) fill_slice(world, pool, i, choice == 2 ? highest : highest + 1, count);
        if (wanted && slice->exists)
            changed(run, QUEUE_SLICES, pool, i, slice);
        else if (wanted)
            made(run, QUEUE_SLICES, pool, i, slice);
        else if (slice->exists)
            gone(run, QUEUE_SLICES, pool, i, slice);
    }
}

static bool device_taken(const struct world *world, int pool, int device) {
    for (int i = 0; i < CLAIMS; i++)
        if (world->claims[i].exists && world->allocated[i] && world->claim_pool[i] == pool &&
            world->claim_device[i] == device)
            return true;
    return false;
}

static int pod_of_claim(const struct world *world, int claim) {
    for (int i = 0; i < PODS; i++)
        if (world->pods[i].exists && !world->pod_done[i] && world->pod_claim[i] == claim) return i;
    return -1;
}

static void step_claim(struct run *run) {
    struct world *world = &run->world;
    int claim = below(world, CLAIMS);
    struct thing *thing = &world->claims[claim];
    int pool = below(world, POOLS);
    int device = below(world, POOL_SLICES * DEVICES);
    int pod = pod_of_claim(world, claim);
    if (!thing->exists) {
        world->allocated[claim] = false;
        made(run, QUEUE_CLAIMS, claim, 0, thing);
    } else if (!world->allocated[claim] && !device_taken(world, pool, device)) {
        world->allocated[claim] = true;
        world->allocations[claim]++;
        world->claim_pool[claim] = pool;
        world->claim_device[claim] = device;
        world->claim_pod[claim] = pod;
        world->claim_pod_uid[claim] = pod < 0 ? 0 : world->pods[pod].uid;
        changed(run, QUEUE_CLAIMS, claim, 0, thing);
    } else if (below(world, 3) == 0) {
        world->allocated[claim] = false;
        changed(run, QUEUE_CLAIMS, claim, 0, thing);
    } else if (below(world, 4) == 0) {
        gone(run, QUEUE_CLAIMS, claim, 0, thing);
    } else {
        world->claim_pod[claim] = pod;
        world->claim_pod_uid[claim] = pod < 0 ? 0 : world->pods[pod].uid;
        changed(run, QUEUE_CLAIMS, claim, 0, thing);
    }
}

static void step_pod(struct run *run) {
    struct world *world = &run->world;
    int pod = below(world, PODS);
    struct thing *thing = &world->pods[pod];
    if (!thing->exists) {
        bool preset = below(world, 5) == 0;
        world->pod_node[pod] = preset ? below(world, NODES) : -1;
        world->pod_scheduled[pod] = false;
        world->pod_done[pod] = false;
        world->pod_claim[pod] = below(world, CLAIMS);
        world->pod_reports[pod] = -1;
        made(run, QUEUE_PODS, pod, 0, thing);
    } else if (world->pod_node[pod] < 0) {
        int claim = world->pod_claim[pod];
        world->pod_node[pod] = world->allocated[claim] ? world->claim_pool[claim] / 2 : below(world, NODES);
        world->pod_scheduled[pod] = true;
        world->pod_reports[pod] = below(world, 3) == 0 ? -1 : below(world, 2) == 0 ? 500 : 777;
        changed(run, QUEUE_PODS, pod, 0, thing);
    } else if (below(world, 3) == 0) {
        world->pod_done[pod] = true;
        changed(run, QUEUE_PODS, pod, 0, thing);
    } else if (below(world, 3) == 0) {
        gone(run, QUEUE_PODS, pod, 0, thing);
    }
}

// ---- lists

static void list_thing(struct run *run, struct arena *arena, struct ledger *ledger, int queue, int a, int b,
                       const struct thing *thing) {
    if (!thing->exists) return;
    struct fault fault = {0};
    struct object object = object_of(&run->world, arena, queue, a, b);
    struct ledger_event event = {.type = EVENT_ADDED, .object = &object, .resource_version = thing->version};
    cr_assert_neq(ledger_apply(ledger, &event, &fault), LEDGER_FAILED, "%s", fault.text);
}

// What is waiting in the queue is older than the list, and comes all the same.
static void list_kind(struct run *run, struct ledger *ledger, int queue) {
    struct world *world = &run->world;
    struct arena arena;
    arena_init(&arena, CAP_BYTES);
    ledger_list_begin(ledger, queue_kinds[queue]);
    for (int i = 0; i < NODES && queue == QUEUE_NODES; i++)
        list_thing(run, &arena, ledger, queue, i, 0, &world->nodes[i]);
    for (int i = 0; i < POOLS * POOL_SLICES && queue == QUEUE_SLICES; i++)
        list_thing(run, &arena, ledger, queue, i / POOL_SLICES, i % POOL_SLICES,
                   &world->slices[i / POOL_SLICES][i % POOL_SLICES]);
    for (int i = 0; i < CLAIMS && queue == QUEUE_CLAIMS; i++)
        list_thing(run, &arena, ledger, queue, i, 0, &world->claims[i]);
    for (int i = 0; i < PODS && queue == QUEUE_PODS; i++)
        list_thing(run, &arena, ledger, queue, i, 0, &world->pods[i]);
    ledger_list_end(ledger, queue_kinds[queue]);
    arena_release(&arena);
}

// NodeLedgers as the leader would have written them.
static void list_memories(struct ledger *from, struct ledger *to) {
    struct arena arena;
    arena_init(&arena, CAP_BYTES);
    struct text_list names;
    struct fault fault = {0};
    cr_assert(ledger_nodes(from, &arena, &names));
    ledger_list_begin(to, KIND_NODE_LEDGER);
    for (size_t i = 0; i < names.count; i++) {
        struct object object = {.kind = KIND_NODE_LEDGER};
        cr_assert(ledger_node_memory(from, names.items[i], &arena, &object.node_ledger));
        struct ledger_event event = {.type = EVENT_ADDED, .object = &object, .resource_version = 1};
        cr_assert_neq(ledger_apply(to, &event, &fault), LEDGER_FAILED);
    }
    ledger_list_end(to, KIND_NODE_LEDGER);
    arena_release(&arena);
}

static struct ledger *new_ledger(struct world *world) {
    struct fault fault = {0};
    struct ledger_options options = {.minor = world->minor,
                                     .seed = {next_random(world), next_random(world)},
                                     .judge = registry_device_judge()};
    struct ledger *ledger = ledger_new(&options, &fault);
    cr_assert_not_null(ledger);
    return ledger;
}

// A ledger of a fresh list; the kinds come in a random order.
static struct ledger *rebuilt(struct run *run, struct ledger *from) {
    struct ledger *ledger = new_ledger(&run->world);
    int first = below(&run->world, QUEUES + 1);
    for (int i = 0; i <= QUEUES; i++) {
        int queue = (first + i) % (QUEUES + 1);
        if (queue == QUEUES)
            list_memories(from, ledger);
        else
            list_kind(run, ledger, queue);
    }
    return ledger;
}

// ---- comparing

struct printed {
    struct arena arena;
    struct text_list lines;
};

static void print_line(struct printed *printed, struct text line) {
    struct text *place = LIST_APPEND(&printed->arena, &printed->lines);
    cr_assert_not_null(place);
    *place = line;
}

static struct text sums(struct printed *printed, const struct quantity_map *map) {
    struct text text = TEXT("");
    for (size_t i = 0; i < map->count; i++) {
        struct text value = quantity_canonical(&printed->arena, map->items[i].value);
        text = text_format(&printed->arena, "%.*s %.*s=%.*s", TEXT_ARG(text), TEXT_ARG(map->items[i].key),
                           TEXT_ARG(value));
    }
    return text;
}

static void print_row(struct printed *printed, const struct row_report *row) {
    struct text resources = sums(printed, &row->resources);
    print_line(printed, text_format(&printed->arena,
                                    "row %.*s %.*s/%.*s/%.*s v%lld %s held=%d numa=%lld %.*s pods=%zu",
                                    TEXT_ARG(row->name), TEXT_ARG(row->driver), TEXT_ARG(row->pool),
                                    TEXT_ARG(row->device), (long long)row->version, row->digest, row->held,
                                    (long long)row->numa.value, TEXT_ARG(resources), row->pods.count));
}

static void print_report(struct printed *printed, const struct node_report *report) {
    print_line(printed, text_format(&printed->arena, "node %.*s %s known=%d", TEXT_ARG(report->name),
                                    freshness_name(report->state), report->known));
    for (size_t i = 0; i < report->totals.count; i++) {
        const struct total_report *total = &report->totals.items[i];
        const struct quantity columns[] = {total->allocatable, total->ordinary, total->dra, total->held,
                                           total->free};
        struct text text = TEXT("");
        for (int k = 0; k < 5; k++)
            text = text_format(&printed->arena, "%.*s %.*s", TEXT_ARG(text),
                               TEXT_ARG(quantity_canonical(&printed->arena, columns[k])));
        print_line(printed,
                   text_format(&printed->arena, "total %.*s%.*s", TEXT_ARG(total->resource), TEXT_ARG(text)));
    }
    for (size_t i = 0; i < report->numa.count; i++)
        print_line(printed, text_format(&printed->arena, "numa %lld%.*s held%.*s",
                                        (long long)report->numa.items[i].id.value,
                                        TEXT_ARG(sums(printed, &report->numa.items[i].dra)),
                                        TEXT_ARG(sums(printed, &report->numa.items[i].held))));
    for (size_t i = 0; i < report->claims.count; i++) print_row(printed, &report->claims.items[i]);
    for (size_t i = 0; i < report->divergence.count; i++) {
        const struct divergence_report *divergence = &report->divergence.items[i];
        print_line(printed, text_format(&printed->arena, "diverged %.*s %.*s expected%.*s reported%.*s",
                                        TEXT_ARG(divergence->pod), TEXT_ARG(divergence->claim),
                                        TEXT_ARG(sums(printed, &divergence->expected)),
                                        TEXT_ARG(sums(printed, &divergence->reported))));
    }
    for (size_t i = 0; i < report->unusable.count; i++) {
        const struct faulty_device *one = &report->unusable.items[i];
        print_line(printed,
                   text_format(&printed->arena, "unusable %.*s/%.*s/%.*s %s %d", TEXT_ARG(one->driver),
                               TEXT_ARG(one->pool), TEXT_ARG(one->device), one->rule, one->sound_elsewhere));
    }
    for (size_t i = 0; i < report->drivers.count; i++) {
        const struct driver_report *driver = &report->drivers.items[i];
        print_line(printed, text_format(&printed->arena, "driver %.*s g%lld r%lld v%lld %s %.*s",
                                        TEXT_ARG(driver->driver), (long long)driver->generation,
                                        (long long)driver->retired_generation, (long long)driver->version,
                                        driver->digest, TEXT_ARG(driver->cause)));
    }
}

static struct printed print_ledger(const struct ledger *ledger) {
    struct printed printed = {0};
    struct text_list names;
    struct row_report_list unplaced;
    arena_init(&printed.arena, CAP_BYTES);
    cr_assert(ledger_nodes(ledger, &printed.arena, &names));
    for (size_t i = 0; i < names.count; i++) {
        struct node_report report;
        cr_assert(ledger_node_report(ledger, names.items[i], true, &printed.arena, &report));
        print_report(&printed, &report);
    }
    cr_assert(ledger_unplaced(ledger, &printed.arena, &unplaced));
    for (size_t i = 0; i < unplaced.count; i++) print_row(&printed, &unplaced.items[i]);
    return printed;
}

static void expect_equal(const struct ledger *live, const struct ledger *fresh, uint64_t seed, int step) {
    struct printed a = print_ledger(live);
    struct printed b = print_ledger(fresh);
    for (size_t i = 0; i < a.lines.count || i < b.lines.count; i++) {
        struct text left = i < a.lines.count ? a.lines.items[i] : TEXT("(nothing)");
        struct text right = i < b.lines.count ? b.lines.items[i] : TEXT("(nothing)");
        cr_assert(text_equal(left, right), "seed %llu step %d line %zu:\n live  %.*s\n fresh %.*s",
                  (unsigned long long)seed, step, i, TEXT_ARG(left), TEXT_ARG(right));
    }
    arena_release(&a.arena);
    arena_release(&b.arena);
}

// ---- short of memory

// An event that fails changes nothing; it fails for its first allocation, its second, and so on.
static void try_without_memory(struct run *run, const struct ledger_event *event) {
    struct printed before = print_ledger(run->ledger);
    struct fault fault = {0};
    for (size_t allocation = 1;; allocation++) {
        ledger_fail_after(run->ledger, allocation);
        enum ledger_outcome outcome = ledger_apply(run->ledger, event, &fault);
        ledger_fail_after(run->ledger, 0);
        if (outcome != LEDGER_FAILED) break;
        cr_assert_eq(fault.code, FAULT_MEMORY);
        struct printed after = print_ledger(run->ledger);
        cr_assert_eq(before.lines.count, after.lines.count);
        for (size_t i = 0; i < before.lines.count; i++)
            cr_assert(text_equal(before.lines.items[i], after.lines.items[i]),
                      "allocation %zu: %.*s became %.*s", allocation, TEXT_ARG(before.lines.items[i]),
                      TEXT_ARG(after.lines.items[i]));
        arena_release(&after.arena);
        run->failures++;
    }
    arena_release(&before.arena);
}

// ---- the run

static void settle(struct run *run) {
    for (int queue = 0; queue < QUEUES; queue++) {
        while (run->head[queue] < run->tail[queue]) deliver(run, queue);
        run->head[queue] = run->tail[queue] = 0;
    }
    arena_clear(&run->arena);
}

static void one_step(struct run *run) {
    void (*const steps[])(struct run *) = {step_node,  step_driver, step_driver, step_claim,
                                           step_claim, step_claim,  step_pod,    step_pod};
    steps[below(&run->world, 8)](run);
    for (int i = below(&run->world, 6); i > 0; i--) deliver(run, below(&run->world, QUEUES));
}

static void run_long(uint64_t seed, int minor, int steps) {
    struct run run = {.world = {.random = seed, .minor = minor}};
    arena_init(&run.arena, CAP_BYTES);
    for (int i = 0; i < QUEUES; i++) run.queues[i] = calloc(QUEUE, sizeof *run.queues[i]);
    for (int i = 0; i < NODES; i++) run.world.node_cpu[i] = 8000;
    run.ledger = new_ledger(&run.world);
    for (int queue = 0; queue < QUEUES; queue++) list_kind(&run, run.ledger, queue);
    for (int step = 0; step < steps; step++) {
        one_step(&run);
        if (below(&run.world, 40) == 0) list_kind(&run, run.ledger, below(&run.world, QUEUES));
        if (below(&run.world, 25) != 0) continue;
        settle(&run);
        struct ledger *fresh = rebuilt(&run, run.ledger);
        expect_equal(run.ledger, fresh, seed, step);
        if (below(&run.world, 3) == 0) { // a restart: the fresh one goes on
            ledger_free(run.ledger);
            run.ledger = fresh;
        } else {
            ledger_free(fresh);
        }
    }
    ledger_free(run.ledger);
    for (int i = 0; i < QUEUES; i++) free(run.queues[i]);
    arena_release(&run.arena);
}

Test(ledger_random, out_of_memory_changes_nothing) {
    struct run run = {.world = {.random = 4711, .minor = MINOR_36}, .short_of_memory = true};
    arena_init(&run.arena, CAP_BYTES);
    for (int i = 0; i < QUEUES; i++) run.queues[i] = calloc(QUEUE, sizeof *run.queues[i]);
    run.ledger = new_ledger(&run.world);
    for (int queue = 0; queue < QUEUES; queue++) list_kind(&run, run.ledger, queue);
    for (int step = 0; step < 120; step++) one_step(&run);
    settle(&run);
    struct ledger *fresh = rebuilt(&run, run.ledger);
    expect_equal(run.ledger, fresh, 4711, 120);
    cr_expect_gt(run.failures, 500); // else nothing was tried
    ledger_free(fresh);
    ledger_free(run.ledger);
    for (int i = 0; i < QUEUES; i++) free(run.queues[i]);
    arena_release(&run.arena);
}

Test(ledger_random, v1_36) {
    for (uint64_t seed = 1; seed <= 40; seed++) run_long(seed * 7919, MINOR_36, 600);
}

Test(ledger_random, v1_37) {
    for (uint64_t seed = 1; seed <= 40; seed++) run_long(seed * 104729, MINOR_37, 600);
}
