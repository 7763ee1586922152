// SPDX-License-Identifier: Apache-2.0
// spec.promotion of the LedgerPolicy: whole numbers, percentages ("90%") and durations ("24h").
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "server/cli/options.h"
#include "server/cli/promote.h"

enum form { FORM_COUNT, FORM_PERCENT, FORM_DURATION };

struct row {
    const char *name;
    enum form form;
    int64_t *count;
    double *percent;
};

static bool read_percent(const char *text, double *ret_percent) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || strcmp(end, "%") != 0 || !(value >= 0 && value <= 100)) return false;
    *ret_percent = value;
    return true;
}

static bool read_duration(const char *text, int64_t *ret_ms) {
    static const struct option_row row = {.kind = OPTION_IS_DURATION, .max = INT64_MAX};
    struct fault ignored;
    return option_parse_number(&row, text, ret_ms, &ignored);
}

static bool read_member(const struct row *row, const json_t *value, struct fault *fault) {
    const char *text = json_string_value(value);
    if (row->form == FORM_COUNT) {
        if (json_is_integer(value) && json_integer_value(value) >= 0) {
            *row->count = json_integer_value(value);
            return true;
        }
        return fault_set(fault, FAULT_INPUT, "spec.promotion.%s is a whole number", row->name);
    }
    if (row->form == FORM_PERCENT)
        return (text != NULL && read_percent(text, row->percent)) ||
               fault_set(fault, FAULT_INPUT, "spec.promotion.%s is a percentage such as \"90%%\"", row->name);
    return (text != NULL && read_duration(text, row->count)) ||
           fault_set(fault, FAULT_INPUT, "spec.promotion.%s is a duration such as \"24h\"", row->name);
}

bool promote_read_thresholds(struct text json, struct promote_thresholds *ret_thresholds,
                             struct fault *fault) {
    struct promote_thresholds thresholds = {.driver_coverage = 100,
                                            .rollback_drills = 1,
                                            .restart_replays = 1,
                                            .upgrade_replays = 1,
                                            .zero_divergence_ms = INT64_C(24) * 3600 * 1000,
                                            .hold_ms = 60000,
                                            .verdict_ms = 5};
    const struct row rows[] = {
        {"driverCoverage", FORM_PERCENT, NULL, &thresholds.driver_coverage},
        {"rollbackDrills", FORM_COUNT, &thresholds.rollback_drills, NULL},
        {"restartReplays", FORM_COUNT, &thresholds.restart_replays, NULL},
        {"upgradeReplays", FORM_COUNT, &thresholds.upgrade_replays, NULL},
        {"zeroDivergence", FORM_DURATION, &thresholds.zero_divergence_ms, NULL},
        {"headroom", FORM_PERCENT, NULL, &thresholds.headroom},
        {"heldPods", FORM_COUNT, &thresholds.held_pods, NULL},
        {"holdTime", FORM_DURATION, &thresholds.hold_ms, NULL},
        {"verdictTime", FORM_DURATION, &thresholds.verdict_ms, NULL},
    };
    json_t *object = json.len == 0 ? NULL : json_loadb(json.ptr, json.len, 0, NULL);
    const char *name;
    json_t *value;
    bool fine = json.len == 0 || json_is_object(object) ||
                fault_set(fault, FAULT_INPUT, "spec.promotion is not an object");
    if (fine) json_object_foreach(object, name, value) {
            const struct row *row = NULL;
            for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
                if (strcmp(rows[i].name, name) == 0) row = &rows[i];
            size_t used = strlen(thresholds.unknown);
            if (row == NULL)
                snprintf(thresholds.unknown + used, sizeof thresholds.unknown - used, "%s%.48s",
                         used > 0 ? ", " : "", name);
            else
                fine = fine && read_member(row, value, fault);
        }
    json_decref(object);
    if (fine) *ret_thresholds = thresholds;
    return fine;
}
