// SPDX-License-Identifier: Apache-2.0
// Opaque parameters for drivers.
#include "validators/schema/device_configuration.h"

#include "validators/schema/json_numbers.h"
#include "validators/schema/names.h"

void schema_raw_object(struct text raw, size_t max_bytes, bool unlimited, const struct path *path,
                       struct finding_list *findings) {
    if (raw.len == 0 || text_equal(raw, TEXT("null"))) {
        finding_hint(finding_add(findings, FINDING_REQUIRED, path, (struct text){0}, TEXT("is required")),
                     TEXT("give a JSON object"));
        return;
    }
    if (!unlimited && raw.len > max_bytes) {
        finding_addf(findings, FINDING_TOO_LONG, path, (struct text){0},
                     "must be no more than %zu bytes, is %zu", max_bytes, raw.len);
        return;
    }
    struct text number = json_number_too_large(raw);
    if (number.len > 0)
        finding_add(findings, FINDING_INVALID, path, number, TEXT("holds a number that is too large"));
    else if (raw.ptr[0] != '{')
        finding_add(findings, FINDING_INVALID, path, raw, TEXT("must be a JSON object"));
}

void schema_device_configuration(const struct device_configuration *config, int minor, bool stored,
                                 const struct path *path, struct finding_list *findings) {
    struct path opaque_path = path_field(path, TEXT("opaque"));
    if (!config->opaque_set) {
        finding_hint(
            finding_add(findings, FINDING_REQUIRED, &opaque_path, (struct text){0}, TEXT("is required")),
            TEXT("give the driver's name and its parameters here"));
        return;
    }
    struct path driver_path = path_field(&opaque_path, TEXT("driver"));
    schema_driver_name(config->driver, minor >= 37, &driver_path, findings);
    struct path parameters_path = path_field(&opaque_path, TEXT("parameters"));
    schema_raw_object(config->parameters, OPAQUE_PARAMETERS_MAX_BYTES, stored, &parameters_path, findings);
}
