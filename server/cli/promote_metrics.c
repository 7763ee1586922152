// SPDX-License-Identifier: Apache-2.0
// The lines of the exposition that matter here.
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "server/cli/promote.h"
#include "server/operate/socket.h"

#define MS_PER_S 1000.0

// NAME{…} VALUE: the value; false for another family.
static bool value_of(const char *line, const char *name, double *ret_value) {
    size_t len = strlen(name);
    if (strncmp(line, name, len) != 0 || (line[len] != '{' && line[len] != ' ')) return false;
    const char *space = strrchr(line, ' ');
    if (space == NULL) return false;
    *ret_value = strtod(space, NULL);
    return true;
}

// The upper bound of a bucket, in milliseconds; the last one is without end.
static double bound_of(const char *line) {
    const char *at = strstr(line, "le=\"");
    return at == NULL || strncmp(at + 4, "+Inf", 4) == 0 ? -1 : strtod(at + 4, NULL) * MS_PER_S;
}

// Buckets are cumulative: the last one that is not above the threshold tells.
static void take_bucket(const char *line, double value, int64_t threshold_ms, double *all, double *in_time) {
    double bound_ms = bound_of(line);
    if (bound_ms < 0)
        *all = value;
    else if (bound_ms <= (double)threshold_ms + 1e-9)
        *in_time = value;
}

void promote_take_metric(struct promote_metrics *metrics, const struct promote_thresholds *thresholds,
                         const char *line) {
    double value;
    if (value_of(line, "drawbridge_held_pods", &value)) metrics->held_pods += value;
    if (value_of(line, "drawbridge_failures_total", &value)) metrics->failures += value;
    if (value_of(line, "drawbridge_hold_duration_seconds_bucket", &value))
        take_bucket(line, value, thresholds->hold_ms, &metrics->holds, &metrics->holds_in_time);
    if (value_of(line, "drawbridge_admission_duration_seconds_bucket", &value))
        take_bucket(line, value, thresholds->verdict_ms, &metrics->verdicts, &metrics->verdicts_in_time);
}

struct asking {
    struct promote_metrics *metrics;
    const struct promote_thresholds *thresholds;
};

static bool take_line(void *context, struct text line, struct fault *fault) {
    struct asking *asking = context;
    json_t *object = json_loadb(line.ptr, line.len, 0, NULL);
    const char *text = json_string_value(json_object_get(object, "text"));
    if (text != NULL) promote_take_metric(asking->metrics, asking->thresholds, text);
    bool fine =
        text != NULL || fault_set(fault, FAULT_STATE, "the server answers what this program does not know");
    json_decref(object);
    return fine;
}

bool promote_read_metrics(const char *folder, const struct promote_thresholds *thresholds,
                          struct promote_metrics *ret_metrics, struct fault *fault) {
    struct promote_metrics metrics = {.known = true};
    struct asking asking = {&metrics, thresholds};
    if (!control_call(folder, TEXT("{\"command\":\"metrics\"}"), take_line, &asking, fault)) return false;
    *ret_metrics = metrics;
    return true;
}
