// SPDX-License-Identifier: Apache-2.0
// `drawbridge serve`: the admission server, from its settings to its orderly end.
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "certs/file_watch.h"
#include "server/cli/address_file.h"
#include "server/cli/command.h"
#include "server/cli/options.h"
#include "server/cli/serve_audit.h"
#include "server/cli/serve_books.h"
#include "server/cli/serve_certs.h"
#include "server/cli/serve_feed.h"
#include "server/cli/serve_operate.h"
#include "server/config/bounds.h"
#include "server/config/settings.h"
#include "server/http/server.h"
#include "server/kube_version.h"
#include "server/log.h"

#define TICK_MS              1000
#define DRAIN_WAIT_MS        (BOUND_REQUEST_MOST_MS + 2000)
#define TRIM_THRESHOLD_BYTES (32 << 20)
#define MAPPED_BYTES         (1 << 20)
#define ADDRESS_BYTES        80

struct serve {
    struct options *options;
    struct serve_settings settings;
    struct arena texts; // of the rules' settings: they outlive every re-read
    struct rule_settings rules;
    struct judge judge;
    struct serve_certs certs;
    struct client_verifier *verifier;
    struct client_verifier *retired_verifier; // until the next one is retired, or the end
    struct health health;
    struct collectors collectors;
    struct serve_feed feed;
    struct serve_audit audit;
    struct serve_books books;
    struct serve_operate operate;
    struct http_server *server;
    struct file_watch *config_watch;
    _Atomic bool reload_wanted;
};

static void told_of_clients(void *context, const struct fault *fault) {
    (void)context;
    if (fault == NULL)
        log_info(0, "certs", "Client CAs in force");
    else
        log_error("certs", "Client CAs not taken, the old ones stay", fault->text);
}

// For this process: no core files (they would hold keys), few arenas, and memory kept between requests until
// there is nothing in flight.
static void prepare_process(void) {
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    mallopt(M_ARENA_MAX, 2);
    mallopt(M_TRIM_THRESHOLD, TRIM_THRESHOLD_BYTES);
    mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
    signal(SIGPIPE, SIG_IGN);
    // Signals are taken by the main thread alone, where it waits for them; threads inherit the mask.
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

static void use_logging(const struct serve_settings *settings) {
    log_setup(settings->logging_format == LOGGING_JSON ? LOG_AS_JSON : LOG_AS_TEXT, (int)settings->v);
}

static struct deadlines deadlines_of(const struct serve_settings *settings) {
    return (struct deadlines){
        .tls_begin_ms = settings->tls_begin_deadline_ms,
        .header_ms = settings->header_deadline_ms,
        .request_ms = settings->request_deadline_ms,
        .request_most_ms = settings->max_request_deadline_ms,
        .request_reserve_ms = BOUND_REQUEST_RESERVE_MS,
        .idle_ms = settings->idle_connection_deadline_ms,
    };
}

static bool new_verifier(const struct serve_settings *settings, struct client_verifier **ret_verifier,
                         struct fault *fault) {
    const struct client_verifier_files files = {
        .ca_file = settings->client_ca_path,
        .subject_names = (const char *const *)settings->client_subject_names.items,
        .subject_name_count = settings->client_subject_names.count,
        .told = told_of_clients,
    };
    return client_verifier_new(&files, ret_verifier, fault) ||
           fault_wrap(fault, "--client-ca-path %s", settings->client_ca_path);
}

// What judges: the minor, the settings of the rules, and what our own failure answers.
static bool start_judge(struct serve *serve, struct fault *fault) {
    const struct serve_settings *settings = &serve->settings;
    int minor = KUBE_MINOR_DEFAULT;
    struct text version = text_of(settings->kubernetes_version);
    if (version.len > 0 && !kube_version_parse(version, &minor, fault)) return false;
    if (minor > MINOR_NEWEST)
        log_info(0, "serve", "Kubernetes is newer than what is known, judging as the newest known",
                 LOG_NUMBER("minor", minor), LOG_NUMBER("known", MINOR_NEWEST));
    size_t count = settings->numa_attributes.count;
    struct text *names = arena_zalloc(&serve->texts, count + 1, sizeof *names);
    for (size_t i = 0; names != NULL && i < count; i++)
        names[i] = text_copy(&serve->texts, text_of(settings->numa_attributes.items[i]));
    if (serve->texts.poisoned) return fault_set(fault, FAULT_MEMORY, "no memory for the settings");
    serve->rules.numa_attributes = (struct text_list){.items = names, .count = count, .set = true};
    serve->judge.gate = (struct gate){.minor = minor, .settings = &serve->rules};
    atomic_init(&serve->judge.fail_open, settings->failure_policy == FAILURE_POLICY_IGNORE);
    return true;
}

// Where the state of the cluster comes from. Without a feed each object is judged by itself.
static bool start_feed(struct serve *serve, struct fault *fault) {
    return serve_feed_start(&serve->feed, &serve->settings, &serve->judge.gate, &serve->health,
                            &serve->collectors, fault);
}

static void judge_body(void *state, enum review_path path, struct text body, struct arena *arena,
                       struct out *out, struct judgement *ret_judgement) {
    struct serve *serve = state;
    review_judge(&serve->judge, path, body, arena, out, ret_judgement);
    serve_operate_note(&serve->operate, ret_judgement, arena);
    serve_audit_note(&serve->audit, ret_judgement, arena);
}

static bool start_http(struct serve *serve, struct fault *fault) {
    const struct serve_settings *settings = &serve->settings;
    const struct http_options options = {
        .bind_address = settings->bind_address,
        .port = (uint16_t)settings->port,
        .status_bind_address = settings->status_bind_address,
        .threads = (unsigned)settings->max_concurrent_reviews,
        .connections = (unsigned)settings->max_connections,
        .connections_per_ip = (unsigned)settings->max_connections_per_ip,
        .connection_bytes = (size_t)settings->max_connection_bytes,
        .request_bytes = (size_t)settings->max_request_bytes,
        .in_flight_bytes = (size_t)settings->max_in_flight_bytes,
        .small_review_bytes = (size_t)settings->small_review_bytes,
        .review_memory_bytes = (size_t)settings->max_review_memory_bytes,
        .deadlines = deadlines_of(settings),
        .source = serve->certs.source,
        .verifier = serve->verifier,
        .judge = judge_body,
        .judge_state = serve,
        .health = &serve->health,
        .collectors = &serve->collectors,
    };
    return http_server_new(&options, &serve->server, fault);
}

static void config_changed(void *context) {
    struct serve *serve = context;
    atomic_store_explicit(&serve->reload_wanted, true, memory_order_relaxed);
}

static bool start_config_watch(struct serve *serve, struct fault *fault) {
    if (serve->settings.config[0] == '\0') return true;
    const char *const paths[] = {serve->settings.config};
    const struct file_watch_request request = {
        .paths = paths,
        .path_count = 1,
        .limit_bytes = BOUND_CONFIG_BYTES,
        .changed = config_changed,
        .context = serve,
    };
    if (!file_watch_new(&request, &serve->config_watch, fault)) return false;
    // The first call is for the file as it was just read.
    atomic_store_explicit(&serve->reload_wanted, false, memory_order_relaxed);
    return true;
}

// The parts in the order in which they need each other.
static bool start(struct serve *serve, struct fault *fault) {
    arena_init(&serve->texts, BOUND_CONFIG_BYTES);
    health_init(&serve->health);
    collectors_init(&serve->collectors);
    return serve_certs_init(&serve->certs, &serve->settings, fault) &&
           (!serve->settings.enable_client_verification ||
            new_verifier(&serve->settings, &serve->verifier, fault)) &&
           start_judge(serve, fault) && start_feed(serve, fault) &&
           serve_books_start(&serve->books, serve->feed.store, serve->settings.node_metrics,
                             &serve->collectors, fault) &&
           serve_audit_start(&serve->audit, serve->feed.ledger.journal, &serve->collectors, fault) &&
           serve_operate_start(&serve->operate, &serve->settings, &serve->feed, &serve->audit,
                               &serve->collectors, fault) &&
           serve_certs_start(&serve->certs, &serve->settings, &serve->operate, &serve->health,
                             &serve->collectors, fault) &&
           start_http(serve, fault) && start_config_watch(serve, fault);
}

static void stop(struct serve *serve) {
    file_watch_free(serve->config_watch);
    http_server_free(serve->server);
    serve_certs_stop(&serve->certs, &serve->operate);
    serve_operate_stop(&serve->operate);
    serve_audit_stop(&serve->audit);
    serve_books_stop(&serve->books);
    serve_feed_stop(&serve->feed);
    client_verifier_free(serve->verifier);
    client_verifier_free(serve->retired_verifier);
    serve_certs_release(&serve->certs);
    collectors_release(&serve->collectors);
    health_release(&serve->health);
    arena_release(&serve->texts);
}

static bool tell_where(const struct serve *serve, struct fault *fault) {
    char address[ADDRESS_BYTES];
    char status[ADDRESS_BYTES];
    struct source_facts facts;
    http_server_address(serve->server, address, sizeof address);
    http_server_status_address(serve->server, status, sizeof status);
    source_facts(serve->certs.source, &facts);
    if (!facts.usable && serve->certs.serving == NULL)
        log_error("certs", "No certificate yet, no caller can be served", facts.why);
    log_info(0, "serve", "Serving", LOG_STRING("address", address), LOG_STRING("status", status),
             LOG_STRING("version", DRAWBRIDGE_VERSION), LOG_NUMBER("minor", serve->judge.gate.minor),
             LOG_STRING("feed", serve->settings.feed));
    const char *file = serve->settings.address_file;
    return file[0] == '\0' || address_file_write(file, address, status, fault) ||
           fault_wrap(fault, "--address-file");
}

static bool replace_verifier(struct serve *serve, const struct serve_settings *next,
                             const struct settings_change *change, struct fault *fault) {
    if (serve->verifier == NULL) return true;
    if (settings_change_has(change->applied, OPTION_CLIENT_CA_PATH)) {
        struct client_verifier *verifier;
        if (!new_verifier(next, &verifier, fault)) return false;
        http_server_set_verifier(serve->server, verifier);
        client_verifier_free(serve->retired_verifier);
        serve->retired_verifier = serve->verifier;
        serve->verifier = verifier;
        return true;
    }
    return !settings_change_has(change->applied, OPTION_CLIENT_SUBJECT_NAMES) ||
           client_verifier_names(serve->verifier, (const char *const *)next->client_subject_names.items,
                                 next->client_subject_names.count, fault);
}

// Reads the settings again. Whatever is wrong leaves the present ones in force.
static void reload(struct serve *serve) {
    struct serve_settings next;
    struct settings_change change;
    struct fault fault;
    if (!settings_reload(serve->options, &serve->settings, &next, &change, &fault)) {
        log_error("serve", "Settings not taken, the present ones stay", fault.text);
        return;
    }
    if (!replace_verifier(serve, &next, &change, &fault)) {
        log_error("serve", "Settings not taken, the present ones stay", fault.text);
        settings_release(&next);
        return;
    }
    struct deadlines deadlines = deadlines_of(&next);
    http_server_set_deadlines(serve->server, &deadlines);
    atomic_store_explicit(&serve->judge.fail_open, next.failure_policy == FAILURE_POLICY_IGNORE,
                          memory_order_relaxed);
    use_logging(&next);
    char applied[512];
    char waiting[512];
    log_info(
        0, "serve", "Settings read again",
        LOG_STRING("applied", settings_change_names(change.applied, applied, sizeof applied)),
        LOG_STRING("needsRestart", settings_change_names(change.needs_restart, waiting, sizeof waiting)));
    struct serve_settings old = serve->settings;
    serve->settings = next;
    settings_release(&old);
}

// Waits for a signal, at most wait_ms. Returns 0 when none came.
static int wait_for_signal(int64_t wait_ms) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    const struct timespec wait = {.tv_sec = wait_ms / 1000, .tv_nsec = wait_ms % 1000 * 1000000};
    int number = sigtimedwait(&signals, NULL, &wait);
    return number < 0 ? 0 : number;
}

static void run_until_told(struct serve *serve) {
    for (;;) {
        int number = wait_for_signal(TICK_MS);
        if (number == SIGTERM || number == SIGINT) {
            log_info(0, "serve", "Ending", LOG_NUMBER("signal", number),
                     LOG_NUMBER("shutdownDelayMs", serve->settings.shutdown_delay_ms));
            return;
        }
        bool wanted = atomic_exchange_explicit(&serve->reload_wanted, false, memory_order_relaxed);
        if (number == SIGHUP || wanted) reload(serve);
        http_server_tick(serve->server);
        serve_audit_tick(&serve->audit);
    }
}

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// Not ready first, then no new connections, then the end. A second signal cuts the delay short.
static bool drain(struct serve *serve) {
    http_server_begin_drain(serve->server);
    int64_t end_ms = now_ms() + serve->settings.shutdown_delay_ms;
    for (int64_t left_ms = end_ms - now_ms(); left_ms > 0; left_ms = end_ms - now_ms()) {
        int number = wait_for_signal(left_ms);
        if (number == SIGTERM || number == SIGINT) break;
    }
    return http_server_drain(serve->server, DRAIN_WAIT_MS);
}

static int serve_with(struct serve *serve) {
    struct fault fault;
    if (!start(serve, &fault) || !tell_where(serve, &fault)) {
        fprintf(stderr, "drawbridge serve: %s\n", fault.text);
        stop(serve);
        return fault.code == FAULT_USAGE ? EXIT_USAGE : EXIT_UNREADABLE;
    }
    run_until_told(serve);
    if (!drain(serve)) {
        // A handler that hangs would hold the orderly end for ever.
        log_error("serve", "Ending with requests still open", "a request did not end in time");
        _exit(EXIT_UNREADABLE);
    }
    log_info(0, "serve", "Ended");
    stop(serve);
    return EXIT_CLEAN;
}

int cmd_serve(int argc, char **argv) {
    struct options options;
    struct fault fault;
    int code;
    if (!options_start(&options, "serve", argc, argv, &code)) return code;
    struct serve serve = {.options = &options};
    if (options.word_count > 0) {
        fprintf(stderr, "drawbridge serve: unexpected word \"%s\"; see --help\n", options.words[0]);
        options_release(&options);
        return EXIT_USAGE;
    }
    if (!settings_load(&options, &serve.settings, &fault)) {
        fprintf(stderr, "drawbridge serve: %s\n", fault.text);
        options_release(&options);
        return fault.code == FAULT_USAGE ? EXIT_USAGE : EXIT_UNREADABLE;
    }
    if (options_switch(&options, OPTION_PRINT_CONFIG)) {
        code = settings_print(&serve.settings, stdout) && fflush(stdout) == 0 ? EXIT_CLEAN : EXIT_UNREADABLE;
    } else if (!settings_check(&serve.settings, &fault)) {
        fprintf(stderr, "drawbridge serve: %s\n", fault.text);
        code = EXIT_USAGE;
    } else {
        prepare_process();
        use_logging(&serve.settings);
        code = serve_with(&serve);
    }
    settings_release(&serve.settings);
    options_release(&options);
    return code;
}
