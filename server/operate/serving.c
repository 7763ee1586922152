// SPDX-License-Identifier: Apache-2.0
// The thread, and what others ask of it.
#include "server/operate/serving_state.h"

#include <errno.h>
#include <stdlib.h>

#define AGAIN_MS        100
#define POLL_UNREADY_MS 1000
#define POLL_LEAST_MS   250
#define POLLS_IN_A_LIFE 40 // at least so many

static int64_t poll_ms(const struct serving *serving) {
    int64_t shorter_s =
        serving->lives.ca_s < serving->lives.leaf_s ? serving->lives.ca_s : serving->lives.leaf_s;
    int64_t wait_ms = shorter_s * 1000 / POLLS_IN_A_LIFE;
    if (wait_ms > SERVING_POLL_MOST_MS) wait_ms = SERVING_POLL_MOST_MS;
    if (serving->lost_ms != 0 && wait_ms > POLL_UNREADY_MS) wait_ms = POLL_UNREADY_MS;
    if (wait_ms < POLL_LEAST_MS) wait_ms = POLL_LEAST_MS;
    return serving->again ? AGAIN_MS : wait_ms;
}

static bool wait_for_turn(struct serving *serving, int64_t wait_ms) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += wait_ms / 1000;
    until.tv_nsec += wait_ms % 1000 * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_mutex_lock(&serving->mutex);
    while (!serving->stop && pthread_cond_timedwait(&serving->wake, &serving->mutex, &until) == 0) continue;
    bool stop = serving->stop;
    pthread_mutex_unlock(&serving->mutex);
    return !stop;
}

static void *run(void *context) {
    struct serving *serving = context;
    do {
        serving->again = false;
        serving_round(serving);
        source_tidy(serving->source);
    } while (wait_for_turn(serving, poll_ms(serving)));
    return NULL;
}

// ---- start and end

static char *copy(const char *text) {
    return strndup(text, strlen(text));
}

static bool add_hooks(struct serving *serving, enum write_kind kind, const struct serving_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        struct serving_hook *hook = &serving->hooks[serving->hook_count++];
        *hook = (struct serving_hook){.kind = kind, .name = copy(list->items[i])};
        if (hook->name == NULL) return false;
    }
    return true;
}

static bool take_options(struct serving *serving, const struct serving_options *options,
                         struct fault *fault) {
    if (options->validating.count + options->mutating.count > SERVING_HOOKS_LIMIT)
        return fault_set(fault, FAULT_LIMIT, "more than %u webhook configurations are named",
                         SERVING_HOOKS_LIMIT);
    if (options->names.count > SERVING_NAMES_LIMIT)
        return fault_set(fault, FAULT_LIMIT, "more than %u names for one certificate", SERVING_NAMES_LIMIT);
    serving->source = options->source;
    serving->leads = options->leads;
    serving->context = options->context;
    serving->lives = options->lives;
    serving->namespace = copy(options->namespace);
    serving->secret_name = copy(options->secret);
    bool fine = serving->namespace != NULL && serving->secret_name != NULL;
    for (size_t i = 0; fine && i < options->names.count; i++) {
        serving->names[i] = copy(options->names.items[i]);
        fine = serving->names[i] != NULL;
        serving->name_count += fine;
    }
    fine = fine && add_hooks(serving, WRITE_VALIDATING_HOOKS, &options->validating) &&
           add_hooks(serving, WRITE_MUTATING_HOOKS, &options->mutating);
    return fine || fault_set(fault, FAULT_MEMORY, "out of memory");
}

static void init_wake(struct serving *serving) {
    pthread_condattr_t attributes;
    pthread_mutex_init(&serving->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&serving->wake, &attributes);
    pthread_condattr_destroy(&attributes);
}

static bool start_thread(struct serving *serving, struct fault *fault) {
    int error = pthread_create(&serving->thread, NULL, run, serving);
    serving->thread_runs = error == 0;
    return serving->thread_runs || fault_set(fault, FAULT_IO, "no thread: %s", strerror(error));
}

bool serving_new(struct serving_options *options, struct serving **ret_serving, struct fault *fault) {
    struct serving *serving = calloc(1, sizeof *serving);
    if (serving == NULL) {
        kubeconfig_release(&options->config);
        return fault_set(fault, FAULT_MEMORY, "out of memory");
    }
    init_wake(serving);
    serving->lost_ms = feed_now_ms();
    snprintf(serving->why, sizeof serving->why, "not looked at yet");
    bool has_writer = writer_init(&serving->writer, &options->config, fault);
    if (!has_writer || !take_options(serving, options, fault) || !start_thread(serving, fault)) {
        serving_free(serving);
        return false;
    }
    *ret_serving = serving;
    return true;
}

void serving_free(struct serving *serving) {
    if (serving == NULL) return;
    pthread_mutex_lock(&serving->mutex);
    serving->stop = true;
    pthread_cond_signal(&serving->wake);
    pthread_mutex_unlock(&serving->mutex);
    if (serving->thread_runs) pthread_join(serving->thread, NULL);
    pthread_cond_destroy(&serving->wake);
    pthread_mutex_destroy(&serving->mutex);
    writer_release(&serving->writer);
    X509_free(serving->leaf);
    for (size_t i = 0; i < serving->hook_count; i++) {
        hooks_release(&serving->hooks[i].hooks);
        free(serving->hooks[i].name);
    }
    for (size_t i = 0; i < serving->name_count; i++) free(serving->names[i]);
    free(serving->namespace);
    free(serving->secret_name);
    free(serving);
}

// ---- for others

bool serving_is_ready(struct serving *serving, char *ret_why, size_t why_bytes) {
    pthread_mutex_lock(&serving->mutex);
    int64_t lost_ms = serving->lost_ms;
    bool ready = lost_ms == 0 || (serving->was_accepted && feed_now_ms() - lost_ms < SERVING_GRACE_MS);
    if (lost_ms != 0) snprintf(ret_why, why_bytes, "%s", serving->why);
    pthread_mutex_unlock(&serving->mutex);
    return ready;
}

void serving_facts(struct serving *serving, struct serving_facts *ret_facts) {
    pthread_mutex_lock(&serving->mutex);
    *ret_facts = serving->facts;
    pthread_mutex_unlock(&serving->mutex);
    for (int i = 0; i < WRITE_KIND_COUNT; i++) {
        ret_facts->written[i] = atomic_load(&serving->writer.kinds[i].succeeded_count);
        ret_facts->failed[i] = atomic_load(&serving->writer.kinds[i].failed_count);
    }
}
