// SPDX-License-Identifier: Apache-2.0
// The ledger as JSON and as text.
#include "server/cli/print_ledger.h"

#include "server/cli/print_string.h"
#include "server/ledger/clock.h"

#define NODE_MEMORY_BYTES ((size_t)1024 * 1024 * 1024) // the report of one node may take so much

static void print_member(FILE *out, const char *name, struct text value) {
    fprintf(out, "\"%s\":", name);
    print_json_string(out, value);
}

static void print_time_member(FILE *out, const char *name, int64_t ms) {
    char time[TIME_TEXT_BYTES];
    if (ms == 0) return;
    time_print(ms, time);
    fprintf(out, ",\"%s\":\"%s\"", name, time);
}

static void print_quantity(FILE *out, struct quantity quantity, struct arena *arena) {
    print_json_string(out, quantity_canonical(arena, quantity));
}

static void print_quantities(FILE *out, const struct quantity_map *map, struct arena *arena) {
    putc('{', out);
    for (size_t i = 0; i < map->count; i++) {
        if (i > 0) putc(',', out);
        print_json_string(out, map->items[i].key);
        putc(':', out);
        print_quantity(out, map->items[i].value, arena);
    }
    putc('}', out);
}

static void print_texts(FILE *out, const struct text_list *texts) {
    putc('[', out);
    for (size_t i = 0; i < texts->count; i++) {
        if (i > 0) putc(',', out);
        print_json_string(out, texts->items[i]);
    }
    putc(']', out);
}

// ---- JSON

static void print_totals(FILE *out, const struct total_report_list *totals, struct arena *arena) {
    putc('{', out);
    for (size_t i = 0; i < totals->count; i++) {
        const struct total_report *total = &totals->items[i];
        const struct {
            const char *name;
            struct quantity value;
        } columns[] = {{"allocatable", total->allocatable},
                       {"ordinary", total->ordinary},
                       {"dra", total->dra},
                       {"held", total->held},
                       {"free", total->free}};
        fputs(i > 0 ? ",\n      " : "\n      ", out);
        print_json_string(out, total->resource);
        for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++) {
            fprintf(out, "%s\"%s\":", k == 0 ? ":{" : ",", columns[k].name);
            print_quantity(out, columns[k].value, arena);
        }
        putc('}', out);
    }
    putc('}', out);
}

static void print_numa(FILE *out, const struct numa_report_list *numa, struct arena *arena) {
    putc('[', out);
    for (size_t i = 0; i < numa->count; i++) {
        const struct numa_report *node = &numa->items[i];
        fputs(i > 0 ? ",\n      " : "\n      ", out);
        if (node->id.set)
            fprintf(out, "{\"id\":%lld,\"dra\":", (long long)node->id.value);
        else
            fputs("{\"id\":null,\"dra\":", out);
        print_quantities(out, &node->dra, arena);
        fputs(",\"held\":", out);
        print_quantities(out, &node->held, arena);
        putc('}', out);
    }
    putc(']', out);
}

static void print_row(FILE *out, const struct row_report *row, struct arena *arena) {
    putc('{', out);
    const struct {
        const char *name;
        struct text value;
    } texts[] = {{"uid", row->uid},         {"namespace", row->namespace}, {"name", row->name},
                 {"driver", row->driver},   {"pool", row->pool},           {"device", row->device},
                 {"shareID", row->share_id}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        print_member(out, texts[i].name, texts[i].value);
        putc(',', out);
    }
    fprintf(out, "\"version\":%lld,", (long long)row->version);
    print_member(out, "digest", text_of(row->digest));
    if (row->numa.set)
        fprintf(out, ",\"numa\":%lld", (long long)row->numa.value);
    else
        fputs(",\"numa\":null", out);
    fputs(",\"resources\":", out);
    print_quantities(out, &row->resources, arena);
    fputs(",\"pods\":", out);
    print_texts(out, &row->pods);
    fprintf(out, ",\"held\":%s,\"adminAccess\":%s", row->held ? "true" : "false",
            row->admin ? "true" : "false");
    if (row->held) print_time_member(out, "heldSince", row->held_ms);
    print_time_member(out, "observed", row->observed_ms);
    putc('}', out);
}

static void print_rows(FILE *out, const struct row_report_list *rows, struct arena *arena) {
    putc('[', out);
    for (size_t i = 0; i < rows->count; i++) {
        fputs(i > 0 ? ",\n      " : "\n      ", out);
        print_row(out, &rows->items[i], arena);
    }
    putc(']', out);
}

static void print_divergence(FILE *out, const struct divergence_report_list *list, struct arena *arena) {
    bool first = true;
    putc('[', out);
    for (size_t i = 0; i < list->count; i++) {
        const struct divergence_report *divergence = &list->items[i];
        if (!divergence->settled) continue;
        fputs(first ? "\n      {" : ",\n      {", out);
        first = false;
        print_member(out, "pod", divergence->pod);
        putc(',', out);
        print_member(out, "podUID", divergence->pod_uid);
        putc(',', out);
        print_member(out, "claim", divergence->claim);
        putc(',', out);
        print_member(out, "claimUID", divergence->claim_uid);
        putc(',', out);
        print_member(out, "class", text_of(divergence->class));
        fputs(",\"expected\":", out);
        print_quantities(out, &divergence->expected, arena);
        fputs(",\"reported\":", out);
        print_quantities(out, &divergence->reported, arena);
        putc('}', out);
    }
    putc(']', out);
}

static void print_drivers(FILE *out, const struct driver_report_list *drivers) {
    putc('[', out);
    for (size_t i = 0; i < drivers->count; i++) {
        const struct driver_report *driver = &drivers->items[i];
        fputs(i > 0 ? ",\n      {" : "\n      {", out);
        print_member(out, "driver", driver->driver);
        putc(',', out);
        print_member(out, "pool", driver->pool);
        fprintf(out, ",\"generation\":%lld,\"retiredGeneration\":%lld,\"version\":%lld,",
                (long long)driver->generation, (long long)driver->retired_generation,
                (long long)driver->version);
        print_member(out, "digest", text_of(driver->digest));
        fprintf(out, ",\"state\":\"%s\",", freshness_name(driver->state));
        print_member(out, "cause", driver->cause);
        if (driver->state != FRESHNESS_FRESH) print_time_member(out, "since", driver->since_ms);
        putc('}', out);
    }
    putc(']', out);
}

static void print_unusable(FILE *out, const struct faulty_device_list *list) {
    putc('[', out);
    for (size_t i = 0; i < list->count; i++) {
        const struct faulty_device *one = &list->items[i];
        fputs(i > 0 ? ",\n      {" : "\n      {", out);
        print_member(out, "driver", one->driver);
        putc(',', out);
        print_member(out, "pool", one->pool);
        putc(',', out);
        print_member(out, "device", one->device);
        putc(',', out);
        print_member(out, "rule", text_of(one->rule));
        putc('}', out);
    }
    putc(']', out);
}

void print_ledger_node_json(FILE *out, const struct node_report *report, struct arena *arena) {
    putc('{', out);
    print_member(out, "name", report->name);
    fprintf(out, ",\"state\":\"%s\",\"causes\":", freshness_name(report->state));
    print_texts(out, &report->causes);
    fprintf(out, ",\"version\":%llu,\n     \"totals\":", (unsigned long long)report->version);
    print_totals(out, &report->totals, arena);
    fputs(",\n     \"numa\":", out);
    print_numa(out, &report->numa, arena);
    fputs(",\n     \"claims\":", out);
    print_rows(out, &report->claims, arena);
    fputs(",\n     \"divergence\":", out);
    print_divergence(out, &report->divergence, arena);
    fputs(",\n     \"drivers\":", out);
    print_drivers(out, &report->drivers);
    fputs(",\n     \"unusable\":", out);
    print_unusable(out, &report->unusable);
    putc('}', out);
}

// What a person reads of a rejection, in both forms.
static struct text rejection_message(const struct rejection_report *rejection, struct arena *arena) {
    if (rejection->other_uid.len > 0)
        return text_format(arena, "the device is held by claim %.*s", TEXT_ARG(rejection->other_uid));
    return TEXT("the row is there with other quantities");
}

static void print_rejections(FILE *out, const struct rejection_report_list *list, struct arena *arena) {
    putc('[', out);
    for (size_t i = 0; i < list->count; i++) {
        const struct rejection_report *rejection = &list->items[i];
        const struct {
            const char *name;
            struct text value;
        } texts[] = {{"rule", text_of(rejection->rule)},  {"claimUID", rejection->uid},
                     {"namespace", rejection->namespace}, {"name", rejection->name},
                     {"driver", rejection->driver},       {"pool", rejection->pool},
                     {"device", rejection->device},       {"shareID", rejection->share_id},
                     {"holder", rejection->other_uid}};
        fputs(i > 0 ? ",\n   {" : "\n   {", out);
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
            print_member(out, texts[k].name, texts[k].value);
            putc(',', out);
        }
        print_member(out, "message", rejection_message(rejection, arena));
        fprintf(out, ",\"count\":%llu", (unsigned long long)rejection->count);
        print_time_member(out, "at", rejection->at_ms);
        putc('}', out);
    }
    putc(']', out);
}

// ---- text

static void print_cells(FILE *out, const struct total_report *total, struct arena *arena) {
    const struct quantity columns[] = {total->allocatable, total->ordinary, total->dra, total->held,
                                       total->free};
    fprintf(out, "  %-24.*s", TEXT_ARG(text_printable(arena, total->resource, 64)));
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        fprintf(out, " %14.*s", TEXT_ARG(quantity_canonical(arena, columns[i])));
    putc('\n', out);
}

static void print_line(FILE *out, const char *before, const struct quantity_map *map, struct arena *arena) {
    fputs(before, out);
    for (size_t i = 0; i < map->count; i++) {
        fputs(i > 0 ? ", " : "", out);
        print_plain_text(out, map->items[i].key);
        fprintf(out, " %.*s", TEXT_ARG(quantity_canonical(arena, map->items[i].value)));
    }
    if (map->count == 0) fputs("nothing", out);
}

static void print_row_text(FILE *out, const struct row_report *row, struct arena *arena) {
    const struct text parts[] = {row->namespace, row->name, row->driver, row->pool, row->device};
    static const char *const between[] = {"  ", "/", ": ", "/", "/"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        fputs(between[i], out);
        print_plain_text(out, parts[i]);
    }
    print_line(out, ": ", &row->resources, arena);
    fprintf(out, " (version %lld%s%s)\n", (long long)row->version, row->held ? ", held" : "",
            row->admin ? ", admin access" : "");
}

static void print_unusable_text(FILE *out, const struct faulty_device *one) {
    fputs("  UNUSABLE ", out);
    print_plain_text(out, one->driver);
    putc('/', out);
    print_plain_text(out, one->pool);
    if (one->device.len > 0) {
        putc('/', out);
        print_plain_text(out, one->device);
    } else {
        fputs(", all devices", out);
    }
    fprintf(out, " [%s]\n", one->rule);
}

void print_ledger_node_text(FILE *out, const struct node_report *report, struct arena *arena) {
    print_plain_text(out, report->name);
    fprintf(out, ": %s\n", freshness_name(report->state));
    for (size_t i = 0; i < report->causes.count; i++) {
        fputs("  ", out);
        print_plain_text(out, report->causes.items[i]);
        putc('\n', out);
    }
    fprintf(out, "  %-24s %14s %14s %14s %14s %14s\n", "RESOURCE", "ALLOCATABLE", "ORDINARY", "DRA", "HELD",
            "FREE");
    for (size_t i = 0; i < report->totals.count; i++) print_cells(out, &report->totals.items[i], arena);
    for (size_t i = 0; i < report->numa.count; i++) {
        const struct numa_report *numa = &report->numa.items[i];
        if (numa->id.set)
            fprintf(out, "  NUMA node %lld: ", (long long)numa->id.value);
        else
            fputs("  no NUMA node: ", out);
        print_line(out, "", &numa->dra, arena);
        putc('\n', out);
    }
    for (size_t i = 0; i < report->claims.count; i++) print_row_text(out, &report->claims.items[i], arena);
    for (size_t i = 0; i < report->unusable.count; i++) print_unusable_text(out, &report->unusable.items[i]);
    for (size_t i = 0; i < report->divergence.count; i++) {
        const struct divergence_report *divergence = &report->divergence.items[i];
        if (!divergence->settled) continue;
        fprintf(out, "  DIVERGED %s: Pod ", divergence->class);
        print_plain_text(out, divergence->pod);
        fputs(", claim ", out);
        print_plain_text(out, divergence->claim);
        fputs(" (", out);
        print_plain_text(out, divergence->claim_uid);
        print_line(out, "): expected ", &divergence->expected, arena);
        print_line(out, ", reported ", &divergence->reported, arena);
        putc('\n', out);
    }
}

static void print_rest_text(FILE *out, const struct row_report_list *unplaced,
                            const struct rejection_report_list *rejections, struct arena *arena) {
    if (unplaced->count > 0) fputs("On no single node:\n", out);
    for (size_t i = 0; i < unplaced->count; i++) print_row_text(out, &unplaced->items[i], arena);
    if (rejections->count > 0) fputs("Not merged:\n", out);
    for (size_t i = 0; i < rejections->count; i++) {
        const struct rejection_report *rejection = &rejections->items[i];
        const struct text parts[] = {rejection->namespace, rejection->name, rejection->uid,
                                     rejection->driver,    rejection->pool, rejection->device};
        static const char *const before[] = {"  ", "/", " (", "): ", "/", "/"};
        for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
            fputs(before[k], out);
            print_plain_text(out, parts[k]);
        }
        fputs(": ", out);
        print_plain_text(out, rejection_message(rejection, arena));
        fprintf(out, " [%s]\n", rejection->rule);
    }
}

// ---- the whole

typedef void node_printer(FILE *out, const struct node_report *report, struct arena *arena);

// The arena of the names beside one that starts anew for each node.
struct printing {
    FILE *out;
    const struct ledger *ledger;
    bool all_settled;
    struct arena names;
    struct arena node;
    struct ledger_print_totals totals;
};

static bool print_nodes(struct printing *printing, node_printer *print, const char *between) {
    struct text_list names;
    if (!ledger_nodes(printing->ledger, &printing->names, &names)) return false;
    for (size_t i = 0; i < names.count; i++) {
        struct node_report report;
        arena_clear(&printing->node);
        if (!ledger_node_report(printing->ledger, names.items[i], printing->all_settled, &printing->node,
                                &report))
            return false;
        fputs(i > 0 ? between : "", printing->out);
        print(printing->out, &report, &printing->node);
        printing->totals.node_count++;
        for (size_t k = 0; k < report.divergence.count; k++)
            if (report.divergence.items[k].settled) printing->totals.divergence_count++;
    }
    arena_clear(&printing->node);
    return true;
}

bool print_ledger_rest_json(FILE *out, const struct ledger *ledger, struct arena *arena,
                            size_t *ret_rejections) {
    struct row_report_list unplaced = {0};
    struct rejection_report_list rejections = {0};
    struct ledger_counts counts = ledger_counts(ledger);
    bool fine = ledger_unplaced(ledger, arena, &unplaced) && ledger_rejections(ledger, arena, &rejections);
    fputs("\"unplaced\":", out);
    print_rows(out, &unplaced, arena);
    fputs(",\n \"rejections\":", out);
    print_rejections(out, &rejections, arena);
    fprintf(out,
            ",\n \"counts\":{\"applied\":%llu,\"repeated\":%llu,\"older\":%llu,\"ignored\":%llu,"
            "\"rowRepeats\":%llu,\"rejections\":%llu}}\n",
            (unsigned long long)counts.applied, (unsigned long long)counts.repeated,
            (unsigned long long)counts.older, (unsigned long long)counts.ignored,
            (unsigned long long)counts.row_repeats, (unsigned long long)counts.rejections);
    *ret_rejections = rejections.count;
    return fine && !arena->poisoned;
}

bool print_ledger_rest_text(FILE *out, const struct ledger *ledger, struct arena *arena,
                            size_t *ret_rejections) {
    struct row_report_list unplaced = {0};
    struct rejection_report_list rejections = {0};
    if (!ledger_unplaced(ledger, arena, &unplaced) || !ledger_rejections(ledger, arena, &rejections))
        return false;
    print_rest_text(out, &unplaced, &rejections, arena);
    *ret_rejections = rejections.count;
    return !arena->poisoned;
}

static void start(struct printing *printing) {
    arena_init(&printing->names, NODE_MEMORY_BYTES);
    arena_init(&printing->node, NODE_MEMORY_BYTES);
}

static bool finish(struct printing *printing, bool fine, struct ledger_print_totals *ret_totals,
                   struct fault *fault) {
    fine = fine && !printing->node.poisoned;
    arena_release(&printing->names);
    arena_release(&printing->node);
    if (!fine) return fault_set(fault, FAULT_MEMORY, "no memory to print the ledger");
    *ret_totals = printing->totals;
    return true;
}

bool print_ledger_json(FILE *out, const struct ledger *ledger, int minor, bool all_settled,
                       struct ledger_print_totals *ret_totals, struct fault *fault) {
    struct printing printing = {.out = out, .ledger = ledger, .all_settled = all_settled};
    start(&printing);
    fprintf(out, "{\"kubernetesVersion\":\"1.%d\",\n \"nodes\":[\n    ", minor);
    bool fine = print_nodes(&printing, print_ledger_node_json, ",\n    ");
    fputs("],\n ", out);
    if (fine) fine = print_ledger_rest_json(out, ledger, &printing.node, &printing.totals.rejection_count);
    return finish(&printing, fine, ret_totals, fault);
}

bool print_ledger_text(FILE *out, const struct ledger *ledger, int minor, bool all_settled,
                       struct ledger_print_totals *ret_totals, struct fault *fault) {
    struct printing printing = {.out = out, .ledger = ledger, .all_settled = all_settled};
    start(&printing);
    fprintf(out, "Kubernetes 1.%d\n", minor);
    bool fine = print_nodes(&printing, print_ledger_node_text, "") &&
                print_ledger_rest_text(out, ledger, &printing.node, &printing.totals.rejection_count);
    return finish(&printing, fine, ret_totals, fault);
}
