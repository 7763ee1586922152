// SPDX-License-Identifier: Apache-2.0
// The counters of the admission server. Labels are bounded: operation, resource, decision, reason, rule.
#ifndef DRAWBRIDGE_HTTP_METRICS_H
#define DRAWBRIDGE_HTTP_METRICS_H

#include <stdatomic.h>

#include "certs/client_verify.h"
#include "server/http/exposition.h"
#include "server/http/head.h"
#include "server/review/judge.h"

// Every reason of drawbridge_admission_errors_total.
enum error_reason {
    ERROR_DECODE,
    ERROR_DUPLICATE_KEY,
    ERROR_VERSION,
    ERROR_REQUEST,
    ERROR_UID,
    ERROR_TOO_COMPLEX,
    ERROR_MEMORY,
    ERROR_UNEXPECTED_RESOURCE,
    ERROR_PATH,
    ERROR_METHOD,
    ERROR_HEADER,
    ERROR_LENGTH,
    ERROR_CONTENT_TYPE,
    ERROR_CONTENT_ENCODING,
    ERROR_TOO_LARGE,
    ERROR_SHED,
    ERROR_CLIENT_CERTIFICATE,
    ERROR_ABORTED, // the caller went away, or was shut at its deadline, before it had its answer
    ERROR_INTERNAL,
    ERROR_REASON_COUNT
};

#define METRICS_BUCKET_COUNT 16u
#define METRICS_RULES_LIMIT  96u
#define METRICS_ACTIONS      4u // off, audit, warn, deny

struct metrics {
    _Atomic uint64_t requests[REVIEW_OPERATION_COUNT][RESOURCE_COUNT][DECISION_COUNT];
    _Atomic uint64_t buckets[METRICS_BUCKET_COUNT + 1]; // not cumulative; the last one is +Inf
    _Atomic uint64_t duration_nano;
    _Atomic uint64_t errors[ERROR_REASON_COUNT];
    _Atomic uint64_t failures[2]; // answered denied, answered allowed
    _Atomic uint64_t client_rejections[CLIENT_VERDICTS];
    _Atomic uint64_t rule_results[METRICS_RULES_LIMIT][METRICS_ACTIONS]; // 0 is "schema", then registry order
    _Atomic uint64_t unknown_fields;
    _Atomic int64_t in_flight;
};

void metrics_init(struct metrics *metrics);

// Counts one judged review: verdict, rules, errors, failures, latency. Thread: any.
void metrics_count_judgement(struct metrics *metrics, const struct judgement *judgement,
                             int64_t duration_nano);

void metrics_count_refusal(struct metrics *metrics, enum refusal refusal);
void metrics_count_error(struct metrics *metrics, enum error_reason reason);
void metrics_count_client(struct metrics *metrics, enum client_verdict verdict);

// A collector: state is struct metrics.
void metrics_collect(void *state, struct exposition *out);

// A collector of build_info, process_* and the log's drops: state is unused.
void process_collect(void *state, struct exposition *out);

#endif
