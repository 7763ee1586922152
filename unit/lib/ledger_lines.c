// SPDX-License-Identifier: Apache-2.0
// What a ledger says, as lines.
#include "unit/lib/ledger_lines.h"

#include "validators/registry/device_judge.h"

#define CAP_BYTES ((size_t)256 << 20)

static void print_line(struct ledger_lines *printed, struct text line) {
    struct text *place = LIST_APPEND(&printed->arena, &printed->lines);
    world_must(place != NULL, "no memory");
    *place = line;
}

static struct text sums(struct ledger_lines *printed, const struct quantity_map *map) {
    struct text text = TEXT("");
    for (size_t i = 0; i < map->count; i++) {
        struct text value = quantity_canonical(&printed->arena, map->items[i].value);
        text = text_format(&printed->arena, "%.*s %.*s=%.*s", TEXT_ARG(text), TEXT_ARG(map->items[i].key),
                           TEXT_ARG(value));
    }
    return text;
}

static void print_row(struct ledger_lines *printed, const struct row_report *row) {
    struct text resources = sums(printed, &row->resources);
    struct text pods = TEXT("");
    for (size_t i = 0; i < row->pods.count; i++)
        pods = text_format(&printed->arena, "%.*s %.*s", TEXT_ARG(pods), TEXT_ARG(row->pods.items[i]));
    print_line(printed, text_format(&printed->arena,
                                    "row %.*s %.*s/%.*s/%.*s v%lld %s held=%d numa=%lld %.*s pods%.*s",
                                    TEXT_ARG(row->name), TEXT_ARG(row->driver), TEXT_ARG(row->pool),
                                    TEXT_ARG(row->device), (long long)row->version, row->digest, row->held,
                                    (long long)row->numa.value, TEXT_ARG(resources), TEXT_ARG(pods)));
}

static void print_report(struct ledger_lines *printed, const struct node_report *report) {
    print_line(printed, text_format(&printed->arena, "node %.*s %s known=%d", TEXT_ARG(report->name),
                                    printed->states ? freshness_name(report->state) : "", report->known));
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
        struct text cause = printed->states ? driver->cause : TEXT("");
        print_line(printed, text_format(&printed->arena, "driver %.*s %.*s g%lld r%lld v%lld %s %.*s",
                                        TEXT_ARG(driver->driver), TEXT_ARG(driver->pool),
                                        (long long)driver->generation, (long long)driver->retired_generation,
                                        (long long)driver->version, driver->digest, TEXT_ARG(cause)));
    }
}

// Who has a device, as rules are told; not in any order.
static void print_holders(struct ledger_lines *printed, const struct view *view, int pool, int device,
                          struct text node) {
    struct device_key key = world_device(&printed->arena, pool, device);
    struct device_holder_list list = {NULL, 0};
    if (VIEW_ASK(view, holders, &key, node, &printed->arena, &list) != VIEW_KNOWN) return;
    for (size_t i = 0; i < list.count; i++)
        for (size_t k = i + 1; k < list.count; k++)
            if (text_compare(list.items[k].claim_uid, list.items[i].claim_uid) < 0) {
                struct device_holder swap = list.items[i];
                list.items[i] = list.items[k];
                list.items[k] = swap;
            }
    for (size_t i = 0; i < list.count; i++)
        print_line(printed,
                   text_format(&printed->arena, "holder of %d/%d from '%.*s': %.*s bound=%d pending=%d", pool,
                               device, TEXT_ARG(node), TEXT_ARG(list.items[i].claim_uid), list.items[i].bound,
                               list.items[i].pending));
}

static void print_devices(struct ledger_lines *printed, const struct ledger *ledger) {
    struct view view = ledger_view(ledger);
    for (int pool = 0; pool < WORLD_POOLS; pool++)
        for (int device = 0; device < WORLD_POOL_SLICES * WORLD_DEVICES; device++) {
            bool wide = pool >= WORLD_NODES * 2;
            struct text node = TEXT("");
            if (!wide) node = text_format(&printed->arena, "node-%d", pool / 2);
            print_holders(printed, &view, pool, device, node);
        }
}

void ledger_lines_make(const struct ledger *ledger, bool states, struct ledger_lines *ret_lines) {
    struct ledger_lines *printed = ret_lines;
    struct text_list names;
    struct row_report_list unplaced;
    *printed = (struct ledger_lines){.states = states};
    arena_init(&printed->arena, CAP_BYTES);
    world_must(ledger_nodes(ledger, &printed->arena, &names), "no nodes");
    for (size_t i = 0; i < names.count; i++) {
        struct node_report report;
        world_must(ledger_node_report(ledger, names.items[i], true, &printed->arena, &report), "no report");
        print_report(printed, &report);
    }
    world_must(ledger_unplaced(ledger, &printed->arena, &unplaced), "no rows");
    // No NodeLedger remembers under which mapping what stands on no node was committed.
    for (size_t i = 0; i < unplaced.count; i++)
        print_line(printed, text_format(&printed->arena, "unplaced %.*s %.*s held=%d",
                                        TEXT_ARG(unplaced.items[i].name), TEXT_ARG(unplaced.items[i].device),
                                        unplaced.items[i].held));
    print_devices(printed, ledger);
}

void ledger_lines_release(struct ledger_lines *lines) {
    arena_release(&lines->arena);
}

bool ledger_lines_differ(const struct ledger_lines *a, const struct ledger_lines *b, size_t *ret_line,
                         struct text *ret_a, struct text *ret_b) {
    for (size_t i = 0; i < a->lines.count || i < b->lines.count; i++) {
        *ret_a = i < a->lines.count ? a->lines.items[i] : TEXT("(nothing)");
        *ret_b = i < b->lines.count ? b->lines.items[i] : TEXT("(nothing)");
        *ret_line = i;
        if (!text_equal(*ret_a, *ret_b)) return true;
    }
    return false;
}

// ---- a ledger of a fresh list

static void add(void *context, const struct ledger_event *event) {
    struct fault fault = {0};
    world_must(ledger_apply(context, event, &fault) != LEDGER_FAILED, fault.text);
}

void world_list_to(const struct world *world, enum world_kind kind, struct ledger *ledger) {
    struct arena arena;
    arena_init(&arena, CAP_BYTES);
    ledger_list_begin(ledger, world_object_kinds[kind]);
    world_list(world, kind, &arena, add, ledger);
    ledger_list_end(ledger, world_object_kinds[kind]);
    arena_release(&arena);
}

// NodeLedgers as the leader would have written them.
static void list_memories(const struct ledger *from, struct ledger *to) {
    struct arena arena;
    struct text_list names;
    arena_init(&arena, CAP_BYTES);
    world_must(ledger_nodes(from, &arena, &names), "no nodes");
    ledger_list_begin(to, KIND_NODE_LEDGER);
    for (size_t i = 0; i < names.count; i++) {
        struct object object = {.kind = KIND_NODE_LEDGER};
        world_must(ledger_node_memory(from, names.items[i], &arena, &object.node_ledger), "no memory");
        struct ledger_event event = {.type = EVENT_ADDED, .object = &object, .resource_version = 1};
        add(to, &event);
    }
    ledger_list_end(to, KIND_NODE_LEDGER);
    arena_release(&arena);
}

struct ledger *world_ledger(struct world *world) {
    struct fault fault = {0};
    struct ledger_options options = {.minor = world->minor,
                                     .seed = {world_random(world), world_random(world)},
                                     .judge = registry_device_judge()};
    struct ledger *ledger = ledger_new(&options, &fault);
    world_must(ledger != NULL, fault.text);
    return ledger;
}

struct ledger *world_rebuild(struct world *world, const struct ledger *from) {
    struct ledger *ledger = world_ledger(world);
    int first = world_below(world, WORLD_KINDS + 1);
    for (int i = 0; i <= WORLD_KINDS; i++) {
        int kind = (first + i) % (WORLD_KINDS + 1);
        if (kind == WORLD_KINDS)
            list_memories(from, ledger);
        else
            world_list_to(world, (enum world_kind)kind, ledger);
    }
    return ledger;
}
