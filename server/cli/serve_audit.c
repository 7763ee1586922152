// SPDX-License-Identifier: Apache-2.0
// From judgements to AUDIT rows, at a bounded pace.
#include "server/cli/serve_audit.h"

#include <stdlib.h>

#include "server/ledger/clock.h"
#include "server/ledger/journal_queue.h"
#include "server/review/record.h"

#define GAP_BYTES ((size_t)4096)

static void count(_Atomic uint64_t *counter) {
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static uint64_t get(_Atomic uint64_t *counter) {
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static bool keep(struct serve_audit *audit, enum audit_kind kind, struct text json) {
    bool taken = journal_audit(audit->journal, json);
    count(taken ? &audit->written[kind] : &audit->without_room);
    return taken;
}

static void write_gap(struct serve_audit *audit, const struct audit_gap *gap) {
    char bytes[GAP_BYTES], from[TIME_TEXT_BYTES], until[TIME_TEXT_BYTES];
    struct out out = out_of(bytes, sizeof bytes);
    if (gap->count == 0) return;
    time_print(gap->from_ms, from);
    time_print(gap->until_ms, until);
    out_format(&out,
               "{\"action\":\"gap\",\"records\":%llu,\"from\":\"%s\",\"until\":\"%s\",\"decision\":\"%s\"",
               (unsigned long long)gap->count, from, until, gap->decision);
    OUT_LITERAL(&out, ",\"namespace\":");
    out_json_string(&out, text_of(gap->namespace), 0);
    OUT_LITERAL(&out, ",\"by\":");
    out_json_string(&out, text_of(gap->user), 0);
    OUT_LITERAL(&out, "}");
    keep(audit, AUDIT_GAP, (struct text){out.ptr, out.len});
}

void serve_audit_note(struct serve_audit *audit, struct judgement *judgement, struct arena *arena) {
    char bytes[RECORD_BYTES];
    struct audit_gap gap;
    if (audit->journal == NULL || !record_is_wanted(judgement)) return;
    const struct audit_source source = {.user = judgement->review.user_name,
                                        .namespace = judgement->review.namespace,
                                        .decision = decision_name(judgement->decision)};
    int64_t now_ms = journal_wall_ms();
    pthread_mutex_lock(&audit->mutex);
    bool taken = audit_pace_take(audit->pace, &source, now_ms, &gap);
    pthread_mutex_unlock(&audit->mutex);
    write_gap(audit, &gap);
    if (!taken) {
        count(&audit->over_pace);
        return;
    }
    struct out out = out_of(bytes, sizeof bytes);
    record_write(judgement, arena, &out);
    if (keep(audit, AUDIT_REVIEW, (struct text){out.ptr, out.len})) return;
    pthread_mutex_lock(&audit->mutex);
    audit_pace_lost(audit->pace, &source, now_ms);
    pthread_mutex_unlock(&audit->mutex);
}

void serve_audit_operator(void *context, struct text json) {
    struct serve_audit *audit = context;
    if (audit->journal != NULL) keep(audit, AUDIT_OPERATOR, json);
}

static void tell_gaps(struct serve_audit *audit, bool any) {
    struct audit_gap gap;
    for (bool more = true; more;) {
        pthread_mutex_lock(&audit->mutex);
        more = audit_pace_due(audit->pace, journal_wall_ms(), any, &gap);
        pthread_mutex_unlock(&audit->mutex);
        if (more) write_gap(audit, &gap);
    }
}

void serve_audit_tick(struct serve_audit *audit) {
    if (audit->journal != NULL) tell_gaps(audit, false);
}

static void collect(void *state, struct exposition *out) {
    static const char *const kinds[AUDIT_KIND_COUNT] = {"review", "operator", "gap"};
    struct serve_audit *audit = state;
    exposition_family(out, "drawbridge_audit_records_total", "counter",
                      "Audit records that the journal took, by what they are about.");
    for (int i = 0; i < AUDIT_KIND_COUNT; i++) {
        struct exposition_label label = {"kind", text_of(kinds[i])};
        exposition_count(out, "drawbridge_audit_records_total", &label, 1, get(&audit->written[i]));
    }
    exposition_family(out, "drawbridge_audit_dropped_total", "counter",
                      "Audit records that were left out, by reason; a gap record counts them.");
    struct exposition_label label = {"reason", TEXT("pace")};
    exposition_count(out, "drawbridge_audit_dropped_total", &label, 1, get(&audit->over_pace));
    label.value = TEXT("full");
    exposition_count(out, "drawbridge_audit_dropped_total", &label, 1, get(&audit->without_room));
}

bool serve_audit_start(struct serve_audit *audit, struct journal *journal, struct collectors *collectors,
                       struct fault *fault) {
    *audit = (struct serve_audit){.journal = NULL};
    if (journal == NULL) return true;
    audit->pace = calloc(1, sizeof *audit->pace);
    if (audit->pace == NULL) return fault_set(fault, FAULT_MEMORY, "no memory for audit records");
    pthread_mutex_init(&audit->mutex, NULL);
    audit->journal = journal;
    audit->collectors = collectors;
    return collectors_add(collectors, collect, audit) ||
           fault_set(fault, FAULT_LIMIT, "no room for the metrics of audit records");
}

void serve_audit_stop(struct serve_audit *audit) {
    if (audit->journal == NULL) return;
    collectors_remove(audit->collectors, audit);
    tell_gaps(audit, true);
    pthread_mutex_destroy(&audit->mutex);
    free(audit->pace);
    *audit = (struct serve_audit){.journal = NULL};
}
