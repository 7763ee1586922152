// SPDX-License-Identifier: Apache-2.0
// Opaque parameters for drivers.
#include "validators/schema/device_configuration.h"

#include "validators/model/object.h"
#include "validators/schema/names.h"

void schema_device_configuration(const struct device_configuration *config, int minor, bool stored,
                                 const struct path *path, struct finding_list *findings) {
    struct path opaque = path_field(path, TEXT("opaque"));
    if (!config->opaque_set) {
        finding_add(findings, FINDING_REQUIRED, &opaque, (struct text){"", 0},
                    TEXT("a driver's configuration is required"));
        return;
    }
    struct path driver = path_field(&opaque, TEXT("driver"));
    schema_driver_name(config->driver, minor >= MINOR_37, &driver, findings);
    struct path parameters = path_field(&opaque, TEXT("parameters"));
    schema_raw_object(config->parameters, OPAQUE_PARAMETERS_MAX_BYTES, stored, &parameters, findings);
}
