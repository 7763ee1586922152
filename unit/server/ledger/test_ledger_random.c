// SPDX-License-Identifier: Apache-2.0
// Long random runs: whatever the order in which a ledger is told what happens in a cluster, it ends equal to
// one that is made of a fresh list and of what NodeLedgers remember; so do what reviews let in and what
// PodGroups consume.
#include <criterion/criterion.h>

#include "unit/lib/ledger_lines.h"

#define CAP_BYTES ((size_t)256 << 20)
#define QUEUE     4096

// ---- events: one queue a kind, so that kinds come in any order among each other

struct run {
    struct world world;
    struct arena arena; // of queued objects
    struct ledger_event *queues[WORLD_KINDS];
    size_t head[WORLD_KINDS];
    size_t tail[WORLD_KINDS];
    struct ledger *ledger;
    size_t failures;
    size_t let_in;
    bool short_of_memory; // each event is tried with each of its allocations failing
};

static void note(void *context, enum world_kind kind, const struct ledger_event *event) {
    struct run *run = context;
    cr_assert_lt(run->tail[kind], QUEUE);
    run->queues[kind][run->tail[kind]++] = *event;
}

static void let_in(void *context, const struct resource_claim *claim, int64_t old_version,
                   struct text pod_uid, struct text node) {
    struct run *run = context;
    cr_assert(ledger_let_in(run->ledger, claim, old_version, pod_uid, node));
    run->let_in++;
}

// An event that fails changes nothing; it fails for its first allocation, its second, and so on.
static void try_without_memory(struct run *run, const struct ledger_event *event) {
    struct ledger_lines before;
    struct fault fault = {0};
    ledger_lines_make(run->ledger, true, &before);
    for (size_t allocation = 1;; allocation++) {
        ledger_fail_after(run->ledger, allocation);
        enum ledger_outcome outcome = ledger_apply(run->ledger, event, &fault);
        ledger_fail_after(run->ledger, 0);
        if (outcome != LEDGER_FAILED) break;
        cr_assert_eq(fault.code, FAULT_MEMORY);
        struct ledger_lines after;
        size_t line;
        struct text a;
        struct text b;
        ledger_lines_make(run->ledger, true, &after);
        cr_assert_not(ledger_lines_differ(&before, &after, &line, &a, &b), "allocation %zu: %.*s became %.*s",
                      allocation, TEXT_ARG(a), TEXT_ARG(b));
        ledger_lines_release(&after);
        run->failures++;
    }
    ledger_lines_release(&before);
}

static void apply(struct run *run, const struct ledger_event *event) {
    struct fault fault = {0};
    if (run->short_of_memory) try_without_memory(run, event);
    cr_assert_neq(ledger_apply(run->ledger, event, &fault), LEDGER_FAILED, "%s", fault.text);
}

// Delivers the next event of a queue; now and then an older one comes again.
static void deliver(struct run *run, int kind) {
    if (run->head[kind] == run->tail[kind]) return;
    apply(run, &run->queues[kind][run->head[kind]++]);
    if (world_below(&run->world, 4) == 0)
        apply(run, &run->queues[kind][world_random(&run->world) % run->head[kind]]);
}

// ---- the run

static void begin(struct run *run, uint64_t seed, int minor) {
    *run = (struct run){.world = {.random = seed, .minor = minor, .event = note, .review = let_in}};
    arena_init(&run->arena, CAP_BYTES);
    run->world.context = run;
    run->world.arena = &run->arena;
    for (int i = 0; i < WORLD_KINDS; i++) run->queues[i] = calloc(QUEUE, sizeof *run->queues[i]);
    run->ledger = world_ledger(&run->world);
    for (int kind = 0; kind < WORLD_KINDS; kind++)
        world_list_to(&run->world, (enum world_kind)kind, run->ledger);
}

static void end(struct run *run) {
    ledger_free(run->ledger);
    for (int i = 0; i < WORLD_KINDS; i++) free(run->queues[i]);
    arena_release(&run->arena);
}

static void settle(struct run *run) {
    world_end_reviews(&run->world);
    for (int kind = 0; kind < WORLD_KINDS; kind++) {
        while (run->head[kind] < run->tail[kind]) deliver(run, kind);
        run->head[kind] = run->tail[kind] = 0;
    }
    arena_clear(&run->arena);
}

static void one_step(struct run *run) {
    world_step(&run->world);
    for (int i = world_below(&run->world, 6); i > 0; i--) deliver(run, world_below(&run->world, WORLD_KINDS));
}

static void expect_equal(const struct ledger *live, const struct ledger *fresh, uint64_t seed, int step) {
    struct ledger_lines a;
    struct ledger_lines b;
    size_t line;
    struct text left;
    struct text right;
    ledger_lines_make(live, true, &a);
    ledger_lines_make(fresh, true, &b);
    cr_assert_not(ledger_lines_differ(&a, &b, &line, &left, &right),
                  "seed %llu step %d line %zu:\n live  %.*s\n fresh %.*s", (unsigned long long)seed, step,
                  line, TEXT_ARG(left), TEXT_ARG(right));
    ledger_lines_release(&a);
    ledger_lines_release(&b);
}

static void run_long(uint64_t seed, int minor, int steps) {
    struct run run;
    begin(&run, seed, minor);
    for (int step = 0; step < steps; step++) {
        one_step(&run);
        // What waits in the queue is older than the list, and comes all the same.
        int kind = world_below(&run.world, WORLD_KINDS);
        if (world_below(&run.world, 40) == 0) world_list_to(&run.world, (enum world_kind)kind, run.ledger);
        if (world_below(&run.world, 25) != 0) continue;
        settle(&run);
        struct ledger *fresh = world_rebuild(&run.world, run.ledger);
        expect_equal(run.ledger, fresh, seed, step);
        if (world_below(&run.world, 3) == 0) { // a restart: the fresh one goes on
            ledger_free(run.ledger);
            run.ledger = fresh;
        } else {
            ledger_free(fresh);
        }
    }
    cr_expect_gt(run.let_in, 0);
    end(&run);
}

Test(ledger_random, out_of_memory_changes_nothing) {
    struct run run;
    begin(&run, 4711, MINOR_37);
    run.short_of_memory = true;
    for (int step = 0; step < 200; step++) one_step(&run);
    settle(&run);
    struct ledger *fresh = world_rebuild(&run.world, run.ledger);
    expect_equal(run.ledger, fresh, 4711, 200);
    cr_expect_gt(run.failures, 500); // else nothing was tried
    ledger_free(fresh);
    end(&run);
}

Test(ledger_random, v1_36) {
    for (uint64_t seed = 1; seed <= 40; seed++) run_long(seed * 7919, MINOR_36, 600);
}

Test(ledger_random, v1_37) {
    for (uint64_t seed = 1; seed <= 40; seed++) run_long(seed * 104729, MINOR_37, 600);
}
