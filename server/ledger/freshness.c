// SPDX-License-Identifier: Apache-2.0
// Freshness: clocks, freezes, quarantines, pools.
#include "server/ledger/freshness.h"

#include "server/ledger/clock.h"

const char *freshness_name(enum freshness freshness) {
    static const char *const names[] = {
        [FRESHNESS_FRESH] = "Fresh",
        [FRESHNESS_REBUILDING] = "Rebuilding",
        [FRESHNESS_STALE] = "Stale",
        [FRESHNESS_DIVERGED] = "Diverged",
        [FRESHNESS_QUARANTINED] = "Quarantined",
        [FRESHNESS_FROZEN] = "Frozen",
        [FRESHNESS_NOT_SYNCED] = "NotSynced",
        [FRESHNESS_UNMAPPED] = "Unmapped",
    };
    return names[freshness];
}

void freshness_worsen(struct freshness_report *a, struct freshness_report b) {
    if (b.state > a->state) *a = b;
}

bool freshness_gates_on(const struct ledger *ledger, const char *class) {
    if (ledger->policy == NULL) return false;
    const struct text_list *classes = &ledger->policy->policy.gate_on_divergence;
    for (size_t i = 0; i < classes->count; i++)
        if (text_equal(classes->items[i], text_of(class))) return true;
    return false;
}

// ---- freezes

// Without a clock a freeze is in force; so is one whose end cannot be read.
static bool is_in_force(const struct ledger *ledger, const struct freeze *freeze) {
    int64_t end_ms;
    if (ledger->now_ms == 0 || freeze->expires.len == 0) return true;
    return !time_read_ms(freeze->expires, &end_ms) || ledger->now_ms < end_ms;
}

static struct freshness_report frozen_by(const struct freeze *freeze, const char *scope,
                                         struct arena *arena) {
    struct freshness_report report = {.state = FRESHNESS_FROZEN};
    if (!time_read_ms(freeze->at, &report.since_ms)) report.since_ms = 0;
    report.cause = text_format(arena, "%s frozen%s%.*s: %.*s%s%.*s", scope, freeze->by.len > 0 ? " by " : "",
                               TEXT_ARG(freeze->by), TEXT_ARG(freeze->reason),
                               freeze->expires.len > 0 ? "; until " : "", TEXT_ARG(freeze->expires));
    return report;
}

static bool concerns_node(const struct freeze *freeze, const struct node_entry *node) {
    return freeze->cluster || (freeze->node.len > 0 && text_equal(freeze->node, node->name->text));
}

static void look_at_freezes(const struct ledger *ledger, const struct node_entry *node,
                            const struct name *driver, struct arena *arena, struct freshness_report *report) {
    if (ledger->policy == NULL) return;
    const struct freeze_list *freezes = &ledger->policy->policy.freezes;
    for (size_t i = 0; i < freezes->count; i++) {
        const struct freeze *freeze = &freezes->items[i];
        bool concerned = node != NULL ? concerns_node(freeze, node)
                                      : freeze->driver.len > 0 && text_equal(freeze->driver, driver->text);
        if (!concerned || !is_in_force(ledger, freeze)) continue;
        const char *scope = node == NULL ? "driver" : freeze->cluster ? "cluster" : "node";
        freshness_worsen(report, frozen_by(freeze, scope, arena));
    }
}

// ---- clocks

static const struct {
    enum object_kind kind;
    const char *name;
} needed[] = {
    {KIND_RESOURCE_SLICE, "ResourceSlices"},
    {KIND_RESOURCE_CLAIM, "ResourceClaims"},
    {KIND_NODE, "Nodes"},
    {KIND_POD, "Pods"},
};

static void look_at_watches(const struct ledger *ledger, struct arena *arena,
                            struct freshness_report *report) {
    const struct policy_windows *windows = policy_windows(ledger);
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        const struct kind_state *state = &ledger->kinds[needed[i].kind];
        struct freshness_report found = {.state = FRESHNESS_FRESH, .since_ms = state->alive_ms};
        int64_t silent_ms = ledger->now_ms - state->alive_ms;
        if (!state->synced) {
            found.state = FRESHNESS_NOT_SYNCED;
            found.cause = text_format(arena, "the list of %s is not complete", needed[i].name);
        } else if (state->alive_ms > 0 && windows->watch_ms > 0 &&
                   silent_ms > windows->watch_ms + windows->grace_ms) {
            found.state = FRESHNESS_STALE;
            found.cause = text_format(arena, "nothing was heard of %s for %lld s", needed[i].name,
                                      (long long)(silent_ms / 1000));
        }
        freshness_worsen(report, found);
    }
}

static void look_at_lease(const struct ledger *ledger, const struct node_entry *node, struct arena *arena,
                          struct freshness_report *report) {
    int64_t window_ms = policy_windows(ledger)->lease_ms;
    if (node->lease == NULL || window_ms == 0 || ledger->now_ms == 0) return;
    int64_t age_ms = ledger->now_ms - node->lease->renewed_ms;
    if (age_ms <= window_ms) return;
    struct text cause =
        text_format(arena, "the node's Lease was renewed %lld s ago", (long long)(age_ms / 1000));
    freshness_worsen(report,
                     (struct freshness_report){FRESHNESS_STALE, cause, node->lease->renewed_ms + window_ms});
}

struct freshness_report freshness_of_node(const struct ledger *ledger, const struct node_entry *node,
                                          struct arena *arena) {
    struct freshness_report report = {.state = FRESHNESS_FRESH};
    if (!node->known)
        report = (struct freshness_report){.state = FRESHNESS_NOT_SYNCED,
                                           .cause = TEXT("the Node object is not there")};
    look_at_watches(ledger, arena, &report);
    look_at_freezes(ledger, node, NULL, arena, &report);
    look_at_lease(ledger, node, arena, &report);
    return report;
}

struct freshness_report freshness_of_driver(const struct ledger *ledger, const struct name *driver,
                                            struct arena *arena) {
    struct freshness_report report = {.state = FRESHNESS_FRESH};
    look_at_freezes(ledger, NULL, driver, arena, &report);
    return report;
}

// ---- pools

static struct freshness_report gone(const struct pool_group *group, int64_t since_ms, struct arena *arena) {
    char when[TIME_TEXT_BYTES];
    time_print(since_ms, when);
    struct text cause =
        text_format(arena, "no slices from driver %.*s in pool %.*s%s%s", TEXT_ARG(group->driver->text),
                    TEXT_ARG(group->pool->text), since_ms > 0 ? " since " : "", since_ms > 0 ? when : "");
    return (struct freshness_report){FRESHNESS_STALE, cause, since_ms};
}

static struct freshness_report incomplete(const struct ledger *ledger, const struct pool_group *group,
                                          const struct gathered *gathered, int64_t since_ms,
                                          struct arena *arena) {
    bool long_ago = since_ms > 0 && ledger->now_ms - since_ms >= policy_windows(ledger)->incomplete_ms;
    struct freshness_report report = {long_ago ? FRESHNESS_STALE : FRESHNESS_REBUILDING, {NULL, 0}, since_ms};
    if (gathered->disagreed)
        report.cause = text_format(arena, "slices of pool %.*s disagree how many they are at generation %lld",
                                   TEXT_ARG(group->pool->text), (long long)gathered->generation);
    else
        report.cause = text_format(arena, "pool %.*s has %zu of %lld slices at generation %lld",
                                   TEXT_ARG(group->pool->text), gathered->found_count,
                                   (long long)gathered->wanted_count, (long long)gathered->generation);
    return report;
}

static struct freshness_report quarantined(const struct pool_entry *pool, struct arena *arena) {
    struct text cause = text_format(
        arena,
        "pool %.*s started again below generation %lld, and devices of bound claims differ or are not back",
        TEXT_ARG(pool->group->pool->text), (long long)pool->retired_generation);
    return (struct freshness_report){FRESHNESS_QUARANTINED, cause, pool->quarantine_ms};
}

struct freshness_report freshness_of_pool(const struct ledger *ledger, const struct pool_group *group,
                                          const struct node_entry *node, struct arena *arena) {
    struct freshness_report report = {.state = FRESHNESS_FRESH};
    struct gathered gathered;
    bool there = group_gather(ledger, group, node, INT64_MAX, &gathered);
    int64_t incomplete_ms = 0;
    int64_t changed_ms = 0;
    struct pool_walk walk = pool_walk(ledger, group, node);
    for (struct pool_entry *pool; (pool = pool_walk_next(&walk)) != NULL;) {
        if (pool->incomplete_ms > incomplete_ms) incomplete_ms = pool->incomplete_ms;
        if (pool->changed_ms > changed_ms) changed_ms = pool->changed_ms;
        if (pool->quarantined) freshness_worsen(&report, quarantined(pool, arena));
    }
    if (!there)
        freshness_worsen(&report, gone(group, changed_ms, arena));
    else if (!gathered.complete)
        freshness_worsen(&report, incomplete(ledger, group, &gathered, incomplete_ms, arena));
    return report;
}

// ---- drivers that are gone

static bool goes_on(const struct ledger *ledger, const struct name *driver, const struct node_entry *node) {
    for (int far = node == NULL; far < 2; far++)
        for (const struct pool_entry *pool = far ? ledger->wide_pools : node->pools; pool != NULL;
             pool = far ? pool->far_next : pool->node_next)
            if (pool->slices != NULL && pool->group->driver == driver &&
                (node == NULL || pool_concerns(pool, node)))
                return true;
    return false;
}

// Rows without a mapping belong to no pool yet.
static bool has_claims(const struct pool_entry *pool, const struct node_entry *node) {
    if (pool->rows.first != NULL) return true;
    for (const struct row *row = pool->group->open.first; row != NULL; row = row->next) {
        const struct node_entry *home = claim_home(row->claim);
        if (home == NULL || home == node) return true;
    }
    return false;
}

bool pool_is_left(const struct ledger *ledger, const struct pool_entry *pool, const struct node_entry *node) {
    if (pool->slices != NULL) return false;
    if (goes_on(ledger, pool->group->driver, node)) return true;
    int64_t since_ms = pool->changed_ms > 0 ? pool->changed_ms : pool->remembered_ms;
    return since_ms > 0 && ledger->now_ms - since_ms >= DRIVER_LEFT_MS && !has_claims(pool, node);
}
