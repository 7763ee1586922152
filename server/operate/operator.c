// SPDX-License-Identifier: Apache-2.0
// The thread: survey, lead or follow, write.
#include "server/operate/operator_state.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "server/log.h"
#include "server/operate/policy_object.h"

#define POLICY_MS 2000
#define PRUNE_MS  60000 // a freeze that ended so long ago is taken out, and how often it is looked for

int64_t operator_wall_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool operator_leads(const struct operator* operator) {
    return !operator->has_server || leader_is(&operator->leader, feed_now_ms());
}

// ---- the Lease

static void step_lease(struct operator* operator) {
    struct fault fault;
    int64_t now_ms = feed_now_ms();
    struct leader *leader = &operator->leader;
    if (now_ms < leader->next_ms || !writer_is_ready(&operator->writer, WRITE_LEASE, now_ms)) return;
    if (leader_step(leader, &operator->writer.api, now_ms, operator_wall_ms(), &fault))
        writer_succeeded(&operator->writer, WRITE_LEASE);
    else
        writer_failed(&operator->writer, WRITE_LEASE, fault.code == FAULT_UNREACHABLE ? 0 : 403, 0,
                      fault.text);
}

// A new leader knows nothing of what the one before wrote.
static void note_leading(struct operator* operator) {
    bool leads = operator_leads(operator);
    if (leads == operator->led) return;
    operator->led = leads;
    operator->rounds = 0;
    operator->taints_listed_ms = 0;
    for (size_t i = 0; i < operator->pictures.count; i++) {
        operator->pictures.items[i].dirty = true;
        operator->pictures.items[i].written = false;
    }
    if (operator->has_server)
        log_info(0, "operate", leads ? "This replica leads" : "This replica follows",
                 LOG_STRING("identity", operator->leader.identity));
}

// ---- the policy

// Freezes that ended are ignored by everybody; the leader also takes them out.
static void prune_policy(struct operator* operator) {
    struct api_answer answer;
    int64_t wall_ms = operator_wall_ms();
    if (!writer_is_ready(&operator->writer, WRITE_POLICY, feed_now_ms())) return;
    int code =
        writer_send(&operator->writer, WRITE_POLICY, API_GET, POLICY_PATH "/default", NULL, 404, &answer);
    if (code != 200) return;
    json_t *policy = json_loadb(answer.body.ptr, answer.body.len, 0, NULL);
    size_t count = policy_object_prune(&operator->writer.api, policy, wall_ms - PRUNE_MS);
    json_decref(policy);
    if (count > 0) log_info(0, "operate", "Freezes that had ended are taken out", LOG_NUMBER("count", count));
}

static void look_at_policy(struct operator* operator) {
    int64_t now_ms = feed_now_ms();
    if (now_ms < operator->policy_next_ms) return;
    operator->policy_next_ms = now_ms + POLICY_MS;
    survey_policy(operator->store, operator_wall_ms(), &operator->policy);
    operator_tell_rejections(operator);
    if (!operator->has_server || !operator_leads(operator) ||
        operator->policy.expired == 0 || now_ms<operator->prune_next_ms)
        return;
    operator->prune_next_ms = now_ms + PRUNE_MS;
    prune_policy(operator);
}

// ---- facts

static void note_facts(struct operator* operator) {
    size_t states[FRESHNESS_UNMAPPED + 1] = {0};
    for (size_t i = 0; i < operator->pictures.count; i++) {
        const char *state = json_string_value(json_object_get(operator->pictures.items[i].status, "state"));
        for (int k = 0; state != NULL && k <= FRESHNESS_UNMAPPED; k++)
            states[k] += strcmp(state, freshness_name((enum freshness)k)) == 0;
    }
    pthread_mutex_lock(&operator->mutex);
    struct operator_facts *facts = &operator->facts;
    memcpy(facts->states, states, sizeof states);
    memcpy(facts->frozen, operator->policy.frozen, sizeof facts->frozen);
    facts->leads = operator->led;
    facts->taints_served = operator->taint_prefix[0] != '\0';
    facts->taint_rule_count = json_object_size(operator->taints);
    facts->events_dropped_count = operator->events.dropped_count;
    facts->events_suppressed_count = operator->events.suppressed_count;
    pthread_mutex_unlock(&operator->mutex);
}

void operator_facts(struct operator* operator, struct operator_facts * ret_facts) {
    pthread_mutex_lock(&operator->mutex);
    *ret_facts = operator->facts;
    pthread_mutex_unlock(&operator->mutex);
    for (int i = 0; i < WRITE_KIND_COUNT; i++) {
        ret_facts->written[i] = atomic_load(&operator->writer.kinds[i].succeeded_count);
        ret_facts->failed[i] = atomic_load(&operator->writer.kinds[i].failed_count);
    }
}

// ---- the thread

static void tick(struct operator* operator) {
    operator_survey(operator);
    if (operator->has_server) step_lease(operator);
    note_leading(operator);
    look_at_policy(operator);
    operator_look_at_pods(operator);
    if (operator->has_server && operator_leads(operator)) {
        operator_write_taints(operator);
        operator_write_nodes(operator);
    }
    operator_write_events(operator);
    note_facts(operator);
}

static bool wait_for_tick(struct operator* operator) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += OPERATOR_TICK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_mutex_lock(&operator->mutex);
    while (!operator->stop && pthread_cond_timedwait(&operator->wake, &operator->mutex, &until) == 0)
        continue;
    bool stop = operator->stop;
    pthread_mutex_unlock(&operator->mutex);
    return !stop;
}

static void *run(void *context) {
    struct operator* operator= context;
    while (wait_for_tick(operator)) tick(operator);
    if (operator->has_server) leader_resign(&operator->leader, &operator->writer.api, operator_wall_ms());
    return NULL;
}

static void init_wake(struct operator* operator) {
    pthread_condattr_t attributes;
    pthread_mutex_init(&operator->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&operator->wake, &attributes);
    pthread_condattr_destroy(&attributes);
}

static bool start_thread(struct operator* operator, struct fault * fault) {
    int error = pthread_create(&operator->thread, NULL, run, operator);
    operator->thread_runs = error == 0;
    return operator->thread_runs || fault_set(fault, FAULT_IO, "no thread: %s", strerror(error));
}

bool operator_new(struct operator_options *options, struct operator** ret_operator, struct fault *fault) {
    struct operator* operator= calloc(1, sizeof *operator);
    if (operator== NULL) {
        kubeconfig_release(&options->config);
        return fault_set(fault, FAULT_MEMORY, "no memory for the operator");
    }
    operator->store = options->store;
    operator->minor = options->minor;
    operator->has_server = options->config.server != NULL;
    leader_init(&operator->leader, options->namespace, options->identity);
    init_wake(operator);
    if (!writer_init(&operator->writer, &options->config, fault) || !start_thread(operator, fault)) {
        operator_free(operator);
        return false;
    }
    *ret_operator = operator;
    return true;
}

void operator_free(struct operator* operator) {
    if (operator== NULL) return;
    pthread_mutex_lock(&operator->mutex);
    operator->stop = true;
    pthread_cond_signal(&operator->wake);
    pthread_mutex_unlock(&operator->mutex);
    if (operator->thread_runs) pthread_join(operator->thread, NULL);
    pthread_cond_destroy(&operator->wake);
    pthread_mutex_destroy(&operator->mutex);
    writer_release(&operator->writer);
    pictures_release(&operator->pictures);
    event_queue_release(&operator->events);
    json_decref(operator->names);
    json_decref(operator->taints);
    free(operator);
}
