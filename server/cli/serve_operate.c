// SPDX-License-Identifier: Apache-2.0
// Joining operate, feed and metrics.
#include "server/cli/serve_operate.h"

#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "server/operate/serving.h"
#include "validators/registry/message.h"
#include "validators/rules/claim_gate.h"

#define CONSUMERS_TOLD 4u
#define NAMESPACE_FILE KUBECONFIG_SERVICE_ACCOUNT "/namespace"

// ---- metrics

static void collect_writes(const struct operate_facts *facts, struct exposition *out) {
    exposition_family(out, "drawbridge_writes_total", "counter",
                      "Writes to the API server by resource and result.");
    for (int i = 0; i < WRITE_KIND_COUNT; i++) {
        struct exposition_label labels[] = {{"resource", text_of(write_kind_name((enum write_kind)i))},
                                            {"result", TEXT("succeeded")}};
        exposition_count(out, "drawbridge_writes_total", labels, 2, facts->written[i]);
        labels[1].value = TEXT("failed");
        exposition_count(out, "drawbridge_writes_total", labels, 2, facts->failed[i]);
    }
    exposition_family(out, "drawbridge_leader", "gauge", "Whether this replica writes.");
    exposition_count(out, "drawbridge_leader", NULL, 0, facts->leads);
    exposition_family(out, "drawbridge_taint_rules_served", "gauge",
                      "Whether the API server serves DeviceTaintRules, as far as this replica asked.");
    exposition_count(out, "drawbridge_taint_rules_served", NULL, 0, facts->taints_served);
    exposition_family(out, "drawbridge_taint_rules", "gauge", "DeviceTaintRules of ours.");
    exposition_count(out, "drawbridge_taint_rules", NULL, 0, facts->taint_rule_count);
    exposition_family(out, "drawbridge_gates_removed_total", "counter",
                      "Pods whose scheduling gate was removed.");
    exposition_count(out, "drawbridge_gates_removed_total", NULL, 0, facts->gates_removed_count);
    exposition_family(out, "drawbridge_events_dropped_total", "counter",
                      "Events that were not written, by reason.");
    struct exposition_label label = {"reason", TEXT("full")};
    exposition_count(out, "drawbridge_events_dropped_total", &label, 1, facts->events_dropped_count);
    label.value = TEXT("repeated");
    exposition_count(out, "drawbridge_events_dropped_total", &label, 1, facts->events_suppressed_count);
}

static void collect_durations(const struct operate_facts *facts, struct exposition *out) {
    uint64_t count = 0;
    exposition_family(out, "drawbridge_hold_duration_seconds", "histogram",
                      "How long Pods were held by taint rule or gate, told when a hold ends.");
    for (size_t i = 0; i < HOLD_BUCKET_COUNT; i++) {
        char bound[24] = "+Inf";
        if (i + 1 < HOLD_BUCKET_COUNT) snprintf(bound, sizeof bound, "%g", hold_bucket_s[i]);
        struct exposition_label label = {"le", text_of(bound)};
        count += facts->hold_buckets[i];
        exposition_count(out, "drawbridge_hold_duration_seconds_bucket", &label, 1, count);
    }
    exposition_sample(out, "drawbridge_hold_duration_seconds_sum", NULL, 0, facts->hold_ended_sum_s);
    exposition_count(out, "drawbridge_hold_duration_seconds_count", NULL, 0, facts->hold_ended_count);
}

// The certificate's thread writes through a connection of its own.
static void add_writes(struct serving *serving, struct operate_facts *facts) {
    struct serving_facts more;
    serving_facts(serving, &more);
    for (int i = 0; i < WRITE_KIND_COUNT; i++) {
        facts->written[i] += more.written[i];
        facts->failed[i] += more.failed[i];
    }
}

static void collect(void *state, struct exposition *out) {
    static const char *const scopes[] = {"cluster", "driver", "node", "namespace"};
    const struct serve_operate *operate = state;
    struct operate_facts facts;
    operate_facts(operate->operate, &facts);
    if (operate->serving != NULL) add_writes(operate->serving, &facts);
    exposition_family(out, "drawbridge_ledger_states", "gauge", "Nodes by the state of their ledger.");
    for (int i = 0; i <= FRESHNESS_UNMAPPED; i++) {
        struct exposition_label label = {"state", text_of(freshness_name((enum freshness)i))};
        exposition_count(out, "drawbridge_ledger_states", &label, 1, facts.states[i]);
    }
    exposition_family(out, "drawbridge_held_pods", "gauge", "Pods that are held, by step.");
    for (int i = 0; i < HOLD_STEP_COUNT; i++) {
        struct exposition_label step = {"step", text_of(hold_step_name((enum hold_step)i))};
        exposition_count(out, "drawbridge_held_pods", &step, 1, facts.held[i]);
    }
    collect_durations(&facts, out);
    exposition_family(out, "drawbridge_frozen", "gauge", "Freezes in force, by what they freeze.");
    for (size_t i = 0; i < sizeof scopes / sizeof scopes[0]; i++) {
        struct exposition_label label = {"scope", text_of(scopes[i])};
        exposition_count(out, "drawbridge_frozen", &label, 1, facts.frozen[i]);
    }
    collect_writes(&facts, out);
}

// ---- start and end

void serve_operate_namespace(char ret_namespace[LEADER_NAMESPACE_BYTES]) {
    const char *variable = getenv("POD_NAMESPACE");
    snprintf(ret_namespace, LEADER_NAMESPACE_BYTES, "%s", variable == NULL ? "" : variable);
    if (ret_namespace[0] != '\0') return;
    FILE *file = fopen(NAMESPACE_FILE, "re");
    if (file != NULL && fgets(ret_namespace, (int)LEADER_NAMESPACE_BYTES, file) != NULL)
        ret_namespace[strcspn(ret_namespace, "\n")] = '\0';
    if (file != NULL) fclose(file);
    if (ret_namespace[0] == '\0') snprintf(ret_namespace, LEADER_NAMESPACE_BYTES, "default");
}

// A name for people, and a number so that two of one name are two.
static void replica_identity(char ret_identity[LEADER_IDENTITY_BYTES]) {
    const char *variable = getenv("POD_NAME");
    char host[65] = "drawbridge";
    uint32_t number = 0;
    if (variable != NULL && variable[0] != '\0')
        snprintf(host, sizeof host, "%s", variable);
    else
        (void)gethostname(host, sizeof host - 1);
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) number = (uint32_t)getpid();
    snprintf(ret_identity, LEADER_IDENTITY_BYTES, "%s_%08x", host, number);
}

bool serve_operate_start(struct serve_operate *operate, const struct serve_settings *settings,
                         const struct serve_feed *feed, struct serve_audit *audit,
                         struct collectors *collectors, struct fault *fault) {
    char namespace[LEADER_NAMESPACE_BYTES], identity[LEADER_IDENTITY_BYTES];
    *operate = (struct serve_operate){.collectors = collectors};
    if (feed->store == NULL) return true;
    serve_operate_namespace(namespace);
    replica_identity(identity);
    struct operate_options options = {.store = feed->store,
                                      .minor = &feed->gate->minor,
                                      .namespace = namespace,
                                      .identity = identity,
                                      .audit = serve_audit_operator,
                                      .context = audit};
    if (strcmp(settings->feed, "kube") == 0 && !serve_feed_kubeconfig(settings, &options.config, fault))
        return false;
    if (!operate_new(&options, &operate->operate, fault)) return false;
    return collectors_add(collectors, collect, operate) ||
           fault_set(fault, FAULT_LIMIT, "no room for the leader's metrics");
}

static bool is_reserved(const struct resource_claim *claim, struct text pod_uid) {
    for (size_t i = 0; i < claim->reserved_for.count; i++)
        if (text_equal(claim->reserved_for.items[i].uid, pod_uid)) return true;
    return false;
}

void serve_operate_note(struct serve_operate *operate, struct judgement *judgement, struct arena *arena) {
    const struct review *review = &judgement->review;
    if (operate->operate == NULL || judgement->decision != DECISION_DENIED || review->dry_run ||
        review->object.kind != KIND_RESOURCE_CLAIM || !text_equal(review->subresource, TEXT("status")))
        return;
    const struct resource_claim *claim = &review->object.claim;
    struct denied_write write = {
        .namespace = review->namespace,
        .claim = review->name,
        .claim_uid = claim->metadata.uid,
        .node = selector_node(claim->allocation.node_selector),
        .note = message_for_scheduler(arena, &judgement->findings, SEVERITY_DENY),
    };
    size_t told = 0;
    for (size_t i = 0; i < claim->reserved_for.count && told < CONSUMERS_TOLD; i++) {
        write.pod_uid = claim->reserved_for.items[i].uid;
        if (review->old_set && is_reserved(&review->old.claim, write.pod_uid)) continue;
        told++;
        operate_note_denial(operate->operate, &write);
    }
}

void serve_operate_stop(struct serve_operate *operate) {
    if (operate->collectors != NULL) collectors_remove(operate->collectors, operate);
    operate_free(operate->operate);
    *operate = (struct serve_operate){.operate = NULL};
}
