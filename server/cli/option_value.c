// SPDX-License-Identifier: Apache-2.0
// Values of flags, variables and settings: from text and back.
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "server/cli/options.h"
#include "validators/core/text.h"

struct unit {
    const char *suffix;
    int64_t factor;
};

// Longest suffix of a common prefix first: "ms" before "m".
static const struct unit duration_units[] = {
    {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};
static const struct unit byte_units[] = {{"Ki", INT64_C(1) << 10},
                                         {"Mi", INT64_C(1) << 20},
                                         {"Gi", INT64_C(1) << 30},
                                         {"Ti", INT64_C(1) << 40},
                                         {"k", 1000},
                                         {"M", 1000000},
                                         {"G", 1000000000}};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

bool option_parse_switch(const char *text, bool *ret_value, struct fault *fault) {
    bool yes = strcmp(text, "true") == 0;
    if (!yes && strcmp(text, "false") != 0)
        return fault_set(fault, FAULT_USAGE, "\"%.64s\" is neither true nor false", text);
    *ret_value = yes;
    return true;
}

bool option_parse_choice(const struct option_row *row, const char *text, unsigned *ret_index,
                         struct fault *fault) {
    size_t len = strlen(text);
    unsigned index = 0;
    for (const char *word = row->argument; word != NULL; index++) {
        const char *bar = strchr(word, '|');
        size_t word_len = bar == NULL ? strlen(word) : (size_t)(bar - word);
        if (len == word_len && memcmp(word, text, len) == 0) {
            *ret_index = index;
            return true;
        }
        word = bar == NULL ? NULL : bar + 1;
    }
    return fault_set(fault, FAULT_USAGE, "\"%.64s\" is not one of %s", text, row->argument);
}

const char *option_choice_word(const struct option_row *row, unsigned index, char *buffer, size_t size) {
    const char *word = row->argument;
    while (word != NULL && index > 0) {
        word = strchr(word, '|');
        if (word != NULL) word++;
        index--;
    }
    if (word == NULL) return "";
    snprintf(buffer, size, "%.*s", (int)strcspn(word, "|"), word);
    return buffer;
}

// Reads digits. Errors: false when there are none or the number leaves int64.
static bool read_digits(const char **at, int64_t *ret_value) {
    int64_t value = 0;
    const char *begin = *at;
    for (; **at >= '0' && **at <= '9'; (*at)++)
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, **at - '0', &value))
            return false;
    *ret_value = value;
    return *at != begin;
}

static const struct unit *find_unit(const struct unit *units, size_t count, const char *at) {
    for (size_t i = 0; i < count; i++)
        if (units[i].suffix[0] != '\0' && strncmp(at, units[i].suffix, strlen(units[i].suffix)) == 0)
            return &units[i];
    return NULL;
}

static bool parse_bytes(const char *text, int64_t *ret_value) {
    int64_t value;
    if (!read_digits(&text, &value)) return false;
    const struct unit *unit = find_unit(byte_units, COUNT(byte_units), text);
    if (unit == NULL && *text != '\0') return false;
    if (unit != NULL && text[strlen(unit->suffix)] != '\0') return false;
    return !__builtin_mul_overflow(value, unit == NULL ? 1 : unit->factor, ret_value);
}

static bool parse_duration(const char *text, int64_t *ret_value) {
    int64_t sum = 0;
    if (strcmp(text, "0") == 0) {
        *ret_value = 0;
        return true;
    }
    do {
        int64_t value;
        if (!read_digits(&text, &value)) return false;
        const struct unit *unit = find_unit(duration_units, COUNT(duration_units), text);
        if (unit == NULL || __builtin_mul_overflow(value, unit->factor, &value) ||
            __builtin_add_overflow(sum, value, &sum))
            return false;
        text += strlen(unit->suffix);
    } while (*text != '\0');
    *ret_value = sum;
    return true;
}

static size_t print_number(const struct option_row *row, int64_t value, char *buffer, size_t size) {
    if (row->kind == OPTION_IS_BYTES) return option_print_bytes(value, buffer, size);
    if (row->kind == OPTION_IS_DURATION) return option_print_duration(value, buffer, size);
    int len = snprintf(buffer, size, "%" PRId64, value);
    return len < 0 ? 0 : (size_t)len;
}

bool option_parse_number(const struct option_row *row, const char *text, int64_t *ret_value,
                         struct fault *fault) {
    int64_t value;
    if (row->kind == OPTION_IS_BYTES) {
        if (!parse_bytes(text, &value))
            return fault_set(fault, FAULT_USAGE, "\"%.64s\" is not a size; write 4096, 64Ki or 8Mi", text);
    } else if (row->kind == OPTION_IS_DURATION) {
        if (!parse_duration(text, &value))
            return fault_set(fault, FAULT_USAGE, "\"%.64s\" is not a duration; write 500ms, 10s, 1m30s or 2h",
                             text);
    } else if (!text_to_int64(text_of(text), &value)) {
        return fault_set(fault, FAULT_USAGE, "\"%.64s\" is not a whole number", text);
    }
    int64_t max = row->min == 0 && row->max == 0 ? INT64_MAX : row->max;
    if (value < row->min || value > max) {
        char low[32], high[32];
        print_number(row, row->min, low, sizeof low);
        print_number(row, max, high, sizeof high);
        return fault_set(fault, FAULT_USAGE, "\"%.64s\" is out of range; from %s to %s is allowed", text, low,
                         high);
    }
    *ret_value = value;
    return true;
}

static size_t print_in(const struct unit *unit, int64_t value, char *buffer, size_t size) {
    int len = snprintf(buffer, size, "%" PRId64 "%s", value / unit->factor, unit->suffix);
    return len < 0 ? 0 : (size_t)len;
}

size_t option_print_bytes(int64_t bytes, char *buffer, size_t size) {
    for (int i = 3; i >= 0; i--)
        if (bytes != 0 && bytes % byte_units[i].factor == 0)
            return print_in(&byte_units[i], bytes, buffer, size);
    static const struct unit plain = {"", 1};
    return print_in(&plain, bytes, buffer, size);
}

size_t option_print_duration(int64_t milliseconds, char *buffer, size_t size) {
    return print_in(&duration_units[milliseconds % 1000 == 0 ? 1 : 0], milliseconds, buffer, size);
}
