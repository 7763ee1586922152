// SPDX-License-Identifier: Apache-2.0
// One scan for what happened, one replay of the last session against its checkpoints.
#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <sys/random.h>

#include "server/cli/promote.h"
#include "server/ledger/clock.h"
#include "server/ledger/journal_file.h"
#include "server/ledger/journal_read.h"

struct scan {
    struct promote_journal *journal;
    json_t *freezes; // scope → true: frozen, and not yet resumed
    json_t *slices;  // UID → key of its pool
    json_t *pools;   // key → {"live", "newest"}; live 0: gone
};

static const char *member(const json_t *record, const char *name) {
    const char *text = json_string_value(json_object_get(record, name));
    return text == NULL ? "" : text;
}

static int64_t number(const json_t *object, const char *name) {
    return json_integer_value(json_object_get(object, name));
}

#define NOTE(buffer, at_ms, ...)                                                                             \
    do {                                                                                                     \
        char time_[TIME_TEXT_BYTES];                                                                         \
        time_print((at_ms), time_);                                                                          \
        size_t used_ = (size_t)snprintf((buffer), sizeof(buffer), "%s: ", time_);                            \
        snprintf((buffer) + used_, sizeof(buffer) - used_, __VA_ARGS__);                                     \
    } while (0)

// ---- audit records

// A drill is a freeze that an operator ended again; one that expired proves nothing.
static void take_operator(struct scan *scan, const json_t *record, const char *action, int64_t at_ms) {
    const char *scope = member(record, "scope");
    struct promote_journal *journal = scan->journal;
    if (scope[0] == '\0') return;
    if (strcmp(action, "freeze") == 0) json_object_set_new(scan->freezes, scope, json_true());
    if (strcmp(action, "expired") == 0) json_object_del(scan->freezes, scope);
    if (strcmp(action, "resume") != 0 || json_object_get(scan->freezes, scope) == NULL) return;
    json_object_del(scan->freezes, scope);
    journal->drills++;
    NOTE(journal->drill, at_ms, "%.80s was frozen and resumed by %.60s", scope, member(record, "by"));
}

static void take_audit(struct scan *scan, const struct journal_row *row) {
    struct promote_journal *journal = scan->journal;
    json_t *record = json_loadb(row->json.ptr, row->json.len, JSON_ALLOW_NUL, NULL);
    const char *action = member(record, "action");
    if (strcmp(action, "review") == 0) {
        journal->denied += strcmp(member(record, "decision"), "denied") == 0;
    } else if (strcmp(action, "diverged") == 0 || strcmp(action, "converged") == 0) {
        journal->diverged_ms = row->at_ms;
        NOTE(journal->diverged, row->at_ms, "Pod %.60s/%.60s, %.40s", member(record, "namespace"),
             member(record, "pod"), member(record, "class"));
    } else {
        take_operator(scan, record, action, row->at_ms);
    }
    json_decref(record);
}

// ---- slices

static void forget_slice(struct scan *scan, const char *uid) {
    json_t *pool = json_object_get(scan->pools, member(scan->slices, uid));
    if (pool != NULL) json_object_set_new(pool, "live", json_integer(number(pool, "live") - 1));
    json_object_del(scan->slices, uid);
}

static void take_pool(struct scan *scan, const struct promote_slice *slice, bool fresh, int64_t at_ms) {
    struct promote_journal *journal = scan->journal;
    json_t *pool = json_object_get(scan->pools, slice->key);
    if (pool == NULL) {
        pool = json_pack("{s:i, s:I}", "live", 0, "newest", (json_int_t)slice->generation);
        json_object_set_new(scan->pools, slice->key, pool);
    } else if (fresh && number(pool, "live") == 0) {
        journal->restarts++;
        NOTE(journal->restart, at_ms, "driver %.60s, pool %.60s came back", slice->driver, slice->pool);
        json_object_set_new(pool, "newest", json_integer(slice->generation));
    } else if (slice->generation > number(pool, "newest")) {
        journal->upgrades++;
        NOTE(journal->upgrade, at_ms, "driver %.60s, pool %.60s to generation %lld", slice->driver,
             slice->pool, (long long)slice->generation);
        json_object_set_new(pool, "newest", json_integer(slice->generation));
    }
    if (fresh && pool != NULL) json_object_set_new(pool, "live", json_integer(number(pool, "live") + 1));
}

// A session begins with a list: slices that were known are no news.
static void take_slice(struct scan *scan, const struct journal_row *row) {
    char uid[256];
    static struct promote_slice slice;
    snprintf(uid, sizeof uid, "%.*s", TEXT_ARG(row->uid));
    bool known = json_object_get(scan->slices, uid) != NULL;
    if (row->type == JOURNAL_DELETED) {
        if (known) forget_slice(scan, uid);
        return;
    }
    if (!promote_read_slice(row->json, &slice)) return;
    take_pool(scan, &slice, !known, row->at_ms);
    json_object_set_new(scan->slices, uid, json_string(slice.key));
}

// ---- rows

// From here on nothing is missing.
static void cover_from(struct promote_journal *journal, int64_t at_ms) {
    journal->from_ms = at_ms;
}

static bool take_row(void *context, const struct journal_row *row, struct fault *fault) {
    struct scan *scan = context;
    struct promote_journal *journal = scan->journal;
    (void)fault;
    journal->until_ms = row->at_ms;
    if (journal->from_ms == 0 || row->type == JOURNAL_GAP) cover_from(journal, row->at_ms);
    if (row->type == JOURNAL_START) {
        // Nobody watched since the last row of the session before.
        journal->sessions++;
        cover_from(journal, row->at_ms);
    }
    if (row->type == JOURNAL_AUDIT) take_audit(scan, row);
    if (row->kind == KIND_RESOURCE_SLICE && journal_is_event(row->type)) take_slice(scan, row);
    return true;
}

// What a cut left over is older than what is whole.
static bool take_batch(void *context, const struct journal_batch *batch) {
    const struct scan *scan = context;
    if (batch->base) cover_from(scan->journal, batch->at_ms);
    return true;
}

static bool scan_rows(const char *folder, struct promote_journal *journal, struct fault *fault) {
    struct scan scan = {
        .journal = journal, .freezes = json_object(), .slices = json_object(), .pools = json_object()};
    const struct journal_visitor visitor = {.row = take_row, .batch = take_batch, .context = &scan};
    bool fine = scan.freezes != NULL && scan.slices != NULL && scan.pools != NULL;
    fine = fine ? journal_visit(folder, &visitor, fault)
                : fault_set(fault, FAULT_MEMORY, "no memory for the journal");
    json_decref(scan.freezes);
    json_decref(scan.slices);
    json_decref(scan.pools);
    return fine;
}

static bool replay(const char *folder, struct promote_journal *journal, struct fault *fault) {
    struct ledger_options options = {0};
    struct journal_reading reading;
    if (!journal_minor(folder, &options.minor, fault)) return false;
    if (getrandom(options.seed, sizeof options.seed, 0) != (ssize_t)sizeof options.seed)
        return fault_set(fault, FAULT_IO, "no random numbers: %s", strerror(errno));
    struct ledger *ledger = ledger_new(&options, fault);
    if (ledger == NULL) return false;
    bool fine = journal_replay(folder, options.minor, ledger, &reading, fault);
    ledger_free(ledger);
    if (!fine) return false;
    journal->replayed = true;
    journal->incomplete = reading.incomplete;
    journal->checkpoints = reading.states;
    journal->different = reading.states_different;
    return true;
}

bool promote_read_journal(const char *folder, struct promote_journal *ret_journal, struct fault *fault) {
    struct promote_journal journal = {.known = true};
    if (!scan_rows(folder, &journal, fault) || !replay(folder, &journal, fault)) return false;
    *ret_journal = journal;
    return true;
}
