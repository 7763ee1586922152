// SPDX-License-Identifier: Apache-2.0
// Joining feed, store, gate, health and metrics.
#include "server/cli/serve_feed.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "server/feed/dirfeed.h"
#include "server/feed/kube.h"
#include "server/kube_version.h"
#include "server/log.h"
#include "server/review/gate_ledger.h"
#include "validators/registry/device_judge.h"

#define MS_PER_S 1000.0

static bool check_synced(void *state, char ret_why[HEALTH_WHY_BYTES]) {
    struct serve_feed *feed = state;
    if (!feed_is_synced(&feed->state, ret_why, HEALTH_WHY_BYTES)) return false;
    feed_get_why(&feed->state, ret_why, HEALTH_WHY_BYTES); // a watch that stopped later is shown, no more
    return true;
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

static void collect_watches(struct serve_feed *feed, struct exposition *out) {
    exposition_family(out, "drawbridge_watch_restarts_total", "counter",
                      "Lists and watches that ended, by resource and reason.");
    for (size_t i = 0; i < FEED_KIND_COUNT; i++)
        for (int end = 0; end < WATCH_END_COUNT; end++) {
            uint64_t count = atomic_load_explicit(&feed->state.kinds[i].restarts[end], memory_order_relaxed);
            struct exposition_label labels[] = {{"resource", text_of(feed_kinds[i].resource)},
                                                {"reason", text_of(watch_end_name((enum watch_end)end))}};
            if (count > 0) exposition_count(out, "drawbridge_watch_restarts_total", labels, 2, count);
        }
    exposition_family(out, "drawbridge_watch_events_total", "counter",
                      "Objects and bookmarks that came, by resource.");
    for (size_t i = 0; i < FEED_KIND_COUNT; i++) {
        struct exposition_label label = {"resource", text_of(feed_kinds[i].resource)};
        exposition_count(out, "drawbridge_watch_events_total", &label, 1,
                         atomic_load_explicit(&feed->state.kinds[i].events, memory_order_relaxed));
    }
    exposition_family(out, "drawbridge_feed_memory_bytes", "gauge", "Buffers of the feed.");
    exposition_count(out, "drawbridge_feed_memory_bytes", NULL, 0,
                     atomic_load_explicit(&feed->state.memory_bytes, memory_order_relaxed));
}

// What verdicts rest on is as old as the resource that was heard of longest ago.
static void collect_age(struct serve_feed *feed, struct exposition *out) {
    int64_t now_ms = feed_now_ms(), oldest_ms = 0;
    for (size_t i = 0; i < FEED_KIND_COUNT; i++) {
        const struct feed_kind_state *kind = &feed->state.kinds[i];
        int64_t alive_ms = atomic_load_explicit(&kind->alive_ms, memory_order_relaxed);
        if (alive_ms == 0 || atomic_load_explicit(&kind->absent, memory_order_relaxed)) continue;
        if (oldest_ms == 0 || alive_ms < oldest_ms) oldest_ms = alive_ms;
    }
    exposition_family(out, "drawbridge_ledger_age_seconds", "gauge",
                      "Since the resource that was heard of longest ago was heard of.");
    if (oldest_ms != 0)
        exposition_sample(out, "drawbridge_ledger_age_seconds", NULL, 0,
                          (double)(now_ms - oldest_ms) / MS_PER_S);
}

static void collect_version(struct serve_feed *feed, struct exposition *out) {
    exposition_family(out, "drawbridge_kubernetes_minor", "gauge",
                      "The Kubernetes minor: that is judged by, and that the API server says.");
    struct exposition_label label = {"of", TEXT("judged")};
    exposition_sample(out, "drawbridge_kubernetes_minor", &label, 1, feed->gate->minor);
    int minor = atomic_load_explicit(&feed->state.server_minor, memory_order_relaxed);
    label.value = TEXT("server");
    if (minor != 0) exposition_sample(out, "drawbridge_kubernetes_minor", &label, 1, minor);
    exposition_family(out, "drawbridge_feed_restarts_total", "counter",
                      "Times that everything was forgotten and listed anew, by reason.");
    for (int i = 0; i < FEED_ANEW_COUNT; i++) {
        struct exposition_label reason = {"reason", text_of(feed_anew_name((enum feed_anew)i))};
        exposition_count(out, "drawbridge_feed_restarts_total", &reason, 1,
                         atomic_load_explicit(&feed->state.anew[i], memory_order_relaxed));
    }
}

static void read_heap(struct ledger *ledger, void *context) {
    *(struct heap *)context = *ledger_heap(ledger);
}

static void collect(void *state, struct exposition *out) {
    struct serve_feed *feed = state;
    collect_kinds(feed, out);
    if (feed->kube != NULL) collect_watches(feed, out);
    collect_version(feed, out);
    collect_age(feed, out);
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

static bool make_options(int minor, struct ledger_options *ret_options, struct fault *fault) {
    *ret_options = (struct ledger_options){.minor = minor, .judge = registry_device_judge()};
    return getrandom(ret_options->seed, sizeof ret_options->seed, 0) == (ssize_t)sizeof ret_options->seed ||
           fault_set(fault, FAULT_IO, "no random numbers: %s", strerror(errno));
}

static bool make_store(struct serve_feed *feed, int minor, struct fault *fault) {
    struct ledger_options options;
    if (!make_options(minor, &options, fault)) return false;
    feed->store = store_new(&options, fault);
    if (feed->store == NULL) return false;
    feed->gate_store = gate_store_of(feed->store);
    return true;
}

static int read_version(void *context, struct text version) {
    struct fault fault;
    int minor;
    (void)context;
    if (kube_version_parse(version, &minor, &fault)) return minor;
    log_error("feed", "The cluster cannot be followed", fault.text);
    return 0;
}

// Before anything is listed, and when the cluster is not what it was.
static bool begin_anew(void *context, int minor) {
    struct serve_feed *feed = context;
    struct ledger_options options;
    struct fault fault;
    if (!make_options(minor, &options, &fault) || !store_restart(feed->store, &options, &fault)) {
        log_error("feed", "The cluster cannot be followed", fault.text);
        return false;
    }
    feed->gate->minor = minor;
    return true;
}

bool serve_feed_kubeconfig(const struct serve_settings *settings, struct kubeconfig *ret_config,
                           struct fault *fault) {
    if (settings->kubeconfig[0] != '\0')
        return kubeconfig_load(settings->kubeconfig, settings->context, ret_config, fault) ||
               fault_wrap(fault, "--kubeconfig");
    const char *variable = getenv("KUBECONFIG");
    if (variable != NULL && variable[0] != '\0')
        return kubeconfig_load(variable, settings->context, ret_config, fault) ||
               fault_wrap(fault, "KUBECONFIG");
    return kubeconfig_in_cluster(getenv("KUBERNETES_SERVICE_HOST"), getenv("KUBERNETES_SERVICE_PORT"),
                                 KUBECONFIG_SERVICE_ACCOUNT, ret_config, fault) ||
           fault_wrap(fault, "--feed kube");
}

static bool start_kube(struct serve_feed *feed, const struct serve_settings *settings, struct fault *fault) {
    struct kube_options options = {.minor = settings->kubernetes_version[0] == '\0' ? 0 : feed->gate->minor,
                                   .read_version = read_version,
                                   .begin_anew = begin_anew,
                                   .context = feed,
                                   .store = feed->store,
                                   .state = &feed->state};
    if (getrandom(&options.seed, sizeof options.seed, 0) != (ssize_t)sizeof options.seed)
        return fault_set(fault, FAULT_IO, "no random numbers: %s", strerror(errno));
    return serve_feed_kubeconfig(settings, &options.config, fault) && kube_new(&options, &feed->kube, fault);
}

static bool start_dirfeed(struct serve_feed *feed, const struct serve_settings *settings,
                          struct fault *fault) {
    const struct dirfeed_options options = {.folder = settings->feed + strlen("dir:"),
                                            .minor = feed->gate->minor,
                                            .store = feed->store,
                                            .state = &feed->state};
    return dirfeed_new(&options, &feed->dirfeed, fault) || fault_wrap(fault, "--feed");
}

// For the journal, when it has lost rows.
static void list_again(void *state) {
    const struct serve_feed *feed = state;
    if (feed->dirfeed != NULL) dirfeed_list_again(feed->dirfeed);
    if (feed->kube != NULL) kube_list_again(feed->kube);
}

bool serve_feed_start(struct serve_feed *feed, const struct serve_settings *settings, struct gate *gate,
                      struct health *health, struct collectors *collectors, struct fault *fault) {
    *feed = (struct serve_feed){.gate = gate, .health = health, .collectors = collectors};
    if (strcmp(settings->feed, "none") == 0) return true;
    feed_state_init(&feed->state);
    feed->begun = true;
    if (!make_store(feed, gate->minor, fault)) return false;
    gate->store = &feed->gate_store;
    if (!serve_ledger_start(&feed->ledger, settings->ledger_dir, feed->store, collectors, fault))
        return false;
    bool started = strcmp(settings->feed, "kube") == 0 ? start_kube(feed, settings, fault)
                                                       : start_dirfeed(feed, settings, fault);
    if (!started) return false;
    serve_ledger_use_feed(&feed->ledger, list_again, feed);
    return (health_add(health, "feed", HEALTH_READY, check_synced, feed) &&
            collectors_add(collectors, collect, feed)) ||
           fault_set(fault, FAULT_LIMIT, "no room for the feed's checks");
}

void serve_feed_stop(struct serve_feed *feed) {
    if (!feed->begun) return;
    health_remove(feed->health, feed);
    collectors_remove(feed->collectors, feed);
    serve_ledger_use_feed(&feed->ledger, NULL, NULL);
    dirfeed_free(feed->dirfeed);
    kube_free(feed->kube);
    feed->gate->store = NULL;
    serve_ledger_stop(&feed->ledger);
    store_free(feed->store);
    feed_state_release(&feed->state);
    *feed = (struct serve_feed){.store = NULL};
}
