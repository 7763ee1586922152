// SPDX-License-Identifier: Apache-2.0
// Which texts Go takes for RFC 3339 times: a little more than the standard allows (one digit of hour, a comma
// before the fraction, offsets up to 24:60).
#include "server/codec/decode_parts.h"

static bool is_digit_at(struct text text, size_t at) {
    return at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9';
}

// Takes `digits` digits off the front, as a number not below low and not above high.
static bool take_number(struct text *text, size_t digits, int low, int high, int *ret_value) {
    int value = 0;
    for (size_t i = 0; i < digits; i++) {
        if (!is_digit_at(*text, i)) return false;
        value = value * 10 + (text->ptr[i] - '0');
    }
    if (value < low || value > high) return false;
    *text = text_slice(*text, digits, text->len);
    *ret_value = value;
    return true;
}

static bool take_byte(struct text *text, const char *any_of) {
    if (text->len == 0 || text->ptr[0] == '\0' || strchr(any_of, text->ptr[0]) == NULL) return false;
    *text = text_slice(*text, 1, text->len);
    return true;
}

static int days_in(int month, int year) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month == 2 && leap ? 29 : days[month - 1];
}

static bool take_date(struct text *text) {
    int year;
    int month;
    int day;
    return take_number(text, 4, 0, 9999, &year) && take_byte(text, "-") &&
           take_number(text, 2, 1, 12, &month) && take_byte(text, "-") &&
           take_number(text, 2, 1, days_in(month, year), &day);
}

static bool take_clock(struct text *text) {
    int number;
    if (!take_number(text, is_digit_at(*text, 1) ? 2 : 1, 0, 23, &number)) return false;
    if (!take_byte(text, ":") || !take_number(text, 2, 0, 59, &number)) return false;
    if (!take_byte(text, ":") || !take_number(text, 2, 0, 59, &number)) return false;
    if (!is_digit_at(*text, 1) || !take_byte(text, ".,")) return true;
    while (is_digit_at(*text, 0)) *text = text_slice(*text, 1, text->len);
    return true;
}

static bool take_zone(struct text *text) {
    int number;
    if (take_byte(text, "Z")) return true;
    return take_byte(text, "+-") && take_number(text, 2, 0, 24, &number) && take_byte(text, ":") &&
           take_number(text, 2, 0, 60, &number);
}

bool decode_time_is_valid(struct text text) {
    return take_date(&text) && take_byte(&text, "T") && take_clock(&text) && take_zone(&text) &&
           text.len == 0;
}
