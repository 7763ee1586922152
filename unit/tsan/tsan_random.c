// SPDX-License-Identifier: Apache-2.0
// A long random run through the store: one thread tells what happens and lists again now and then, others let
// allocations in and read what gates and exports read. In the end the ledger equals one of a fresh list.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "server/ledger/store.h"
#include "unit/lib/ledger_lines.h"
#include "validators/registry/device_judge.h"

#define STEPS       6000
#define READERS     3
#define ARENA_BYTES ((size_t)64 << 20)

static struct store *store;
static atomic_bool done;
static atomic_ulong asked;

// ---- what happens

struct write {
    const struct resource_claim *claim;
    int64_t old_version;
    struct text pod_uid;
    struct text node;
};

static void let_in(struct ledger *ledger, void *context) {
    const struct write *write = context;
    world_must(ledger_let_in(ledger, write->claim, write->old_version, write->pod_uid, write->node),
               "not let in");
}

static void review(void *context, const struct resource_claim *claim, int64_t old_version,
                   struct text pod_uid, struct text node) {
    struct write write = {claim, old_version, pod_uid, node};
    (void)context;
    store_with_ledger(store, let_in, &write);
}

static void tell(void *context, enum world_kind kind, const struct ledger_event *event) {
    struct fault fault = {0};
    (void)context;
    (void)kind;
    world_must(store_apply(store, event, (struct text){NULL, 0}, &fault) != LEDGER_FAILED, fault.text);
}

static void list_one(void *context, const struct ledger_event *event) {
    tell(context, WORLD_NODE, event);
}

static void list_again(const struct world *world, enum world_kind kind) {
    struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    store_list_begin(store, world_object_kinds[kind]);
    world_list(world, kind, &arena, list_one, NULL);
    store_list_end(store, world_object_kinds[kind]);
    arena_release(&arena);
}

// ---- what is read meanwhile

static void read_all(struct ledger *ledger, void *context) {
    struct arena *arena = context;
    struct view view = ledger_view(ledger);
    struct text_list names;
    world_must(ledger_nodes(ledger, arena, &names), "no nodes");
    for (size_t i = 0; i < names.count; i++) {
        struct node_report report;
        struct view_standing standing;
        world_must(ledger_node_report(ledger, names.items[i], false, arena, &report), "no report");
        (void)VIEW_ASK(&view, standing, names.items[i], TEXT("a.example"), arena, &standing);
    }
    for (int pool = 0; pool < WORLD_POOLS; pool++) {
        struct device_key key = world_device(arena, pool, 1);
        struct device_holder_list holders;
        struct device_standing device;
        (void)VIEW_ASK(&view, holders, &key, TEXT("node-1"), arena, &holders);
        (void)VIEW_ASK(&view, device, &key, TEXT("node-1"), arena, &device);
    }
    atomic_fetch_add(&asked, 1);
}

static void *reader(void *argument) {
    (void)argument;
    struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    while (!atomic_load(&done)) {
        store_with_ledger(store, read_all, &arena);
        arena_clear(&arena);
    }
    arena_release(&arena);
    return NULL;
}

// ---- the end

static void compare(struct ledger *ledger, void *context) {
    struct ledger *fresh = world_rebuild(context, ledger);
    struct ledger_lines live;
    struct ledger_lines rebuilt;
    size_t line;
    struct text a;
    struct text b;
    ledger_lines_make(ledger, false, &live);
    ledger_lines_make(fresh, false, &rebuilt);
    bool differs = ledger_lines_differ(&live, &rebuilt, &line, &a, &b);
    if (differs) fprintf(stderr, "live  %.*s\nfresh %.*s\n", TEXT_ARG(a), TEXT_ARG(b));
    world_must(!differs && live.lines.count > 0, "the ledger differs from one of a fresh list");
    ledger_lines_release(&live);
    ledger_lines_release(&rebuilt);
    ledger_free(fresh);
}

int main(void) {
    const struct ledger_options options = {
        .minor = MINOR_37, .seed = {5, 6}, .judge = registry_device_judge()};
    struct fault fault;
    struct arena arena;
    pthread_t readers[READERS];
    store = store_new(&options, &fault);
    world_must(store != NULL, fault.text);
    arena_init(&arena, ARENA_BYTES);
    struct world world = {
        .random = 20260101, .minor = MINOR_37, .event = tell, .review = review, .arena = &arena};
    for (int kind = 0; kind < WORLD_KINDS; kind++) list_again(&world, (enum world_kind)kind);
    for (int i = 0; i < READERS; i++)
        world_must(pthread_create(&readers[i], NULL, reader, NULL) == 0, "no thread");
    for (int step = 0; step < STEPS; step++) {
        world_step(&world);
        if (world_below(&world, 40) == 0)
            list_again(&world, (enum world_kind)world_below(&world, WORLD_KINDS));
        if (step % 100 != 99) continue;
        world_end_reviews(&world);
        store_with_ledger(store, compare, &world);
        arena_clear(&arena);
    }
    atomic_store(&done, true);
    for (int i = 0; i < READERS; i++) pthread_join(readers[i], NULL);
    store_free(store);
    arena_release(&arena);
    printf("%d steps, asked %lu times\n", STEPS, atomic_load(&asked));
    return 0;
}
