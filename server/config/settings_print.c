// SPDX-License-Identifier: Apache-2.0
// The settings in force as a configuration file.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "server/config/settings_parts.h"
#include "server/out.h"

static const char *const source_names[] = {"default", "file", "variable", "flag"};

// A text in YAML's double quotes, whose escapes are those of JSON.
static bool print_quoted(FILE *out, const char *text) {
    size_t room = 6 * strlen(text) + 3;
    char *buffer = malloc(room);
    if (buffer == NULL) return false;
    struct out quoted = out_of(buffer, room);
    out_json_string(&quoted, text_of(text), 0);
    bool written = fwrite(buffer, 1, quoted.len, out) == quoted.len;
    free(buffer);
    return written;
}

static bool print_list(FILE *out, const struct setting_list *list) {
    bool fine = fputc('[', out) != EOF;
    for (size_t i = 0; fine && i < list->count; i++)
        fine = (i == 0 || fputs(", ", out) >= 0) && print_quoted(out, list->items[i]);
    return fine && fputc(']', out) != EOF;
}

static bool print_value(FILE *out, const struct option_row *row, const void *place) {
    char buffer[64];
    switch (row->kind) {
    case OPTION_IS_SWITCH: return fputs(*(const bool *)place ? "true" : "false", out) >= 0;
    case OPTION_IS_INT: return fprintf(out, "%" PRId64, *(const int64_t *)place) > 0;
    case OPTION_IS_BYTES:
        option_print_bytes(*(const int64_t *)place, buffer, sizeof buffer);
        return fputs(buffer, out) >= 0;
    case OPTION_IS_DURATION:
        option_print_duration(*(const int64_t *)place, buffer, sizeof buffer);
        return fputs(buffer, out) >= 0;
    case OPTION_IS_CHOICE:
        return print_quoted(out, option_choice_word(row, *(const unsigned *)place, buffer, sizeof buffer));
    case OPTION_IS_TEXT:
    case OPTION_IS_FILE: return print_quoted(out, *(char *const *)place);
    case OPTION_IS_LIST:
    case OPTION_IS_FILES: return print_list(out, place);
    }
    return false;
}

bool settings_print(const struct serve_settings *settings, FILE *out) {
    char name[OPTION_NAME_BYTES];
    bool fine =
        fprintf(
            out,
            "# The settings in force, each with where it comes from: flag, else variable, else file, else "
            "default.\napiVersion: %s\nkind: %s\n",
            CONFIG_API_VERSION, CONFIG_KIND) > 0;
    for (size_t i = 0; fine && i < setting_field_count; i++) {
        const struct option_row *row = &option_rows[setting_fields[i].id];
        // A file cannot name another file, so this one is only told.
        bool only_told = row->id == OPTION_CONFIG;
        const void *place = (const char *)settings + setting_fields[i].offset;
        fine = fprintf(out, "%s%s: ", only_told ? "# " : "", option_key(row, name, sizeof name)) > 0 &&
               print_value(out, row, place) &&
               fprintf(out, " # %s\n", source_names[settings->sources[row->id]]) > 0;
    }
    return fine && fflush(out) == 0;
}
