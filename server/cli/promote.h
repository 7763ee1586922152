// SPDX-License-Identifier: Apache-2.0
// `drawbridge promote`: whether the canary may be widened. Evidence is gathered from the cluster (or files),
// from the journal and from the metrics of a running server; each criterion compares it with a threshold of
// the LedgerPolicy (spec.promotion) and says what it saw. What is not known is not met.
#ifndef DRAWBRIDGE_CLI_PROMOTE_H
#define DRAWBRIDGE_CLI_PROMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "validators/core/fault.h"
#include "validators/core/text.h"

// ---- thresholds

struct promote_thresholds {
    double driver_coverage;  // percent
    int64_t rollback_drills; // freezes that were ended again
    int64_t restart_replays; // drivers that went away and came back
    int64_t upgrade_replays; // pools that moved to a higher generation
    int64_t zero_divergence_ms;
    double headroom; // percent that is free of cpu and memory, on the fullest node
    int64_t held_pods;
    int64_t hold_ms;    // 99 of 100 holds end within
    int64_t verdict_ms; // 99 of 100 verdicts are given within
    char unknown[256];  // members of spec.promotion that are none of these; "" is none
};

// What it does: the defaults, and over them what a LedgerPolicy's spec.promotion says. Errors: FAULT_INPUT
// with the member that cannot be read.
bool promote_read_thresholds(struct text json, struct promote_thresholds *ret_thresholds, struct fault *fault)
    __attribute__((warn_unused_result));

// ---- what the journal tells

#define PROMOTE_NOTE_BYTES 192

struct promote_journal {
    bool known;
    int64_t from_ms, until_ms; // what it covers without a hole
    int64_t sessions;          // of a server
    int64_t drills;
    char drill[PROMOTE_NOTE_BYTES]; // the newest
    int64_t restarts;
    char restart[PROMOTE_NOTE_BYTES];
    int64_t upgrades;
    char upgrade[PROMOTE_NOTE_BYTES];
    int64_t diverged_ms; // when a divergence was seen last; 0: never
    char diverged[PROMOTE_NOTE_BYTES];
    int64_t denied; // reviews on record
    bool replayed;
    bool incomplete; // rows are missing, and no list came after
    uint64_t checkpoints, different;
};

// What it does: reads the journal of a folder. Errors: FAULT_STATE there is none; FAULT_INPUT, FAULT_IO,
// FAULT_MEMORY.
bool promote_read_journal(const char *folder, struct promote_journal *ret_journal, struct fault *fault)
    __attribute__((warn_unused_result));

// A slice as its row has it; texts live until the next call.
struct promote_slice {
    char key[1024]; // driver, pool and place
    char driver[256];
    char pool[256];
    int64_t generation;
};
bool promote_read_slice(struct text json, struct promote_slice *ret_slice)
    __attribute__((warn_unused_result));

// ---- what a running server tells

struct promote_metrics {
    bool known;
    double held_pods;
    double holds, holds_in_time; // that ended; within the threshold
    double verdicts, verdicts_in_time;
    double failures; // reviews that could not be judged
};

// What it does: asks the server of a ledger folder. Errors: FAULT_UNREACHABLE, FAULT_STATE.
bool promote_read_metrics(const char *folder, const struct promote_thresholds *thresholds,
                          struct promote_metrics *ret_metrics, struct fault *fault)
    __attribute__((warn_unused_result));

// What it does: takes one line of the exposition.
void promote_take_metric(struct promote_metrics *metrics, const struct promote_thresholds *thresholds,
                         const char *line);

// ---- what the cluster tells

struct promote_cluster {
    int minor;
    size_t drivers, compatible_drivers;
    char incompatible[PROMOTE_NOTE_BYTES]; // the first one, and why; "" when all are
    size_t nodes, ready_nodes;             // with mappings
    size_t divergences;                    // now
    bool headroom_known;
    double headroom; // percent
    char fullest[PROMOTE_NOTE_BYTES];
};

// ---- the report

enum promote_id {
    PROMOTE_DRIVERS,
    PROMOTE_ROLLBACK,
    PROMOTE_RESTART,
    PROMOTE_UPGRADE,
    PROMOTE_REPLAY,
    PROMOTE_DIVERGENCE,
    PROMOTE_CAPACITY,
    PROMOTE_PENDING,
    PROMOTE_VERDICTS,
    PROMOTE_COUNT
};

struct promote_criterion {
    const char *name;  // static text
    const char *title; // static text
    bool met;
    char wanted[96];
    char measured[128];
    char evidence[512];
};

// What it does: judges the evidence; now in wall milliseconds.
void promote_judge(const struct promote_thresholds *thresholds, const struct promote_cluster *cluster,
                   const struct promote_journal *journal, const struct promote_metrics *metrics,
                   int64_t now_ms, struct promote_criterion ret_criteria[PROMOTE_COUNT]);

void promote_print_text(FILE *out, const struct promote_criterion criteria[PROMOTE_COUNT]);
void promote_print_json(FILE *out, const struct promote_criterion criteria[PROMOTE_COUNT]);

#endif
