// SPDX-License-Identifier: Apache-2.0
// One node per hold of the store, when somebody asks for the metrics.
#include "server/cli/serve_books.h"

#include <stdlib.h>

#include "server/cli/control_commands.h"
#include "server/ledger/report.h"

#define ARENA_BYTES ((size_t)1 << 30)
#define MILLI       1000.0

static const char *const classes[] = {"wrong-driver", "preallocated-uncharged", "preset-node-uncharged",
                                      "obsolete-generation", "unexplained"};
#define CLASS_COUNT (sizeof classes / sizeof classes[0])

struct look {
    struct arena names;
    struct arena node;
    struct text_list list;
    struct text name;
    bool nodes;
    bool fine;
    struct exposition resources;
    struct exposition numa;
    uint64_t divergences[CLASS_COUNT];
    struct ledger_counts counts;
    int64_t mapping_age_ms;
};

static void look_at_all(struct ledger *ledger, void *context) {
    struct look *look = context;
    look->fine = control_copy_names(ledger, &look->names, &look->list);
    look->counts = ledger_counts(ledger);
    look->mapping_age_ms = ledger_mapping_age_ms(ledger);
}

// Cores and bytes; what is counted in pieces (Pods, extended resources) is not of the books.
static const char *unit_of(struct text resource) {
    if (text_equal(resource, TEXT("cpu"))) return "core";
    bool bytes = text_equal(resource, TEXT("memory")) || text_equal(resource, TEXT("ephemeral-storage")) ||
                 text_starts_with(resource, TEXT("hugepages-"));
    return bytes ? "byte" : NULL;
}

// Amounts beyond what a gauge of the scheduler's own range can say are left out.
static bool value_of(struct quantity quantity, double *ret_value) {
    int64_t value;
    if (quantity_milli(quantity, &value)) {
        *ret_value = (double)value / MILLI;
        return true;
    }
    if (!quantity_value(quantity, &value)) return false;
    *ret_value = (double)value;
    return true;
}

static void show_total(struct look *look, const struct total_report *total) {
    static const char *const columns[] = {"allocatable", "ordinary", "dra", "held", "free"};
    const struct quantity amounts[] = {total->allocatable, total->ordinary, total->dra, total->held,
                                       total->free};
    const char *unit = unit_of(total->resource);
    for (size_t i = 0; unit != NULL && i < sizeof columns / sizeof columns[0]; i++) {
        struct exposition_label labels[] = {{"node", look->name},
                                            {"resource", total->resource},
                                            {"unit", text_of(unit)},
                                            {"column", text_of(columns[i])}};
        double value;
        if (value_of(amounts[i], &value))
            exposition_sample(&look->resources, "drawbridge_ledger_resource", labels, 4, value);
    }
}

static void show_numa(struct look *look, const struct numa_report *numa) {
    char id[24] = "none";
    if (numa->id.set) snprintf(id, sizeof id, "%lld", (long long)numa->id.value);
    for (size_t i = 0; i < numa->dra.count; i++) {
        const char *unit = unit_of(numa->dra.items[i].key);
        double value;
        if (unit == NULL || !value_of(numa->dra.items[i].value, &value)) continue;
        struct exposition_label labels[] = {{"node", look->name},
                                            {"numa", text_of(id)},
                                            {"resource", numa->dra.items[i].key},
                                            {"unit", text_of(unit)}};
        exposition_sample(&look->numa, "drawbridge_ledger_numa_dra", labels, 4, value);
    }
}

static void count_divergences(struct look *look, const struct divergence_report_list *list) {
    for (size_t i = 0; i < list->count; i++)
        for (size_t k = 0; k < CLASS_COUNT && list->items[i].settled; k++)
            look->divergences[k] += strcmp(list->items[i].class, classes[k]) == 0;
}

static void look_at_node(struct ledger *ledger, void *context) {
    struct look *look = context;
    struct node_report report;
    arena_clear(&look->node);
    // A node that went away meanwhile has no gauges any more.
    if (!ledger_node_report(ledger, look->name, false, &look->node, &report)) return;
    count_divergences(look, &report.divergence);
    if (!look->nodes || !report.known || report.state == FRESHNESS_UNMAPPED) return;
    for (size_t i = 0; i < report.totals.count; i++) show_total(look, &report.totals.items[i]);
    for (size_t i = 0; i < report.numa.count; i++) show_numa(look, &report.numa.items[i]);
}

static void show(const struct look *look, struct exposition *out) {
    if (look->nodes) {
        exposition_family(out, "drawbridge_ledger_resource", "gauge",
                          "Of each node with mappings: what it has, what is taken and what is free.");
        exposition_append(out, &look->resources);
        exposition_family(out, "drawbridge_ledger_numa_dra", "gauge",
                          "What claims take of each NUMA node; none is for devices without one.");
        exposition_append(out, &look->numa);
    }
    exposition_family(out, "drawbridge_divergences", "gauge",
                      "Pods whose status differs from what their claims take by rights, settled, by class.");
    for (size_t i = 0; i < CLASS_COUNT; i++) {
        struct exposition_label label = {"class", text_of(classes[i])};
        exposition_count(out, "drawbridge_divergences", &label, 1, look->divergences[i]);
    }
    exposition_family(out, "drawbridge_ledger_repeats_total", "counter",
                      "Rows that were committed again with the same content.");
    exposition_count(out, "drawbridge_ledger_repeats_total", NULL, 0, look->counts.row_repeats);
    exposition_family(out, "drawbridge_ledger_rejections_total", "counter",
                      "Rows that were not merged, by the rule that they break.");
    struct exposition_label rule = {"rule", TEXT("claim-duplicate")};
    exposition_count(out, "drawbridge_ledger_rejections_total", &rule, 1, look->counts.rejections);
    exposition_family(
        out, "drawbridge_ledger_mapping_age_seconds", "gauge",
        "Since the slices of the pool with mappings that was touched longest ago were touched.");
    if (look->mapping_age_ms >= 0)
        exposition_sample(out, "drawbridge_ledger_mapping_age_seconds", NULL, 0,
                          (double)look->mapping_age_ms / MILLI);
}

static void collect(void *state, struct exposition *out) {
    struct serve_books *books = state;
    struct look look = {.nodes = books->nodes};
    arena_init(&look.names, ARENA_BYTES);
    arena_init(&look.node, ARENA_BYTES);
    store_with_ledger(books->store, look_at_all, &look);
    for (size_t i = 0; look.fine && i < look.list.count; i++) {
        look.name = look.list.items[i];
        store_with_ledger(books->store, look_at_node, &look);
    }
    show(&look, out);
    exposition_release(&look.resources);
    exposition_release(&look.numa);
    arena_release(&look.names);
    arena_release(&look.node);
}

bool serve_books_start(struct serve_books *books, struct store *store, bool nodes,
                       struct collectors *collectors, struct fault *fault) {
    *books = (struct serve_books){.store = store, .collectors = collectors, .nodes = nodes};
    return store == NULL || collectors_add(collectors, collect, books) ||
           fault_set(fault, FAULT_LIMIT, "no room for the metrics of the books");
}

void serve_books_stop(struct serve_books *books) {
    if (books->store != NULL) collectors_remove(books->collectors, books);
    *books = (struct serve_books){.store = NULL};
}
