// SPDX-License-Identifier: Apache-2.0
// What the files of server/config share: the table of settings and how one value is stored.
#ifndef DRAWBRIDGE_CONFIG_SETTINGS_PARTS_H
#define DRAWBRIDGE_CONFIG_SETTINGS_PARTS_H

#include "server/config/settings.h"
#include "validators/core/text.h"

struct setting_field {
    enum option_id id;
    size_t offset; // in struct serve_settings
    bool live;     // a re-read may change it
};

extern const struct setting_field setting_fields[];
extern const size_t setting_field_count;

#define CONFIG_API_VERSION "drawbridge.dev/v1alpha1"
#define CONFIG_KIND        "DrawbridgeConfiguration"

// What it does: stores a value given as text (several for a list, else the first) and where it came from.
// Errors: FAULT_USAGE with what is wrong, FAULT_MEMORY; the old value stays.
bool setting_set(struct serve_settings *settings, const struct setting_field *field,
                 const char *const *values, size_t count, enum setting_source source, struct fault *fault)
    __attribute__((warn_unused_result));

// How many bytes a value of this kind takes in struct serve_settings.
size_t setting_bytes(enum option_kind kind);

// What it does: takes the settings of a configuration file over those that are there.
// Errors: FAULT_IO, FAULT_LIMIT; FAULT_USAGE as FILE:LINE: what is wrong; what to do.
bool settings_read_file(const char *path, struct serve_settings *settings, struct fault *fault)
    __attribute__((warn_unused_result));

// The same for the text of a file; `name` is how faults call it.
bool settings_read_text(struct text yaml, const char *name, struct serve_settings *settings,
                        struct fault *fault) __attribute__((warn_unused_result));

#endif
