// SPDX-License-Identifier: Apache-2.0
// The thread: survey, lead or follow, write.
#include "server/operate/operate_state.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "server/log.h"
#include "server/operate/policy_object.h"

#define POLICY_MS 2000
#define PRUNE_MS  60000 // a freeze that ended so long ago is taken out, and how often it is looked for

int64_t operate_wall_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool operate_leads(const struct operate *operate) {
    if (atomic_load_explicit(&operate->stopping, memory_order_relaxed)) return false;
    return !operate->has_server || leader_is(&operate->leader, feed_now_ms());
}

// ---- the Lease

static void step_lease(struct operate *operate) {
    struct fault fault;
    int64_t now_ms = feed_now_ms();
    struct leader *leader = &operate->leader;
    if (now_ms < leader->next_ms || !writer_is_ready(&operate->writer, WRITE_LEASE, now_ms)) return;
    if (!leader_step(leader, &operate->writer.api, now_ms, operate_wall_ms(), &fault))
        writer_failed(&operate->writer, WRITE_LEASE, 0, 0, fault.text);
    else if (leader->holds)
        writer_succeeded(&operate->writer, WRITE_LEASE);
    else
        writer_answered(&operate->writer, WRITE_LEASE);
}

// A new leader knows nothing of what the one before wrote.
static void note_leading(struct operate *operate) {
    bool leads = operate_leads(operate);
    if (leads == operate->led) return;
    operate->led = leads;
    operate->rounds = 0;
    operate->taints_listed_ms = 0;
    for (size_t i = 0; i < operate->pictures.count; i++) {
        operate->pictures.items[i].dirty = true;
        operate->pictures.items[i].written = false;
    }
    if (operate->has_server)
        log_info(0, "operate", leads ? "This replica leads" : "This replica follows",
                 LOG_STRING("identity", operate->leader.identity));
}

// ---- the policy

// Freezes that ended are ignored by everybody; the leader also takes them out.
static void prune_policy(struct operate *operate) {
    struct api_answer answer;
    int64_t wall_ms = operate_wall_ms();
    if (!writer_is_ready(&operate->writer, WRITE_POLICY, feed_now_ms())) return;
    int code =
        writer_send(&operate->writer, WRITE_POLICY, API_GET, POLICY_PATH "/default", NULL, 404, &answer);
    if (code != 200) return;
    json_t *policy = json_loadb(answer.body.ptr, answer.body.len, 0, NULL);
    size_t count = policy_object_prune(&operate->writer.api, policy, wall_ms - PRUNE_MS);
    json_decref(policy);
    if (count == 0) return;
    writer_succeeded(&operate->writer, WRITE_POLICY);
    log_info(0, "operate", "Freezes that had ended are taken out", LOG_NUMBER("count", count));
}

static const char *text_in(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text == NULL ? "" : text;
}

static const char *key_of(const char *key, const json_t *record) {
    return json_object_get(record, key) == NULL ? NULL : key;
}

// Every replica tells what operators did, in its own log and journal.
static void tell_operators(struct operate *operate) {
    size_t index;
    json_t *record;
    json_t *entries = survey_policy_entries(operate->store);
    if (entries == NULL) return;
    json_t *records = policy_watch_step(&operate->watch, entries, operate_wall_ms());
    json_array_foreach(records, index, record) {
        log_info(0, "audit", "Operator action", LOG_STRING("action", text_in(record, "action")),
                 LOG_STRING(key_of("scope", record), text_in(record, "scope")),
                 LOG_STRING(key_of("rule", record), text_in(record, "rule")),
                 LOG_STRING(key_of("to", record), text_in(record, "to")),
                 LOG_STRING(key_of("by", record), text_in(record, "by")),
                 LOG_STRING(key_of("reason", record), text_in(record, "reason")),
                 LOG_STRING(key_of("message", record), text_in(record, "message")),
                 LOG_STRING(key_of("observed", record), text_in(record, "observed")));
        char *text = operate->audit == NULL ? NULL : json_dumps(record, JSON_COMPACT);
        if (text != NULL) operate->audit(operate->audit_context, text_of(text));
        free(text);
    }
    json_decref(records);
}

static void look_at_policy(struct operate *operate) {
    int64_t now_ms = feed_now_ms();
    if (now_ms < operate->policy_next_ms) return;
    operate->policy_next_ms = now_ms + POLICY_MS;
    survey_policy(operate->store, operate_wall_ms(), &operate->policy);
    tell_operators(operate);
    operate_tell_rejections(operate);
    if (!operate->has_server || !operate_leads(operate) || operate->policy.expired == 0 ||
        now_ms < operate->prune_next_ms)
        return;
    operate->prune_next_ms = now_ms + PRUNE_MS;
    prune_policy(operate);
}

// ---- facts

static void note_facts(struct operate *operate) {
    size_t states[FRESHNESS_UNMAPPED + 1] = {0};
    for (size_t i = 0; i < operate->pictures.count; i++) {
        const char *state = json_string_value(json_object_get(operate->pictures.items[i].status, "state"));
        for (int k = 0; state != NULL && k <= FRESHNESS_UNMAPPED; k++)
            states[k] += strcmp(state, freshness_name((enum freshness)k)) == 0;
    }
    pthread_mutex_lock(&operate->mutex);
    struct operate_facts *facts = &operate->facts;
    memcpy(facts->states, states, sizeof states);
    memcpy(facts->frozen, operate->policy.frozen, sizeof facts->frozen);
    facts->leads = operate->led;
    facts->taints_served = operate->taint_prefix[0] != '\0';
    facts->taint_rule_count = json_object_size(operate->taints);
    facts->events_dropped_count =
        operate->events.dropped_count + operate->denied_events.dropped_count + operate->denied.dropped_count;
    facts->events_suppressed_count =
        operate->events.suppressed_count + operate->denied_events.suppressed_count;
    pthread_mutex_unlock(&operate->mutex);
}

void operate_note_denial(struct operate *operate, const struct denied_write *write) {
    int64_t now_ms = feed_now_ms();
    pthread_mutex_lock(&operate->mutex);
    denials_note(&operate->denials, write->pod_uid, now_ms);
    denied_add(&operate->denied, write);
    pthread_mutex_unlock(&operate->mutex);
}

bool operate_is_leader(struct operate *operate) {
    pthread_mutex_lock(&operate->mutex);
    bool leads = operate->facts.leads;
    pthread_mutex_unlock(&operate->mutex);
    return leads && !atomic_load_explicit(&operate->stopping, memory_order_relaxed);
}

void operate_facts(struct operate *operate, struct operate_facts *ret_facts) {
    pthread_mutex_lock(&operate->mutex);
    *ret_facts = operate->facts;
    pthread_mutex_unlock(&operate->mutex);
    for (int i = 0; i < WRITE_KIND_COUNT; i++) {
        ret_facts->written[i] = atomic_load(&operate->writer.kinds[i].succeeded_count);
        ret_facts->failed[i] = atomic_load(&operate->writer.kinds[i].failed_count);
    }
}

// ---- the thread

static void tick(struct operate *operate) {
    operate_survey(operate);
    // What is to be written waits for a whole round over what is listed then.
    if (!survey_is_listed(operate->store)) operate->rounds = 0;
    if (operate->has_server) step_lease(operate);
    note_leading(operate);
    look_at_policy(operate);
    operate_look_at_pods(operate);
    if (operate->has_server && operate_leads(operate)) {
        operate_write_taints(operate);
        operate_write_nodes(operate);
    }
    operate_tell_denials(operate);
    operate_write_events(operate);
    note_facts(operate);
}

static bool wait_for_tick(struct operate *operate) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += OPERATE_TICK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_mutex_lock(&operate->mutex);
    while (!operate->stop && pthread_cond_timedwait(&operate->wake, &operate->mutex, &until) == 0) continue;
    bool stop = operate->stop;
    pthread_mutex_unlock(&operate->mutex);
    return !stop;
}

static void *run(void *context) {
    struct operate *operate = context;
    while (wait_for_tick(operate)) tick(operate);
    // An API server that does not answer is not waited for.
    bool answers = operate->writer.kinds[WRITE_LEASE].failures == 0;
    if (operate->has_server && answers)
        leader_resign(&operate->leader, &operate->writer.api, operate_wall_ms());
    return NULL;
}

static void init_wake(struct operate *operate) {
    pthread_condattr_t attributes;
    pthread_mutex_init(&operate->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&operate->wake, &attributes);
    pthread_condattr_destroy(&attributes);
}

static bool start_thread(struct operate *operate, struct fault *fault) {
    int error = pthread_create(&operate->thread, NULL, run, operate);
    operate->thread_runs = error == 0;
    return operate->thread_runs || fault_set(fault, FAULT_IO, "no thread: %s", strerror(error));
}

bool operate_new(struct operate_options *options, struct operate **ret_operate, struct fault *fault) {
    struct operate *operate = calloc(1, sizeof *operate);
    if (operate == NULL) {
        kubeconfig_release(&options->config);
        return fault_set(fault, FAULT_MEMORY, "no memory for the survey");
    }
    operate->store = options->store;
    operate->minor = options->minor;
    operate->has_server = options->config.server != NULL;
    operate->audit = options->audit;
    operate->audit_context = options->context;
    leader_init(&operate->leader, options->namespace, options->identity);
    init_wake(operate);
    if (!writer_init(&operate->writer, &options->config, fault) || !start_thread(operate, fault)) {
        operate_free(operate);
        return false;
    }
    *ret_operate = operate;
    return true;
}

void operate_free(struct operate *operate) {
    if (operate == NULL) return;
    atomic_store_explicit(&operate->stopping, true, memory_order_relaxed);
    pthread_mutex_lock(&operate->mutex);
    operate->stop = true;
    pthread_cond_signal(&operate->wake);
    pthread_mutex_unlock(&operate->mutex);
    if (operate->thread_runs) pthread_join(operate->thread, NULL);
    pthread_cond_destroy(&operate->wake);
    pthread_mutex_destroy(&operate->mutex);
    writer_release(&operate->writer);
    pictures_release(&operate->pictures);
    event_queue_release(&operate->events);
    event_queue_release(&operate->denied_events);
    policy_watch_release(&operate->watch);
    json_decref(operate->taints);
    free(operate);
}
