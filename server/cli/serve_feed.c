// SPDX-License-Identifier: Apache-2.0
// Joining feed, store, gate, health and metrics.
#include "server/cli/serve_feed.h"

#include <errno.h>
#include <sys/random.h>

#include "server/feed/dirfeed.h"

#define MS_PER_S 1000.0

struct with_view {
    void (*run)(const struct view *view, void *context);
    void *context;
};

static void run_with_view(struct ledger *ledger, void *context) {
    const struct with_view *with_view = context;
    const struct view view = ledger_view(ledger);
    with_view->run(&view, with_view->context);
}

static void store_with_view(void *state, void (*run)(const struct view *view, void *context), void *context) {
    struct with_view with_view = {run, context};
    store_with_ledger(state, run_with_view, &with_view);
}

static bool check_synced(void *state, char ret_why[HEALTH_WHY_BYTES]) {
    struct serve_feed *feed = state;
    return feed_is_synced(&feed->state, ret_why, HEALTH_WHY_BYTES);
}

static void collect_kinds(struct serve_feed *feed, struct exposition *out) {
    exposition_family(out, "drawbridge_cache_synced", "gauge",
                      "Whether the first list of a resource is in, by resource.");
    for (size_t i = 0; i < FEED_KIND_COUNT; i++) {
        struct exposition_label label = {"resource", text_of(feed_kinds[i].resource)};
        exposition_count(out, "drawbridge_cache_synced", &label, 1,
                         atomic_load_explicit(&feed->state.kinds[i].synced, memory_order_relaxed));
    }
    exposition_family(out, "drawbridge_cache_objects", "gauge", "Live objects, by resource.");
    for (size_t i = 0; i < FEED_KIND_COUNT; i++) {
        struct exposition_label label = {"resource", text_of(feed_kinds[i].resource)};
        exposition_sample(out, "drawbridge_cache_objects", &label, 1,
                          (double)atomic_load_explicit(&feed->state.kinds[i].objects, memory_order_relaxed));
    }
    exposition_family(out, "drawbridge_watch_age_seconds", "gauge",
                      "Time since a resource was last heard of, by resource.");
    int64_t now_ms = feed_now_ms();
    for (size_t i = 0; i < FEED_KIND_COUNT; i++) {
        struct exposition_label label = {"resource", text_of(feed_kinds[i].resource)};
        int64_t alive_ms = atomic_load_explicit(&feed->state.kinds[i].alive_ms, memory_order_relaxed);
        if (alive_ms == 0) continue;
        exposition_sample(out, "drawbridge_watch_age_seconds", &label, 1,
                          (double)(now_ms - alive_ms) / MS_PER_S);
    }
}

static void read_heap(struct ledger *ledger, void *context) {
    *(struct heap *)context = *ledger_heap(ledger);
}

static void collect(void *state, struct exposition *out) {
    struct serve_feed *feed = state;
    collect_kinds(feed, out);
    exposition_family(out, "drawbridge_feed_errors_total", "counter",
                      "What the feed could not take, by reason.");
    for (int i = 0; i < FEED_ERROR_COUNT; i++) {
        struct exposition_label label = {"reason", text_of(feed_error_name((enum feed_error)i))};
        exposition_count(out, "drawbridge_feed_errors_total", &label, 1,
                         atomic_load_explicit(&feed->state.errors[i], memory_order_relaxed));
    }
    exposition_family(out, "drawbridge_feed_waiting", "gauge",
                      "Files or watches that are not followed at the moment.");
    exposition_sample(out, "drawbridge_feed_waiting", NULL, 0,
                      (double)atomic_load_explicit(&feed->state.waiting, memory_order_relaxed));
    struct heap heap = {0};
    store_with_ledger(feed->store, read_heap, &heap);
    exposition_family(out, "drawbridge_ledger_memory_bytes", "gauge", "Memory that the ledger holds.");
    exposition_count(out, "drawbridge_ledger_memory_bytes", NULL, 0, heap.used_bytes);
}

static bool make_store(struct serve_feed *feed, int minor, struct fault *fault) {
    struct ledger_options options = {.minor = minor};
    if (getrandom(options.seed, sizeof options.seed, 0) != (ssize_t)sizeof options.seed)
        return fault_set(fault, FAULT_IO, "no random numbers: %s", strerror(errno));
    feed->store = store_new(&options, fault);
    if (feed->store == NULL) return false;
    feed->gate_store = (struct gate_store){.with_view = store_with_view, .state = feed->store};
    return true;
}

bool serve_feed_start(struct serve_feed *feed, const struct serve_settings *settings, int minor,
                      struct health *health, struct collectors *collectors, struct fault *fault) {
    *feed = (struct serve_feed){.health = health, .collectors = collectors};
    if (strcmp(settings->feed, "none") == 0) return true;
    feed_state_init(&feed->state);
    feed->begun = true;
    if (!make_store(feed, minor, fault)) return false;
    if (!health_add(health, "feed", HEALTH_READY, check_synced, feed) ||
        !collectors_add(collectors, collect, feed))
        return fault_set(fault, FAULT_LIMIT, "no room for the feed's checks");
    const struct dirfeed_options options = {.folder = settings->feed + strlen("dir:"),
                                            .minor = minor,
                                            .store = feed->store,
                                            .state = &feed->state};
    return dirfeed_new(&options, &feed->dirfeed, fault) || fault_wrap(fault, "--feed");
}

void serve_feed_stop(struct serve_feed *feed) {
    if (!feed->begun) return;
    health_remove(feed->health, feed);
    collectors_remove(feed->collectors, feed);
    dirfeed_free(feed->dirfeed);
    store_free(feed->store);
    feed_state_release(&feed->state);
    *feed = (struct serve_feed){.store = NULL};
}

const struct gate_store *serve_feed_gate_store(const struct serve_feed *feed) {
    return feed->store == NULL ? NULL : &feed->gate_store;
}
