// SPDX-License-Identifier: Apache-2.0
// `drawbridge promote`: the promotion report.
#include <errno.h>
#include <string.h>
#include <time.h>

#include "server/cli/audit.h"
#include "server/cli/command.h"
#include "server/cli/promote.h"

struct promotion {
    struct audit_world world;
    struct audit_report report;
    struct promote_thresholds thresholds;
    struct promote_cluster cluster;
    struct promote_journal journal;
    struct promote_metrics metrics;
    struct promote_criterion criteria[PROMOTE_COUNT];
};

static int64_t wall_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// ---- the cluster

static bool is_denied(const struct audit_report *report, struct text driver) {
    for (size_t i = 0; i < report->objects.count; i++)
        if (report->objects.items[i].denied && driver.len > 0 &&
            text_equal(report->objects.items[i].driver, driver))
            return true;
    return false;
}

static const struct audit_driver *driver_find(const struct audit_report *report, struct text name) {
    for (size_t i = 0; i < report->drivers.count; i++)
        if (text_equal(report->drivers.items[i].name, name)) return &report->drivers.items[i];
    return NULL;
}

static void count_driver(struct promotion *promotion, struct text name, const struct audit_driver *driver) {
    struct promote_cluster *cluster = &promotion->cluster;
    const char *why = NULL;
    if (driver == NULL)
        why = "a gated class names it, and it has published no slice";
    else if (driver->form == FORM_NONE)
        why = "a gated class names it, and its devices have no mappings";
    else if (driver->form == FORM_BOTH || !driver->counts)
        why = "its mappings are not of this cluster's version alone";
    else if (is_denied(&promotion->report, name))
        why = "a slice of it would be denied";
    cluster->drivers++;
    cluster->compatible_drivers += why == NULL;
    if (why != NULL && cluster->incompatible[0] == '\0')
        snprintf(cluster->incompatible, sizeof cluster->incompatible, "%.80s: %s; see `drawbridge audit`",
                 text_copy(&promotion->world.arena, name).ptr, why);
}

// Drivers that publish mappings, and those that gated classes name beside them, each once.
static void count_drivers(struct promotion *promotion) {
    const struct audit_report *report = &promotion->report;
    for (size_t i = 0; i < report->drivers.count; i++)
        if (report->drivers.items[i].form != FORM_NONE)
            count_driver(promotion, report->drivers.items[i].name, &report->drivers.items[i]);
    for (size_t i = 0; i < report->classes.count; i++) {
        const struct audit_class *class = &report->classes.items[i];
        const struct audit_driver *driver = driver_find(report, class->driver);
        bool counted = driver != NULL && driver->form != FORM_NONE;
        for (size_t k = 0; k < i && !counted; k++)
            counted =
                report->classes.items[k].gated && text_equal(report->classes.items[k].driver, class->driver);
        if (class->gated && class->driver.len > 0 && !counted) count_driver(promotion, class->driver, driver);
    }
}

static void count_nodes(struct promotion *promotion) {
    struct promote_cluster *cluster = &promotion->cluster;
    const struct audit_node_list *nodes = &promotion->report.nodes;
    cluster->nodes = nodes->count;
    for (size_t i = 0; i < nodes->count; i++) {
        const struct audit_node *node = &nodes->items[i];
        cluster->ready_nodes += node->ready;
        cluster->divergences += node->divergence_count;
        if (!node->headroom_known || (cluster->headroom_known && cluster->headroom <= node->headroom))
            continue;
        cluster->headroom_known = true;
        cluster->headroom = node->headroom;
        snprintf(cluster->fullest, sizeof cluster->fullest, "node %.100s, %.*s", node->name.ptr,
                 TEXT_ARG(node->tightest));
    }
}

static bool read_cluster(struct promotion *promotion, const struct options *options, struct fault *fault) {
    struct audit_world *world = &promotion->world;
    if (!audit_read(world, options, fault) || !audit_judge(world, &promotion->report, fault) ||
        !audit_survey(world, &promotion->report, fault))
        return false;
    if (world->unreadable_count > 0)
        return fault_set(fault, FAULT_INPUT, "%zu objects cannot be read", world->unreadable_count);
    struct view view = ledger_view(world->ledger);
    const struct ledger_policy *policy = view.table->policy(view.state);
    struct text json = policy == NULL ? (struct text){NULL, 0} : policy->promotion;
    if (!promote_read_thresholds(json, &promotion->thresholds, fault)) return false;
    if (promotion->thresholds.unknown[0] != '\0')
        return fault_set(fault, FAULT_INPUT, "spec.promotion has what is no threshold: %.150s",
                         promotion->thresholds.unknown);
    promotion->cluster.minor = world->minor;
    count_drivers(promotion);
    count_nodes(promotion);
    return !world->arena.poisoned || fault_set(fault, FAULT_MEMORY, "no memory for the report");
}

// ---- the report

// A server that does not answer is not known, and so not met.
static bool read_server(struct promotion *promotion, const struct options *options, struct fault *fault) {
    struct fault away;
    const char *folder = options_text(options, OPTION_LEDGER_DIR);
    if (folder[0] == '\0') return true;
    if (!promote_read_journal(folder, &promotion->journal, fault)) return false;
    if (!promote_read_metrics(folder, &promotion->thresholds, &promotion->metrics, &away))
        fprintf(stderr, "drawbridge promote: %s\n", away.text);
    return true;
}

static bool run(struct promotion *promotion, const struct options *options, struct fault *fault) {
    if (options->word_count > 0)
        return fault_set(fault, FAULT_USAGE, "unexpected word \"%s\"", options->words[0]);
    if (!read_cluster(promotion, options, fault) || !read_server(promotion, options, fault)) return false;
    promote_judge(&promotion->thresholds, &promotion->cluster, &promotion->journal, &promotion->metrics,
                  wall_ms(), promotion->criteria);
    if (options_choice(options, OPTION_OUTPUT) == 1)
        promote_print_json(stdout, promotion->criteria);
    else
        promote_print_text(stdout, promotion->criteria);
    return (fflush(stdout) == 0 && ferror(stdout) == 0) ||
           fault_set(fault, FAULT_IO, "the result cannot be written: %s", strerror(errno));
}

static int code_of_fault(const struct fault *fault) {
    fprintf(stderr, "drawbridge promote: %s\n", fault->text);
    switch (fault->code) {
    case FAULT_USAGE: fputs("Try 'drawbridge promote --help'.\n", stderr); return EXIT_USAGE;
    case FAULT_UNREACHABLE: return EXIT_UNREACHABLE;
    default: return EXIT_UNREADABLE;
    }
}

int cmd_promote(int argc, char **argv) {
    static struct promotion promotion;
    struct options options;
    struct fault fault = {0};
    int code;
    if (!options_start(&options, "promote", argc, argv, &code)) return code;
    if (run(&promotion, &options, &fault)) {
        code = EXIT_CLEAN;
        for (size_t i = 0; i < PROMOTE_COUNT; i++)
            if (!promotion.criteria[i].met) code = EXIT_FINDINGS;
    } else {
        code = code_of_fault(&fault);
    }
    audit_world_release(&promotion.world);
    options_release(&options);
    return code;
}
