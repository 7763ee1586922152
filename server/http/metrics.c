// SPDX-License-Identifier: Apache-2.0
// Counting reviews and showing the counters.
#include "server/http/metrics.h"

#define NANO_PER_S 1e9

static const int64_t bucket_nano[METRICS_BUCKET_COUNT] = {
    100000,   250000,    500000,    1000000,   2500000,    5000000,    10000000,   25000000,
    50000000, 100000000, 250000000, 500000000, 1000000000, 2500000000, 5000000000, 10000000000,
};

static const char *const reason_names[ERROR_REASON_COUNT] = {
    [ERROR_DECODE] = "decode",
    [ERROR_DUPLICATE_KEY] = "duplicate_key",
    [ERROR_VERSION] = "version",
    [ERROR_REQUEST] = "request",
    [ERROR_UID] = "uid",
    [ERROR_TOO_COMPLEX] = "too_complex",
    [ERROR_MEMORY] = "memory",
    [ERROR_UNEXPECTED_RESOURCE] = "unexpected_resource",
    [ERROR_PATH] = "path",
    [ERROR_METHOD] = "method",
    [ERROR_HEADER] = "header",
    [ERROR_LENGTH] = "length",
    [ERROR_CONTENT_TYPE] = "content_type",
    [ERROR_CONTENT_ENCODING] = "content_encoding",
    [ERROR_TOO_LARGE] = "too_large",
    [ERROR_SHED] = "shed",
    [ERROR_CLIENT_CERTIFICATE] = "client_certificate",
    [ERROR_ABORTED] = "aborted",
    [ERROR_INTERNAL] = "internal",
};

static void add(_Atomic uint64_t *counter, uint64_t value) {
    atomic_fetch_add_explicit(counter, value, memory_order_relaxed);
}

static uint64_t get(const _Atomic uint64_t *counter) {
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void metrics_init(struct metrics *metrics) {
    *metrics = (struct metrics){.in_flight = 0};
}

void metrics_count_error(struct metrics *metrics, enum error_reason reason) {
    add(&metrics->errors[reason], 1);
}

void metrics_count_client(struct metrics *metrics, enum client_verdict verdict) {
    add(&metrics->client_rejections[verdict], 1);
}

void metrics_count_refusal(struct metrics *metrics, enum refusal refusal) {
    static const enum error_reason reasons[REFUSAL_COUNT] = {
        [REFUSED_NOT] = ERROR_INTERNAL,
        [REFUSED_PATH] = ERROR_PATH,
        [REFUSED_METHOD] = ERROR_METHOD,
        [REFUSED_LENGTH_MISSING] = ERROR_LENGTH,
        [REFUSED_HEADER] = ERROR_HEADER,
        [REFUSED_LENGTH] = ERROR_LENGTH,
        [REFUSED_CONTENT_TYPE] = ERROR_CONTENT_TYPE,
        [REFUSED_CONTENT_ENCODING] = ERROR_CONTENT_ENCODING,
        [REFUSED_TOO_LARGE] = ERROR_TOO_LARGE,
        [REFUSED_SHED] = ERROR_SHED,
        [REFUSED_CLIENT] = ERROR_CLIENT_CERTIFICATE,
        [REFUSED_MEMORY] = ERROR_MEMORY,
    };
    metrics_count_error(metrics, reasons[refusal]);
}

static enum error_reason reason_of(enum review_error error) {
    switch (error) {
    case REVIEW_NOT_JSON: return ERROR_DECODE;
    case REVIEW_DUPLICATE_KEY: return ERROR_DUPLICATE_KEY;
    case REVIEW_VERSION: return ERROR_VERSION;
    case REVIEW_NO_REQUEST: return ERROR_REQUEST;
    case REVIEW_BAD_UID: return ERROR_UID;
    case REVIEW_TOO_COMPLEX: return ERROR_TOO_COMPLEX;
    case REVIEW_NO_MEMORY: return ERROR_MEMORY;
    case REVIEW_FINE:
    case REVIEW_ERROR_COUNT: break;
    }
    return ERROR_INTERNAL;
}

// The row of a rule: 0 for the schema and for what is not in the table.
static size_t rule_row(const char *id) {
    size_t count;
    const struct rule *rules = registry_rules(&count);
    for (size_t i = 0; i < count && i + 1 < METRICS_RULES_LIMIT; i++)
        if (strcmp(rules[i].id, id) == 0) return i + 1;
    return 0;
}

// One review counts once per rule and action, however many findings there are.
static void count_rules(struct metrics *metrics, const struct finding_list *findings) {
    bool counted[METRICS_RULES_LIMIT][METRICS_ACTIONS] = {{false}};
    for (size_t i = 0; i < findings->count; i++) {
        size_t row = rule_row(findings->items[i].rule);
        enum severity severity = findings->items[i].severity;
        if (counted[row][severity]) continue;
        counted[row][severity] = true;
        add(&metrics->rule_results[row][severity], 1);
    }
}

static void count_duration(struct metrics *metrics, int64_t duration_nano) {
    size_t bucket = 0;
    while (bucket < METRICS_BUCKET_COUNT && duration_nano > bucket_nano[bucket]) bucket++;
    add(&metrics->buckets[bucket], 1);
    add(&metrics->duration_nano, (uint64_t)duration_nano);
}

void metrics_count_judgement(struct metrics *metrics, const struct judgement *judgement,
                             int64_t duration_nano) {
    count_duration(metrics, duration_nano);
    if (judgement->error != REVIEW_FINE) metrics_count_error(metrics, reason_of(judgement->error));
    if (judgement->http_status != 200) return;
    const struct review *review = &judgement->review;
    add(&metrics->requests[review->operation][review->resource][judgement->decision], 1);
    if (review->unknown_count > 0) add(&metrics->unknown_fields, review->unknown_count);
    if (judgement->unexpected) metrics_count_error(metrics, ERROR_UNEXPECTED_RESOURCE);
    if (judgement->decision == DECISION_FAILED) {
        add(&metrics->failures[judgement->answer_allowed], 1);
        if (judgement->error == REVIEW_FINE) metrics_count_error(metrics, ERROR_MEMORY);
    } else if (judgement->findings.count > 0) {
        count_rules(metrics, &judgement->findings);
    }
}

// Series that an alert may ask about are there from the start, with 0.
static bool is_shown_early(int operation, int resource, int decision) {
    return (operation == REVIEW_CREATE || operation == REVIEW_UPDATE) && resource != RESOURCE_OTHER &&
           resource != RESOURCE_PODS && decision != DECISION_AUDITED;
}

static void collect_requests(const struct metrics *metrics, struct exposition *out) {
    static const char name[] = "drawbridge_admission_requests_total";
    exposition_family(out, name, "counter", "Reviews answered, by operation, resource and decision.");
    for (int operation = 0; operation < REVIEW_OPERATION_COUNT; operation++)
        for (int resource = 0; resource < RESOURCE_COUNT; resource++)
            for (int decision = 0; decision < DECISION_COUNT; decision++) {
                uint64_t value = get(&metrics->requests[operation][resource][decision]);
                if (value == 0 && !is_shown_early(operation, resource, decision)) continue;
                struct exposition_label labels[] = {
                    {"operation", text_of(review_operation_name((enum review_operation)operation))},
                    {"resource", text_of(review_resource_name((enum review_resource)resource))},
                    {"decision", text_of(decision_name((enum decision)decision))},
                };
                exposition_count(out, name, labels, 3, value);
            }
}

static void collect_duration(const struct metrics *metrics, struct exposition *out) {
    uint64_t total = 0;
    exposition_family(out, "drawbridge_admission_duration_seconds", "histogram",
                      "Time from the first call of the handler to the answer, the body's arrival included.");
    for (size_t i = 0; i <= METRICS_BUCKET_COUNT; i++) {
        char bound[32] = "+Inf";
        if (i < METRICS_BUCKET_COUNT)
            snprintf(bound, sizeof bound, "%.6g", (double)bucket_nano[i] / NANO_PER_S);
        total += get(&metrics->buckets[i]);
        struct exposition_label label = {"le", text_of(bound)};
        exposition_count(out, "drawbridge_admission_duration_seconds_bucket", &label, 1, total);
    }
    exposition_sample(out, "drawbridge_admission_duration_seconds_sum", NULL, 0,
                      (double)get(&metrics->duration_nano) / NANO_PER_S);
    exposition_count(out, "drawbridge_admission_duration_seconds_count", NULL, 0, total);
}

static void collect_rules(const struct metrics *metrics, struct exposition *out) {
    static const char name[] = "drawbridge_rule_results_total";
    size_t count;
    const struct rule *rules = registry_rules(&count);
    exposition_family(out, name, "counter", "Reviews in which a rule found something, by the action taken.");
    for (size_t row = 0; row <= count && row < METRICS_RULES_LIMIT; row++)
        for (int action = SEVERITY_AUDIT; action <= SEVERITY_DENY; action++) {
            if (row == 0 && action != SEVERITY_DENY) continue;
            struct exposition_label labels[] = {
                {"rule", text_of(row == 0 ? SCHEMA_RULE_ID : rules[row - 1].id)},
                {"result", text_of(severity_name((enum severity)action))},
            };
            exposition_count(out, name, labels, 2, get(&metrics->rule_results[row][action]));
        }
}

static void collect_errors(const struct metrics *metrics, struct exposition *out) {
    exposition_family(out, "drawbridge_admission_errors_total", "counter",
                      "Requests that were not an ordinary review, by reason.");
    for (size_t i = 0; i < ERROR_REASON_COUNT; i++) {
        struct exposition_label label = {"reason", text_of(reason_names[i])};
        exposition_count(out, "drawbridge_admission_errors_total", &label, 1, get(&metrics->errors[i]));
    }
    exposition_family(out, "drawbridge_failures_total", "counter",
                      "Reviews that drawbridge could not judge, by what it answered.");
    for (size_t i = 0; i < 2; i++) {
        struct exposition_label label = {"answer", i == 0 ? TEXT("denied") : TEXT("allowed")};
        exposition_count(out, "drawbridge_failures_total", &label, 1, get(&metrics->failures[i]));
    }
    exposition_family(out, "drawbridge_client_cert_rejections_total", "counter",
                      "Requests refused because of the caller's certificate, by reason.");
    for (int i = 0; i < CLIENT_VERDICTS; i++) {
        if (i == CLIENT_TRUSTED) continue;
        struct exposition_label label = {"reason", text_of(client_verdict_name((enum client_verdict)i))};
        exposition_count(out, "drawbridge_client_cert_rejections_total", &label, 1,
                         get(&metrics->client_rejections[i]));
    }
}

void metrics_collect(void *state, struct exposition *out) {
    struct metrics *metrics = state;
    collect_requests(metrics, out);
    collect_duration(metrics, out);
    collect_rules(metrics, out);
    collect_errors(metrics, out);
    exposition_family(out, "drawbridge_admission_in_flight", "gauge", "Requests begun and not yet answered.");
    exposition_sample(out, "drawbridge_admission_in_flight", NULL, 0,
                      (double)atomic_load_explicit(&metrics->in_flight, memory_order_relaxed));
    exposition_family(out, "drawbridge_unknown_fields_total", "counter",
                      "Fields of reviews that are not known and were ignored.");
    exposition_count(out, "drawbridge_unknown_fields_total", NULL, 0, get(&metrics->unknown_fields));
}
