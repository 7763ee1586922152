// SPDX-License-Identifier: Apache-2.0
// Joining source, the thread that issues, health and metrics.
#include "server/cli/serve_certs.h"

#include "server/log.h"

static void told_of_pair(void *context, enum source_event event, const struct fault *fault) {
    (void)context;
    if (event == SOURCE_ROTATED)
        log_info(0, "certs", "Certificate in force");
    else
        log_error("certs", "Certificate not taken, the old one stays", fault->text);
}

bool serve_certs_init(struct serve_certs *certs, const struct serve_settings *settings, struct fault *fault) {
    *certs = (struct serve_certs){.source = NULL};
    const struct source_files files = {
        .cert_file = settings->tls_cert_file,
        .key_file = settings->tls_private_key_file,
        .handshake_deadline_ms = settings->header_deadline_ms,
        .told = told_of_pair,
    };
    return source_new(&files, &certs->source, fault);
}

void serve_certs_release(struct serve_certs *certs) {
    source_free(certs->source);
    certs->source = NULL;
}

// ---- health and metrics

static bool check_bundles(void *state, char ret_why[HEALTH_WHY_BYTES]) {
    const struct serve_certs *certs = state;
    return serving_is_ready(certs->serving, ret_why, HEALTH_WHY_BYTES);
}

static void collect_authorities(const struct serving_facts *facts, struct exposition *out) {
    static const char *const changes[SERVING_CHANGES] = {"made", "prepared", "promoted", "mended"};
    exposition_family(out, "drawbridge_serving_ca_not_after_timestamp_seconds", "gauge",
                      "When a CA of our own certificates ends, since the epoch; next waits to be trusted.");
    struct exposition_label label = {"ca", TEXT("signer")};
    if (facts->signer_not_after != 0)
        exposition_sample(out, "drawbridge_serving_ca_not_after_timestamp_seconds", &label, 1,
                          (double)facts->signer_not_after);
    label.value = TEXT("next");
    if (facts->next_not_after != 0)
        exposition_sample(out, "drawbridge_serving_ca_not_after_timestamp_seconds", &label, 1,
                          (double)facts->next_not_after);
    exposition_family(out, "drawbridge_serving_ca_changes_total", "counter",
                      "Changes of the Secret of the CA that this replica made, by what was done.");
    for (int i = 0; i < SERVING_CHANGES; i++) {
        struct exposition_label change = {"change", text_of(changes[i])};
        exposition_count(out, "drawbridge_serving_ca_changes_total", &change, 1, facts->changes[i]);
    }
}

static void collect(void *state, struct exposition *out) {
    const struct serve_certs *certs = state;
    struct serving_facts facts;
    serving_facts(certs->serving, &facts);
    collect_authorities(&facts, out);
    exposition_family(out, "drawbridge_ca_bundle_accepted", "gauge",
                      "Whether every caBundle vouches for our certificate, by kind of webhook.");
    struct exposition_label label = {"webhooks", TEXT("validating")};
    exposition_count(out, "drawbridge_ca_bundle_accepted", &label, 1, facts.accepted[0]);
    label.value = TEXT("mutating");
    exposition_count(out, "drawbridge_ca_bundle_accepted", &label, 1, facts.accepted[1]);
    exposition_family(out, "drawbridge_ca_bundle_accepted_timestamp_seconds", "gauge",
                      "When every caBundle was last seen to vouch for our certificate, since the epoch.");
    exposition_sample(out, "drawbridge_ca_bundle_accepted_timestamp_seconds", NULL, 0,
                      (double)facts.accepted_at);
}

// ---- start and end

static bool leads(void *context) {
    return operate_is_leader(context);
}

static struct serving_list list_of(const struct setting_list *list) {
    return (struct serving_list){(const char *const *)list->items, list->count};
}

bool serve_certs_start(struct serve_certs *certs, const struct serve_settings *settings,
                       struct serve_operate *operate, struct health *health, struct collectors *collectors,
                       struct fault *fault) {
    char namespace[LEADER_NAMESPACE_BYTES];
    if (settings->dynamic_serving_ca_secret_name[0] == '\0') return true;
    serve_operate_namespace(namespace);
    if (settings->dynamic_serving_ca_secret_namespace[0] != '\0')
        snprintf(namespace, sizeof namespace, "%s", settings->dynamic_serving_ca_secret_namespace);
    struct serving_options options = {
        .source = certs->source,
        .namespace = namespace,
        .secret = settings->dynamic_serving_ca_secret_name,
        .names = list_of(&settings->dynamic_serving_dns_names),
        .validating = list_of(&settings->validating_webhook_configurations),
        .mutating = list_of(&settings->mutating_webhook_configurations),
        .lives = rotation_lives_of(settings->dynamic_serving_ca_duration_ms / 1000,
                                   settings->dynamic_serving_leaf_duration_ms / 1000),
        .leads = leads,
        .context = operate->operate,
    };
    if (!serve_feed_kubeconfig(settings, &options.config, fault)) return false;
    if (!serving_new(&options, &certs->serving, fault)) return false;
    certs->health = health;
    certs->collectors = collectors;
    operate->serving = certs->serving;
    return (health_add(health, "ca-bundle", HEALTH_READY, check_bundles, certs) &&
            collectors_add(collectors, collect, certs)) ||
           fault_set(fault, FAULT_LIMIT, "no room for the certificate's checks");
}

void serve_certs_stop(struct serve_certs *certs, struct serve_operate *operate) {
    if (certs->serving == NULL) return;
    health_remove(certs->health, certs);
    collectors_remove(certs->collectors, certs);
    operate->serving = NULL;
    serving_free(certs->serving);
    certs->serving = NULL;
}
