// SPDX-License-Identifier: Apache-2.0
// Days are counted by the rule of the proleptic Gregorian calendar.
#include "validators/core/timestamp.h"

#define MS_PER_SECOND   1000
#define SECONDS_PER_DAY 86400
#define DAYS_PER_ERA    146097 // 400 years
#define DAYS_TO_1970    719468 // from 1 March of the year 0

// Takes `digits` digits off the front.
static bool take_number(struct text *text, size_t digits, int64_t high, int64_t *ret_value) {
    int64_t value = 0;
    if (text->len < digits) return false;
    for (size_t i = 0; i < digits; i++) {
        char digit = text->ptr[i];
        if (digit < '0' || digit > '9') return false;
        value = value * 10 + (digit - '0');
    }
    if (value > high) return false;
    *text = text_slice(*text, digits, text->len);
    *ret_value = value;
    return true;
}

static bool take_byte(struct text *text, char byte) {
    if (text->len == 0 || text->ptr[0] != byte) return false;
    *text = text_slice(*text, 1, text->len);
    return true;
}

// Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms": a year that begins in March.
static int64_t days_from_civil(int64_t year, int64_t month, int64_t day) {
    if (month <= 2) year--;
    int64_t era = year / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * DAYS_PER_ERA + day_of_era - DAYS_TO_1970;
}

static bool take_fraction(struct text *text, int64_t *ret_ms) {
    int64_t ms = 0;
    int64_t weight = MS_PER_SECOND / 10;
    int64_t digit;
    if (!take_byte(text, '.')) return true;
    if (!take_number(text, 1, 9, &digit)) return false;
    do {
        ms += digit * weight;
        weight /= 10;
    } while (take_number(text, 1, 9, &digit));
    *ret_ms = ms;
    return true;
}

static bool take_offset(struct text *text, int64_t *ret_seconds) {
    int64_t hours;
    int64_t minutes;
    if (take_byte(text, 'Z')) return true;
    bool ahead = text->len > 0 && text->ptr[0] == '+';
    if (!ahead && (text->len == 0 || text->ptr[0] != '-')) return false;
    *text = text_slice(*text, 1, text->len);
    if (!take_number(text, 2, 24, &hours) || !take_byte(text, ':') || !take_number(text, 2, 60, &minutes))
        return false;
    *ret_seconds = (hours * 3600 + minutes * 60) * (ahead ? 1 : -1);
    return true;
}

bool timestamp_parse(struct text text, int64_t *ret_ms) {
    int64_t year;
    int64_t month;
    int64_t day;
    int64_t hour;
    int64_t minute;
    int64_t second;
    int64_t fraction_ms = 0;
    int64_t offset_seconds = 0;
    bool fine =
        take_number(&text, 4, 9999, &year) && take_byte(&text, '-') && take_number(&text, 2, 12, &month) &&
        take_byte(&text, '-') && take_number(&text, 2, 31, &day) && take_byte(&text, 'T') &&
        take_number(&text, 2, 23, &hour) && take_byte(&text, ':') && take_number(&text, 2, 59, &minute) &&
        take_byte(&text, ':') && take_number(&text, 2, 59, &second) && take_fraction(&text, &fraction_ms) &&
        take_offset(&text, &offset_seconds) && text.len == 0;
    if (!fine || month < 1 || day < 1) return false;
    int64_t seconds =
        days_from_civil(year, month, day) * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second;
    *ret_ms = (seconds - offset_seconds) * MS_PER_SECOND + fraction_ms;
    return true;
}

struct text timestamp_text(struct arena *arena, int64_t ms) {
    int64_t seconds = ms / MS_PER_SECOND - (ms % MS_PER_SECOND < 0);
    int64_t days = seconds / SECONDS_PER_DAY - (seconds % SECONDS_PER_DAY < 0);
    int64_t rest = seconds - days * SECONDS_PER_DAY;
    days += DAYS_TO_1970;
    int64_t era = days / DAYS_PER_ERA - (days % DAYS_PER_ERA < 0);
    int64_t day_of_era = days - era * DAYS_PER_ERA;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t shifted = (5 * day_of_year + 2) / 153;
    int64_t month = shifted < 10 ? shifted + 3 : shifted - 9;
    int64_t year = year_of_era + era * 400 + (month <= 2);
    return text_format(arena, "%04lld-%02lld-%02lldT%02lld:%02lld:%02lldZ", (long long)year, (long long)month,
                       (long long)(day_of_year - (153 * shifted + 2) / 5 + 1), (long long)(rest / 3600),
                       (long long)(rest / 60 % 60), (long long)(rest % 60));
}
