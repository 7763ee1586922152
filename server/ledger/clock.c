// SPDX-License-Identifier: Apache-2.0
// Times as texts and as milliseconds.
#include "server/ledger/clock.h"

#define MS_PER_DAY INT64_C(86400000)

// Days since 1970-01-01 of a date of the Gregorian calendar, by counting in years that begin in March.
static int64_t days_of(int64_t year, int64_t month, int64_t day) {
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t year_of_era = y - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

static bool number_at(struct text text, size_t at, size_t digits, int64_t *ret_value) {
    if (at + digits > text.len) return false;
    int64_t value = 0;
    for (size_t i = at; i < at + digits; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') return false;
        value = value * 10 + (text.ptr[i] - '0');
    }
    *ret_value = value;
    return true;
}

static bool byte_at(struct text text, size_t at, char byte) {
    return at < text.len && text.ptr[at] == byte;
}

static bool offset_at(struct text text, size_t at, int64_t *ret_ms) {
    int64_t hours;
    int64_t minutes;
    *ret_ms = 0;
    if (byte_at(text, at, 'Z')) return at + 1 == text.len;
    if (!byte_at(text, at, '+') && !byte_at(text, at, '-')) return false;
    if (!number_at(text, at + 1, 2, &hours) || !byte_at(text, at + 3, ':') ||
        !number_at(text, at + 4, 2, &minutes) || at + 6 != text.len)
        return false;
    *ret_ms = (hours * 60 + minutes) * 60000 * (text.ptr[at] == '-' ? -1 : 1);
    return true;
}

bool time_read_ms(struct text text, int64_t *ret_ms) {
    int64_t parts[6];
    static const size_t places[6] = {0, 5, 8, 11, 14, 17};
    static const char behind[6] = {'-', '-', 'T', ':', ':', '\0'};
    for (int i = 0; i < 6; i++) {
        size_t digits = i == 0 ? 4 : 2;
        if (!number_at(text, places[i], digits, &parts[i])) return false;
        if (behind[i] != '\0' && !byte_at(text, places[i] + digits, behind[i])) return false;
    }
    if (parts[1] < 1 || parts[1] > 12 || parts[2] < 1 || parts[2] > 31 || parts[3] > 23 || parts[4] > 59 ||
        parts[5] > 60)
        return false;
    size_t at = 19;
    int64_t ms = 0;
    if (byte_at(text, at, '.')) {
        int64_t unit = 100;
        for (at++; at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9'; at++, unit /= 10)
            ms += (text.ptr[at] - '0') * unit;
    }
    int64_t offset;
    if (!offset_at(text, at, &offset)) return false;
    *ret_ms = days_of(parts[0], parts[1], parts[2]) * MS_PER_DAY + parts[3] * 3600000 + parts[4] * 60000 +
              parts[5] * 1000 + ms - offset;
    return true;
}

static void put(char *buffer, int64_t value, int digits) {
    for (int i = digits - 1; i >= 0; i--, value /= 10) buffer[i] = (char)('0' + value % 10);
}

void time_print(int64_t ms, char buffer[TIME_TEXT_BYTES]) {
    int64_t days = ms / MS_PER_DAY - (ms % MS_PER_DAY < 0);
    int64_t rest = ms - days * MS_PER_DAY;
    int64_t shifted = days + 719468;
    int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    int64_t day_of_era = shifted - era * 146097;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month_part = (5 * day_of_year + 2) / 153;
    int64_t month = month_part < 10 ? month_part + 3 : month_part - 9;
    static const char form[] = "0000-00-00T00:00:00";
    memcpy(buffer, form, sizeof form);
    put(buffer, year_of_era + era * 400 + (month <= 2), 4);
    put(buffer + 5, month, 2);
    put(buffer + 8, day_of_year - (153 * month_part + 2) / 5 + 1, 2);
    put(buffer + 11, rest / 3600000, 2);
    put(buffer + 14, rest / 60000 % 60, 2);
    put(buffer + 17, rest / 1000 % 60, 2);
    size_t at = 19;
    if (rest % 1000 != 0) {
        buffer[at++] = '.';
        put(buffer + at, rest % 1000, 3);
        at += 3;
    }
    buffer[at++] = 'Z';
    buffer[at] = '\0';
}
