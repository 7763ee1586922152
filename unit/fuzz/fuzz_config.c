// SPDX-License-Identifier: Apache-2.0
// Fuzz target: any bytes as a configuration file. What is accepted must come back unchanged when the settings
// are printed and read again.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/config/settings_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// The settings before any file: defaults alone, so that each input starts from the same state.
static bool start(struct serve_settings *settings) {
    static char name[] = "serve";
    char *argv[] = {name, NULL};
    struct options options;
    struct fault fault;
    if (!options_read(&options, "serve", 1, argv, &fault)) return false;
    bool loaded = settings_load(&options, settings, &fault);
    options_release(&options);
    return loaded;
}

static char *print(const struct serve_settings *settings, size_t *ret_len) {
    char *text = NULL;
    FILE *out = open_memstream(&text, ret_len);
    if (out == NULL || !settings_print(settings, out) || fclose(out) != 0) abort();
    return text;
}

// Bytes that are not UTF-8 cannot be written as YAML; print replaces them, which is no fault of reading.
static bool is_utf8(const char *text, size_t len) {
    for (size_t at = 0; at < len;) {
        size_t step = text_utf8_len((struct text){text + at, len - at});
        if (step == 0) return false;
        at += step;
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct serve_settings settings, again;
    struct fault fault = {0};
    if (!start(&settings)) abort();
    if (settings_read_text((struct text){(const char *)data, size}, "config.yaml", &settings, &fault)) {
        size_t len = 0, again_len = 0;
        char *printed = print(&settings, &len);
        if (is_utf8(printed, len) && memmem(printed, len, "\xef\xbf\xbd", 3) == NULL) {
            if (!start(&again)) abort();
            if (!settings_read_text((struct text){printed, len}, "printed.yaml", &again, &fault)) abort();
            memcpy(again.sources, settings.sources, sizeof settings.sources);
            char *twice = print(&again, &again_len);
            if (len != again_len || memcmp(printed, twice, len) != 0) abort();
            free(twice);
            settings_release(&again);
        }
        free(printed);
        if (!settings_check(&settings, &fault) && fault.text[0] == '\0') abort();
    } else if (strncmp(fault.text, "config.yaml:", 12) != 0) {
        abort(); // each refusal says where
    }
    settings_release(&settings);
    return 0;
}
