// SPDX-License-Identifier: Apache-2.0
// Evidence against thresholds.
#include <string.h>

#include "server/cli/print_string.h"
#include "server/cli/promote.h"
#include "server/ledger/clock.h"

#define SHARE 0.99 // of holds and verdicts that must be in time

#define SAY(buffer, ...) snprintf((buffer), sizeof(buffer), __VA_ARGS__)

static const char no_journal[] = "not known: no journal was read (--ledger-dir)";
static const char no_server[] = "not known: no running server was asked (--ledger-dir)";

static void judge_drivers(const struct promote_thresholds *thresholds, const struct promote_cluster *cluster,
                          struct promote_criterion *criterion) {
    double share =
        cluster->drivers == 0 ? 0 : 100.0 * (double)cluster->compatible_drivers / (double)cluster->drivers;
    criterion->met = cluster->drivers > 0 && share >= thresholds->driver_coverage;
    SAY(criterion->wanted, "%g%% of the drivers with mappings", thresholds->driver_coverage);
    SAY(criterion->measured, "%zu of %zu", cluster->compatible_drivers, cluster->drivers);
    if (cluster->drivers == 0)
        SAY(criterion->evidence, "no driver publishes mappings, and no gated class names one");
    else
        SAY(criterion->evidence, "%s", cluster->incompatible);
}

static void judge_count(int64_t wanted, int64_t have, const char *what, bool known, const char *newest,
                        struct promote_criterion *criterion) {
    criterion->met = known && have >= wanted;
    SAY(criterion->wanted, "%lld", (long long)wanted);
    SAY(criterion->measured, known ? "%lld" : "not known", (long long)have);
    if (!known)
        SAY(criterion->evidence, "%s", no_journal);
    else if (have == 0)
        SAY(criterion->evidence, "the journal has none: %s", what);
    else
        SAY(criterion->evidence, "%s", newest);
}

static void judge_replay(const struct promote_journal *journal, struct promote_criterion *criterion) {
    criterion->met = journal->known && journal->replayed && !journal->incomplete &&
                     journal->checkpoints > 0 && journal->different == 0;
    SAY(criterion->wanted, "every checkpoint equal");
    if (!journal->known) {
        SAY(criterion->measured, "not known");
        SAY(criterion->evidence, "%s", no_journal);
        return;
    }
    SAY(criterion->measured, "%llu of %llu", (unsigned long long)(journal->checkpoints - journal->different),
        (unsigned long long)journal->checkpoints);
    if (journal->incomplete)
        SAY(criterion->evidence, "rows of the journal are missing");
    else if (journal->checkpoints == 0)
        SAY(criterion->evidence, "the last session has no checkpoint yet; there is one every ten minutes");
    else
        SAY(criterion->evidence, "the last of %lld sessions, replayed", (long long)journal->sessions);
}

static void say_duration(int64_t ms, char *buffer, size_t bytes) {
    int64_t seconds = ms / 1000;
    if (seconds >= 7200)
        snprintf(buffer, bytes, "%lldh", (long long)(seconds / 3600));
    else if (seconds >= 120)
        snprintf(buffer, bytes, "%lldm", (long long)(seconds / 60));
    else
        snprintf(buffer, bytes, "%llds", (long long)seconds);
}

static void judge_divergence(const struct promote_thresholds *thresholds,
                             const struct promote_cluster *cluster, const struct promote_journal *journal,
                             int64_t now_ms, struct promote_criterion *criterion) {
    char window[32], from[TIME_TEXT_BYTES];
    int64_t since_ms = journal->diverged_ms > journal->from_ms ? journal->diverged_ms : journal->from_ms;
    int64_t window_ms = journal->known && cluster->divergences == 0 ? now_ms - since_ms : 0;
    if (window_ms < 0) window_ms = 0;
    criterion->met =
        journal->known && cluster->divergences == 0 && window_ms >= thresholds->zero_divergence_ms;
    say_duration(thresholds->zero_divergence_ms, window, sizeof window);
    SAY(criterion->wanted, "none for %s", window);
    say_duration(window_ms, window, sizeof window);
    SAY(criterion->measured, journal->known ? "none for %s" : "not known", window);
    time_print(journal->from_ms, from);
    if (cluster->divergences > 0) {
        SAY(criterion->measured, "%zu now", cluster->divergences);
        SAY(criterion->evidence, "`drawbridge audit` names them");
    } else if (!journal->known) {
        SAY(criterion->evidence, "%s", no_journal);
    } else if (journal->diverged_ms > journal->from_ms) {
        SAY(criterion->evidence, "the last one: %s", journal->diverged);
    } else {
        SAY(criterion->evidence, "the journal has none since %s, where it begins to be whole", from);
    }
}

static void judge_capacity(const struct promote_thresholds *thresholds, const struct promote_cluster *cluster,
                           struct promote_criterion *criterion) {
    criterion->met = cluster->headroom_known && cluster->headroom >= thresholds->headroom &&
                     cluster->ready_nodes == cluster->nodes;
    SAY(criterion->wanted, "%g%% free on every node, all nodes ready", thresholds->headroom);
    if (!cluster->headroom_known) {
        SAY(criterion->measured, "not known");
        SAY(criterion->evidence, "no node has a driver with mappings");
        return;
    }
    SAY(criterion->measured, "%.1f%% free, %zu of %zu ready", cluster->headroom, cluster->ready_nodes,
        cluster->nodes);
    SAY(criterion->evidence, "the fullest: %s", cluster->fullest);
}

static void judge_pending(const struct promote_thresholds *thresholds, const struct promote_metrics *metrics,
                          struct promote_criterion *criterion) {
    char time[32];
    say_duration(thresholds->hold_ms, time, sizeof time);
    bool in_time = metrics->holds == 0 || metrics->holds_in_time >= SHARE * metrics->holds;
    criterion->met = metrics->known && in_time && metrics->held_pods <= (double)thresholds->held_pods;
    SAY(criterion->wanted, "at most %lld held, 99%% of holds within %s", (long long)thresholds->held_pods,
        time);
    if (!metrics->known) {
        SAY(criterion->measured, "not known");
        SAY(criterion->evidence, "%s", no_server);
        return;
    }
    SAY(criterion->measured, "%.0f held now", metrics->held_pods);
    SAY(criterion->evidence, "%.0f of %.0f holds that ended were within %s", metrics->holds_in_time,
        metrics->holds, time);
}

static void judge_verdicts(const struct promote_thresholds *thresholds, const struct promote_metrics *metrics,
                           const struct promote_journal *journal, struct promote_criterion *criterion) {
    bool in_time = metrics->verdicts_in_time >= SHARE * metrics->verdicts;
    criterion->met = metrics->known && metrics->verdicts > 0 && in_time && metrics->failures == 0;
    SAY(criterion->wanted, "99%% within %lldms, none failed", (long long)thresholds->verdict_ms);
    if (!metrics->known) {
        SAY(criterion->measured, "not known");
        SAY(criterion->evidence, "%s", no_server);
        return;
    }
    SAY(criterion->measured, "%.0f of %.0f in time, %.0f failed", metrics->verdicts_in_time,
        metrics->verdicts, metrics->failures);
    if (metrics->verdicts == 0)
        SAY(criterion->evidence, "no review came: is the webhook registered?");
    else if (journal->known)
        SAY(criterion->evidence, "%lld denials are on record; `drawbridge ledger audit` lists them",
            (long long)journal->denied);
}

void promote_judge(const struct promote_thresholds *thresholds, const struct promote_cluster *cluster,
                   const struct promote_journal *journal, const struct promote_metrics *metrics,
                   int64_t now_ms, struct promote_criterion ret_criteria[PROMOTE_COUNT]) {
    static const struct promote_criterion blank[PROMOTE_COUNT] = {
        [PROMOTE_DRIVERS] = {.name = "driverCoverage", .title = "compatible drivers"},
        [PROMOTE_ROLLBACK] = {.name = "rollbackDrills", .title = "rollback drills"},
        [PROMOTE_RESTART] = {.name = "restartReplays", .title = "driver restarts"},
        [PROMOTE_UPGRADE] = {.name = "upgradeReplays", .title = "driver upgrades"},
        [PROMOTE_REPLAY] = {.name = "replay", .title = "replay of the journal"},
        [PROMOTE_DIVERGENCE] = {.name = "zeroDivergence", .title = "divergence"},
        [PROMOTE_CAPACITY] = {.name = "headroom", .title = "capacity"},
        [PROMOTE_PENDING] = {.name = "pending", .title = "pending Pods"},
        [PROMOTE_VERDICTS] = {.name = "verdicts", .title = "verdicts"},
    };
    memcpy(ret_criteria, blank, sizeof blank);
    judge_drivers(thresholds, cluster, &ret_criteria[PROMOTE_DRIVERS]);
    judge_count(thresholds->rollback_drills, journal->drills, "a freeze, and its resume by an operator",
                journal->known, journal->drill, &ret_criteria[PROMOTE_ROLLBACK]);
    judge_count(thresholds->restart_replays, journal->restarts, "a pool that went and came back",
                journal->known, journal->restart, &ret_criteria[PROMOTE_RESTART]);
    judge_count(thresholds->upgrade_replays, journal->upgrades, "a pool that moved to a higher generation",
                journal->known, journal->upgrade, &ret_criteria[PROMOTE_UPGRADE]);
    judge_replay(journal, &ret_criteria[PROMOTE_REPLAY]);
    judge_divergence(thresholds, cluster, journal, now_ms, &ret_criteria[PROMOTE_DIVERGENCE]);
    judge_capacity(thresholds, cluster, &ret_criteria[PROMOTE_CAPACITY]);
    judge_pending(thresholds, metrics, &ret_criteria[PROMOTE_PENDING]);
    judge_verdicts(thresholds, metrics, journal, &ret_criteria[PROMOTE_VERDICTS]);
}

// ---- printing

static size_t met_count(const struct promote_criterion criteria[PROMOTE_COUNT]) {
    size_t count = 0;
    for (size_t i = 0; i < PROMOTE_COUNT; i++) count += criteria[i].met;
    return count;
}

static void print_evidence(FILE *out, const char *evidence) {
    fprintf(out, "%32s", "");
    print_plain_text(out, text_of(evidence));
    putc('\n', out);
}

void promote_print_text(FILE *out, const struct promote_criterion criteria[PROMOTE_COUNT]) {
    for (size_t i = 0; i < PROMOTE_COUNT; i++) {
        const struct promote_criterion *criterion = &criteria[i];
        fprintf(out, "%-8s %-22s %s; wanted: %s\n", criterion->met ? "met" : "not met", criterion->title,
                criterion->measured, criterion->wanted);
        if (criterion->evidence[0] != '\0') print_evidence(out, criterion->evidence);
    }
    size_t count = met_count(criteria);
    fprintf(out, "\n%zu of %d met: %s\n", count, PROMOTE_COUNT,
            count == PROMOTE_COUNT ? "the canary may be widened" : "not ready to be widened");
}

void promote_print_json(FILE *out, const struct promote_criterion criteria[PROMOTE_COUNT]) {
    fprintf(out, "{\"ready\":%s,\"criteria\":[", met_count(criteria) == PROMOTE_COUNT ? "true" : "false");
    for (size_t i = 0; i < PROMOTE_COUNT; i++) {
        const struct promote_criterion *criterion = &criteria[i];
        fprintf(out, "%s\n  {\"name\":\"%s\",\"met\":%s,\"wanted\":", i > 0 ? "," : "", criterion->name,
                criterion->met ? "true" : "false");
        print_json_string(out, text_of(criterion->wanted));
        fputs(",\"measured\":", out);
        print_json_string(out, text_of(criterion->measured));
        fputs(",\"evidence\":", out);
        print_json_string(out, text_of(criterion->evidence));
        putc('}', out);
    }
    fputs("]}\n", out);
}
